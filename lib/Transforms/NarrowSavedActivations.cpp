//===- NarrowSavedActivations.cpp - Keep activations in the low type ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "CastChooser.h"
#include "PrecisionRecord.h"
#include "StepRewriter.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Precision/Ranges.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::amp {
#define GEN_PASS_DEF_NARROWSAVEDACTIVATIONSPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// Elements of `type` for comparisons: a dynamic dimension, which is that of
/// the batch, counts as a large one. 0 if it is no ranked tensor.
static uint64_t countElements(Type type) {
  constexpr uint64_t largeBatch = 1 << 16;
  auto tensor = dyn_cast<RankedTensorType>(type);
  uint64_t count = tensor ? 1 : 0;
  for (int64_t size : tensor ? tensor.getShape() : ArrayRef<int64_t>())
    count = llvm::SaturatingMultiply<uint64_t>(
        count, ShapedType::isDynamic(size) ? largeBatch : size);
  return count;
}

/// The most elements that one of `types` has.
template <typename Range>
static uint64_t countMost(Range types) {
  uint64_t most = 0;
  for (Type type : types)
    most = std::max(most, countElements(type));
  return most;
}

/// Whether `use` is of the extents alone.
static bool readsShape(OpOperand &use) {
  auto op = dyn_cast<PrecisionOpInterface>(use.getOwner());
  if (!op)
    return false;
  PrecisionSlots slots;
  op.getPrecisionSlots(slots);
  return slots.shapeOperand == static_cast<int>(use.getOperandNumber());
}

namespace {

/// What the backward pass of a step reads of the forward pass.
class SavedActivations {
public:
  SavedActivations(const StepRewriter &step, FloatType low) : step(step) {
    Block::OpListType &ops = step.getBody().getOperations();
    for (Operation &op : step.getBody().without_terminator())
      if (isa<GradientSeedOpInterface>(op) ||
          op.hasAttr(AMPDialect::kBackwardOfAttr) || readsBackward(op)) {
        backward.insert(&op);
        if (!start && !isa<GradientSeedOpInterface>(op))
          start = &op;
      }
    // What is moved or made again for the backward pass belongs to it.
    for (Operation &op : llvm::reverse(ops)) {
      if (&op == start || !start)
        break;
      CastLike cast(&op);
      bool isStored = cast && getElementTypeOrSelf(cast.getType()) == low;
      if (!op.use_empty() && servesBackward(&op) && !isStored)
        backward.insert(&op);
    }
    for (Operation &op : step.getBody().without_terminator())
      if (op.getNumOperands() != 0 && !backward.contains(&op))
        forward.push_back(&op);
  }

  /// Operations of the body, in order.
  ArrayRef<Operation *> getForward() const { return forward; }

  /// Whether `op`, of the body, stands in the backward pass and serves it
  /// alone.
  bool isLate(Operation *op) const {
    return start && start->isBeforeInBlock(op) && servesBackward(op);
  }

  /// The operations of the body that read `value` in the backward pass, and
  /// those that read it elsewhere.
  void getReaders(Value value, llvm::SetVector<Operation *> &late,
                  llvm::SetVector<Operation *> &early) const {
    for (OpOperand &use : value.getUses()) {
      if (readsShape(use))
        continue;
      Operation *op = step.getAncestor(use.getOwner());
      (backward.contains(op) ? late : early).insert(op);
    }
  }

private:
  bool servesBackward(Operation *op) const {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return backward.contains(step.getAncestor(user));
    });
  }

  bool readsBackward(Operation &op) const {
    WalkResult result = op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (Operation *owner = operand.getDefiningOp())
          if (backward.contains(step.getAncestor(owner)))
            return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  const StepRewriter &step;
  StepRewriter::OpSet backward;
  /// The first of `backward` but for seeds, which may stand anywhere.
  Operation *start = nullptr;
  std::vector<Operation *> forward;
};

class NarrowSavedActivationsPass final
    : public amp::impl::NarrowSavedActivationsPassBase<
          NarrowSavedActivationsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](FunctionOpInterface function) {
      if (function.isExternal())
        return WalkResult::advance();
      if (!getRecordedPrecision(function)) {
        remark::missed(function->getLoc(), remark::RemarkOpts::name("NotMixed")
                                               .category("amp")
                                               .function(function.getName()))
            << "not rewritten by auto-mixed-precision";
        return WalkResult::advance();
      }
      return failed(run(function)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult run(FunctionOpInterface function) {
    FloatType low = getRecordedPrecision(function);
    FailureOr<StepRewriter> step = StepRewriter::get(function);
    if (failed(step))
      return failure();
    SavedActivations saved(*step, low);
    ValueRanges ranges(function, low);
    CastChooser casts(function);
    for (Operation *op : saved.getForward())
      if (CastLike cast(op); cast && cast.isInserted() && saved.isLate(op))
        store(cast, low);
    for (Operation *op : saved.getForward())
      for (OpResult value : op->getResults())
        narrow(value, low, function, saved, ranges, casts, *step);
    return success();
  }

  /// Moves a cast to `low` that stands in the backward pass to what it casts:
  /// what is stored in between is its result.
  void store(CastLike cast, FloatType low) {
    Operation *owner = cast.getInput().getDefiningOp();
    if (!owner || owner->getBlock() != cast->getBlock() ||
        getElementTypeOrSelf(cast.getType()) != low ||
        !getElementTypeOrSelf(cast.getInput()).isF32())
      return;
    cast->moveAfter(owner);
    ++numMoved;
  }

  /// Why `value`, which the backward pass reads, has to stay f32; empty if it
  /// may be stored in `low`.
  StringRef getObstacle(OpResult value, FloatType low,
                        const llvm::SetVector<Operation *> &late,
                        const llvm::SetVector<Operation *> &early,
                        ValueRanges &ranges) {
    Operation *owner = value.getOwner();
    uint64_t elements = countElements(value.getType());
    if (llvm::any_of(late, [&](Operation *op) {
          return countMost(op->getResultTypes()) > elements;
        }))
      return "it is a statistic: the backward pass spreads it over a larger "
             "tensor";
    if (countMost(owner->getOperandTypes()) < elements)
      return "it is spread from smaller tensors, which are what is stored";
    if (llvm::any_of(early, [](Operation *op) {
          return op->hasTrait<OpTrait::IsTerminator>();
        }))
      return "the step returns it, in f32";
    auto isPinned = [](Operation *op) {
      auto pin = op->getAttrOfType<StringAttr>(AMPDialect::kPrecisionAttr);
      return pin && pin.getValue() != "low";
    };
    if (isPinned(owner) || llvm::any_of(late, isPinned))
      return "amp.precision pins what gives or reads it";
    if (low.isF16() && !ranges.get(value).fits(low))
      return "nothing proves that it fits f16";
    return {};
  }

  void narrow(OpResult value, FloatType low, FunctionOpInterface function,
              const SavedActivations &saved, ValueRanges &ranges,
              CastChooser &casts, const StepRewriter &step) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.getElementType().isF32() || type.getRank() == 0)
      return;
    llvm::SetVector<Operation *> late, early;
    saved.getReaders(value, late, early);
    // A value that a cast widened is stored in the low type.
    Operation *owner = value.getOwner();
    if (CastLike cast(owner); late.empty() || (cast && cast.isInserted()))
      return;
    auto options = [&](StringRef name) {
      return remark::RemarkOpts::name(name).category("amp").function(
          function.getName());
    };
    StringRef obstacle = getObstacle(value, low, late, early, ranges);
    SmallVector<Operation *> neighbours{owner};
    llvm::append_range(neighbours, late);
    Type narrowType = type.clone(low);
    if (obstacle.empty() &&
        (!casts.canBuild(type, low, neighbours) ||
         !casts.canBuild(narrowType, cast<FloatType>(type.getElementType()),
                         neighbours)))
      obstacle = "no dialect around it has a cast";
    if (!obstacle.empty()) {
      remark::missed(owner->getLoc(), options("SavedInF32"))
          << remark::metric("Op", owner->getName().getStringRef())
          << remark::reason("{0}", obstacle);
      return;
    }
    OpBuilder builder(owner->getContext());
    builder.setInsertionPointAfter(owner);
    Value stored =
        casts.build(builder, owner->getLoc(), value, low, neighbours);
    Operation *first = *llvm::min_element(
        late, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    builder.setInsertionPoint(first);
    Value read =
        casts.build(builder, owner->getLoc(), stored,
                    cast<FloatType>(type.getElementType()), neighbours);
    value.replaceUsesWithIf(read, [&](OpOperand &use) {
      return late.contains(step.getAncestor(use.getOwner())) &&
             !readsShape(use);
    });
    ++numNarrowed;
    auto remark = remark::passed(owner->getLoc(), options("SavedLow"));
    remark << remark::metric("Op", owner->getName().getStringRef());
    if (!type.hasStaticShape())
      return;
    int64_t elements = type.getNumElements();
    int64_t width = low.getIntOrFloatBitWidth() / 8;
    numBytes += elements * (4 - width);
    remark << remark::metric("BytesBefore", elements * 4)
           << remark::metric("BytesAfter", elements * width);
  }
};

} // namespace

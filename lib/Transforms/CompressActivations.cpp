//===- CompressActivations.cpp - Activation compression -------------------===//
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
#include "amp/Precision/Assignment/Ranges.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::amp {
#define GEN_PASS_DEF_COMPRESSACTIVATIONSPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// Returns the number of elements of `type` for comparisons. A dynamic
/// dimension is the batch and counts as a large one. Returns 0 for other types
/// than ranked tensors.
static uint64_t countElements(Type type) {
  constexpr uint64_t largeBatch = 1 << 16;
  auto tensor = dyn_cast<RankedTensorType>(type);
  uint64_t count = tensor ? 1 : 0;
  for (int64_t size : tensor ? tensor.getShape() : ArrayRef<int64_t>())
    count = llvm::SaturatingMultiply<uint64_t>(
        count, ShapedType::isDynamic(size) ? largeBatch : size);
  return count;
}

/// Returns the largest number of elements of `types`.
template <typename Range>
static uint64_t countMost(Range types) {
  uint64_t most = 0;
  for (Type type : types)
    most = std::max(most, countElements(type));
  return most;
}

/// Returns whether `use` reads only the extents.
static bool readsShape(OpOperand &use) {
  auto op = dyn_cast<PrecisionOpInterface>(use.getOwner());
  if (!op)
    return false;
  PrecisionSlots slots;
  op.getPrecisionSlots(slots);
  return slots.shapeOperand == static_cast<int>(use.getOperandNumber());
}

namespace {

/// The values of the forward pass that the backward pass of a step reads.
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
    // Operations that were moved or rematerialized for the backward pass belong
    // to it.
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

  /// Whether `op`, of the body, is in the backward pass and only used there.
  bool isLate(Operation *op) const {
    return start && start->isBeforeInBlock(op) && servesBackward(op);
  }

  /// Finds the operations of the body that read `value` in the backward pass,
  /// and those that read it elsewhere.
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
  /// The first operation of `backward`, without seeds, which may be anywhere.
  Operation *start = nullptr;
  std::vector<Operation *> forward;
};

class CompressActivationsPass final
    : public amp::impl::CompressActivationsPassBase<CompressActivationsPass> {
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

  /// Moves a cast to `low` from the backward pass to the value that it casts,
  /// so that the step stores the low result.
  void store(CastLike cast, FloatType low) {
    Operation *owner = cast.getInput().getDefiningOp();
    if (!owner || owner->getBlock() != cast->getBlock() ||
        getElementTypeOrSelf(cast.getType()) != low ||
        !getElementTypeOrSelf(cast.getInput()).isF32())
      return;
    cast->moveAfter(owner);
    ++numMoved;
  }

  /// Returns why `value`, which the backward pass reads, must stay f32. Empty
  /// if it may be stored in `low`.
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
      return "it is spread from smaller tensors, which are stored";
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
    // A value that a cast widened is already stored in the low type.
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

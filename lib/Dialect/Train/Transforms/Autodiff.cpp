//===- Autodiff.cpp - Expand train.gradients ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/Train/IR/Backpropagation.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::train {
#define GEN_PASS_DEF_TRAINAUTODIFF
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::train;
using amp::AMPDialect;

/// Returns the `amp.name` of `value` if it is an argument that has one.
static StringAttr getArgumentName(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return {};
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return {};
  return function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                               AMPDialect::kNameAttr);
}

namespace {

/// Assigns the values of `amp.id` within one function.
class ForwardIds {
public:
  explicit ForwardIds(Operation *scope) {
    scope->walk([&](Operation *op) {
      if (auto id = op->getAttrOfType<IntegerAttr>(AMPDialect::kIdAttr))
        next = std::max(next, id.getInt() + 1);
    });
  }

  IntegerAttr get(Operation *forward) {
    if (auto id = forward->getAttrOfType<IntegerAttr>(AMPDialect::kIdAttr))
      return id;
    auto id = Builder(forward).getI64IntegerAttr(next++);
    forward->setAttr(AMPDialect::kIdAttr, id);
    return id;
  }

private:
  int64_t next = 0;
};

/// The expansion of one `train.gradients`.
class Expansion {
public:
  /// `later` holds the operations on which the losses of later gradients
  /// depend, and these gradients.
  Expansion(GradientsOp op, ForwardIds &ids, const DenseSet<Operation *> &later,
            LoopValues loopValues)
      : op(op), builder(op), t(builder, op.getLoc()), ids(ids), later(later),
        loopValues(loopValues) {}

  LogicalResult run();

  unsigned numBackwardOps = 0;
  unsigned numZeroGradients = 0;
  unsigned numLoops = 0;

private:
  LogicalResult checkRegions(ArrayRef<Operation *> forward);
  Value zeroLike(Value value);
  Value widen(Value gradient, Value wrt);
  Value giveName(Value gradient, StringAttr name);
  void tagForwardAndBackward(ArrayRef<Operation *> forward);

  GradientsOp op;
  OpBuilder builder;
  TrainBuilder t;
  ForwardIds &ids;
  const DenseSet<Operation *> &later;
  LoopValues loopValues;
  /// The emitted operations in order, each with its forward operation (null for
  /// the seed and for zeros).
  llvm::MapVector<Operation *, Operation *> emitted;
};

struct AutodiffPass : public train::impl::TrainAutodiffBase<AutodiffPass> {
  using TrainAutodiffBase::TrainAutodiffBase;
  void runOnOperation() override;
};

} // namespace

/// Returns `wrt`, or the operand of the cast that a precision pass inserted
/// before `train.gradients`. The loss depends on this operand and not on the
/// cast.
static Value lookThroughCast(Value wrt) {
  auto cast = wrt.getDefiningOp<amp::CastOp>();
  return cast && cast.getInserted() ? cast.getInput() : wrt;
}

/// Rejects arguments of blocks and regions. Their values may depend on anything
/// and cannot count as constants.
LogicalResult Expansion::checkRegions(ArrayRef<Operation *> forward) {
  auto check = [&](Value value) -> LogicalResult {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || !isDifferentiableType(value.getType()))
      return success();
    Block *block = argument.getOwner();
    Operation *around = block->getParentOp();
    if ((block->isEntryBlock() && isa<FunctionOpInterface>(around)) ||
        llvm::is_contained(llvm::map_range(op.getWrt(), lookThroughCast),
                           value))
      return success();
    if (!block->isEntryBlock())
      return op.emitOpError("cannot differentiate through branches: the loss "
                            "depends on the argument of a block");
    for (Value wrt : op.getWrt())
      if (!around->isAncestor(wrt.getParentRegion()->getParentOp()))
        return around->emitOpError("has no derivative: the loss depends on an "
                                   "argument of its region, and a value to "
                                   "differentiate by is outside of it");
    return success();
  };
  if (failed(check(op.getLoss())))
    return failure();
  for (Operation *producer : forward) {
    // The result counts as a constant, so the operands do not matter.
    if (producer->hasAttr(kStopGradientAttr))
      continue;
    for (Value operand : producer->getOperands())
      if (failed(check(operand)))
        return failure();
  }
  return success();
}

Value Expansion::zeroLike(Value value) {
  ++numZeroGradients;
  return t.broadcast(t.scalar(0.0, value), value, TrainBuilder::allDims(value));
}

/// Gives `gradient` the type of `wrt`.
Value Expansion::widen(Value gradient, Value wrt) {
  if (gradient.getType() == wrt.getType())
    return gradient;
  auto cast = amp::CastOp::create(builder, op.getLoc(), wrt.getType(), gradient,
                                  /*inserted=*/true);
  emitted.insert({cast, emitted.lookup(gradient.getDefiningOp())});
  return cast;
}

/// Tags `gradient`, or a value equal to it, with `name`.
Value Expansion::giveName(Value gradient, StringAttr name) {
  if (!name)
    return gradient;
  Operation *producer = gradient.getDefiningOp();
  auto isOwn = [&] {
    // The seed has no tag, because loss scaling inserts a product after it.
    return producer && !isa<amp::GradientSeedOpInterface>(producer) &&
           emitted.contains(producer);
  };
  auto namesOf = [](Operation *op) {
    auto attr = op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    return attr ? llvm::to_vector(attr.getValue())
                : SmallVector<Attribute>(op->getNumResults(),
                                         StringAttr::get(op->getContext(), ""));
  };
  unsigned index = producer ? cast<OpResult>(gradient).getResultNumber() : 0;
  if (!isOwn() || !cast<StringAttr>(namesOf(producer)[index]).empty()) {
    Operation *forward = emitted.lookup(producer);
    producer = BroadcastOp::create(builder, op.getLoc(), gradient.getType(),
                                   gradient, Value(), ArrayRef<int64_t>{},
                                   /*mean=*/false);
    emitted.insert({producer, forward});
    index = 0;
  }
  SmallVector<Attribute> names = namesOf(producer);
  names[index] = name;
  producer->setAttr(AMPDialect::kGradientOfAttr, builder.getArrayAttr(names));
  return producer->getResult(index);
}

void Expansion::tagForwardAndBackward(ArrayRef<Operation *> forward) {
  DenseMap<Operation *, SmallVector<Operation *>> backward;
  for (auto [emittedOp, forwardOp] : emitted)
    if (forwardOp)
      backward[forwardOp].push_back(emittedOp);
  for (Operation *forwardOp : forward) {
    auto it = backward.find(forwardOp);
    if (it == backward.end())
      continue;
    IntegerAttr id = ids.get(forwardOp);
    for (Operation *emittedOp : it->second)
      emittedOp->setAttr(AMPDialect::kBackwardOfAttr, id);
  }
}

/// Sorts `producers` by their order in the program, if they are in one block.
static void sortByProgram(SmallVectorImpl<Operation *> &producers) {
  if (llvm::all_of(producers, [&](Operation *producer) {
        return producer->getBlock() == producers.front()->getBlock();
      }))
    llvm::sort(producers, [](Operation *first, Operation *second) {
      return first->isBeforeInBlock(second);
    });
}

LogicalResult Expansion::run() {
  SmallVector<Operation *> forward;
  collectProducers(op.getLoss(), forward);
  // An eager framework differentiates in the reverse order of execution. It
  // adds the gradients of a value in this order, and rounds each sum.
  if (auto function = op->getParentOfType<FunctionOpInterface>();
      function && function->hasAttr(amp::kKeepRoundingsAttr))
    sortByProgram(forward);
  if (failed(checkRegions(forward)))
    return failure();

  // Gradients that are differentiated again are intermediate values.
  for (Operation *producer : forward)
    producer->removeAttr(AMPDialect::kGradientOfAttr);

  Value seed = amp::GradientSeedOp::create(
      builder, op.getLoc(), op.getLoss().getType(), op.getNameAttr());
  emitted.insert({seed.getDefiningOp(), nullptr});

  Backpropagation sweep(builder, loopValues);
  for (auto [wrt, gradient] : llvm::zip(op.getWrt(), op.getGradients()))
    if (!gradient.use_empty())
      sweep.activate(lookThroughCast(wrt));
  sweep.accumulate(op.getLoss(), seed, op.getLoc());
  if (failed(sweep.run(forward, [&](Operation *from, Operation *backward) {
        emitted.insert({backward, from});
      })))
    return failure();
  for (auto [old, replacement] : sweep.getReplacements()) {
    llvm::replace(forward, old, replacement);
    ++numLoops;
  }

  DenseMap<Value, Value> results;
  size_t numZeros = 0;
  for (auto [wrt, gradient] : llvm::zip(op.getWrt(), op.getGradients())) {
    if (gradient.use_empty())
      continue;
    // `wrt` may contain a value twice.
    Value &result = results[wrt];
    if (!result) {
      Value value = sweep.lookup(lookThroughCast(wrt));
      if (value) {
        value = widen(value, wrt);
      } else {
        ++numZeros;
        value = zeroLike(wrt);
        emitted.insert({value.getDefiningOp(), nullptr});
      }
      result = giveName(value, getArgumentName(wrt));
    }
    // Mark gradients that are differentiated again, for loss scaling.
    Value inner;
    for (OpOperand &use : llvm::make_early_inc_range(gradient.getUses())) {
      if (!later.contains(use.getOwner()))
        continue;
      if (!inner) {
        inner = amp::InnerGradientOp::create(builder, op.getLoc(),
                                             result.getType(), result, Value());
        emitted.insert({inner.getDefiningOp(), nullptr});
      }
      use.set(inner);
    }
    gradient.replaceAllUsesWith(result);
  }
  if (numZeros != 0 && numZeros == results.size())
    op.emitWarning("the loss depends on none of the values to differentiate by "
                   "through operations with a derivative, so all gradients are "
                   "0");
  op.erase();

  // Rules may emit operations that remain unused.
  DenseSet<Operation *> dead;
  for (auto [emittedOp, forwardOp] : llvm::reverse(emitted)) {
    if (!isOpTriviallyDead(emittedOp))
      continue;
    dead.insert(emittedOp);
    emittedOp->erase();
  }
  emitted.remove_if([&](auto &entry) { return dead.contains(entry.first); });
  numBackwardOps += emitted.size();
  tagForwardAndBackward(forward);
  return success();
}

void AutodiffPass::runOnOperation() {
  if (loopValues != "stack" && loopValues != "recompute") {
    getOperation()->emitError("train-autodiff: unknown loop-values '")
        << loopValues << "', expected stack or recompute";
    return signalPassFailure();
  }
  // Program order expands inner gradients before the outer ones that depend on
  // them.
  SmallVector<GradientsOp> worklist;
  getOperation()->walk([&](GradientsOp op) { worklist.push_back(op); });
  DenseMap<Operation *, std::unique_ptr<ForwardIds>> idsOf;
  for (auto [index, op] : llvm::enumerate(worklist)) {
    Operation *scope = op->getParentOfType<FunctionOpInterface>();
    if (!scope)
      scope = getOperation();
    std::unique_ptr<ForwardIds> &ids = idsOf[scope];
    if (!ids)
      ids = std::make_unique<ForwardIds>(scope);
    DenseSet<Operation *> later;
    for (GradientsOp other : ArrayRef(worklist).drop_front(index + 1)) {
      SmallVector<Operation *> producers;
      collectProducers(other.getLoss(), producers);
      if (!llvm::is_contained(producers, op.getOperation()))
        continue;
      later.insert(producers.begin(), producers.end());
      later.insert(other);
    }
    Expansion expansion(op, *ids, later,
                        loopValues == "stack" ? LoopValues::Stack
                                              : LoopValues::Recompute);
    if (failed(expansion.run()))
      return signalPassFailure();
    ++numExpanded;
    numBackwardOps += expansion.numBackwardOps;
    numZeroGradients += expansion.numZeroGradients;
    numLoops += expansion.numLoops;
  }
}

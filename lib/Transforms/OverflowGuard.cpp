//===- OverflowGuard.cpp - Updates that overflow skips --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OverflowGuard.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

SmallVector<GuardedResult>
mlir::amp::getGuardedResults(const StepRewriter &step, bool modelState) {
  FunctionOpInterface function = step.getFunction();
  SmallVector<GuardedResult> guarded;
  for (OpOperand &operand : step.getReturn()->getOpOperands()) {
    auto updates = function.getResultAttrOfType<StringAttr>(
        operand.getOperandNumber(), AMPDialect::kUpdatesAttr);
    for (unsigned i = 0; updates && i < function.getNumArguments(); ++i) {
      if (function.getArgAttr(i, AMPDialect::kNameAttr) != updates ||
          operand.get() == function.getArgument(i))
        continue;
      std::optional<Role> kind = getRole(function, i);
      // Random number states are integers.
      bool isStatistic =
          kind == Role::ModelState &&
          isa<FloatType>(getElementTypeOrSelf(operand.get().getType()));
      if (kind == Role::Parameter || kind == Role::OptimizerState ||
          (modelState && isStatistic))
        guarded.push_back({&operand, function.getArgument(i)});
    }
  }
  return guarded;
}

StepRewriter::OpSet
mlir::amp::getUpdateSlice(const StepRewriter &step,
                          ArrayRef<GuardedResult> guarded,
                          const StepRewriter::OpSet &backward) {
  SmallVector<Operation *> roots;
  for (const GuardedResult &entry : guarded)
    if (Operation *op = entry.result->get().getDefiningOp())
      roots.push_back(op);
  StepRewriter::OpSet slice;
  step.addBackwardSlice(roots, slice, backward);
  return slice;
}

/// Returns `argument` in the type `wide`, as the update reads it, at the
/// insertion point of `builder`, the beginning of the step.
static Value getWidened(OpBuilder &builder, BlockArgument argument, Type wide) {
  Block *block = builder.getBlock();
  Operation *widening = nullptr;
  for (Operation *user : argument.getUsers())
    // The sum of a value and its residual is more exact.
    if (user->getBlock() == block && user->getNumResults() == 1 &&
        user->getResult(0).getType() == wide &&
        llvm::all_of(user->getOperands(), llvm::IsaPred<BlockArgument>) &&
        (isa<CompensateOp>(user) || (CastLike(user) && !widening)))
      widening = user;
  if (widening) {
    widening->moveBefore(block, block->begin());
    return widening->getResult(0);
  }
  return buildInsertedCast(builder, argument.getLoc(), argument,
                           cast<FloatType>(getElementTypeOrSelf(wide)));
}

namespace {

/// One guard: the new values that it guards, and the old values.
class GuardBuilder {
public:
  GuardBuilder(StepRewriter &step, ArrayRef<GuardedResult> guarded,
               const StepRewriter::OpSet &backward,
               StepRewriter::OpSet &feedsUpdate)
      : step(step), guarded(guarded), backward(backward),
        feedsUpdate(feedsUpdate), terminator(step.getReturn()) {
    for (const GuardedResult &entry : guarded) {
      newValues.push_back(entry.result->get());
      oldValues.push_back(entry.argument);
    }
  }

  void addObservedRoundings();
  void collectMoved();
  void build(Value allFinite);

private:
  bool isGuarded(OpOperand &use) const {
    return llvm::any_of(guarded, [&](const GuardedResult &entry) {
      return entry.result == &use;
    });
  }
  /// Metrics and predictions observe. Other results are separate updates.
  bool observes(OpOperand &use) const {
    FunctionOpInterface function = step.getFunction();
    return !function.getResultAttr(use.getOperandNumber(),
                                   AMPDialect::kUpdatesAttr);
  }
  /// Whether `use` feeds no update, and reads the result of the guard.
  bool isObserver(OpOperand &use) const {
    Operation *user = step.getAncestor(use.getOwner());
    return user == terminator
               ? observes(use)
               : !feedsUpdate.contains(user) && !backward.contains(user);
  }
  Operation *findAnchor(Value allFinite) const;

  StepRewriter &step;
  ArrayRef<GuardedResult> guarded;
  const StepRewriter::OpSet &backward;
  StepRewriter::OpSet &feedsUpdate;
  Operation *terminator;
  SmallVector<Value> newValues, oldValues;
  /// The operations that move into the guard, last one first.
  llvm::SetVector<Operation *> moved;
};

} // namespace

/// A stored value may be observed before it is rounded.
void GuardBuilder::addObservedRoundings() {
  for (const GuardedResult &entry : guarded) {
    Operation *rounding = entry.result->get().getDefiningOp();
    if (!rounding || !(isa<MasterCopyOp>(rounding) || CastLike(rounding)))
      continue;
    Value wide = rounding->getOperand(0);
    Operation *update = wide.getDefiningOp();
    bool isObserved = llvm::any_of(
        wide.getUses(), [&](OpOperand &use) { return isObserver(use); });
    if (!update || !feedsUpdate.contains(update) || backward.contains(update) ||
        !isObserved || llvm::is_contained(newValues, wide))
      continue;
    auto builder = OpBuilder::atBlockBegin(&step.getBody());
    if (Value old = getWidened(builder, entry.argument, wide.getType())) {
      newValues.push_back(wide);
      oldValues.push_back(old);
    }
  }
}

/// Users of an updated value that feed no update only observe it, and must read
/// the result of the guard. Other operations move into the guard if they only
/// feed these updates.
void GuardBuilder::collectMoved() {
  llvm::DenseSet<Value> updated(newValues.begin(), newValues.end());
  for (Operation &op : llvm::reverse(step.getBody())) {
    // Both branches need old values.
    if (!feedsUpdate.contains(&op) || op.use_empty() ||
        llvm::any_of(oldValues,
                     [&](Value old) { return old.getDefiningOp() == &op; }))
      continue;
    bool onlyUpdates = llvm::all_of(op.getResults(), [&](Value result) {
      return llvm::all_of(result.getUses(), [&](OpOperand &use) {
        Operation *user = step.getAncestor(use.getOwner());
        if (user == terminator)
          return isGuarded(use) || (updated.contains(result) && observes(use));
        return moved.contains(user) ||
               (updated.contains(result) && !feedsUpdate.contains(user));
      });
    });
    if (onlyUpdates)
      moved.insert(&op);
  }
}

/// Returns the last operation on which the contents of the guard depend.
Operation *GuardBuilder::findAnchor(Value allFinite) const {
  Operation *anchor = allFinite.getDefiningOp();
  for (Value value : newValues)
    if (Operation *op = value.getDefiningOp();
        op && anchor->isBeforeInBlock(op))
      anchor = op;
  for (Operation *op : moved)
    if (anchor->isBeforeInBlock(op))
      anchor = op;
  return anchor;
}

void GuardBuilder::build(Value allFinite) {
  OpBuilder builder(terminator);
  builder.setInsertionPointAfter(findAnchor(allFinite));
  Location loc = allFinite.getLoc();
  Value condition =
      tensor::ExtractOp::create(builder, loc, allFinite, ValueRange());
  auto guard = scf::IfOp::create(builder, loc, TypeRange(ValueRange(newValues)),
                                 condition, /*withElseRegion=*/true);
  feedsUpdate.insert(guard);
  // Observers may be anywhere after the update. Move them after the guard.
  StepRewriter::OpSet except = backward;
  except.insert(feedsUpdate.begin(), feedsUpdate.end());
  except.insert(terminator);
  step.moveDependentsAfter(guard, newValues, except);

  for (auto [newValue, guardedValue] : llvm::zip(newValues, guard.getResults()))
    newValue.replaceUsesWithIf(guardedValue,
                               [&](OpOperand &use) { return isObserver(use); });
  // One value may replace several arguments, each with its own old value.
  for (auto [entry, guardedValue] : llvm::zip(guarded, guard.getResults()))
    entry.result->set(guardedValue);
  builder.setInsertionPointToEnd(guard.thenBlock());
  auto yield = scf::YieldOp::create(builder, loc, newValues);
  for (Operation *op : llvm::reverse(moved))
    op->moveBefore(yield);
  builder.setInsertionPointToEnd(guard.elseBlock());
  scf::YieldOp::create(builder, loc, oldValues);
}

void mlir::amp::guardUpdates(StepRewriter &step, Value allFinite,
                             ArrayRef<GuardedResult> guarded,
                             const StepRewriter::OpSet &backward,
                             StepRewriter::OpSet &feedsUpdate) {
  GuardBuilder guard(step, guarded, backward, feedsUpdate);
  guard.addObservedRoundings();
  guard.collectMoved();
  guard.build(allFinite);
}

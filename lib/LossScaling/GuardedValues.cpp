//===- GuardedValues.cpp - Values that keep an old state ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/GuardAnalysis.h"

#include "amp/LossScaling/ValueOrigins.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

llvm::BitVector GuardAnalysis::getKeepers(Value value, BlockArgument old) {
  value = skipRegions(value);
  // Paths through choices and sums may double with each operation.
  if (auto it = keepersOf.find({value, old}); it != keepersOf.end())
    return it->second;
  llvm::BitVector keepers = findKeepers(value, old);
  keepersOf[{value, old}] = keepers;
  return keepers;
}

llvm::BitVector GuardAnalysis::findKeepers(Value value, BlockArgument old) {
  if (value == old)
    return llvm::BitVector(flags.size(), true);
  if (std::optional<Choice> choice = getChoice(value)) {
    llvm::BitVector good = getKeepers(choice->good, old);
    llvm::BitVector bad = getKeepers(choice->bad, old);
    // Both values must keep the state, unless the flags decide the choice.
    llvm::BitVector keepers = good;
    keepers &= bad;
    bad &= flags.getForcing(choice->condition, false);
    good &= flags.getForcing(choice->condition, true);
    keepers |= bad;
    keepers |= good;
    return keepers;
  }
  // If a check is in the loop, an iteration that overflows must keep the value
  // with which it begins.
  if (std::optional<Carried> carried = getCarried(value)) {
    llvm::BitVector keepers = getKeepers(carried->yielded, carried->argument);
    llvm::BitVector before = getKeepers(carried->init, old);
    for (LossScaleOpInterface check : flags.getChecks())
      if (!carried->loop->isProperAncestor(check)) {
        llvm::BitVector outside = *flags.find(check);
        outside.reset(before);
        keepers.reset(outside);
      }
    return keepers;
  }
  if (Value input = skipCast(value, old))
    return getKeepers(input, old);
  // A sum whose other term is zero where gradients are not finite.
  if (Operation *op = value.getDefiningOp();
      op && op->getNumOperands() == 2 && op->getNumResults() == 1) {
    llvm::BitVector keepers(flags.size());
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType() == value.getType()) {
        llvm::BitVector kept = flags.getIdentity(operand);
        if (kept.any()) {
          kept &= getKeepers(operand.get(), old);
          keepers |= kept;
        }
      }
    return keepers;
  }
  if (const Update *master = findMaster(value, old))
    return getKeepers(master->value, master->old);
  return llvm::BitVector(flags.size());
}

/// Returns the state whose new value `value` only rounds, or null. A low copy
/// of a master keeps its value if the master does.
const GuardAnalysis::Update *
GuardAnalysis::findMaster(Value value, BlockArgument old) const {
  Operation *op = value.getDefiningOp();
  Value input;
  if (isa_and_nonnull<MasterCopyOp>(op) && op->getNumOperands() == 1)
    input = op->getOperand(0);
  else if (CastLike cast{op})
    input = cast.getInput();
  auto it = llvm::find_if(results, [&](const Update &update) {
    return input && update.value == input && update.old != old;
  });
  return it == results.end() ? nullptr : &*it;
}

llvm::BitVector GuardAnalysis::getMayKeep(Value value, BlockArgument old) {
  value = skipMoves(value);
  if (auto it = mayKeep.find({value, old}); it != mayKeep.end())
    return it->second;
  llvm::BitVector may = findMayKeep(value, old);
  mayKeep[{value, old}] = may;
  return may;
}

llvm::BitVector GuardAnalysis::findMayKeep(Value value, BlockArgument old) {
  if (value == old)
    return llvm::BitVector(flags.size(), true);
  if (std::optional<Choice> choice = getChoice(value)) {
    llvm::BitVector good = getMayKeep(choice->good, old);
    llvm::BitVector bad = getMayKeep(choice->bad, old);
    const llvm::BitVector &no = flags.getForcing(choice->condition, false);
    const llvm::BitVector &yes = flags.getForcing(choice->condition, true);
    if (!flags.readsFlag(choice->condition)) {
      llvm::BitVector both = good;
      both &= bad;
      Operation *branch = value.getDefiningOp();
      if (good != both)
        good.reset(getSkippable(branch, choice->condition, true));
      if (bad != both)
        bad.reset(getSkippable(branch, choice->condition, false));
      good |= bad;
      good |= both;
      return good;
    }
    good.reset(no);
    bad.reset(yes);
    good |= bad;
    return good;
  }
  if (std::optional<Carried> carried = getCarried(value))
    return getMayKeep(carried->yielded, carried->argument);
  return llvm::BitVector(flags.size());
}

bool mlir::amp::dependsOnData(Value value) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t next = 0; next < reached.size(); ++next) {
    Operation *op = reached[next].getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(reached[next])) {
      op = argument.getOwner()->getParentOp();
      if (isa<FunctionOpInterface>(op)) {
        std::optional<Role> role = getRole(argument);
        if (!role || role == Role::Batch || role == Role::Parameter)
          return true;
        continue;
      }
    }
    reached.insert(op->operand_begin(), op->operand_end());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          reached.insert(block.getTerminator()->operand_begin(),
                         block.getTerminator()->operand_end());
  }
  return false;
}

/// Whether `value` is `old` under the assumptions of `evaluator`.
static bool isOldWhere(Value value, Value old, ScalarEvaluator &evaluator,
                       DenseMap<std::pair<Value, Value>, bool> &memo) {
  value = skipMoves(value);
  if (value == old)
    return true;
  auto [it, isNew] = memo.try_emplace({value, old}, false);
  if (!isNew)
    return it->second;
  bool isOld = false;
  if (std::optional<Choice> choice = getChoice(value)) {
    std::optional<bool> known = evaluator.getBool(choice->condition);
    isOld =
        (known == false || isOldWhere(choice->good, old, evaluator, memo)) &&
        (known == true || isOldWhere(choice->bad, old, evaluator, memo));
  } else if (std::optional<Carried> carried = getCarried(value)) {
    isOld = isOldWhere(carried->yielded, carried->argument, evaluator, memo) &&
            isOldWhere(carried->init, old, evaluator, memo);
  }
  return memo[{value, old}] = isOld;
}

llvm::BitVector GuardAnalysis::getSkippable(Operation *branch, Value condition,
                                            bool truth) {
  if (!dependsOnData(condition))
    return llvm::BitVector(flags.size(), true);
  ScalarEvaluator evaluator(
      [&](Value other) -> std::optional<ScalarEvaluator::Set> {
        Attribute known = other == condition || other == skipMoves(condition)
                              ? getBoolean(other.getType(), truth)
                              : Attribute();
        return known ? std::optional(ScalarEvaluator::Set{known})
                     : std::nullopt;
      });
  DenseMap<std::pair<Value, Value>, bool> memo;
  llvm::BitVector missed(flags.size());
  for (const Update &update : results) {
    std::optional<Role> role = getRole(update.old);
    if (role != Role::Parameter && role != Role::OptimizerState)
      continue;
    llvm::BitVector read = get(update.value).all;
    read.resize(flags.size());
    if (!isOldWhere(update.value, update.old, evaluator, memo))
      missed |= read;
  }
  for (LossScaleOpInterface check : flags.getChecks())
    if (branch->isProperAncestor(check))
      missed.reset(*flags.find(check));
  return missed.flip();
}

bool GuardAnalysis::isKept(Value value, BlockArgument old,
                           const llvm::BitVector &off) {
  value = skipRegions(value);
  if (value == old)
    return true;
  if (auto it = keptIfOff.find({value, old}); it != keptIfOff.end())
    return it->second;
  bool isKept = findKept(value, old, off);
  keptIfOff[{value, old}] = isKept;
  return isKept;
}

bool GuardAnalysis::findKept(Value value, BlockArgument old,
                             const llvm::BitVector &off) {
  if (std::optional<Choice> choice = getChoice(value)) {
    std::optional<bool> known = flags.evaluate(choice->condition, off);
    return (known == false || isKept(choice->good, old, off)) &&
           (known == true || isKept(choice->bad, old, off));
  }
  if (std::optional<Carried> carried = getCarried(value))
    return isKept(carried->yielded, carried->argument, off) &&
           isKept(carried->init, old, off);
  if (Value input = skipCast(value, old))
    return isKept(input, old, off);
  if (flags.keepsNumber(value, old, off))
    return true;
  const Update *master = findMaster(value, old);
  return master && isKept(master->value, master->old, off);
}

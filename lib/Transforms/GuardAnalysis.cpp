//===- GuardAnalysis.cpp - What an overflow leaves as it was --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GuardAnalysis.h"

#include "ValueOrigins.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

const llvm::BitVector &GuardAnalysis::getFlags(Value condition) {
  auto [it, isNew] = flagsOf.try_emplace(condition);
  if (!isNew)
    return it->second;
  llvm::BitVector &flags = it->second;
  flags.resize(checks.size());
  SmallVector<Value> worklist = {condition};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op)
      continue;
    for (auto [index, check] : llvm::enumerate(checks))
      if (op == check && op->getResult(check.getFiniteFlagResult()) == value)
        flags.set(index);
    for (OpOperand &operand : op->getOpOperands())
      if (isFalseWith(op, operand.getOperandNumber()))
        worklist.push_back(operand.get());
  }
  return flags;
}

bool GuardAnalysis::isFalse(Value condition, const llvm::BitVector &off) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return false;
  for (auto [index, check] : llvm::enumerate(checks))
    if (op == check && op->getResult(check.getFiniteFlagResult()) == condition)
      return off.test(index);
  SmallVector<unsigned> known;
  for (OpOperand &operand : op->getOpOperands())
    if (getFalse(operand.get().getType()) && isFalse(operand.get(), off))
      known.push_back(operand.getOperandNumber());
  return !known.empty() && isFalseWith(op, known);
}

//===----------------------------------------------------------------------===//
// Old values
//===----------------------------------------------------------------------===//

llvm::BitVector GuardAnalysis::getKeepers(Value value, BlockArgument old) {
  if (value == old)
    return llvm::BitVector(checks.size(), true);
  if (std::optional<Choice> choice = getChoice(value)) {
    llvm::BitVector keepers = getFlags(choice->condition);
    keepers |= getKeepers(choice->good, old);
    keepers &= getKeepers(choice->bad, old);
    return keepers;
  }
  // A check in a loop has to keep what its iteration begins with.
  if (std::optional<Carried> carried = getCarried(value)) {
    llvm::BitVector keepers = getKeepers(carried->yielded, carried->argument);
    llvm::BitVector before = getKeepers(carried->init, old);
    for (auto [index, check] : llvm::enumerate(checks))
      if (!carried->loop->isProperAncestor(check) && !before.test(index))
        keepers.reset(index);
    return keepers;
  }
  if (Value input = skipCast(value, old))
    return getKeepers(input, old);
  if (const Update *master = findMaster(value, old))
    return getKeepers(master->value, master->old);
  return llvm::BitVector(checks.size());
}

/// Returns the state whose new value `value` rounds, if it does no more: a low
/// copy of a master is what it was where the master is.
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

bool GuardAnalysis::isKept(Value value, BlockArgument old,
                           const llvm::BitVector &off) {
  if (value == old)
    return true;
  if (std::optional<Choice> choice = getChoice(value))
    return (isFalse(choice->condition, off) ||
            isKept(choice->good, old, off)) &&
           isKept(choice->bad, old, off);
  if (std::optional<Carried> carried = getCarried(value))
    return isKept(carried->yielded, carried->argument, off) &&
           isKept(carried->init, old, off);
  if (Value input = skipCast(value, old))
    return isKept(input, old, off);
  const Update *master = findMaster(value, old);
  return master && isKept(master->value, master->old, off);
}

//===----------------------------------------------------------------------===//
// Dependence
//===----------------------------------------------------------------------===//

GuardAnalysis::GuardAnalysis(FunctionOpInterface function,
                             ScaleDegreeAnalysis &degrees)
    : function(function), degrees(degrees) {
  findUpdates();
  findDynamicScales();
  findSources();
}

void GuardAnalysis::findUpdates() {
  DenseMap<StringAttr, SmallVector<BlockArgument, 1>> arguments;
  for (BlockArgument argument : function.getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), AMPDialect::kNameAttr))
      arguments[name].push_back(argument);
  Operation *last = function.getFunctionBody().back().getTerminator();
  for (OpOperand &operand : last->getOpOperands()) {
    auto name = operand.getOperandNumber() < function.getNumResults()
                    ? function.getResultAttrOfType<StringAttr>(
                          operand.getOperandNumber(), AMPDialect::kUpdatesAttr)
                    : StringAttr();
    if (name)
      for (BlockArgument old : arguments.lookup(name))
        results.push_back(
            {name, old, operand.get(),
             function.getArgAttrOfType<StringAttr>(
                 old.getArgNumber(), AMPDialect::kOptimizerAttr)});
  }
}

void GuardAnalysis::findDynamicScales() {
  function->walk([&](LossScaleOpInterface op) {
    if (op.getFiniteFlagOperand() < 0)
      return;
    updates.push_back(op);
    dynamic.insert(degrees.getSymbol(op->getOperand(op.getLossScaleOperand())));
  });
  // Updated by operations that are none of ours.
  for (const Update &update : results)
    if (getRole(update.old) == Role::ScalerState &&
        update.value != update.old && degrees.isScale(update.old))
      dynamic.insert(degrees.getSymbol(update.old));
}

void GuardAnalysis::findSources() {
  if (dynamic.empty())
    return;
  function->walk([&](LossScaleOpInterface op) {
    if (op.getFiniteFlagResult() >= 0 &&
        dynamic.contains(
            degrees.getSymbol(op->getOperand(op.getLossScaleOperand())))) {
      numbers[op] = checks.size();
      checks.push_back(op);
    }
  });
  function->walk([&](Operation *op) {
    if (numbers.contains(op) || op == function ||
        isa<RegionBranchOpInterface>(op) ||
        op->hasTrait<OpTrait::IsTerminator>())
      return;
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    if (llvm::none_of(read, [&](Value value) {
          return !degrees.isScale(value) && isDynamic(degrees.getDegree(value));
        }))
      return;
    // Zeros and loss scales are no gradients.
    if (llvm::any_of(op->getResults(), [&](Value value) {
          return isa<FloatType>(getElementTypeOrSelf(value)) &&
                 degrees.knows(value) && !degrees.isScale(value) &&
                 !degrees.getDegree(value).isAny() &&
                 !isDynamic(degrees.getDegree(value));
        })) {
      numbers[op] = checks.size() + unchecked.size();
      unchecked.push_back(op);
    }
  });
}

void GuardAnalysis::visit(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &nested : block)
        visit(&nested);

  // A guard lets through what its branch computes only if all is finite.
  if (op->getNumResults() != 0 && getChoice(op->getResult(0))) {
    for (OpResult result : op->getResults()) {
      std::optional<Choice> choice = getChoice(result);
      if (!choice)
        continue;
      llvm::BitVector flags = getFlags(choice->condition);
      flags.resize(checks.size() + unchecked.size());
      Dependence sum = get(choice->good);
      sum.unguarded.reset(flags);
      sum.unguarded |= get(choice->bad).unguarded;
      sum.all |= get(choice->bad).all;
      depends[result] = sum;
    }
    return;
  }
  unsigned size = checks.size() + unchecked.size();
  Dependence sum = {llvm::BitVector(size), llvm::BitVector(size)};
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        read.insert(block.getTerminator()->operand_begin(),
                    block.getTerminator()->operand_end());
  for (Value value : read) {
    Dependence &of = get(value);
    sum.unguarded |= of.unguarded;
    sum.all |= of.all;
  }
  int flag = -1;
  if (auto it = numbers.find(op); it != numbers.end()) {
    // What is not finite before a check is not finite in it.
    if (it->second < checks.size()) {
      flag = checks[it->second].getFiniteFlagResult();
      sum.unguarded.reset(checks.size(), size);
      sum.all.reset(checks.size(), size);
    }
    sum.unguarded.set(it->second);
    sum.all.set(it->second);
  }
  for (OpResult result : op->getResults())
    if (static_cast<int>(result.getResultNumber()) != flag)
      depends[result] = sum;
}

//===----------------------------------------------------------------------===//
// The proof
//===----------------------------------------------------------------------===//

LogicalResult GuardAnalysis::check(const Update &update) {
  const Dependence &of = get(update.value);
  Location loc = update.value.getLoc();
  if (int index = of.unguarded.find_first(); index >= 0) {
    bool isChecked = index < static_cast<int>(checks.size());
    InFlightDiagnostic diagnostic =
        emitError(loc) << "the update of " << update.name
                       << " depends on gradients that may not be finite, "
                          "expected it within an 'scf.if' on the conjunction "
                          "of their finite flags";
    diagnostic.attachNote(isChecked
                              ? checks[index]->getLoc()
                              : unchecked[index - checks.size()]->getLoc())
        << (isChecked ? "these gradients are unscaled and checked here"
                      : "they are unscaled here without a check, expected an "
                        "operation that gives a flag, such as 'amp.unscale'");
    return diagnostic;
  }
  if (checks.empty() || update.value == update.old)
    return success();

  llvm::BitVector needed = of.all;
  needed.resize(checks.size());
  if (needed.any()) {
    needed.reset(getKeepers(update.value, update.old));
    int index = needed.find_first();
    if (index < 0)
      return success();
    InFlightDiagnostic diagnostic =
        emitError(loc) << "the update of " << update.name
                       << " does not give the old value back where gradients "
                          "are not finite, expected the argument from the "
                          "'else' branch of its guard";
    diagnostic.attachNote(checks[index]->getLoc())
        << "these gradients are unscaled and checked here";
    return diagnostic;
  }
  // A count of steps, or decay without a gradient.
  auto it = byOptimizer.find(update.optimizer);
  if (isKept(update.value, update.old,
             it != byOptimizer.end() && it->second.any()
                 ? it->second
                 : llvm::BitVector(checks.size(), true)))
    return success();
  return emitError(loc)
         << "the update of " << update.name
         << " is made even if no gradient of its optimizer is finite, expected "
            "it within the guard";
}

LogicalResult GuardAnalysis::check(LossScaleOpInterface update) {
  Value scale = update->getOperand(update.getLossScaleOperand());
  ScaleDegree::Symbol symbol = degrees.getSymbol(scale);
  auto first = dyn_cast_or_null<LossScaleOpInterface>(
      degrees.getScale(symbol).getDefiningOp());
  if (first && first.getFiniteFlagOperand() >= 0) {
    InFlightDiagnostic diagnostic = update->emitOpError(
        "updates a scale that was updated before, expected one update of each "
        "scale in a step");
    diagnostic.attachNote(first->getLoc()) << "it is updated here";
    return diagnostic;
  }
  // The scale must learn of every overflow.
  llvm::BitVector flags =
      getFlags(update->getOperand(update.getFiniteFlagOperand()));
  LogicalResult result = success();
  for (auto [index, check] : llvm::enumerate(checks))
    if (degrees.getSymbol(check->getOperand(check.getLossScaleOperand())) ==
            symbol &&
        !flags.test(index)) {
      InFlightDiagnostic diagnostic =
          update->emitOpError("does not see the finite flag of all gradients "
                              "that its scale divides, expected their "
                              "conjunction");
      diagnostic.attachNote(check->getLoc()) << "this one is missing";
      result = diagnostic;
    }
  return result;
}

Value GuardAnalysis::getUpdatedScale(Value value) const {
  while (auto update =
             dyn_cast_or_null<LossScaleOpInterface>(value.getDefiningOp())) {
    int result = update.getLossScaleResult();
    if (result < 0 || update->getResult(result) != value)
      break;
    Value scale = update->getOperand(update.getLossScaleOperand());
    value = degrees.getScale(degrees.getSymbol(scale));
  }
  return value;
}

LogicalResult GuardAnalysis::checkScale(const Update &update) {
  ScaleDegree::Symbol symbol = degrees.getSymbol(update.old);
  // Each scale follows the overflows of its own gradients.
  auto made = dyn_cast<BlockArgument>(getUpdatedScale(update.value));
  if (made && made != update.value &&
      made.getOwner() == &function.getFunctionBody().front() &&
      degrees.getSymbol(made) != symbol) {
    InFlightDiagnostic diagnostic = emitError(update.value.getLoc())
                                    << "the update of " << update.name
                                    << " is the new value of ";
    if (auto name = function.getArgAttrOfType<StringAttr>(
            made.getArgNumber(), AMPDialect::kNameAttr))
      diagnostic << name;
    else
      diagnostic << "another scale";
    diagnostic << ", expected that of its own scale";
    return diagnostic;
  }
  // A scale that stays as it is after an overflow never falls: the next step
  // overflows, too.
  llvm::BitVector keepers = getKeepers(update.value, update.old);
  for (auto [index, check] : llvm::enumerate(checks)) {
    if (!keepers.test(index) || degrees.getSymbol(check->getOperand(
                                    check.getLossScaleOperand())) != symbol)
      continue;
    InFlightDiagnostic diagnostic =
        emitError(update.value.getLoc())
        << "the update of " << update.name
        << " gives the old scale back where gradients are not finite, expected "
           "the new one, which is updated outside of the guard";
    diagnostic.attachNote(check->getLoc())
        << "these gradients are unscaled and checked here";
    return diagnostic;
  }
  return success();
}

LogicalResult GuardAnalysis::check() {
  if (dynamic.empty())
    return success();
  // Twice, so that what a loop carries back is known.
  for (int round = 0; round != 2; ++round)
    for (Block &block : function.getFunctionBody())
      for (Operation &op : block)
        visit(&op);
  bool failed = false;
  for (const Update &update : results)
    if (getRole(update.old) == Role::ScalerState &&
        degrees.isScale(update.old) &&
        dynamic.contains(degrees.getSymbol(update.old)))
      failed |= mlir::failed(checkScale(update));
  llvm::erase_if(results, [&](const Update &update) {
    std::optional<Role> role = getRole(update.old);
    return role != Role::Parameter && role != Role::OptimizerState;
  });
  for (const Update &update : results) {
    llvm::BitVector &of = byOptimizer[update.optimizer];
    of.resize(checks.size());
    llvm::BitVector all = get(update.value).all;
    all.resize(checks.size());
    of |= all;
  }
  for (const Update &update : results)
    failed |= mlir::failed(check(update));
  for (LossScaleOpInterface update : updates)
    failed |= mlir::failed(check(update));
  return failure(failed);
}

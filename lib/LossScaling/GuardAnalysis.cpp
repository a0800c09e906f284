//===- GuardAnalysis.cpp - Proof that guards keep the state ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/GuardAnalysis.h"

#include "amp/LossScaling/ValueOrigins.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Old values
//===----------------------------------------------------------------------===//

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
    // A condition that does not depend on overflows, such as the end of a
    // window, is up to the step.
    if (!flags.readsFlag(choice->condition)) {
      good &= bad;
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

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

GuardAnalysis::GuardAnalysis(FunctionOpInterface function,
                             ScaleExponentAnalysis &exponents,
                             bool allowUnverified)
    : function(function), exponents(exponents),
      scalers(function, exponents, flags, updates, allowUnverified) {
  findUpdates();
  findDynamicScales();
  if (dynamic.empty())
    return;
  findChecks();
  findSources();
  findInfinities();
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
    dynamic.insert(getScale(op));
  });
  // Scales that other operations update.
  for (const Update &update : results)
    if (getRole(update.old) == Role::ScalerState &&
        update.value != update.old && exponents.isScale(update.old))
      dynamic.insert(exponents.getSymbol(update.old));
}

bool GuardAnalysis::isDynamic(ScaleExponent::Symbol symbol) const {
  if (llvm::any_of(dynamic, [&](ScaleExponent::Symbol other) {
        return exponents.dependsOn(symbol, other);
      }))
    return true;
  // The scale was updated, or control flow changes it.
  Value scale = exponents.getScale(symbol);
  if (dynamic.empty())
    return false;
  if (auto argument = dyn_cast<BlockArgument>(scale))
    return argument.getOwner()->getParentOp() != function;
  auto op = dyn_cast<LossScaleOpInterface>(scale.getDefiningOp());
  return isa<RegionBranchOpInterface>(scale.getDefiningOp()) ||
         (op && op.getFiniteFlagOperand() >= 0);
}

//===----------------------------------------------------------------------===//
// Dependence
//===----------------------------------------------------------------------===//

void GuardAnalysis::set(Value value, const Dependence &dependence) {
  Dependence &entry = get(value);
  if (entry == dependence)
    return;
  entry = dependence;
  hasChanged = true;
}

/// A guard returns what its branch computes only if all gradients are finite.
void GuardAnalysis::visitChoice(Operation *op) {
  for (OpResult result : op->getResults()) {
    std::optional<Choice> choice = getChoice(result);
    if (!choice)
      continue;
    Dependence good = get(choice->good), bad = get(choice->bad);
    llvm::BitVector no = flags.getForcing(choice->condition, false);
    llvm::BitVector yes = flags.getForcing(choice->condition, true);
    no.resize(size());
    yes.resize(size());
    for (auto [index, source] : llvm::enumerate(unchecked))
      if (unsigned bit = flags.size() + index;
          source.example &&
          (good.unguarded.test(bit) || bad.unguarded.test(bit)))
        if (std::optional<bool> known =
                source.example->getBool(choice->condition))
          (*known ? yes : no).set(bit);
    good.unguarded.reset(no);
    bad.unguarded.reset(yes);
    good.unguarded |= bad.unguarded;
    good.all |= bad.all;
    set(result, good);
  }
}

void GuardAnalysis::visitRegions(RegionBranchOpInterface op) {
  RegionBranchSuccessorMapping mapping;
  op.getSuccessorOperandInputMapping(mapping);
  Dependence shared = {llvm::BitVector(size()), llvm::BitVector(size())};
  DenseMap<Value, Dependence> inputs;
  // An iteration in which a gradient overflows need not keep a state that
  // depends on this gradient only through earlier iterations.
  llvm::BitVector within(size());
  if (isa<LoopLikeOpInterface>(op.getOperation()))
    for (LossScaleOpInterface check : flags.getChecks())
      if (op->isProperAncestor(check))
        within |= *flags.find(check);
  auto isBackEdge = [&](Operation *holder, Value input) {
    auto argument = dyn_cast<BlockArgument>(input);
    return holder != op && argument &&
           argument.getParentRegion()->getRegionNumber() <=
               holder->getParentRegion()->getRegionNumber();
  };
  auto visitOperands = [&](Operation *holder) {
    for (OpOperand &operand : holder->getOpOperands()) {
      auto it = mapping.find(&operand);
      // A value that decides where control goes affects all values.
      if (it == mapping.end() || it->second.empty()) {
        add(shared, operand.get());
        continue;
      }
      for (Value input : it->second) {
        Dependence &sum = inputs[input];
        sum.unguarded.resize(size());
        sum.all.resize(size());
        Dependence of = get(operand.get());
        if (isBackEdge(holder, input))
          of.all.reset(within);
        sum.unguarded |= of.unguarded;
        sum.all |= of.all;
      }
    }
  };
  visitOperands(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        visitOperands(block.getTerminator());
  auto pass = [&](Value value) {
    Dependence sum = shared;
    if (auto it = inputs.find(value); it != inputs.end()) {
      sum.unguarded |= it->second.unguarded;
      sum.all |= it->second.all;
    }
    set(value, sum);
  };
  for (Region &region : op->getRegions())
    llvm::for_each(region.getArguments(), pass);
  llvm::for_each(op->getResults(), pass);
}

void GuardAnalysis::visit(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &nested : block)
        visit(&nested);
  if (op->getNumResults() != 0 && getChoice(op->getResult(0)))
    return visitChoice(op);
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    return visitRegions(branch);
  Dependence sum = {llvm::BitVector(size()), llvm::BitVector(size())};
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() != 0)
    getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        read.insert(block.getTerminator()->operand_begin(),
                    block.getTerminator()->operand_end());
  for (Value value : read)
    add(sum, value);
  int flag = -1;
  if (auto it = sources.find(op); it != sources.end()) {
    // A value that is not finite before a check fails the check too.
    if (flags.find(op)) {
      flag = cast<LossScaleOpInterface>(op).getFiniteFlagResult();
      sum.unguarded.reset(flags.size(), size());
      sum.all.reset(flags.size(), size());
    }
    sum.unguarded |= it->second;
    sum.all |= it->second;
  }
  for (OpResult result : op->getResults()) {
    if (static_cast<int>(result.getResultNumber()) == flag)
      continue;
    Dependence of = sum;
    // An infinity that a minimum or a division removes goes no further.
    for (int bit = of.unguarded.find_next(static_cast<int>(flags.size()) - 1);
         bit >= 0; bit = of.unguarded.find_next(bit))
      if (const Unchecked &source = unchecked[bit - flags.size()];
          source.example && source.op != op &&
          isFiniteIn(*source.example, result))
        of.unguarded.reset(bit);
    set(result, of);
  }
}

//===----------------------------------------------------------------------===//
// The proof
//===----------------------------------------------------------------------===//

LogicalResult GuardAnalysis::failUnguarded(const Update &update,
                                           unsigned source) {
  InFlightDiagnostic diagnostic = emitError(update.value.getLoc())
                                  << "the update of " << update.name
                                  << " depends on gradients that may not be "
                                     "finite, ";
  if (source < flags.size()) {
    diagnostic << "expected it within an 'scf.if' on the conjunction of their "
                  "finite flags";
    diagnostic.attachNote(flags.getCheck(source)->getLoc())
        << "these gradients are unscaled and checked here";
    return diagnostic;
  }
  const Unchecked &of = unchecked[source - flags.size()];
  if (of.example) {
    diagnostic << "expected no operation after their check that computes an "
                  "infinity from finite gradients";
    diagnostic.attachNote(of.op->getLoc())
        << "what this computes can be infinite although the gradients are not";
    return diagnostic;
  }
  diagnostic << "expected it within an 'scf.if' on the conjunction of their "
                "finite flags";
  diagnostic.attachNote(of.op->getLoc())
      << "they are unscaled here without a check, expected an operation that "
         "gives a flag, such as 'amp.unscale'";
  return diagnostic;
}

LogicalResult GuardAnalysis::checkUpdate(const Update &update) {
  const Dependence &of = get(update.value);
  Location loc = update.value.getLoc();
  if (int index = of.unguarded.find_first(); index >= 0)
    return failUnguarded(update, index);
  if (flags.size() == 0 || update.value == update.old)
    return success();

  llvm::BitVector needed = of.all;
  needed.resize(flags.size());
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
    diagnostic.attachNote(flags.getCheck(index)->getLoc())
        << "these gradients are unscaled and checked here";
    return diagnostic;
  }
  // A count of steps, or decay without a gradient.
  auto *it = byOptimizer.find(update.optimizer);
  keptIfOff.clear();
  if (isKept(update.value, update.old,
             it != byOptimizer.end() && it->second.any()
                 ? it->second
                 : llvm::BitVector(flags.size(), true)))
    return success();
  return emitError(loc)
         << "the update of " << update.name
         << " is made even if no gradient of its optimizer is finite, expected "
            "it within the guard";
}

bool GuardAnalysis::goesThrough(Value value, Operation *loop) const {
  llvm::SetVector<Value> reached;
  reached.insert(skipMoves(value));
  for (size_t next = 0; next < reached.size(); ++next) {
    value = reached[next];
    if (std::optional<Choice> choice = getChoice(value)) {
      reached.insert(skipMoves(choice->good));
      reached.insert(skipMoves(choice->bad));
    } else if (std::optional<Carried> carried = getCarried(value)) {
      if (carried->loop == loop)
        return true;
      reached.insert(skipMoves(carried->yielded));
      reached.insert(skipMoves(carried->init));
    } else if (CastLike cast{value.getDefiningOp()}) {
      reached.insert(skipMoves(cast.getInput()));
    }
  }
  return false;
}

LogicalResult GuardAnalysis::checkOnce(LossScaleOpInterface update) {
  Operation *loop = update->getParentOp();
  while (loop != function && !isa<LoopLikeOpInterface>(loop))
    loop = loop->getParentOp();
  ScaleExponent::Symbol symbol = getScale(update);
  bool isChecked =
      llvm::any_of(flags.getChecks(), [&](LossScaleOpInterface check) {
        return exponents.dependsOn(getScale(check), symbol) &&
               (loop == function || loop->isProperAncestor(check));
      });
  auto first = dyn_cast_or_null<LossScaleOpInterface>(
      skipMoves(exponents.getScale(symbol)).getDefiningOp());
  if (std::optional<Carried> carried = getCarried(exponents.getScale(symbol)))
    first = dyn_cast_or_null<LossScaleOpInterface>(
        skipMoves(carried->yielded).getDefiningOp());
  if (!isChecked && first && first.getFiniteFlagOperand() >= 0) {
    InFlightDiagnostic diagnostic = update->emitOpError(
        "updates a scale that was updated before, expected one update of each "
        "scale in a step");
    diagnostic.attachNote(first->getLoc()) << "it is updated here";
    return diagnostic;
  }
  if (loop == function)
    return success();
  bool steps = false, isStep = false;
  for (const Update &of : results)
    if (std::optional<Role> role = getRole(of.old);
        role == Role::Parameter || role == Role::OptimizerState) {
      isStep = true;
      steps |= goesThrough(of.value, loop);
    }
  if (isChecked && (steps || !isStep))
    return success();
  InFlightDiagnostic diagnostic =
      update->emitOpError("updates a scale in each iteration of a loop that ");
  diagnostic << (isChecked ? "updates no parameter"
                           : "unscales no gradients by it")
             << ", expected one update of each scale in a step";
  diagnostic.attachNote(loop->getLoc()) << "this is the loop";
  return diagnostic;
}

LogicalResult GuardAnalysis::checkUpdateOp(LossScaleOpInterface update) {
  if (failed(checkOnce(update)))
    return failure();
  ScaleExponent::Symbol symbol = getScale(update);
  // The scale must learn of every overflow.
  llvm::BitVector known = flags.getForcing(
      update->getOperand(update.getFiniteFlagOperand()), false);
  flags.addSame(known);
  LogicalResult result = success();
  for (LossScaleOpInterface check : flags.getChecks()) {
    llvm::BitVector missing = *flags.find(check);
    missing.reset(known);
    if (!exponents.dependsOn(getScale(check), symbol) || missing.none())
      continue;
    InFlightDiagnostic diagnostic =
        update->emitOpError("does not see the finite flag of all gradients "
                            "that its scale divides, expected their "
                            "conjunction");
    diagnostic.attachNote(check->getLoc()) << "this one is missing";
    result = diagnostic;
  }
  return result;
}

LogicalResult GuardAnalysis::checkStates() {
  if (llvm::none_of(results, [&](const Update &update) {
        return exponents.isScale(update.old);
      }))
    return success();
  bool failed = false;
  for (LossScaleOpInterface update : updates)
    for (OpOperand &operand : update->getOpOperands()) {
      auto old = dyn_cast<BlockArgument>(skipMoves(operand.get()));
      if (!old || old.getOwner()->getParentOp() != function ||
          update.getNewStateResult(operand.getOperandNumber()) < 0 ||
          llvm::any_of(results,
                       [&](const Update &of) { return of.old == old; }))
        continue;
      auto name = function.getArgAttrOfType<StringAttr>(old.getArgNumber(),
                                                        AMPDialect::kNameAttr);
      if (!name || getRole(old) != Role::ScalerState)
        continue;
      InFlightDiagnostic diagnostic =
          emitError(old.getLoc())
          << "the state " << name
          << " of the scaler is not updated, expected a result with "
             "'amp.updates' that names it";
      diagnostic.attachNote(update->getLoc()) << "its new value is here";
      failed = true;
    }
  return failure(failed);
}

LogicalResult GuardAnalysis::checkScalers() {
  bool failed = false;
  auto isScale = [&](const Update &update) {
    return exponents.isScale(update.old) &&
           dynamic.contains(exponents.getSymbol(update.old));
  };
  for (const Update &update : results) {
    if (getRole(update.old) != Role::ScalerState || !isScale(update))
      continue;
    // A scale that an overflow does not change never falls. The next step
    // overflows too.
    llvm::BitVector keepers = getMayKeep(update.value, update.old);
    LossScaleOpInterface kept;
    for (LossScaleOpInterface check : flags.getChecks())
      if (flags.find(check)->anyCommon(keepers) &&
          exponents.dependsOn(getScale(check), exponents.getSymbol(update.old)))
        kept = kept ? kept : check;
    if (!kept) {
      failed |= mlir::failed(
          scalers.checkScale({update.name, update.old, update.value}));
      continue;
    }
    InFlightDiagnostic diagnostic =
        emitError(update.value.getLoc())
        << "the update of " << update.name
        << " gives the old scale back where gradients are not finite, expected "
           "the new one, which is updated outside of the guard";
    diagnostic.attachNote(kept->getLoc())
        << "these gradients are unscaled and checked here";
    failed = true;
  }
  failed |= mlir::failed(checkStates());
  for (const Update &update : results)
    if (getRole(update.old) == Role::ScalerState && !isScale(update))
      failed |= mlir::failed(
          scalers.checkTracker({update.name, update.old, update.value}));
  return failure(failed);
}

LogicalResult GuardAnalysis::check() {
  if (dynamic.empty())
    return success();
  // Repeat until the values that loops carry are stable.
  do {
    hasChanged = false;
    for (Block &block : function.getFunctionBody())
      for (Operation &op : block)
        visit(&op);
  } while (hasChanged);
  bool failed = mlir::failed(checkScalers());
  llvm::erase_if(results, [&](const Update &update) {
    std::optional<Role> role = getRole(update.old);
    return role != Role::Parameter && role != Role::OptimizerState;
  });
  for (const Update &update : results) {
    llvm::BitVector &of = byOptimizer[update.optimizer];
    of.resize(flags.size());
    llvm::BitVector all = get(update.value).all;
    all.resize(flags.size());
    of |= all;
  }
  for (const Update &update : results)
    failed |= mlir::failed(checkUpdate(update));
  for (LossScaleOpInterface update : updates)
    failed |= mlir::failed(checkUpdateOp(update));
  return failure(failed);
}

//===- GuardAnalysis.cpp - Values that depend on an overflow --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/GuardAnalysis.h"

#include "amp/LossScaling/ValueOrigins.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

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
  findExchanges();
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
  if (auto it = exchanges.find(op);
      it != exchanges.end() && sum.unguarded.any())
    sum.unguarded.set(it->second);
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

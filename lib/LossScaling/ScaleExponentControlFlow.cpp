//===- ScaleExponentControlFlow.cpp - Exponents through calls and regions -===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls, branches and loops. A called function is analysed once for each tuple
// of exponents of its arguments. The body of a loop is visited again while the
// exponents of its carried values change.
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ScaleExponentAnalysis.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

const ScaleExponentAnalysis::Summary *
ScaleExponentAnalysis::summarize(FunctionOpInterface callee,
                                 ArrayRef<ScaleExponent> arguments) {
  auto &known = shared->summaries[callee];
  for (const auto &summary : known)
    if (llvm::equal(summary->arguments, arguments))
      return summary.get();
  ScaleExponentAnalysis nested(tables, symbols, linear, shared);
  if (failed(nested.run(callee, arguments)))
    return nullptr;
  auto summary = std::make_unique<Summary>();
  summary->arguments.assign(arguments.begin(), arguments.end());
  summary->results.resize(callee.getNumResults());
  for (Block &block : callee.getFunctionBody())
    if (Operation *last = block.getTerminator();
        last->getNumOperands() == callee.getNumResults())
      for (auto [result, operand] :
           llvm::zip_equal(summary->results, last->getOperands())) {
        result.exponent = nested.getExponent(operand);
        result.isScale |= nested.isScale(operand);
        if (auto it = nested.conditions.find(operand);
            it != nested.conditions.end())
          result.condition = it->second;
      }
  return shared->summaries[callee].emplace_back(std::move(summary)).get();
}

LogicalResult ScaleExponentAnalysis::visitCall(Operation *op) {
  FunctionOpInterface callee = resolve(op);
  if (!callee)
    return visitUnknown(op);
  // A scale that is passed to a callee is the caller's scale.
  SmallVector<ScaleExponent> arguments;
  for (Value operand : cast<CallOpInterface>(op).getArgOperands())
    arguments.push_back(getExponent(operand));
  const Summary *summary = summarize(callee, arguments);
  if (!summary)
    return failure();
  for (auto [result, found] : llvm::zip(op->getResults(), summary->results)) {
    set(result, found.exponent);
    if (found.isScale)
      scales.insert(result);
    if (found.condition)
      conditions.try_emplace(result, *found.condition);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

LogicalResult ScaleExponentAnalysis::carry(OpOperand &operand, Value input,
                                           Operation *op, bool &changed) {
  ScaleExponent exponent = getExponent(operand.get());
  // A carried scale is a new scale in each iteration.
  if (scales.contains(input)) {
    if (isOfScaler(operand.get()) || exponent.isUnscaled())
      return success();
  }
  // A value that a branch computes from the state of the scaler is a new scale
  // outside of the branch.
  if (isOfScaler(operand.get()) && !isa<LoopLikeOpInterface>(op) &&
      llvm::any_of(exponent.getTerms(), [&](const ScaleExponent::Term &term) {
        return op->isAncestor(
            symbols.getValue(term.symbol).getParentBlock()->getParentOp());
      })) {
    scales.insert(input);
    set(input, {});
    symbols.derive(symbols.get(getRoot(input)), exponent);
    changed = true;
    return success();
  }
  // So no value that is multiplied by an inner scale leaves its iteration.
  for (const ScaleExponent::Term &term : exponent.getTerms())
    if (op->isProperAncestor(
            symbols.getValue(term.symbol).getParentBlock()->getParentOp()) ||
        symbols.getValue(term.symbol).getParentBlock()->getParentOp() == op) {
      InFlightDiagnostic diagnostic =
          operand.getOwner()->emitOpError()
          << "carries a value that is multiplied by "
          << symbols.describe(exponent)
          << ", a scale of this iteration alone, expected it to be unscaled";
      explain(operand.get(), *diagnostic.getUnderlyingDiagnostic());
      return diagnostic;
    }
  auto [it, isNew] = exponents.try_emplace(input, exponent);
  if (isNew) {
    changed = true;
    return success();
  }
  std::optional<ScaleExponent> joined = it->second.join(exponent);
  if (!joined) {
    InFlightDiagnostic diagnostic = operand.getOwner()->emitOpError()
                                    << "carries a value that is multiplied by "
                                    << symbols.describe(exponent)
                                    << " to where another one is multiplied by "
                                    << symbols.describe(it->second)
                                    << ", expected one factor";
    explain(operand.get(), *diagnostic.getUnderlyingDiagnostic());
    return diagnostic;
  }
  changed |= *joined != it->second;
  it->second = *joined;
  return success();
}

using Ties = ScaleExponentAnalysis::Ties;

/// Returns what `op`, a loop whose iterations combine their results in
/// parallel, passes to its body and its results, and the values that the
/// terminator of the body passes. A destination is the same tensor throughout.
static std::pair<Ties, Ties> getCombined(LoopLikeOpInterface op,
                                         InParallelOpInterface terminator) {
  std::pair<Ties, Ties> ties;
  auto style = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
  if (!style)
    return ties;
  DenseMap<Value, Value> results;
  for (OpOperand &init : op.getInitsMutable()) {
    BlockArgument argument = op.getTiedLoopRegionIterArg(&init);
    if (!argument || !style.isDpsInit(&init))
      continue;
    Value result = style.getTiedOpResult(&init);
    results[argument] = result;
    ties.first.push_back({&init, argument});
    ties.first.push_back({&init, result});
  }
  for (Operation &inner : terminator.getYieldingOps()) {
    auto combiner = dyn_cast<ParallelCombiningOpInterface>(inner);
    if (!combiner)
      return {};
    for (OpOperand &destination : combiner.getUpdatedDestinations()) {
      auto it = results.find(destination.get());
      if (it == results.end())
        return {};
      for (OpOperand &operand : inner.getOpOperands())
        if (isa<FloatType>(getElementTypeOrSelf(operand.get()))) {
          ties.second.push_back({&operand, it->first});
          ties.second.push_back({&operand, it->second});
        }
    }
  }
  return ties;
}

/// Finds the values that an operation forwards which a rule declares to be
/// control flow. `holders` are the operation and the terminators of its
/// regions. Returns whether the operation has the form of the rule.
static bool tieByRule(Operation *op, const LinearRule &rule,
                      MutableArrayRef<std::pair<Operation *, Ties>> holders) {
  auto tie = [](std::pair<Operation *, Ties> &holder, ValueRange to) {
    if (holder.first->getNumOperands() != to.size())
      return false;
    for (auto [operand, input] :
         llvm::zip_equal(holder.first->getOpOperands(), to))
      holder.second.push_back({&operand, input});
    return true;
  };
  MutableArrayRef<std::pair<Operation *, Ties>> yields = holders.drop_front();
  if (yields.empty() || yields.size() != op->getNumRegions())
    return false;
  if (rule.kind == LinearRule::Kind::Branch)
    return llvm::all_of(yields, [&](auto &yield) {
      return yield.first->getParentRegion()->getNumArguments() == 0 &&
             tie(yield, op->getResults());
    });
  if (rule.kind == LinearRule::Kind::Body)
    return yields.size() == 1 &&
           tie(holders.front(), op->getRegion(0).getArguments()) &&
           tie(yields.front(), op->getResults());
  for (std::pair<Operation *, Ties> *holder :
       {&holders.front(), &yields.back()}) {
    for (Region &region : op->getRegions())
      if (!tie(*holder, region.getArguments()))
        return false;
    if (!tie(*holder, op->getResults()))
      return false;
  }
  return true;
}

/// Spreads the conditions that `holder` forwards by `ties`. Sets `decided` to
/// one that it does not forward, which decides where control goes.
void ScaleExponentAnalysis::spreadTies(
    Operation *holder, const Ties &ties,
    std::optional<ScaleExponent::Symbol> &decided, bool &changed) {
  for (OpOperand &operand : holder->getOpOperands()) {
    auto it = conditions.find(operand.get());
    if (it == conditions.end())
      continue;
    ScaleExponent::Symbol symbol = it->second;
    bool isTied = false;
    for (auto [from, input] : ties)
      if (from == &operand) {
        isTied = true;
        changed |= conditions.try_emplace(input, symbol).second;
      }
    if (!isTied)
      decided = symbol;
  }
}

bool ScaleExponentAnalysis::isOfScalerAlone(Value result,
                                            ArrayRef<Holder> holders) const {
  return llvm::all_of(holders, [&](const Holder &holder) {
    return llvm::all_of(holder.second, [&](auto &tie) {
      return tie.second != result || isOfScaler(tie.first->get());
    });
  });
}

LogicalResult ScaleExponentAnalysis::visitRegions(Operation *op) {
  // Program order makes diagnostics deterministic. An operation with a body
  // represents its terminator too.
  SmallVector<std::pair<Operation *, Ties>> holders = {{op, {}}};
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  const LinearRule *rule = findRule(op);
  if (rule && !rule->isControlFlow())
    rule = nullptr;
  RegionBranchSuccessorMapping mapping;
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    branch.getSuccessorOperandInputMapping(mapping);
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    if (!region.hasOneBlock())
      return visitUnknown(op);
    if (!region.front().mightHaveTerminator())
      continue;
    Operation *last = region.front().getTerminator();
    holders.push_back({last, {}});
    if (auto parallel = dyn_cast<InParallelOpInterface>(last); parallel && loop)
      std::tie(holders.front().second, holders.back().second) =
          getCombined(loop, parallel);
  }
  if (rule && !tieByRule(op, *rule, holders))
    return visitUnknown(op);
  for (auto &[holder, ties] : holders)
    if (ties.empty())
      for (OpOperand &operand : holder->getOpOperands())
        if (auto it = mapping.find(&operand); it != mapping.end())
          for (Value input : it->second)
            ties.push_back({&operand, input});

  // Nothing is known of values from other sources, such as a reduction.
  llvm::DenseSet<Value> tied;
  for (auto &[holder, ties] : holders)
    for (auto [operand, input] : ties)
      tied.insert(input);
  auto isUnknown = [&](Value value) {
    return !tied.contains(value) && holdsNumbers(value.getType());
  };
  if (llvm::any_of(op->getResults(), isUnknown))
    return visitUnknown(op);
  for (Region &region : op->getRegions())
    if (llvm::any_of(region.getArguments(), isUnknown))
      return visitUnknown(op);

  // Tied values keep the exponents of an earlier visit. Exponents only become
  // more definite, so an outer loop does not restart its inner loops.
  auto prepare = [&](Value value) {
    // Other values, such as induction variables, are not multiples of a scale.
    if (scales.contains(value) || !tied.contains(value))
      set(value, {});
  };
  for (Region &region : op->getRegions())
    llvm::for_each(region.getArguments(), prepare);
  llvm::for_each(op->getResults(), prepare);
  std::optional<ScaleExponent::Symbol> decided;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[holder, ties] : holders) {
      // Visit the body that ends with this terminator.
      if (holder != op && failed(visit(*holder->getBlock())))
        return failure();
      for (auto [operand, input] : ties)
        if (failed(carry(*operand, input, op, changed)))
          return failure();
      spreadTies(holder, ties, decided, changed);
    }
  }
  if (decided)
    for (Value result : op->getResults())
      if (getExponent(result).isUnscaled() || !isOfScalerAlone(result, holders))
        spread(result, *decided);
  return success();
}

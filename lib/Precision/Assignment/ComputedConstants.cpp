//===- ComputedConstants.cpp - Values computed from constants -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantFactors.h"

#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Precision/Assignment/SlotGraph.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// Returns the interval of `result` for the intervals `operands` of its
/// operation. The interface or a rule of the policy gives it.
FloatRange SlotGraph::inferComputed(OpResult result,
                                    ArrayRef<FloatRange> operands) const {
  Operation *op = result.getOwner();
  SmallVector<FloatRange> results(op->getNumResults(), FloatRange::unknown());
  if (auto rule = dyn_cast<FloatRangeOpInterface>(op))
    rule.inferFloatRanges(operands, results);
  else if (const FloatRangeRule *foreign = policy.findIntervalRule(op))
    results[result.getResultNumber()] = foreign->infer(op, operands);
  FloatRange range = results[result.getResultNumber()];
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(result.getType()));
  return type && !range.hasNoNumber() ? range.roundTo(type)
                                      : FloatRange::unknown();
}

/// Computes the intervals of values that are computed from constants alone, in
/// functions that call one another.
class SlotGraph::ComputedConstants {
public:
  explicit ComputedConstants(const SlotGraph &graph) : graph(graph) {
    for (Operation *op : graph.constants)
      if (auto elements = graph.readConstant(op))
        add(op->getResult(0), elements->range);
  }

  /// Calls `visit` for each value that an operation computes or that a call
  /// passes, with its interval.
  void run(llvm::function_ref<void(Value, const FloatRange &)> visit) {
    size_t constants = known.size();
    for (size_t next = 0; next < known.size(); ++next) {
      if (next >= constants)
        visit(known[next], intervals.lookup(known[next]));
      // `known` may grow and move.
      Value value = known[next];
      for (OpOperand &use : value.getUses())
        if (!pass(use))
          compute(use.getOwner());
    }
  }

private:
  static bool isFloat(Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value.getType()));
  }

  bool isKnown(Value value) const {
    return !isFloat(value) || intervals.contains(value);
  }

  void add(Value value, const FloatRange &range) {
    if (intervals.try_emplace(value, range).second)
      known.push_back(value);
  }

  /// Passes the value of `use` to an argument or to results of calls, once all
  /// values that may be passed are known. Returns whether `use` is such a use.
  bool pass(OpOperand &use) {
    Operation *op = use.getOwner();
    auto join = [&](Value to, ArrayRef<Value> from) {
      if (!isFloat(to) || from.empty() ||
          !llvm::all_of(from, [&](Value value) { return isKnown(value); }))
        return;
      FloatRange joined = intervals.lookup(from.front());
      for (Value value : from.drop_front())
        joined = joined.join(intervals.lookup(value));
      add(to, joined);
    };
    if (auto call = dyn_cast<CallOpInterface>(op)) {
      auto callee = dyn_cast_or_null<FunctionOpInterface>(
          call.resolveCallableInTable(&tables));
      unsigned index =
          use.getOperandNumber() - call.getArgOperands().getBeginOperandIndex();
      if (callee && index < callee.getNumArguments() && !callee.isExternal()) {
        Value argument = callee.getArgument(index);
        join(argument, graph.sources.get(argument));
      }
      return true;
    }
    if (!op->hasTrait<OpTrait::ReturnLike>() ||
        !isa<FunctionOpInterface>(op->getParentOp()))
      return false;
    // Another return may give another value.
    if (!op->getParentRegion()->hasOneBlock())
      return true;
    for (CallOpInterface call : graph.sources.getCalls(op->getParentOp()))
      if (use.getOperandNumber() < call->getNumResults())
        join(call->getResult(use.getOperandNumber()), use.get());
    return true;
  }

  void compute(Operation *op) {
    if (op->getNumRegions() != 0 || op->getNumResults() == 0 ||
        !llvm::all_of(op->getOperands(),
                      [&](Value value) { return isKnown(value); }) ||
        !computed.insert(op).second)
      return;
    SmallVector<FloatRange> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isFloat(operand) ? intervals.lookup(operand)
                                          : FloatRange::unknown());
    for (OpResult result : op->getResults())
      if (isFloat(result))
        add(result, graph.inferComputed(result, operands));
  }

  const SlotGraph &graph;
  SmallVector<Value> known;
  llvm::DenseMap<Value, FloatRange> intervals;
  llvm::DenseSet<Operation *> computed;
  SymbolTableCollection tables;
};

/// Denies slots of values that are computed from constants alone and may not
/// fit, as if they had been folded, and arguments with a single number that
/// the low type cannot represent. A constant is then rounded where data meets
/// it.
void SlotGraph::denyComputedConstants() {
  auto isBeyond = [&](double bound) {
    return std::isfinite(bound) && std::isinf(roundTo(bound, low));
  };
  auto isInexact = [&](const FloatRange &range) {
    return range.lo == range.hi && roundTo(range.lo, low) != range.lo;
  };
  llvm::DenseSet<Value> beyond;
  ComputedConstants(*this).run([&](Value value, const FloatRange &range) {
    if (isBeyond(range.lo) || isBeyond(range.hi))
      beyond.insert(value);
    else if (!isa<BlockArgument>(value) || !isInexact(range))
      return;
    deny(lookup(value));
  });
  denyReaders(beyond, /*evenProducts=*/true);
}

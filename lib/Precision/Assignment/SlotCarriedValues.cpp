//===- SlotCarriedValues.cpp - Values that control flow carries -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/SlotGraph.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"
#include "llvm/ADT/STLFunctionalExtras.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns whether iterations of `op` run in parallel, so that operations in
/// its terminator combine their results.
static bool combinesInParallel(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator() &&
          isa<InParallelOpInterface>(block.getTerminator()))
        return true;
  return false;
}

using Forward = llvm::function_ref<void(OpOperand &, Value, Operation *)>;

/// Calls `forward` with each operand that `op`, which combines in parallel,
/// forwards, the value that it becomes, and the operation that has the operand.
/// A destination is one tensor: the initial value, the argument that the body
/// reads, the inserted values, and the result. Without a description, all of
/// them keep their types.
static void forEachCombined(Operation *op, Forward forward) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  auto style = dyn_cast<DestinationStyleOpInterface>(op);
  if (!loop || !style)
    return;
  llvm::SmallDenseSet<Value> destinations;
  for (OpOperand &init : loop.getInitsMutable()) {
    BlockArgument argument = loop.getTiedLoopRegionIterArg(&init);
    if (!argument || !style.isDpsInit(&init))
      continue;
    destinations.insert(argument);
    forward(init, argument, op);
    forward(init, style.getTiedOpResult(&init), op);
  }
  auto visit = [&](ParallelCombiningOpInterface combiner) {
    SmallVector<Value> updated;
    for (OpOperand &operand : combiner.getUpdatedDestinations())
      if (destinations.contains(operand.get()))
        updated.push_back(operand.get());
    for (OpOperand &operand : combiner->getOpOperands())
      for (Value destination : updated)
        forward(operand, destination, combiner);
  };
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        if (auto terminator =
                dyn_cast<InParallelOpInterface>(block.getTerminator()))
          for (Operation &inner : terminator.getYieldingOps())
            if (auto combiner = dyn_cast<ParallelCombiningOpInterface>(inner))
              visit(combiner);
}

/// The same for a loop that only the policy declares, for values that it
/// carries and never changes, such as weights. Other carried values may be
/// sums, which must not be low. No operation after the loop may read such a
/// value, because it would expect f32.
static void forEachInvariant(Operation *op, Forward forward) {
  auto isShapeOfLoop = [&](Region &region) {
    return region.hasOneBlock() && region.front().mightHaveTerminator() &&
           llvm::equal(region.getArgumentTypes(), op->getOperandTypes());
  };
  if (op->getNumResults() != op->getNumOperands() ||
      !llvm::all_of(op->getRegions(), isShapeOfLoop))
    return;
  Operation *last = op->getRegions().back().front().getTerminator();
  if (last->getNumOperands() != op->getNumOperands())
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    OpOperand &yielded = last->getOpOperand(index);
    if (!op->getResult(index).use_empty() ||
        yielded.get() != last->getBlock()->getArgument(index))
      continue;
    SmallVector<Value> inputs = {op->getResult(index)};
    for (Region &region : op->getRegions())
      inputs.push_back(region.getArgument(index));
    for (Value input : inputs) {
      forward(operand, input, op);
      forward(yielded, input, last);
    }
  }
}

/// The same for an operation that describes the flow between its regions.
static void forEachSuccessor(RegionBranchOpInterface branch, Forward forward) {
  // Visit in program order, not in the order of the map, for determinism.
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  auto visit = [&](Operation *holder) {
    for (OpOperand &operand : holder->getOpOperands()) {
      auto it = mapping.find(&operand);
      if (it != mapping.end())
        for (Value input : it->second)
          forward(operand, input, holder);
    }
  };
  visit(branch);
  for (Region &region : branch->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        visit(block.getTerminator());
}

/// Adds a vertex for each group of values that control flow ties together:
/// region arguments, results, and the operands that are forwarded to them.
void SlotGraph::addCarriedValues(Operation *op, const OperationInfo &info,
                                 Pin pin) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  bool isParallel = combinesInParallel(op);
  if (!branch && !isParallel && !info.isForeignLoop)
    return;
  // Pins of the operation itself and of the operations that forward its values
  // have priority. A pin of an enclosing operation applies to the other values.
  Pin ownPin = findOwnPin(op);
  SmallVector<VertexId> carried, sums;
  SmallVector<std::tuple<VertexId, Pin, Operation *>> pinned;
  auto vertexFor = [&](Value value) {
    VertexId vertex = lookup(value);
    if (vertex == 0) {
      vertex =
          addVertex(op, SlotVertex::carried, SlotKind::Storage, OpClass::Clear);
      vertices[vertex].produces = true;
      addValue(value, vertex);
      carried.push_back(vertex);
      if (getRunningSums().contains(value))
        sums.push_back(vertex);
      if (ownPin != Pin::None)
        pinned.push_back({vertex, ownPin, op});
    }
    return findRoot(vertex);
  };
  auto forward = [&](OpOperand &operand, Value input, Operation *holder) {
    if (!isEligible(operand.get().getType()) || !isEligible(input.getType()))
      return;
    VertexId vertex = vertexFor(input);
    auto [entry, isNew] = forwarded.try_emplace(&operand, vertex);
    VertexId root = findRoot(entry->second);
    if (!isNew && root != vertex)
      parents[std::max(root, vertex)] = std::min(root, vertex);
    Pin holderPin = holder == op ? Pin::None : findOwnPin(holder);
    if (holderPin != Pin::None)
      pinned.push_back({vertex, holderPin, holder});
  };
  if (isParallel) {
    forEachCombined(op, forward);
  } else if (branch) {
    forEachSuccessor(branch, forward);
  } else {
    forEachInvariant(op, forward);
  }

  llvm::SmallDenseMap<VertexId, std::pair<Pin, Operation *>> decided;
  for (auto [vertex, asked, holder] : pinned) {
    auto [it, isNew] =
        decided.try_emplace(findRoot(vertex), std::make_pair(asked, holder));
    if (!isNew && (it->second.first == Pin::Low) != (asked == Pin::Low))
      reportConflict(holder, asked, it->second.second, it->second.first);
  }
  for (VertexId vertex : sums) {
    vertices[findRoot(vertex)].opClass = OpClass::Deny;
    vertices[findRoot(vertex)].isSum = true;
  }
  for (VertexId vertex : carried) {
    Pin chosen = decided.lookup(findRoot(vertex)).first;
    if (chosen == Pin::None)
      chosen = pin;
    vertices[vertex].pinned = chosen != Pin::None;
    if (chosen != Pin::None)
      vertices[vertex].opClass =
          chosen == Pin::Low ? OpClass::Allow : OpClass::Deny;
  }

  // A value that is carried to the gradient of a parameter is a gradient.
  if (!policy.keepsGradients(op->getName()))
    return;
  if (auto gradients =
          op->getRawDictionaryAttrs().getAs<ArrayAttr>(gradientOfName))
    for (auto [result, name] : llvm::zip(op->getResults(), gradients))
      if (!cast<StringAttr>(name).empty())
        if (VertexId root = findRoot(lookup(result)); root != 0)
          parents[root] = 0;
}

//===- StepIntervalLoops.cpp - Intervals of carried values ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the intervals of the values that control flow carries, as a fixed
// point. Intervals only grow, and an inner loop continues with the intervals of
// its last visit. The number of visits is therefore proportional to the number
// of carried values at any depth.
//
//===----------------------------------------------------------------------===//

#include "StepIntervals.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::amp;

bool StepIntervals::isControlFlow(Operation *op) const {
  if (isa<RegionBranchOpInterface>(op))
    return true;
  const auto *rule = llvm::find_if(linear, [&](const LinearRule &entry) {
    return entry.pattern.match(op->getName().getStringRef()) &&
           entry.isSatisfiedBy(op);
  });
  return rule != linear.end() && rule->isControlFlow() &&
         RegionFlow::isKnown(op);
}

bool StepIntervals::updateCarried(Value value, Assumption assume) {
  if (!getFloat(value))
    return false;
  if (std::optional<FloatRange> known = assume(value)) {
    set(value, *known);
    return false;
  }
  auto result = dyn_cast<OpResult>(value);
  if (Value slice = result ? findStackedSlice(result) : Value()) {
    set(value, get(slice));
    if (isLoose(slice))
      loose.insert(value);
    return false;
  }
  Carried &state = carried[value];
  FloatRange joined = state.range;
  bool changed = false;
  for (OpOperand *source : flow.getSources(value)) {
    // Skips conditions of loops, which are not numbers, and values of
    // operations that no visit has reached yet.
    if (!getFloat(source->get()) || !visited.contains(source->getOwner()))
      continue;
    joined = joined.join(get(source->get()));
    if (isLoose(source->get()))
      changed |= loose.insert(value).second;
  }
  if (joined == state.range)
    return changed;
  state.range = joined.widen(state.range, ++state.numChanges);
  set(value, state.range);
  return true;
}

void StepIntervals::visitRegions(Operation *op, Assumption assume) {
  auto update = [&](ValueRange values) {
    bool changed = false;
    for (Value value : values)
      changed |= updateCarried(value, assume);
    return changed;
  };
  visited.insert(op);
  for (bool changed = true; changed;) {
    for (Region &region : op->getRegions()) {
      update(region.getArguments());
      visit(region, assume);
    }
    changed = false;
    for (Region &region : op->getRegions())
      changed |= update(region.getArguments());
  }
  update(op->getResults());
}

void StepIntervals::visit(Region &region, Assumption assume) {
  for (Block &block : region)
    for (Operation &op : block) {
      if (op.getNumRegions() != 0 && isControlFlow(&op)) {
        visitRegions(&op, assume);
        continue;
      }
      visit(&op, assume);
      for (Region &nested : op.getRegions())
        visit(nested, assume);
    }
}

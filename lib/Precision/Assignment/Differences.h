//===- Differences.h - Differences before steep functions -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Differences that steep functions read, differences of inputs, and differences
// of parts of one value and of sums that loops carry. If two values are almost
// equal, rounding one of them may change most of their difference.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_DIFFERENCES_H
#define AMP_LIB_PRECISION_ASSIGNMENT_DIFFERENCES_H

#include "amp/Precision/Assignment/SlotGraph.h"
#include "amp/Support/RegionFlow.h"

namespace mlir::amp {

/// The slots of values, and where values that have none come from. A loop that
/// only a policy declares has no slots for the values that it changes.
class ValueSlots {
public:
  explicit ValueSlots(const SlotGraph &graph) : graph(graph) {}

  /// The slot that produces `value`, or 0.
  VertexId lookup(Value value) {
    if (slots.empty())
      for (const SlotValue &entry : graph.getValues())
        slots[entry.value] = entry.vertex;
    return slots.lookup(value);
  }

  /// The values that control flow passes as `value`.
  SmallVector<Value> findPassed(Value value) {
    return llvm::map_to_vector(flow.getSources(value),
                               [](OpOperand *source) { return source->get(); });
  }

private:
  const SlotGraph &graph;
  llvm::DenseMap<Value, VertexId> slots;
  RegionFlow flow;
};

/// Returns the slots of `graph` that compute a difference that a steep function
/// reads, and the slots that compute its operands. The second member of each
/// pair is the slot of the function.
SmallVector<std::pair<VertexId, VertexId>>
findDifferences(const SlotGraph &graph);

/// Returns the slots of `graph` that amplify the rounding errors of inputs, and
/// the slots that compute these inputs: differences, comparisons, steep
/// functions, functions that round to integers, complex numbers, and arithmetic
/// with converted integers. An input is a value that does not depend on a
/// product. The second member of each pair is the slot that amplifies, or 0 if
/// the operation keeps its type.
SmallVector<std::pair<VertexId, VertexId>>
findInputDifferences(const SlotGraph &graph, ValueSlots &slots);

/// Returns the slots of `graph` that compute the difference of two parts of one
/// value, or of a sum that a loop carries and another value, and the slots that
/// compute its operands. Examples are finite differences, `x[1:] - x[:-1]`, and
/// sums over windows, which subtract cumulative sums. Parts may be moved, added
/// to one another, and multiplied by numbers. The second member of each pair
/// is the slot of the difference.
SmallVector<std::pair<VertexId, VertexId>>
findPartDifferences(const SlotGraph &graph, ValueSlots &slots);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_DIFFERENCES_H

//===- PartDifferences.cpp - Differences of parts and of sums -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// How an operand of a sum is computed.
struct Trace {
  /// The values on the way back from the operand to its roots, both included.
  llvm::SmallSetVector<Value, 16> values;
  /// The slots that move and add the roots.
  llvm::SmallSetVector<VertexId, 8> slots;
  /// The slots that compute the roots. Vertex 0 if a root keeps its type.
  llvm::SmallSetVector<VertexId, 4> roots;
  /// Whether an operation takes a part of a value.
  bool isPart = false;
  /// Whether an operation subtracts.
  bool subtracts = false;
  /// Whether a loop carries a sum that is one of the values.
  bool hasSum = false;

  void add(const Trace &other) {
    values.insert_range(other.values);
    slots.insert_range(other.slots);
    roots.insert_range(other.roots);
    isPart |= other.isPart;
    subtracts |= other.subtracts;
    hasSum |= other.hasSum;
  }
};

class PartDifferenceFinder {
public:
  PartDifferenceFinder(const SlotGraph &graph, ValueSlots &slots)
      : graph(graph), vertices(graph.getVertices()), slots(slots) {}

  SmallVector<std::pair<VertexId, VertexId>> run() {
    isFound.assign(vertices.size(), false);
    SmallVector<VertexId> worklist;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (isSum(v) && graph.subtractsValues(vertices[v].op) && visit(v))
        worklist.push_back(v);
    // A second difference adds a part to the first one.
    while (!worklist.empty())
      for (uint32_t index : graph.getUsesOf(worklist.pop_back_val()))
        if (VertexId user = graph.getUses()[index].user;
            !isFound[user] && isSum(user) && visit(user))
          worklist.push_back(user);
    return std::move(found);
  }

private:
  auto getUsesInto(VertexId v) const {
    auto get = [&](uint32_t index) -> const SlotUse & {
      return graph.getUses()[index];
    };
    return llvm::map_range(graph.getUsesInto(v), get);
  }

  /// Whether `v` is the slot of a sum or a difference.
  bool isSum(VertexId v) const {
    const SlotVertex &vertex = vertices[v];
    return v != 0 && vertex.slot != SlotVertex::carried && !vertex.isConstant &&
           !vertex.isSum && !vertex.isProductResult &&
           vertex.kind == SlotKind::Storage &&
           graph.getSum(vertex.op) != Arithmetic::Other &&
           !graph.isInCompositePattern(vertex.op);
  }

  /// Adds the slots of the difference `v` if its operands are parts of one
  /// value or sums of loops. Returns whether they are.
  bool visit(VertexId v) {
    Operation *op = vertices[v].op;
    Trace all = trace(v, 0, /*throughSums=*/true);
    if (all.roots.size() <= 1)
      all.add(trace(v, 1, /*throughSums=*/true));
    if ((isDifference(op) || all.subtracts) && all.isPart &&
        all.roots.size() == 1 && all.roots[0] != 0) {
      hold(v, all);
      return true;
    }
    if (!graph.subtractsValues(op))
      return false;
    Trace left = trace(v, 0, /*throughSums=*/false),
          right = trace(v, 1, /*throughSums=*/false);
    bool areParts = (left.isPart || right.isPart) &&
                    llvm::any_of(left.values, [&](Value value) {
                      return right.values.contains(value);
                    });
    left.add(right);
    if (!left.hasSum && !areParts)
      return false;
    hold(v, left);
    return true;
  }

  /// Whether `op` subtracts a value, not a constant, from another one.
  bool isDifference(Operation *op) const {
    return graph.subtractsValues(op) && !graph.addsConstant(op);
  }

  /// Follows operand `number` of the slot `v` back through operations that move
  /// elements or multiply them by a number, through control flow and calls,
  /// and, with `throughSums`, through sums.
  Trace trace(VertexId v, unsigned number, bool throughSums) {
    constexpr size_t limit = 256;
    Trace result;
    SmallVector<Value> worklist = {vertices[v].op->getOperand(number)};
    // Sums matter only if they have one root.
    while (!worklist.empty() && !(throughSums && result.roots.size() > 1)) {
      Value value = worklist.pop_back_val();
      VertexId producer = slots.lookup(value);
      if (vertices[producer].isConstant || !result.values.insert(value))
        continue;
      if (graph.getRunningSums().contains(value)) {
        result.hasSum = true;
        if (producer != 0)
          result.slots.insert(producer);
        continue;
      }
      SmallVector<Value> sources;
      if (result.values.size() < limit)
        sources = producer == 0 ? slots.findPassed(value)
                                : findSources(producer, throughSums, result);
      if (sources.empty()) {
        result.roots.insert(producer);
        continue;
      }
      if (producer != 0)
        result.slots.insert(producer);
      llvm::append_range(worklist, sources);
    }
    return result;
  }

  /// The values whose elements those of `v` are, times a number.
  SmallVector<Value> findSources(VertexId v, bool throughSums,
                                 Trace &trace) const {
    const SlotVertex &vertex = vertices[v];
    bool isCarried = vertex.slot == SlotVertex::carried;
    if (!isCarried && vertex.isProductResult)
      return {};
    if (!isCarried && !moves(v, trace.isPart) &&
        !(throughSums && adds(v, trace.subtracts))) {
      OpOperand *scaled = graph.findScaled(vertex.op);
      return scaled ? SmallVector<Value>{scaled->get()} : SmallVector<Value>();
    }
    return llvm::map_to_vector(
        getUsesInto(v), [](const SlotUse &use) { return use.operand->get(); });
  }

  /// Whether the operation of `v` moves elements. Sets `isPart` if it takes a
  /// part of an operand.
  bool moves(VertexId v, bool &isPart) const {
    Operation *op = vertices[v].op;
    if (!graph.movesElements(op))
      return false;
    for (const SlotUse &use : getUsesInto(v)) {
      auto from = dyn_cast<ShapedType>(use.operand->get().getType());
      auto part = dyn_cast_or_null<ShapedType>(graph.getReadType(use));
      isPart |= from && part && from != part &&
                !(from.hasStaticShape() && part.hasStaticShape() &&
                  from.getNumElements() <= part.getNumElements());
    }
    return true;
  }

  /// Whether the operation of `v` adds or subtracts. Sets `subtracts` if it
  /// subtracts.
  bool adds(VertexId v, bool &subtracts) const {
    Operation *op = vertices[v].op;
    if (graph.getSum(op) == Arithmetic::Other)
      return false;
    subtracts |= isDifference(op);
    return true;
  }

  /// Adds the slot `v`, those between its operands and their roots, and those
  /// that compute the roots, back through factors and movements.
  void hold(VertexId v, const Trace &trace) {
    add(v, v);
    for (VertexId slot : trace.slots)
      add(slot, v);
    SmallVector<VertexId> worklist;
    auto push = [&](VertexId slot) {
      if (slot != 0 && add(slot, v) && !vertices[slot].isProductResult &&
          vertices[slot].slot != SlotVertex::carried &&
          graph.keepsRelativeErrors(vertices[slot].op))
        worklist.push_back(slot);
    };
    llvm::for_each(trace.roots, push);
    while (!worklist.empty())
      for (const SlotUse &use : getUsesInto(worklist.pop_back_val()))
        push(use.producer);
  }

  /// Returns whether the slot was new.
  bool add(VertexId slot, VertexId difference) {
    if (isFound[slot] || vertices[slot].isConstant)
      return false;
    isFound[slot] = true;
    found.push_back({slot, difference});
    return true;
  }

  const SlotGraph &graph;
  ArrayRef<SlotVertex> vertices;
  ValueSlots &slots;
  std::vector<bool> isFound;
  SmallVector<std::pair<VertexId, VertexId>> found;
};

} // namespace

SmallVector<std::pair<VertexId, VertexId>>
mlir::amp::findPartDifferences(const SlotGraph &graph, ValueSlots &slots) {
  return PartDifferenceFinder(graph, slots).run();
}

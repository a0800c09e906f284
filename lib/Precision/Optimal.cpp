//===- Optimal.cpp - The assignment of least cost -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Optimal.h"

#include "MaxFlow.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Builds the network, cuts it, and says why.
class OptimalAssignment {
public:
  using State = HardConstraints::State;

  OptimalAssignment(const SlotGraph &graph, const CostModel &costs)
      : graph(graph), costs(costs), vertices(graph.getVertices()),
        constraints(findHardConstraints(graph, costs)), flow(vertices.size()) {}

  Assignment run() {
    addSlots();
    countUsers();
    addValues();
    addSharedUses();
    addImplications();
    flow.run();
    return explainCut();
  }

private:
  using Node = MaxFlow::Node;

  /// Who reads a value, beside its own slot.
  struct Users {
    /// The first free one, if any, and whether there are more.
    VertexId free = 0;
    bool isShared = false;
    /// Whether some user is low, or f32, in any case.
    bool low = false;
    bool f32 = false;
    /// For shared values, the nodes of the two casts, or 0.
    Node toLow = 0;
    Node toF32 = 0;
  };

  State stateOf(VertexId v) const { return constraints.states[v]; }

  void addSlots() {
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (stateOf(v) == State::Free)
        flow.addTerminal(v, costs.getSlotCost(v, /*low=*/true) -
                                costs.getSlotCost(v, /*low=*/false));
  }

  void countUsers() {
    users.resize(graph.getValues().size());
    for (const SlotUse &use : graph.getUses()) {
      Users &entry = users[use.value];
      if (use.user == use.producer)
        continue;
      State state = stateOf(use.user);
      if (state == State::Low)
        entry.low = true;
      else if (state == State::F32)
        entry.f32 = true;
      else if (entry.free == 0)
        entry.free = use.user;
      else
        entry.isShared |= entry.free != use.user;
    }
  }

  /// Adds the casts of all values. A cast that is there in any case costs
  /// nothing more, so that its users need not know of one another.
  void addValues() {
    for (auto [index, value] : llvm::enumerate(graph.getValues())) {
      Users &entry = users[index];
      VertexId producer = value.vertex;
      State state = stateOf(producer);
      bool isFree = state == State::Free;
      int64_t narrow = costs.getCastCost(index, /*toLow=*/true);
      int64_t widen = costs.getCastCost(index, /*toLow=*/false);
      if (isFree && entry.low)
        flow.addTerminal(producer, -narrow);
      if (isFree && entry.f32)
        flow.addTerminal(producer, widen);
      if (entry.free == 0)
        continue;
      // What is left: the producer may be f32, and no user is low in any case.
      bool mayNarrow = state != State::Low && !entry.low;
      bool mayWiden = state != State::F32 && !entry.f32;
      if (!entry.isShared) {
        if (isFree) {
          if (mayNarrow || mayWiden)
            flow.addArc(producer, entry.free, mayNarrow ? narrow : 0,
                        mayWiden ? widen : 0);
        } else if (mayNarrow) {
          flow.addTerminal(entry.free, narrow);
        } else if (mayWiden) {
          flow.addTerminal(entry.free, -widen);
        }
        continue;
      }
      if (mayNarrow) {
        entry.toLow = flow.addNode();
        if (isFree)
          flow.addArc(producer, entry.toLow, narrow);
        else
          flow.addTerminal(entry.toLow, narrow);
      }
      if (mayWiden) {
        entry.toF32 = flow.addNode();
        if (isFree)
          flow.addArc(entry.toF32, producer, widen);
        else
          flow.addTerminal(entry.toF32, -widen);
      }
    }
  }

  void addSharedUses() {
    for (const SlotUse &use : graph.getUses()) {
      const Users &entry = users[use.value];
      if (!entry.isShared || use.user == use.producer ||
          stateOf(use.user) != State::Free)
        continue;
      if (entry.toLow != 0)
        flow.addArc(entry.toLow, use.user, MaxFlow::infinite);
      if (entry.toF32 != 0)
        flow.addArc(use.user, entry.toF32, MaxFlow::infinite);
    }
  }

  void addImplications() {
    for (auto [premise, conclusion] : graph.getImplications())
      if (stateOf(premise) == State::Free && stateOf(conclusion) == State::Free)
        flow.addArc(conclusion, premise, MaxFlow::infinite);
  }

  Assignment explainCut() {
    Assignment result;
    result.reasons = std::move(constraints.reasons);
    result.causes = std::move(constraints.causes);
    result.previous = std::move(constraints.previous);
    result.low.assign(vertices.size(), false);
    for (VertexId v = 1; v < vertices.size(); ++v)
      result.low[v] = stateOf(v) == State::Low ||
                      (stateOf(v) == State::Free && !flow.isOnSourceSide(v));
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (stateOf(v) == State::Free)
        result.reasons[v] =
            result.low[v] ? explainLow(v, result) : explainF32(v, result);
    for (auto [premise, conclusion] : graph.getImplications())
      if (stateOf(premise) == State::Free && !result.low[conclusion]) {
        result.reasons[premise] = Reason::Implied;
        result.causes[premise] = conclusion;
      }
    return result;
  }

  Reason explainLow(VertexId v, const Assignment &result) const {
    if (vertices[v].isConstant)
      return Reason::ReadLow;
    if (vertices[v].kind == SlotKind::Compute &&
        vertices[v].opClass == OpClass::Allow)
      return Reason::Allowed;
    bool reads = !vertices[v].produces && !graph.getUsesInto(v).empty() &&
                 llvm::all_of(graph.getUsesInto(v), [&](uint32_t use) {
                   return result.low[graph.getUses()[use].producer];
                 });
    return reads ? Reason::Reads : Reason::Cheapest;
  }

  Reason explainF32(VertexId v, const Assignment &result) const {
    if (vertices[v].kind == SlotKind::Compute &&
        vertices[v].opClass == OpClass::Allow)
      return Reason::Unprofitable;
    bool isWide = vertices[v].isProductResult &&
                  llvm::none_of(graph.getUsesOf(v), [&](uint32_t use) {
                    return result.low[graph.getUses()[use].user];
                  });
    return isWide ? Reason::WideResult : Reason::Cheapest;
  }

  const SlotGraph &graph;
  const CostModel &costs;
  ArrayRef<SlotVertex> vertices;
  HardConstraints constraints;
  /// Nodes up to the number of vertices are slots.
  MaxFlow flow;
  std::vector<Users> users;
};

} // namespace

Assignment mlir::amp::assignOptimal(const SlotGraph &graph,
                                    const CostModel &costs) {
  return OptimalAssignment(graph, costs).run();
}

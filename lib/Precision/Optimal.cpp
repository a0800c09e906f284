//===- Optimal.cpp - The assignment of least cost -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Optimal.h"

#include "MaxFlow.h"
#include <optional>

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Builds the network, cuts it, and says why.
class OptimalAssignment {
public:
  using State = HardConstraints::State;

  OptimalAssignment(const SlotGraph &graph, const CostModel &costs)
      : graph(graph), costs(costs), vertices(graph.getVertices()),
        constraints(findHardConstraints(graph, costs)) {}

  Assignment run() {
    countUsers();
    addSlots();
    addValues();
    addSharedUses();
    addImplications();
    flow->run();
    return explainCut();
  }

private:
  using Node = MaxFlow::Node;

  /// Who reads a value, beside its own slot.
  struct Users {
    /// The first free one, if any, and whether there are more. If there are,
    /// the first of the nodes of the casts once these are made.
    uint32_t first = 0;
    bool isShared : 1;
    /// Whether some user is low, or f32, in any case.
    bool low : 1;
    bool f32 : 1;
    /// For shared values, whether there are nodes of the two casts.
    bool hasToLow : 1;
    bool hasToF32 : 1;

    Users()
        : isShared(false), low(false), f32(false), hasToLow(false),
          hasToF32(false) {}
    Node getToLow() const { return first; }
    Node getToF32() const { return first + hasToLow; }
  };

  State stateOf(VertexId v) const { return constraints.states[v]; }

  void addSlots() {
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (stateOf(v) == State::Free)
        flow->addTerminal(v, costs.getSlotCost(v, /*low=*/true) -
                                 costs.getSlotCost(v, /*low=*/false));
  }

  /// Finds out who reads what, and makes room for the network.
  void countUsers() {
    users.resize(graph.getValues().size());
    size_t numReads = 0, numSingle = 0, numShared = 0;
    for (const SlotUse &use : graph.getUses()) {
      Users &entry = users[use.value];
      if (use.user == use.producer)
        continue;
      State state = stateOf(use.user);
      if (state == State::Low)
        entry.low = true;
      else if (state == State::F32)
        entry.f32 = true;
      else if (++numReads; entry.first == 0)
        entry.first = use.user;
      else
        entry.isShared |= entry.first != use.user;
    }
    for (const Users &entry : users) {
      numShared += entry.isShared;
      numSingle += entry.first != 0 && !entry.isShared;
    }
    flow.emplace(vertices.size(), 2 * numShared,
                 numSingle + 2 * numShared + 2 * (numReads - numSingle) +
                     graph.getImplications().size());
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
        flow->addTerminal(producer, -narrow);
      if (isFree && entry.f32)
        flow->addTerminal(producer, widen);
      if (entry.first == 0)
        continue;
      // What is left: the producer may be f32, and no user is low in any case.
      bool mayNarrow = state != State::Low && !entry.low;
      bool mayWiden = state != State::F32 && !entry.f32;
      if (!entry.isShared) {
        if (isFree) {
          if (mayNarrow || mayWiden)
            flow->addArc(producer, entry.first, mayNarrow ? narrow : 0,
                         mayWiden ? widen : 0);
        } else if (mayNarrow) {
          flow->addTerminal(entry.first, narrow);
        } else if (mayWiden) {
          flow->addTerminal(entry.first, -widen);
        }
        continue;
      }
      entry.hasToLow = mayNarrow;
      entry.hasToF32 = mayWiden;
      if (mayNarrow) {
        entry.first = flow->addNode();
        if (isFree)
          flow->addArc(producer, entry.getToLow(), narrow);
        else
          flow->addTerminal(entry.getToLow(), narrow);
      }
      if (mayWiden) {
        Node node = flow->addNode();
        if (!mayNarrow)
          entry.first = node;
        if (isFree)
          flow->addArc(node, producer, widen);
        else
          flow->addTerminal(node, -widen);
      }
    }
  }

  void addSharedUses() {
    for (const SlotUse &use : graph.getUses()) {
      const Users &entry = users[use.value];
      if (!entry.isShared || use.user == use.producer ||
          stateOf(use.user) != State::Free)
        continue;
      if (entry.hasToLow)
        flow->addArc(entry.getToLow(), use.user, MaxFlow::infinite);
      if (entry.hasToF32)
        flow->addArc(use.user, entry.getToF32(), MaxFlow::infinite);
    }
  }

  void addImplications() {
    for (auto [premise, conclusion] : graph.getImplications())
      if (stateOf(premise) == State::Free && stateOf(conclusion) == State::Free)
        flow->addArc(conclusion, premise, MaxFlow::infinite);
  }

  Assignment explainCut() {
    Assignment result;
    result.reasons = std::move(constraints.reasons);
    result.causes = std::move(constraints.causes);
    result.previous = std::move(constraints.previous);
    result.low.assign(vertices.size(), false);
    for (VertexId v = 1; v < vertices.size(); ++v)
      result.low[v] = stateOf(v) == State::Low ||
                      (stateOf(v) == State::Free && !flow->isOnSourceSide(v));
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
  std::optional<MaxFlow> flow;
  std::vector<Users> users;
};

} // namespace

Assignment mlir::amp::assignOptimal(const SlotGraph &graph,
                                    const CostModel &costs) {
  return OptimalAssignment(graph, costs).run();
}

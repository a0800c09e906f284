//===- Optimal.cpp - The assignment of least cost -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/Optimal.h"

#include "amp/Support/MaxFlow.h"
#include <optional>

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Builds the network, cuts it, and derives the reasons.
class OptimalAssignment {
public:
  using State = HardConstraints::State;

  OptimalAssignment(const SlotGraph &graph, const CostModel &costs,
                    ArrayRef<int64_t> prices)
      : graph(graph), costs(costs), prices(prices),
        vertices(graph.getVertices()),
        constraints(findHardConstraints(graph, costs)) {}

  Assignment run() {
    countUsers();
    addSlots();
    addValues();
    addSharedUses();
    addImplications();
    flow->run();
    Assignment result;
    result.low.assign(vertices.size(), false);
    for (VertexId v = 1; v < vertices.size(); ++v)
      result.low[v] = stateOf(v) == State::Low ||
                      (stateOf(v) == State::Free && !flow->isOnSourceSide(v));
    dropIdleComponents(result);
    explainCut(result);
    return result;
  }

private:
  using Node = MaxFlow::Node;

  /// The readers of a value other than its own slot.
  struct Users {
    /// The first free reader, if any. If there are several, the first of the
    /// nodes of the casts, once these exist.
    uint32_t first = 0;
    bool isShared : 1;
    /// Whether some user is always low, or always f32.
    bool low : 1;
    bool f32 : 1;
    /// For shared values, whether the two casts have nodes.
    bool hasToLow : 1;
    bool hasToF32 : 1;

    Users()
        : isShared(false), low(false), f32(false), hasToLow(false),
          hasToF32(false) {}
    Node getToLow() const { return first; }
    Node getToF32() const { return first + hasToLow; }
  };

  State stateOf(VertexId v) const { return constraints.states[v]; }
  int64_t getPrice(VertexId v) const { return prices.empty() ? 0 : prices[v]; }

  void addSlots() {
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (stateOf(v) == State::Free)
        flow->addTerminal(v, costs.getSlotCost(v, /*low=*/true) + getPrice(v) -
                                 costs.getSlotCost(v, /*low=*/false));
  }

  /// Finds the readers of each value, and reserves memory for the network.
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

  /// Adds the casts of all values. A cast that always exists costs nothing
  /// more, so its users are independent.
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
      // The remaining case: the producer may be f32, and no user is always low.
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

  //===--------------------------------------------------------------------===//
  // Components that gain nothing
  //===--------------------------------------------------------------------===//

  VertexId findComponent(VertexId v) {
    while (component[v] != v)
      v = component[v] = component[component[v]];
    return v;
  }
  void join(VertexId a, VertexId b) {
    component[findComponent(b)] = findComponent(a);
  }

  /// Joins free slots that share a value or an implication. The cost of a slot
  /// depends only on the slots of its component.
  void findComponents() {
    component.resize(vertices.size());
    for (VertexId v = 0; v < vertices.size(); ++v)
      component[v] = v;
    firstFree.assign(graph.getValues().size(), 0);
    auto meet = [&](uint32_t value, VertexId v) {
      if (stateOf(v) != State::Free)
        return;
      if (firstFree[value] == 0)
        firstFree[value] = v;
      else
        join(firstFree[value], v);
    };
    for (auto [index, value] : llvm::enumerate(graph.getValues()))
      meet(index, value.vertex);
    for (const SlotUse &use : graph.getUses())
      meet(use.value, use.user);
    for (auto [premise, conclusion] : graph.getImplications())
      if (stateOf(premise) == State::Free && stateOf(conclusion) == State::Free)
        join(premise, conclusion);
  }

  /// Returns by component whether a low product is in it or next to it.
  std::vector<bool> findNearProducts(const Assignment &result) {
    std::vector<bool> isNear(vertices.size(), false);
    auto isProduct = [&](VertexId v) {
      return vertices[v].kind == SlotKind::Compute && result.low[v];
    };
    auto mark = [&](VertexId v) {
      if (stateOf(v) == State::Free)
        isNear[findComponent(v)] = true;
    };
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (isProduct(v))
        mark(v);
    for (const SlotUse &use : graph.getUses()) {
      if (isProduct(use.user))
        mark(use.producer);
      if (isProduct(use.producer))
        mark(use.user);
    }
    for (auto [premise, conclusion] : graph.getImplications())
      if (isProduct(conclusion))
        mark(premise);
    return isNear;
  }

  /// Returns by component the cost that it saves, compared with f32 for all
  /// free slots.
  std::vector<int64_t> countGains(const Assignment &result) {
    std::vector<int64_t> gains(vertices.size(), 0);
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (stateOf(v) == State::Free && result.low[v])
        gains[findComponent(v)] += costs.getSlotCost(v, /*low=*/false) -
                                   costs.getSlotCost(v, /*low=*/true) -
                                   getPrice(v);
    // Whether a value is cast, in this assignment and with all free slots in
    // f32.
    std::vector<bool> isCast(graph.getValues().size(), false),
        wasCast(graph.getValues().size(), false);
    auto isLowAnyway = [&](VertexId v) { return stateOf(v) == State::Low; };
    for (const SlotUse &use : graph.getUses()) {
      if (result.low[use.producer] != result.low[use.user])
        isCast[use.value] = true;
      if (isLowAnyway(use.producer) != isLowAnyway(use.user))
        wasCast[use.value] = true;
    }
    for (auto [index, value] : llvm::enumerate(graph.getValues())) {
      if (firstFree[index] == 0)
        continue;
      int64_t &gain = gains[findComponent(firstFree[index])];
      if (wasCast[index])
        gain += costs.getCastCost(index, !isLowAnyway(value.vertex));
      if (isCast[index])
        gain -= costs.getCastCost(index, !result.low[value.vertex]);
    }
    return gains;
  }

  /// Leaves components in f32 that are far from products and gain nothing. A
  /// tie becomes low only near products.
  void dropIdleComponents(Assignment &result) {
    findComponents();
    std::vector<bool> isNear = findNearProducts(result);
    std::vector<int64_t> gains = countGains(result);
    isIdle.assign(vertices.size(), false);
    for (VertexId v = 1; v < vertices.size(); ++v) {
      VertexId root = findComponent(v);
      isIdle[v] = stateOf(v) == State::Free && result.low[v] && !isNear[root] &&
                  gains[root] == 0;
    }
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (isIdle[v])
        result.low[v] = false;
  }

  //===--------------------------------------------------------------------===//
  // Reasons
  //===--------------------------------------------------------------------===//

  void explainCut(Assignment &result) {
    result.reasons = std::move(constraints.reasons);
    result.causes = std::move(constraints.causes);
    result.previous = std::move(constraints.previous);
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (stateOf(v) == State::Free)
        result.reasons[v] =
            result.low[v] ? explainLow(v, result) : explainF32(v, result);
    for (auto [premise, conclusion] : graph.getImplications())
      if (stateOf(premise) == State::Free && !result.low[conclusion]) {
        result.reasons[premise] = Reason::Implied;
        result.causes[premise] = conclusion;
      }
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
    if (isIdle[v])
      return Reason::NoGain;
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
  ArrayRef<int64_t> prices;
  ArrayRef<SlotVertex> vertices;
  HardConstraints constraints;
  /// Nodes below the number of vertices are slots.
  std::optional<MaxFlow> flow;
  std::vector<Users> users;
  /// By vertex, the parent of the union-find forest of components.
  std::vector<VertexId> component;
  /// By value, a free slot that produces or reads it, or 0.
  std::vector<VertexId> firstFree;
  /// By vertex, whether it is f32 because its component gains nothing.
  std::vector<bool> isIdle;
};

} // namespace

Assignment mlir::amp::assignOptimal(const SlotGraph &graph,
                                    const CostModel &costs,
                                    ArrayRef<int64_t> prices) {
  return OptimalAssignment(graph, costs, prices).run();
}

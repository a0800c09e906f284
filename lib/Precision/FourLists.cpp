//===- FourLists.cpp - Four-list propagation over slots -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TensorFlow's auto_mixed_precision colours pairs of a node and a type
// attribute; slots are the same thing. Each phase is one flood over the graph,
// so the whole is linear.
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// One run of the propagation.
class FourLists {
public:
  explicit FourLists(const SlotGraph &graph)
      : graph(graph), vertices(graph.getVertices()),
        denied(vertices.size(), false) {
    result.low.assign(vertices.size(), false);
    result.reasons.assign(vertices.size(), Reason::NoLowNeighbour);
    result.causes.assign(vertices.size(), 0);
    result.reasons[0] = Reason::Fixed;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (vertices[v].opClass == OpClass::Infer)
        result.reasons[v] = Reason::NotBetween;
  }

  Assignment run() {
    seed();
    if (!llvm::is_contained(result.low, true))
      return std::move(result);
    poison();
    fillBetween();
    growThroughClear();
    followProducers();
    followReaders();
    applyImplications();
    widenProducts();
    return std::move(result);
  }

private:
  bool isClear(VertexId v) const {
    return vertices[v].opClass == OpClass::Clear;
  }
  bool isDenyOrInfer(VertexId v) const {
    return vertices[v].opClass == OpClass::Deny ||
           vertices[v].opClass == OpClass::Infer;
  }
  /// May become low by what its neighbours are.
  bool isOpen(VertexId v) const {
    return v != 0 && !result.low[v] && !denied[v] &&
           (isClear(v) || vertices[v].opClass == OpClass::Infer);
  }
  void setLow(VertexId v, Reason reason, VertexId cause) {
    result.low[v] = true;
    result.reasons[v] = vertices[v].pinned ? Reason::Pinned : reason;
    result.causes[v] = cause;
  }
  void setDenied(VertexId v, Reason reason, VertexId cause) {
    denied[v] = true;
    result.reasons[v] = vertices[v].pinned ? Reason::Pinned : reason;
    result.causes[v] = cause;
  }
  template <typename Visit>
  void forEachUser(VertexId v, Visit visit) const {
    for (uint32_t use : graph.getUsesOf(v))
      visit(graph.getUses()[use].user);
  }
  template <typename Visit>
  void forEachProducer(VertexId v, Visit visit) const {
    for (uint32_t use : graph.getUsesInto(v))
      visit(graph.getUses()[use].producer);
  }

  void seed() {
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (vertices[v].opClass == OpClass::Allow)
        setLow(v, Reason::Allowed, v);
      else if (vertices[v].opClass == OpClass::Deny)
        setDenied(v,
                  vertices[v].proof == RangeProof::DoesNotFit
                      ? Reason::DoesNotFit
                      : Reason::Denied,
                  v);
    }
  }

  /// Deny flows to infer slots downstream, and through clear slots only where
  /// they lead to another deny or infer slot.
  void poison() {
    // Clear slots from which a deny or infer slot is reached through clear
    // ones, found backwards.
    std::vector<bool> conducts(vertices.size(), false);
    SmallVector<VertexId> worklist;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (isDenyOrInfer(v))
        worklist.push_back(v);
    while (!worklist.empty()) {
      forEachProducer(worklist.pop_back_val(), [&](VertexId producer) {
        if (!isClear(producer) || conducts[producer])
          return;
        conducts[producer] = true;
        worklist.push_back(producer);
      });
    }
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (denied[v])
        worklist.push_back(v);
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      forEachUser(v, [&](VertexId user) {
        if (user == 0 || denied[user] || result.low[user] ||
            !(isDenyOrInfer(user) || conducts[user]))
          return;
        setDenied(user, Reason::Poisoned, result.causes[v]);
        worklist.push_back(user);
      });
    }
  }

  /// Infer and clear slots on a path between two low ones become low.
  void fillBetween() {
    std::vector<bool> downstream(vertices.size(), false);
    SmallVector<VertexId> worklist;
    auto pushLow = [&] {
      for (VertexId v = 1; v < vertices.size(); ++v)
        if (result.low[v])
          worklist.push_back(v);
    };
    pushLow();
    while (!worklist.empty()) {
      forEachUser(worklist.pop_back_val(), [&](VertexId user) {
        if (!isOpen(user) || downstream[user])
          return;
        downstream[user] = true;
        worklist.push_back(user);
      });
    }
    pushLow();
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      forEachProducer(v, [&](VertexId producer) {
        if (!downstream[producer] || result.low[producer])
          return;
        setLow(producer, Reason::Between, v);
        worklist.push_back(producer);
      });
    }
  }

  /// Low grows through clear slots in both directions.
  void growThroughClear() {
    SmallVector<VertexId> worklist;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (result.low[v])
        worklist.push_back(v);
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      auto grow = [&](VertexId neighbour) {
        // A constant would carry low precision sideways, to readers that have
        // nothing else in common.
        if (!isClear(neighbour) || !isOpen(neighbour) ||
            vertices[neighbour].isConstant)
          return;
        setLow(neighbour, Reason::Grown, v);
        worklist.push_back(neighbour);
      };
      forEachUser(v, grow);
      forEachProducer(v, grow);
    }
  }

  /// A slot that gives no value and reads low ones costs no cast: it follows.
  void followProducers() {
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (vertices[v].produces || !isOpen(v) || graph.getUsesInto(v).empty())
        continue;
      bool allLow = true;
      forEachProducer(
          v, [&](VertexId producer) { allLow &= result.low[producer]; });
      if (allLow)
        setLow(v, Reason::Reads, v);
    }
  }

  /// Constants that are only read low stand in low precision; all others stay
  /// exact and are cast where they are read low.
  void followReaders() {
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (!vertices[v].isConstant || !isOpen(v) || graph.getUsesOf(v).empty())
        continue;
      bool allLow = true;
      forEachUser(v, [&](VertexId user) { allLow &= result.low[user]; });
      if (allLow)
        setLow(v, Reason::ReadLow, v);
    }
  }

  void applyImplications() {
    for (auto [premise, conclusion] : graph.getImplications()) {
      if (!result.low[premise] || result.low[conclusion])
        continue;
      result.low[premise] = false;
      result.reasons[premise] = Reason::Implied;
    }
  }

  /// A product that is read in f32 everywhere gives f32: that is its
  /// accumulator, without a cast and with one rounding less.
  void widenProducts() {
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (!result.low[v] || !vertices[v].isProductResult || vertices[v].pinned)
        continue;
      bool anyLow = false;
      forEachUser(v, [&](VertexId user) { anyLow |= result.low[user]; });
      if (anyLow)
        continue;
      result.low[v] = false;
      result.reasons[v] = Reason::WideResult;
    }
  }

  const SlotGraph &graph;
  ArrayRef<SlotVertex> vertices;
  std::vector<bool> denied;
  Assignment result;
};

} // namespace

Assignment mlir::amp::assignByLists(const SlotGraph &graph) {
  return FourLists(graph).run();
}

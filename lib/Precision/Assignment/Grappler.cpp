//===- Grappler.cpp - The four-list propagation of TensorFlow -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TensorFlow's auto_mixed_precision colours pairs of a node and a type
// attribute. Slots correspond to these pairs, except that an operation may have
// an operand slot and a result slot for one attribute of TensorFlow. This pass
// colours such slots together. The representation covers the other steps of
// TensorFlow:
//
// - Values that a loop carries are one vertex, so that recurrent edges agree.
// - amp-optimize-casts folds a widening cast of the input with the cast after
//   it, if the value is only read low.
//
// Each step is one flood over the graph, so the algorithm is linear.
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/Strategies.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// One run of the propagation.
class Grappler {
public:
  Grappler(const SlotGraph &graph, const GrapplerOptions &options)
      : graph(graph), vertices(graph.getVertices()), options(options),
        next(vertices.size()), state(vertices.size(), State::Open) {
    result.low.assign(vertices.size(), false);
    result.reasons.assign(vertices.size(), Reason::NoLowNeighbour);
    result.causes.assign(vertices.size(), 0);
    result.reasons[0] = Reason::Fixed;
    state[0] = State::Shut;
    tieSlots();
    for (VertexId v = 1; v < vertices.size(); ++v) {
      switch (vertices[v].opClass) {
      case OpClass::Infer:
        result.reasons[v] = Reason::NotBetween;
        break;
      case OpClass::Allow:
      case OpClass::Deny:
        break;
      case OpClass::Clear:
        // No list of TensorFlow contains constants.
        if (vertices[v].isConstant)
          state[v] = State::Shut;
        break;
      default:
        state[v] = State::Shut;
        break;
      }
    }
  }

  Assignment run() {
    if (!seed())
      return std::move(result);
    poison();
    fillBetween();
    followAllowed();
    growThroughClear();
    removeImpossible();
    return std::move(result);
  }

private:
  enum class State : uint8_t {
    /// May become low because of its neighbours, if its class allows it.
    Open,
    Low,
    Denied,
    /// Takes no part.
    Shut,
  };

  /// Merges slots that an implication ties into one vertex, a ring of slots.
  void tieSlots() {
    for (VertexId v = 0; v < vertices.size(); ++v)
      next[v] = v;
    for (auto [premise, conclusion] : graph.getImplications()) {
      if (conclusion == 0 || isTied(premise, conclusion))
        continue;
      std::swap(next[premise], next[conclusion]);
    }
  }
  bool isTied(VertexId a, VertexId b) const {
    for (VertexId v = next[a]; v != a; v = next[v])
      if (v == b)
        return true;
    return a == b;
  }
  template <typename Visit>
  void forEachTied(VertexId v, Visit visit) const {
    VertexId member = v;
    do {
      visit(member);
      member = next[member];
    } while (member != v);
  }

  bool isClear(VertexId v) const {
    return vertices[v].opClass == OpClass::Clear;
  }
  bool isInfer(VertexId v) const {
    return vertices[v].opClass == OpClass::Infer;
  }
  bool isDenyOrInfer(VertexId v) const {
    return vertices[v].opClass == OpClass::Deny || isInfer(v);
  }
  bool isOpen(VertexId v) const {
    return state[v] == State::Open && (isClear(v) || isInfer(v));
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

  /// Colours `v` and the slots that are tied to it, and continues there.
  void setLow(VertexId v, Reason reason, VertexId cause,
              SmallVectorImpl<VertexId> *worklist = nullptr) {
    forEachTied(v, [&](VertexId member) {
      state[member] = State::Low;
      result.low[member] = true;
      result.reasons[member] =
          vertices[member].pinned ? Reason::Pinned : reason;
      result.causes[member] = cause;
      if (worklist)
        worklist->push_back(member);
    });
  }
  void setDenied(VertexId v, Reason reason, VertexId cause,
                 SmallVectorImpl<VertexId> *worklist = nullptr) {
    forEachTied(v, [&](VertexId member) {
      state[member] = State::Denied;
      result.low[member] = false;
      result.reasons[member] =
          vertices[member].pinned ? Reason::Pinned : reason;
      result.causes[member] = cause;
      if (worklist)
        worklist->push_back(member);
    });
  }
  SmallVector<VertexId> getLow() const {
    SmallVector<VertexId> low;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (state[v] == State::Low)
        low.push_back(v);
    return low;
  }

  /// Colours the slots that the lists alone decide. Returns whether any is low.
  bool seed() {
    bool anyLow = false;
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (vertices[v].opClass == OpClass::Deny)
        setDenied(v, getDenial(vertices[v]), v);
      else if (vertices[v].opClass == OpClass::Allow &&
               state[v] != State::Denied)
        setLow(v, Reason::Allowed, v);
    }
    for (VertexId v = 1; v < vertices.size() && !anyLow; ++v)
      anyLow = result.low[v];
    return anyLow;
  }

  /// Deny flows to infer slots downstream, and through clear slots only where
  /// they lead to another deny or infer slot.
  void poison() {
    result.previous.assign(vertices.size(), 0);
    std::vector<bool> conducts(vertices.size(), false);
    SmallVector<VertexId> worklist;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (isDenyOrInfer(v))
        worklist.push_back(v);
    while (!worklist.empty()) {
      forEachProducer(worklist.pop_back_val(), [&](VertexId producer) {
        if (!isClear(producer) || conducts[producer])
          return;
        forEachTied(producer, [&](VertexId member) {
          conducts[member] = true;
          worklist.push_back(member);
        });
      });
    }
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (state[v] == State::Denied)
        worklist.push_back(v);
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      forEachUser(v, [&](VertexId user) {
        if (!isOpen(user) || !(isInfer(user) || conducts[user]))
          return;
        setDenied(user, Reason::Poisoned, result.causes[v], &worklist);
        forEachTied(user,
                    [&](VertexId member) { result.previous[member] = v; });
      });
    }
  }

  /// Whether the graph ends at `v`: it has no reader, or only a return.
  bool isSink(VertexId v) const {
    bool ends = true;
    forEachTied(v, [&](VertexId member) {
      for (uint32_t use : graph.getUsesOf(member)) {
        const SlotUse &reader = graph.getUses()[use];
        Operation *owner = reader.operand->getOwner();
        ends &= reader.user == 0 && owner->hasTrait<OpTrait::IsTerminator>() &&
                isa_and_nonnull<FunctionOpInterface>(owner->getParentOp());
      }
    });
    return ends;
  }

  /// Infer and clear slots on a path from a low one to another (or, by the sink
  /// rule, to the end of the graph) become low.
  void fillBetween() {
    std::vector<bool> downstream(vertices.size(), false);
    SmallVector<VertexId> worklist = getLow();
    while (!worklist.empty()) {
      forEachUser(worklist.pop_back_val(), [&](VertexId user) {
        if (!isOpen(user) || downstream[user])
          return;
        forEachTied(user, [&](VertexId member) {
          downstream[member] = true;
          worklist.push_back(member);
        });
      });
    }
    worklist = getLow();
    if (options.sinkRule)
      for (VertexId v = 1; v < vertices.size(); ++v)
        if (downstream[v] && isOpen(v) && isSink(v))
          setLow(v, Reason::Sink, v, &worklist);
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      forEachProducer(v, [&](VertexId producer) {
        if (downstream[producer] && isOpen(producer))
          setLow(producer, Reason::Between, v, &worklist);
      });
    }
  }

  /// Infer slots that read a low slot and no denied slot become low. Program
  /// order makes chains of them low.
  void followAllowed() {
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (!isOpen(v) || !isInfer(v))
        continue;
      VertexId low = 0;
      bool anyDenied = false;
      forEachTied(v, [&](VertexId member) {
        forEachProducer(member, [&](VertexId producer) {
          anyDenied |= state[producer] == State::Denied;
          if (state[producer] == State::Low)
            low = producer;
        });
      });
      if (low != 0 && !anyDenied)
        setLow(v, Reason::Follows, low);
    }
  }

  /// Low grows through clear slots in both directions.
  void growThroughClear() {
    SmallVector<VertexId> worklist = getLow();
    while (!worklist.empty()) {
      VertexId v = worklist.pop_back_val();
      auto grow = [&](VertexId neighbour) {
        if (isOpen(neighbour) && isClear(neighbour))
          setLow(neighbour, Reason::Grown, v, &worklist);
      };
      forEachUser(v, grow);
      forEachProducer(v, grow);
    }
  }

  /// A slot stays f32 if a slot that it implies must stay f32.
  void removeImpossible() {
    for (auto [premise, conclusion] : graph.getImplications()) {
      if (!result.low[premise] || result.low[conclusion])
        continue;
      result.low[premise] = false;
      result.reasons[premise] = Reason::Implied;
      result.causes[premise] = conclusion;
    }
  }

  const SlotGraph &graph;
  ArrayRef<SlotVertex> vertices;
  GrapplerOptions options;
  /// The next slot of the ring of slots that are tied together.
  std::vector<VertexId> next;
  std::vector<State> state;
  Assignment result;
};

} // namespace

Assignment mlir::amp::assignGrappler(const SlotGraph &graph,
                                     const GrapplerOptions &options) {
  return Grappler(graph, options).run();
}

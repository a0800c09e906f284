//===- ReferenceConstraints.h - Hard constraints by definition --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A second, simple implementation of HardConstraints.cpp for tests.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_LIB_REFERENCECONSTRAINTS_H
#define AMP_TEST_LIB_REFERENCECONSTRAINTS_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Precision/Assignment/Optimal.h"
#include "amp/Support/DependentValues.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <utility>

namespace mlir::amp::test {

/// Computes the hard constraints by their definition, without a worklist.
class ReferenceConstraints {
public:
  using State = HardConstraints::State;

  ReferenceConstraints(const SlotGraph &graph, const CostModel &costs)
      : graph(graph), vertices(graph.getVertices()),
        states(vertices.size(), State::Free) {
    states[0] = State::F32;
    for (VertexId v = 1; v < vertices.size(); ++v) {
      const SlotVertex &vertex = vertices[v];
      bool mayLose = costs.getTarget() && vertex.kind == SlotKind::Compute;
      if (vertex.opClass == OpClass::Deny)
        states[v] = State::F32;
      else if (vertex.isSquare && graph.getLowType() &&
               !graph.findFittingRange(v))
        states[v] = State::F32;
      else if (vertex.opClass == OpClass::Allow &&
               (vertex.pinned || (!vertex.isProductResult && !mayLose)))
        states[v] = State::Low;
    }
    endsAtFitting = true;
    holdFrom([&](const SlotUse &use) {
      return use.producer != 0 && !vertices[use.producer].isBounded &&
             (vertices[use.producer].kind == SlotKind::Range ||
              vertices[use.producer].isSquare) &&
             states[use.producer] == State::F32;
    });
    endsAtFitting = false;
    holdInputs();
    followsUpdates = true;
    holdFrom([&](const SlotUse &use) { return isGradient(use); });
    followsUpdates = false;
    holdState();
  }

  /// The slots that may have either type.
  std::vector<VertexId> getFree() const {
    std::vector<VertexId> free;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (states[v] == State::Free &&
          !(graph.getUsesInto(v).empty() && graph.getUsesOf(v).empty() &&
            vertices[v].slot == SlotVertex::carried))
        free.push_back(v);
    return free;
  }

  /// Returns whether `low` obeys all constraints except implications.
  bool areMet(const std::vector<bool> &low) const {
    for (VertexId v = 1; v < vertices.size(); ++v)
      if ((states[v] == State::Low && !low[v] && !isHeldByImplication(v)) ||
          (states[v] == State::F32 && low[v]))
        return false;
    return true;
  }
  bool areImplicationsMet(const std::vector<bool> &low) const {
    return llvm::none_of(graph.getImplications(), [&](auto implication) {
      return low[implication.first] && !low[implication.second];
    });
  }
  bool isLow(VertexId v) const { return states[v] == State::Low; }

private:
  /// An implication wins over a pin.
  bool isHeldByImplication(VertexId v) const {
    return llvm::any_of(graph.getImplications(), [&](auto implication) {
      return implication.first == v && states[implication.second] == State::F32;
    });
  }
  /// Whether the gradient of a parameter is computed from or inside `op` or an
  /// operation that encloses it.
  bool leadsToGradient(Operation *op) const {
    llvm::DenseSet<Operation *> visited;
    return leadsToGradient(op, visited);
  }
  static bool leadsToGradient(Operation *op,
                              llvm::DenseSet<Operation *> &visited) {
    if (!visited.insert(op).second)
      return false;
    auto isMarked = [](Operation *nested) {
      return nested->hasAttr(AMPDialect::kGradientOfAttr)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    };
    if (op->walk(isMarked).wasInterrupted())
      return true;
    Operation *parent = op->getParentOp();
    return llvm::any_of(op->getUsers(),
                        [&](Operation *user) {
                          return leadsToGradient(user, visited);
                        }) ||
           (!isa<func::FuncOp>(parent) && leadsToGradient(parent, visited));
  }
  /// Whether `v` belongs to a product that only the update needs.
  bool isUpdateProduct(VertexId v) const {
    return followsUpdates && vertices[v].kind == SlotKind::Compute &&
           !vertices[v].pinned && !leadsToGradient(vertices[v].op);
  }
  /// Whether `v` belongs to a product that holds its results too: one that only
  /// the update needs, or a sum by a product with a single number.
  bool conducts(VertexId v) const {
    return isUpdateProduct(v) || (endsAtFitting && vertices[v].addsUp &&
                                  vertices[v].given == Pin::None);
  }
  bool ends(const SlotUse &use) const {
    if (conducts(use.user))
      return false;
    return vertices[use.user].kind == SlotKind::Compute ||
           states[use.user] == State::Low || (endsAtFitting && bounds(use));
  }
  /// Whether the results of an operation fit the low type for any operands.
  bool bounds(const SlotUse &use) const {
    Operation *op = use.operand->get().getDefiningOp();
    auto rule = dyn_cast_or_null<FloatRangeOpInterface>(op);
    return rule && rule.getElementFlow() != ElementFlow::Moves &&
           vertices[use.producer].kind != SlotKind::Range &&
           graph.fitsLow(use.operand->get());
  }
  /// Bounded values are held, but not values computed from them.
  bool passes(const std::vector<bool> &held, VertexId v) const {
    return held[v] && !vertices[v].isBounded;
  }
  bool isGradient(const SlotUse &use) const {
    auto result = dyn_cast<OpResult>(use.operand->get());
    if (use.producer != 0 || !result)
      return false;
    auto names = result.getOwner()->getAttrOfType<ArrayAttr>(
        AMPDialect::kGradientOfAttr);
    return names &&
           cast<StringAttr>(names[result.getResultNumber()]).size() != 0;
  }

  template <typename IsSource>
  void holdFrom(IsSource isSource) {
    std::vector<bool> held(vertices.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      auto hold = [&](VertexId v) {
        changed |= v != 0 && !held[v];
        held[v] = held[v] || v != 0;
      };
      for (const SlotUse &use : graph.getUses())
        if ((isSource(use) || passes(held, use.producer)) && !ends(use))
          hold(use.user);
      for (auto [premise, conclusion] : graph.getImplications())
        if (passes(held, conclusion) &&
            (vertices[conclusion].kind != SlotKind::Compute ||
             conducts(conclusion)))
          hold(premise);
    }
    // Clear slots all of whose uses end at products are let go: the largest
    // such set.
    std::vector<bool> released = held;
    for (bool changed = true; changed;) {
      changed = false;
      for (VertexId v = 1; v < vertices.size(); ++v) {
        bool stays = vertices[v].opClass == OpClass::Clear &&
                     vertices[v].produces && states[v] == State::Free &&
                     !graph.getUsesOf(v).empty();
        for (uint32_t index : graph.getUsesOf(v)) {
          const SlotUse &use = graph.getUses()[index];
          stays &= ends(use) || released[use.user];
        }
        if (released[v] && !stays) {
          released[v] = false;
          changed = true;
        }
      }
    }
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (held[v] && !released[v] && (states[v] == State::Free || conducts(v)))
        states[v] = State::F32;
  }

  /// Values that do not depend on a product, and that an operation reads which
  /// amplifies their rounding errors.
  void holdInputs() {
    SmallVector<Value> origins;
    for (const SlotVertex &vertex : vertices.drop_front())
      if (graph.isProduct(vertex.op))
        llvm::append_range(origins, vertex.op->getResults());
    llvm::DenseSet<Value> computed = findDependentValues(origins);
    auto isInput = [&](Value value) { return !computed.contains(value); };
    std::vector<bool> held(vertices.size(), false);
    for (VertexId v = 1; v < vertices.size(); ++v) {
      const SlotVertex &vertex = vertices[v];
      held[v] = vertex.slot != SlotVertex::carried &&
                vertex.kind != SlotKind::Compute && !vertex.isProductResult &&
                !graph.isInCompositePattern(vertex.op) &&
                graph.amplifiesErrors(vertex.op) &&
                llvm::all_of(vertex.op->getOperands(), isInput);
    }
    // The operation may keep its type.
    auto amplifies = [&](const SlotUse &use) {
      Operation *op = use.operand->getOwner();
      return use.user == 0 && graph.amplifiesErrors(op) &&
             llvm::all_of(op->getOperands(), isInput);
    };
    for (bool changed = true; std::exchange(changed, false);)
      for (const SlotUse &use : graph.getUses())
        if ((held[use.user] || amplifies(use)) && !held[use.producer] &&
            use.producer != 0 && !vertices[use.producer].isConstant &&
            isInput(use.operand->get()))
          held[use.producer] = changed = true;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (held[v] && states[v] == State::Free)
        states[v] = State::F32;
  }

  void holdState() {
    std::vector<bool> held(vertices.size(), false);
    auto isState = [&](const SlotUse &use) {
      auto argument = dyn_cast<BlockArgument>(use.operand->get());
      auto function =
          argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   : func::FuncOp();
      return function &&
             function.getArgAttr(argument.getArgNumber(),
                                 AMPDialect::kRoleAttr) ==
                 StringAttr::get(function.getContext(), "hyperparameter");
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (VertexId v = 1; v < vertices.size(); ++v) {
        bool reads = false, all = true;
        for (uint32_t index : graph.getUsesInto(v)) {
          const SlotUse &use = graph.getUses()[index];
          bool derived = isState(use) || held[use.producer];
          reads |= derived;
          all &= derived || vertices[use.producer].isConstant;
        }
        for (auto [premise, conclusion] : graph.getImplications())
          reads |= premise == v && held[conclusion];
        if (held[v] || !reads || !all || vertices[v].kind == SlotKind::Compute)
          continue;
        held[v] = changed = true;
      }
    }
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (held[v] && states[v] == State::Free)
        states[v] = State::F32;
  }

  const SlotGraph &graph;
  ArrayRef<SlotVertex> vertices;
  std::vector<State> states;
  /// Whether values that provably fit the low type impose no constraint.
  bool endsAtFitting = false;
  /// Whether constraints include products that only the update needs.
  bool followsUpdates = false;
};

} // namespace mlir::amp::test

#endif // AMP_TEST_LIB_REFERENCECONSTRAINTS_H

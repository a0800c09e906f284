//===- InputDifferences.cpp - Differences of inputs -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include "amp/Interfaces/GradientInterfaces.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

static bool isPrivate(Operation *function) {
  return SymbolTable::getSymbolVisibility(function) ==
         SymbolTable::Visibility::Private;
}

static bool isZero(const std::optional<FloatRange> &range) {
  return range && range->lo == 0 && range->hi == 0;
}

bool SlotGraph::subtractsValues(Operation *op) const {
  Arithmetic sum = getSum(op);
  if (sum == Arithmetic::Other)
    return false;
  std::optional<FloatRange> left = findConstant(op->getOperand(0)),
                            right = findConstant(op->getOperand(1));
  if (left && right)
    return false;
  if (sum == Arithmetic::Add)
    return (left && left->lo < 0) || (right && right->lo < 0);
  return !isZero(left) && !isZero(right) &&
         op->getOperand(0) != op->getOperand(1);
}

bool SlotGraph::comparesValues(Operation *op) const {
  return op->getNumOperands() == 2 && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 &&
         getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isFloat(operand) && !isZero(findConstant(operand));
         });
}

namespace {

class InputDifferenceFinder {
public:
  explicit InputDifferenceFinder(const SlotGraph &graph)
      : graph(graph), vertices(graph.getVertices()) {}

  SmallVector<std::pair<VertexId, VertexId>> run() {
    findInputs();
    isFound.assign(vertices.size(), false);
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (isSource(v))
        addInputs(v);
    return std::move(found);
  }

private:
  /// Finds the values that the functions of the graph compute from their
  /// arguments without a product. The arguments of a private function are
  /// inputs if all calls pass inputs.
  void findInputs() {
    llvm::SetVector<Operation *> functions;
    for (const SlotVertex &vertex : vertices.drop_front()) {
      Operation *op = vertex.op;
      functions.insert(isa<FunctionOpInterface>(op)
                           ? op
                           : op->getParentOfType<FunctionOpInterface>());
    }
    for (Operation *function : functions)
      if (function)
        function->walk([&](CallOpInterface call) {
          if (Operation *callee = call.resolveCallableInTable(&tables))
            callers[callee].push_back(call);
        });
    SmallVector<FunctionOpInterface> worklist;
    for (Operation *op : functions)
      if (auto function = dyn_cast_or_null<FunctionOpInterface>(op);
          function && !isPrivate(op))
        worklist.push_back(function);
    while (!worklist.empty())
      findInputs(worklist.pop_back_val(), worklist);
  }

  /// Finds the values of `function`, whose arguments are inputs. Adds the
  /// private functions whose arguments are inputs too to `worklist`.
  void findInputs(FunctionOpInterface function,
                  SmallVectorImpl<FunctionOpInterface> &worklist) {
    if (function.isExternal() || !giving.insert(function).second)
      return;
    inputs.insert(function.getArguments().begin(),
                  function.getArguments().end());
    for (Operation &op : function.getFunctionBody().front()) {
      if (!givesInputs(&op))
        continue;
      giving.insert(&op);
      inputs.insert(op.result_begin(), op.result_end());
      auto call = dyn_cast<CallOpInterface>(&op);
      auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(
                               call.resolveCallableInTable(&tables))
                         : FunctionOpInterface();
      if (callee && isPrivate(callee) &&
          llvm::all_of(callers[callee], [&](CallOpInterface other) {
            return llvm::all_of(other.getArgOperands(), [&](Value operand) {
              return inputs.contains(operand);
            });
          }))
        worklist.push_back(callee);
    }
  }

  /// Whether `op` computes its results from inputs without a product. A region
  /// may read its own values, and inputs.
  bool givesInputs(Operation *op) {
    auto isInput = [&](Value value) { return inputs.contains(value); };
    if (isa<GradientSeedOpInterface>(op) || graph.isProduct(op) ||
        !llvm::all_of(op->getOperands(), isInput))
      return false;
    if (auto call = dyn_cast<CallOpInterface>(op))
      return !mayContainProduct(call);
    if (op->getNumRegions() == 0)
      return true;
    llvm::SetVector<Value> read;
    getUsedValuesDefinedAbove(op->getRegions(), read);
    return llvm::all_of(read, isInput) && !containsProduct(op);
  }

  /// Whether an operation in the regions of `op` is a product or may call one.
  bool containsProduct(Operation *op) {
    return op
        ->walk([&](Operation *nested) {
          auto call = dyn_cast<CallOpInterface>(nested);
          return nested != op && (isa<GradientSeedOpInterface>(nested) ||
                                  graph.isProduct(nested) ||
                                  (call && mayContainProduct(call)))
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool mayContainProduct(CallOpInterface call) {
    Operation *callee = call.resolveCallableInTable(&tables);
    auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
    if (!function || function.isExternal())
      return true;
    // A function that calls itself counts as one with products.
    auto [it, isNew] = products.try_emplace(callee, true);
    if (!isNew)
      return it->second;
    bool found = containsProduct(callee);
    return products[callee] = found;
  }

  /// Whether `v` belongs to a difference or a comparison of inputs, of which
  /// one is not a constant.
  bool isSource(VertexId v) {
    const SlotVertex &vertex = vertices[v];
    if (vertex.slot == SlotVertex::carried ||
        vertex.kind != SlotKind::Storage || vertex.isConstant ||
        graph.isInCompositePattern(vertex.op))
      return false;
    return (graph.subtractsValues(vertex.op) ||
            graph.comparesValues(vertex.op)) &&
           giving.contains(vertex.op);
  }

  /// Adds the slot `v` and those that compute its inputs.
  void addInputs(VertexId v) {
    SmallVector<VertexId> worklist = {v};
    while (!worklist.empty()) {
      VertexId slot = worklist.pop_back_val();
      if (isFound[slot])
        continue;
      isFound[slot] = true;
      found.push_back({slot, v});
      for (uint32_t index : graph.getUsesInto(slot)) {
        VertexId producer = graph.getUses()[index].producer;
        if (producer != 0 && !vertices[producer].isConstant &&
            giving.contains(vertices[producer].op))
          worklist.push_back(producer);
      }
    }
  }

  const SlotGraph &graph;
  ArrayRef<SlotVertex> vertices;
  llvm::DenseSet<Value> inputs;
  /// The operations in the bodies of functions that give inputs, and the
  /// functions whose arguments are inputs.
  llvm::DenseSet<Operation *> giving;
  SymbolTableCollection tables;
  llvm::DenseMap<Operation *, bool> products;
  llvm::DenseMap<Operation *, SmallVector<CallOpInterface, 2>> callers;
  std::vector<bool> isFound;
  SmallVector<std::pair<VertexId, VertexId>> found;
};

} // namespace

SmallVector<std::pair<VertexId, VertexId>>
mlir::amp::findInputDifferences(const SlotGraph &graph) {
  return InputDifferenceFinder(graph).run();
}

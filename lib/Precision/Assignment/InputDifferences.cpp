//===- InputDifferences.cpp - Differences of inputs -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include "Terms.h"

#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Support/DependentValues.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

static bool isZero(const std::optional<FloatRange> &range) {
  return range && range->lo == 0 && range->hi == 0;
}

bool SlotGraph::subtractsValues(Operation *op) const {
  Arithmetic sum = getSum(op);
  if (sum == Arithmetic::Other)
    return false;
  if (getTerms(op).size() == 1)
    return sum == Arithmetic::Subtract;
  std::optional<FloatRange> left = findConstant(op->getOperand(0)),
                            right = findConstant(op->getOperand(1));
  if (sum == Arithmetic::Add)
    return (left && left->lo < 0) || (right && right->lo < 0);
  return !isZero(left) && !isZero(right) &&
         op->getOperand(0) != op->getOperand(1);
}

bool SlotGraph::comparesValues(Operation *op) const {
  if (op->getNumResults() != 1 ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1) ||
      !hasKnownBody(op))
    return false;
  // A body may contain one of the two values.
  SmallVector<OpOperand *, 4> inputs = getInputs(op);
  return (inputs.size() == 2 ||
          (inputs.size() == 1 && op->getNumRegions() != 0)) &&
         llvm::all_of(inputs, [&](OpOperand *operand) {
           return isFloat(operand->get()) &&
                  !isZero(findConstant(operand->get()));
         });
}

bool SlotGraph::computesFromInteger(Operation *op) const {
  return hasKnownBody(op) && !movesElements(op) &&
         llvm::any_of(getInputs(op), [&](OpOperand *operand) {
           return isConvertedInteger(operand->get());
         });
}

bool SlotGraph::isConvertedInteger(Value value) const {
  constexpr int limit = 8;
  // A low type can represent the integers of a byte.
  constexpr unsigned byte = 8;
  for (int depth = 0; depth < limit; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op || getInputs(op).size() != 1 || op->getNumResults() != 1)
      return false;
    Value source = getInputs(op).front()->get();
    if (!isFloat(source)) {
      auto element =
          dyn_cast<IntegerType>(getElementTypeOrSelf(source.getType()));
      auto from = dyn_cast<RankedTensorType>(source.getType()),
           to = dyn_cast<RankedTensorType>(value.getType());
      return element && element.getWidth() > byte && from && to &&
             from.getShape() == to.getShape();
    }
    if (!movesElements(op))
      return false;
    value = source;
  }
  return false;
}

bool SlotGraph::amplifiesErrors(Operation *op) const {
  SmallVector<OpOperand *, 4> inputs = getInputs(op);
  if (!hasKnownBody(op) || inputs.empty() || op->getNumResults() != 1)
    return false;
  auto isNumber = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    return element.isIntOrFloat() && !element.isInteger(1);
  };
  // A conversion to integers, or the parts of a complex number, whose
  // exponential is periodic.
  Type result = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<ComplexType>(result) || (isNumber(result) && !isa<FloatType>(result)))
    return llvm::all_of(
        inputs, [](OpOperand *operand) { return isFloat(operand->get()); });
  PrecisionOpInterface iface = isForeign(op) ? nullptr : getInterface(op);
  constexpr StringLiteral steps[] = {"ceil", "floor", "round"};
  bool isStep = iface ? iface.getArithmetic() == Arithmetic::Step
                      : llvm::is_contained(steps, policy.findFunction(op));
  // A high power may be written as squares of squares.
  Value squared = squares.lookup(op);
  bool isFourthPower = squared && squares.contains(squared.getDefiningOp());
  return isStep || isFourthPower || isSteep(*inputs.front());
}

namespace {

class InputDifferenceFinder {
public:
  InputDifferenceFinder(const SlotGraph &graph, ValueSlots &slots)
      : graph(graph), vertices(graph.getVertices()), slots(slots) {}

  SmallVector<std::pair<VertexId, VertexId>> run() {
    SmallVector<VertexId> sources, mixed;
    for (VertexId v = 1; v < vertices.size(); ++v) {
      if (!isSource(vertices[v]))
        continue;
      if (!isNearProduct(vertices[v].op))
        sources.push_back(v);
      else if (mayMix(vertices[v].op))
        mixed.push_back(v);
    }
    // Operations that keep their types have no slot.
    SmallVector<OpOperand *> fixed;
    for (uint32_t index : graph.getUsesInto(0))
      if (OpOperand *operand = graph.getUses()[index].operand;
          graph.amplifiesErrors(operand->getOwner()) &&
          !isNearProduct(operand->getOwner()))
        fixed.push_back(operand);
    if (sources.empty() && fixed.empty() && mixed.empty())
      return {};
    findComputed();
    isFound.assign(vertices.size(), false);
    for (VertexId v : sources)
      if (readsInputs(vertices[v].op))
        addInputs({v}, v);
    for (OpOperand *operand : fixed) {
      SmallVector<VertexId> producers;
      if (readsInputs(operand->getOwner()))
        addProducers(operand->get(), producers);
      addInputs(std::move(producers), 0);
    }
    for (VertexId v : mixed)
      if (mixes(vertices[v].op)) {
        addInputs({v}, v);
        addComputed(v);
      }
    return std::move(found);
  }

private:
  bool isSource(const SlotVertex &vertex) const {
    return vertex.slot != SlotVertex::carried &&
           vertex.kind != SlotKind::Compute && !vertex.isConstant &&
           !vertex.isProductResult && !graph.isInCompositePattern(vertex.op) &&
           (graph.subtractsValues(vertex.op) ||
            graph.comparesValues(vertex.op) ||
            graph.computesFromInteger(vertex.op) ||
            graph.amplifiesErrors(vertex.op));
  }

  /// Whether one of the next operations before `op` is a product. This saves
  /// most searches for all values that depend on products.
  bool isNearProduct(Operation *op) const {
    return isNearProduct(SmallVector<Operation *>{op});
  }
  bool isNearProduct(SmallVector<Operation *> reached) const {
    constexpr size_t limit = 16;
    for (size_t next = 0; next < reached.size(); ++next)
      for (Value operand : reached[next]->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer || llvm::is_contained(reached, producer))
          continue;
        if (graph.isProduct(producer))
          return true;
        if (reached.size() < limit)
          reached.push_back(producer);
      }
    return false;
  }

  /// Finds the values that depend on a product, a gradient seed, or a call
  /// whose function is not known. Any value may come into a private function
  /// that no operation of the graph calls.
  void findComputed() {
    llvm::SetVector<Operation *> functions;
    for (const SlotVertex &vertex : vertices.drop_front()) {
      Operation *op = vertex.op;
      functions.insert(isa<FunctionOpInterface>(op)
                           ? op
                           : op->getParentOfType<FunctionOpInterface>());
    }
    functions.remove(nullptr);
    SymbolTableCollection tables;
    llvm::DenseSet<Operation *> called;
    SmallVector<Value> origins;
    for (Operation *function : functions)
      function->walk([&](Operation *op) {
        auto call = dyn_cast<CallOpInterface>(op);
        auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(
                                 call.resolveCallableInTable(&tables))
                           : FunctionOpInterface();
        if (callee && !callee.isExternal())
          called.insert(callee);
        else if (call || isa<GradientSeedOpInterface>(op) ||
                 graph.isProduct(op))
          llvm::append_range(origins, op->getResults());
      });
    for (Operation *op : functions)
      if (SymbolTable::getSymbolVisibility(op) ==
              SymbolTable::Visibility::Private &&
          !called.contains(op))
        llvm::append_range(origins,
                           cast<FunctionOpInterface>(op).getArguments());
    computed = findDependentValues(origins);
  }

  /// A fast test before `mixes`: whether no product is near an operand of the
  /// subtraction `op`.
  bool mayMix(Operation *op) const {
    return graph.subtractsValues(op) && !graph.addsConstant(op) &&
           llvm::any_of(getInputs(op), [&](OpOperand *operand) {
             Operation *producer = operand->get().getDefiningOp();
             return !producer ||
                    (!graph.isProduct(producer) && !isNearProduct(producer));
           });
  }
  /// Whether one operand of the subtraction `op` is an input and the other one
  /// depends on a product, such as a target and its prediction.
  bool mixes(Operation *op) const {
    SmallVector<OpOperand *, 4> inputs = getInputs(op);
    return llvm::count_if(inputs, [&](OpOperand *operand) {
             return isInput(operand->get());
           }) == 1;
  }

  /// Adds the slots that compute the operand of `v` that is not an input. The
  /// search goes back to products, through movements, factors and sums.
  void addComputed(VertexId v) {
    constexpr int limit = 64;
    SmallVector<VertexId> worklist = {v};
    for (int count = 0; !worklist.empty() && count < limit; ++count)
      for (uint32_t index : graph.getUsesInto(worklist.pop_back_val())) {
        const SlotUse &use = graph.getUses()[index];
        VertexId producer = use.producer;
        const SlotVertex &vertex = vertices[producer];
        if (producer == 0 || isFound[producer] || vertex.isConstant ||
            vertex.slot == SlotVertex::carried)
          continue;
        if (isInput(use.operand->get())) {
          addInputs({producer}, v);
          continue;
        }
        isFound[producer] = true;
        found.push_back({producer, v});
        if (!vertex.isProductResult &&
            (graph.keepsRelativeErrors(vertex.op) ||
             graph.getSum(vertex.op) != Arithmetic::Other))
          worklist.push_back(producer);
      }
  }

  bool isInput(Value value) const { return !computed.contains(value); }
  bool readsInputs(Operation *op) const {
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return isInput(operand); });
  }

  /// Adds the slots of `worklist` and those that compute their inputs, also in
  /// loops that only a policy declares, whose values keep their types.
  /// `amplifier` is the slot that amplifies errors, or 0.
  void addInputs(SmallVector<VertexId> worklist, VertexId amplifier) {
    while (!worklist.empty()) {
      VertexId slot = worklist.pop_back_val();
      if (isFound[slot])
        continue;
      isFound[slot] = true;
      found.push_back({slot, amplifier});
      for (uint32_t index : graph.getUsesInto(slot))
        addProducers(graph.getUses()[index].operand->get(), worklist);
    }
  }

  /// Adds the slots that compute `value` to `worklist`.
  void addProducers(Value value, SmallVectorImpl<VertexId> &worklist) {
    SmallVector<Value> values = {value};
    while (!values.empty()) {
      Value next = values.pop_back_val();
      if (!isInput(next))
        continue;
      VertexId producer = slots.lookup(next);
      if (producer != 0 && !vertices[producer].isConstant)
        worklist.push_back(producer);
      if (producer == 0 && passed.insert(next).second)
        llvm::append_range(values, slots.findPassed(next));
    }
  }

  const SlotGraph &graph;
  ArrayRef<SlotVertex> vertices;
  ValueSlots &slots;
  llvm::DenseSet<Value> computed, passed;
  std::vector<bool> isFound;
  SmallVector<std::pair<VertexId, VertexId>> found;
};

} // namespace

SmallVector<std::pair<VertexId, VertexId>>
mlir::amp::findInputDifferences(const SlotGraph &graph, ValueSlots &slots) {
  return InputDifferenceFinder(graph, slots).run();
}

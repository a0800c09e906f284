//===- Differences.cpp - Differences before steep functions ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include "Terms.h"

#include "ConstantFactors.h"

#include "amp/Interfaces/Proportional.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns the interval of the elements of `value`, a constant that is moved or
/// passed to a function. Nothing if it may be another value.
std::optional<FloatRange> SlotGraph::findConstant(Value value,
                                                  int depth) const {
  if (depth == 0)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (op && holdsElements(op)) {
    std::optional<ConstantElements> elements = readConstant(op);
    return elements ? std::optional(elements->range) : std::nullopt;
  }
  if (op)
    return getInputs(op).size() == 1 && movesElements(op)
               ? findConstant(getInputs(op).front()->get(), depth - 1)
               : std::nullopt;
  if (!isa<FunctionOpInterface>(value.getParentBlock()->getParentOp()))
    return std::nullopt;
  std::optional<FloatRange> joined;
  for (Value source : sources.get(value)) {
    std::optional<FloatRange> range = findConstant(source, depth - 1);
    if (!range)
      return std::nullopt;
    joined = joined ? joined->join(*range) : *range;
  }
  return joined;
}

/// Returns whether `value` is computed from `source` alone, as the maximum of a
/// row is. Both then have the same rounding errors.
bool SlotGraph::isComputedFrom(Value value, Value source) const {
  constexpr int limit = 8;
  for (int depth = 0; depth < limit; ++depth) {
    Operation *op = value.getDefiningOp();
    Value next;
    if (!op)
      return false;
    for (OpOperand *operand : getInputs(op)) {
      if (!isEligible(operand->get().getType()) || findConstant(operand->get()))
        continue;
      if (next && next != operand->get())
        return false;
      next = operand->get();
    }
    if (!next || next == source)
      return next == source;
    value = next;
  }
  return false;
}

bool SlotGraph::hasKnownBody(Operation *op) const {
  if (op->getNumRegions() == 0)
    return true;
  PrecisionOpInterface iface = getInterface(op);
  return iface && !isForeign(op) && iface.getArithmetic() != Arithmetic::Other;
}

Arithmetic SlotGraph::getSum(Operation *op) const {
  size_t numTerms = getTerms(op).size();
  if (PrecisionOpInterface iface = getInterface(op); iface && !isForeign(op)) {
    Arithmetic arithmetic = iface.getArithmetic();
    // A body may contain one of the two terms.
    if ((arithmetic == Arithmetic::Add || arithmetic == Arithmetic::Subtract) &&
        (numTerms == 2 || (numTerms == 1 && op->getNumRegions() != 0)))
      return arithmetic;
  }
  if (numTerms != 2 || op->getNumOperands() != 2 || op->getNumRegions() != 0)
    return Arithmetic::Other;
  StringRef function = policy.findFunction(op);
  return function == "add"        ? Arithmetic::Add
         : function == "subtract" ? Arithmetic::Subtract
                                  : Arithmetic::Other;
}

bool SlotGraph::subtracts(Operation *op) const {
  Arithmetic sum = getSum(op);
  if (sum == Arithmetic::Other)
    return false;
  if (getTerms(op).size() == 1)
    return sum == Arithmetic::Subtract;
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  std::optional<FloatRange> left = findConstant(lhs), right = findConstant(rhs);
  if (left && right)
    return false;
  if (sum == Arithmetic::Add)
    return (left && left->lo < 0) || (right && right->lo < 0);
  // The number 0 minus a value only negates it.
  FloatRange zero = FloatRange::get(0);
  return left != zero && right != zero && !isComputedFrom(lhs, rhs) &&
         !isComputedFrom(rhs, lhs);
}

bool SlotGraph::addsConstant(Operation *op) const {
  if (getSum(op) == Arithmetic::Other)
    return false;
  return getTerms(op).size() == 1 ||
         findConstant(op->getOperand(0)).has_value() !=
             findConstant(op->getOperand(1)).has_value();
}

bool SlotGraph::isSteep(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  unsigned number = operand.getOperandNumber();
  if (isForeign(op)) {
    constexpr StringLiteral steep[] = {"exp",   "expm1", "log", "log1p",
                                       "power", "rsqrt", "sqrt"};
    StringRef function = policy.findFunction(op);
    return llvm::is_contained(steep, function) ||
           (function == "divide" && number == 1);
  }
  PrecisionOpInterface iface = getInterface(op);
  if (!iface)
    return false;
  Arithmetic arithmetic = iface.getArithmetic();
  return arithmetic == Arithmetic::Steep ||
         arithmetic == Arithmetic::ReciprocalSqrt ||
         isInverselyProportionalTo(op, number);
}

bool SlotGraph::isRepeatedNumber(Value value) const {
  constexpr int limit = 8;
  for (int depth = 0; depth < limit; ++depth) {
    auto type = dyn_cast<ShapedType>(value.getType());
    if (!type || (type.hasStaticShape() && type.getNumElements() == 1))
      return true;
    Operation *op = value.getDefiningOp();
    SmallVector<OpOperand *, 4> inputs =
        op ? getInputs(op) : SmallVector<OpOperand *, 4>();
    if (inputs.empty() || !movesElements(op) ||
        llvm::count_if(inputs, [&](OpOperand *operand) {
          return isEligible(operand->get().getType());
        }) != 1)
      return false;
    value = inputs.front()->get();
  }
  return false;
}

OpOperand *SlotGraph::findScaled(Operation *op) const {
  OpOperand *factor = nullptr;
  for (OpOperand *operand : getInputs(op)) {
    Value value = operand->get();
    if (!isEligible(value.getType()) || findConstant(value) ||
        (factor && isRepeatedNumber(value)))
      continue;
    if (factor && !isRepeatedNumber(factor->get()))
      return nullptr;
    factor = operand;
  }
  return factor && isProportional(*factor) ? factor : nullptr;
}

bool SlotGraph::keepsRelativeErrors(Operation *op) const {
  return movesElements(op) ||
         llvm::any_of(getInputs(op), [&](OpOperand *operand) {
           return isEligible(operand->get().getType()) &&
                  isProportional(*operand);
         });
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

namespace {

class DifferenceFinder {
public:
  explicit DifferenceFinder(const SlotGraph &graph)
      : graph(graph), vertices(graph.getVertices()) {}

  SmallVector<std::pair<VertexId, VertexId>> run() {
    isFound.assign(vertices.size(), false);
    for (VertexId v = 1; v < vertices.size(); ++v) {
      const SlotVertex &vertex = vertices[v];
      if (vertex.slot == SlotVertex::carried ||
          vertex.kind != SlotKind::Storage || !graph.subtracts(vertex.op) ||
          graph.isInCompositePattern(vertex.op))
        continue;
      if (std::optional<VertexId> function = findSteepReader(v)) {
        add(v, *function);
        addValues(v, *function);
      }
    }
    return std::move(found);
  }

private:
  /// Returns the slot of a steep function that reads the difference `v`, or a
  /// value with the same relative error.
  std::optional<VertexId> findSteepReader(VertexId v) const {
    constexpr size_t limit = 32;
    SmallVector<VertexId> reached = {v};
    for (size_t next = 0; next < reached.size(); ++next)
      for (uint32_t index : graph.getUsesOf(reached[next])) {
        const SlotUse &use = graph.getUses()[index];
        if (graph.isSteep(*use.operand))
          return use.user;
        if (use.user != 0 && reached.size() < limit && passesOn(use) &&
            !llvm::is_contained(reached, use.user))
          reached.push_back(use.user);
      }
    return std::nullopt;
  }

  /// Whether results of the reader have the relative error of the value: it
  /// moves or selects elements, multiplies them, or adds a constant. A sum of
  /// many values may have a small error where some of them have large ones.
  bool passesOn(const SlotUse &use) const {
    const SlotVertex &user = vertices[use.user];
    if (user.slot == SlotVertex::carried || user.kind != SlotKind::Storage)
      return false;
    if (user.opClass == OpClass::Clear || graph.movesElements(user.op) ||
        graph.addsConstant(user.op))
      return true;
    auto from = dyn_cast<ShapedType>(use.operand->get().getType());
    auto isSmaller = [&](Type type) {
      auto to = dyn_cast<ShapedType>(type);
      return !from || !to || to.getRank() < from.getRank();
    };
    return llvm::none_of(user.op->getResultTypes(), isSmaller) &&
           graph.isProportional(*use.operand);
  }

  void add(VertexId slot, VertexId function) {
    isFound[slot] = true;
    found.push_back({slot, function});
  }

  /// Adds the slots that compute the values of the difference `v`, back through
  /// factors and movements, which keep a relative error. The operands of
  /// products stay low.
  void addValues(VertexId v, VertexId function) {
    SmallVector<VertexId> worklist = {v};
    while (!worklist.empty())
      for (uint32_t index : graph.getUsesInto(worklist.pop_back_val())) {
        VertexId producer = graph.getUses()[index].producer;
        const SlotVertex &vertex = vertices[producer];
        if (producer == 0 || isFound[producer] || vertex.isConstant ||
            vertex.slot == SlotVertex::carried)
          continue;
        add(producer, function);
        if (!vertex.isProductResult && graph.keepsRelativeErrors(vertex.op))
          worklist.push_back(producer);
      }
  }

  const SlotGraph &graph;
  ArrayRef<SlotVertex> vertices;
  std::vector<bool> isFound;
  SmallVector<std::pair<VertexId, VertexId>> found;
};

} // namespace

SmallVector<std::pair<VertexId, VertexId>>
mlir::amp::findDifferences(const SlotGraph &graph) {
  return DifferenceFinder(graph).run();
}

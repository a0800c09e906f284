//===- Squares.cpp - Squares that may be low ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product is a square if both factors are proportional to one value, in any
// spelling: a * a, a * -a, (a - b) * (b - a), (2 * a) * a. So is a product of
// two differences from one value, (a - b) * (a - c), as in a running variance.
//
// A square may leave the range of f16. A low type with the exponents of f32
// holds every square, and then only its rounding counts. That matters where
// squares are summed, as in a variance, and where the square of a sum is
// subtracted from such a sum. The powers in an activation function are neither.
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"
#include "Terms.h"
#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "amp/Interfaces/Proportional.h"
#include "amp/Precision/Assignment/SlotGraph.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns whether values of `type` have the exponents of f32.
static bool hasRangeOfF32(FloatType type) {
  const llvm::fltSemantics &low = type.getFloatSemantics(),
                           &wide = llvm::APFloat::IEEEsingle();
  return llvm::APFloat::semanticsMaxExponent(low) >=
         llvm::APFloat::semanticsMaxExponent(wide);
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Returns whether a tensor of type `to` has fewer elements than one of type
/// `from`, judging by static shapes.
static bool hasFewerElements(Type to, Type from) {
  auto after = dyn_cast<ShapedType>(to), before = dyn_cast<ShapedType>(from);
  if (!before || !before.hasRank())
    return false;
  if (!after || !after.hasRank())
    return before.getRank() != 0;
  if (after.hasStaticShape() && before.hasStaticShape())
    return after.getNumElements() < before.getNumElements();
  if (after.getRank() != before.getRank())
    return after.getRank() < before.getRank();
  return llvm::any_of(
      llvm::zip(after.getShape(), before.getShape()), [](auto extents) {
        return std::get<0>(extents) == 1 && std::get<1>(extents) != 1;
      });
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

bool SlotGraph::isProportional(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  unsigned index = operand.getOperandNumber();
  if (isa<LossScaleOpInterface>(op))
    return isProportionalTo(op, index);
  if (op->getNumRegions() != 0)
    return false;
  switch (policy.findLinearKind(op).value_or(LinearRule::Kind::Constant)) {
  case LinearRule::Kind::Joint:
    return op->getNumOperands() == 1;
  case LinearRule::Kind::Product:
    return op->getNumOperands() == 2;
  case LinearRule::Kind::Quotient:
    return index == 0;
  default:
    return false;
  }
}

/// Adds to `factors` `value` and the values of its shape to which it is
/// proportional element by element, up to a limit.
void SlotGraph::collectFactors(Value value,
                               SmallVectorImpl<Value> &factors) const {
  constexpr size_t limit = 6;
  auto getShape = [](Value of) {
    auto type = dyn_cast<ShapedType>(of.getType());
    return type && type.hasRank() ? type.getShape() : ArrayRef<int64_t>();
  };
  auto isNumber = [&](Value of) {
    Operation *op = of.getDefiningOp();
    return op && holdsElements(op);
  };
  factors.push_back(value);
  for (size_t next = 0; next < factors.size(); ++next) {
    Operation *op = factors[next].getDefiningOp();
    if (!op || op->getNumResults() != 1 || isProduct(op))
      continue;
    for (OpOperand &operand : op->getOpOperands())
      if (factors.size() < limit && isFloat(operand.get()) &&
          getShape(operand.get()) == getShape(value) &&
          !isNumber(operand.get()) && isProportional(operand))
        factors.push_back(operand.get());
  }
}

/// Returns whether `a` and `b` are equal or opposite, or arguments of a
/// function for which a call passes such values.
bool SlotGraph::areSame(Value a, Value b, int depth) const {
  if (areEqual(a, b) || areOpposite(a, b))
    return true;
  auto first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  if (!first || !second || first.getOwner() != second.getOwner() || depth == 0)
    return false;
  return llvm::any_of(
      sources.getCalls(first.getOwner()->getParentOp()),
      [&](CallOpInterface call) {
        OperandRange passed = call.getArgOperands();
        return std::max(first.getArgNumber(), second.getArgNumber()) <
                   passed.size() &&
               areSame(passed[first.getArgNumber()],
                       passed[second.getArgNumber()], depth - 1);
      });
}

/// Returns a value to which operands 0 and 1 of `op` are proportional, or null.
Value SlotGraph::findCommonFactor(Operation *op) const {
  SmallVector<Value, 6> left, right;
  collectFactors(op->getOperand(0), left);
  collectFactors(op->getOperand(1), right);
  for (Value a : left)
    for (Value b : right)
      if (areSame(a, b))
        return a;
  return {};
}

/// Returns whether the policy alone describes `op`.
bool SlotGraph::isForeign(Operation *op) const {
  auto it = infos.find(op->getName());
  return it != infos.end() && (it->second.adapted || !it->second.hasSlots);
}

/// Returns whether `op` subtracts operand 1 from operand 0 or adds it, element
/// by element.
bool SlotGraph::isDifference(Operation *op) const {
  if (getTerms(op).size() != 2)
    return false;
  if (PrecisionOpInterface iface = getInterface(op); iface && !isForeign(op))
    return iface.getArithmetic() == Arithmetic::Subtract;
  return op->getNumOperands() == 2 && op->getNumRegions() == 0 &&
         policy.classify(op->getName()) == OpClass::Infer &&
         policy.findLinearKind(op) == LinearRule::Kind::Joint;
}

/// Returns the value from which both factors of `op` are differences, or null.
Value SlotGraph::findCommonMinuend(Operation *op) const {
  Operation *left = op->getOperand(0).getDefiningOp(),
            *right = op->getOperand(1).getDefiningOp();
  if (!left || !right || !isDifference(left) || !isDifference(right) ||
      !areSame(left->getOperand(0), right->getOperand(0)))
    return {};
  return left->getOperand(0);
}

/// Returns the value to which both factors of `op` are proportional, if it is a
/// square, or null.
Value SlotGraph::findSquared(Operation *op, const OperationInfo &info,
                             OpClass opClass) const {
  if (op->getNumOperands() == 0)
    return {};
  bool isBinary = op->getNumOperands() >= 2;
  if (info.adapted || !info.hasSlots) {
    if (!isBinary || opClass != OpClass::Infer)
      return {};
    if (llvm::all_equal(op->getOperands()))
      return op->getOperand(0);
    if (policy.findLinearKind(op) != LinearRule::Kind::Product)
      return {};
    Value factor = findCommonFactor(op);
    return factor ? factor : findCommonMinuend(op);
  }
  PrecisionOpInterface iface = getInterface(op);
  if (iface.getArithmetic() == Arithmetic::Square)
    return op->getOperand(0);
  if (!isBinary || iface.getArithmetic() != Arithmetic::Multiply)
    return {};
  Value factor = findCommonFactor(op);
  return factor ? factor : findCommonMinuend(op);
}

//===----------------------------------------------------------------------===//
// Squares that may be low
//===----------------------------------------------------------------------===//

bool SlotGraph::isProduct(Operation *op) const {
  auto it = infos.find(op->getName());
  if (it != infos.end() && it->second.opClass == OpClass::Allow)
    return true;
  PrecisionSlots slots;
  if (!hasSlots(op))
    return false;
  getSlots(op, slots);
  return llvm::is_contained(slots.kinds, SlotKind::Compute);
}

/// Returns whether `op` computes sums of the elements of `operand`, or other
/// numbers of which there are fewer.
bool SlotGraph::reduces(Operation *op, Value operand) const {
  return !movesElements(op) &&
         llvm::any_of(op->getResults(), [&](Value result) {
           return isFloat(result) &&
                  hasFewerElements(result.getType(), operand.getType());
         });
}

/// Returns whether `value` depends on no other float than an argument of its
/// function or a constant, whose elements it only moves.
bool SlotGraph::isPlain(Value value) const {
  constexpr int limit = 8;
  for (int depth = 0; depth < limit; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return isa<FunctionOpInterface>(
          cast<BlockArgument>(value).getOwner()->getParentOp());
    auto read = llvm::make_filter_range(op->getOperands(), isFloat);
    if (read.empty())
      return op->getNumRegions() == 0;
    if (!movesElements(op) || !llvm::hasSingleElement(read))
      return false;
    value = *read.begin();
  }
  return false;
}

/// Returns whether `square` reads a number that is computed from one sum.
bool SlotGraph::readsSum(Operation *square) const {
  constexpr int limit = 32;
  Operation *op = square;
  for (int depth = 0; depth < limit; ++depth) {
    llvm::SmallSetVector<Value, 2> read;
    for (Value operand : op->getOperands())
      if (isFloat(operand) && !isPlain(operand))
        read.insert(operand);
    // Two operations that compute the same are one value.
    if (read.empty() || (read.size() > 1 && op != square))
      return false;
    Operation *producer = read.front().getDefiningOp();
    if (!producer || isProduct(producer))
      return false;
    if (llvm::any_of(producer->getOperands(), [&](Value operand) {
          return isFloat(operand) && reduces(producer, operand);
        }))
      return true;
    if (producer->getNumRegions() != 0 && !hasSlots(producer))
      return false;
    op = producer;
  }
  return true;
}

/// Returns whether a sum may read values that are computed from `square` alone.
bool SlotGraph::isSummed(Operation *square) const {
  constexpr size_t limit = 64;
  llvm::SmallSetVector<Operation *, 8> reached;
  reached.insert(square);
  for (size_t next = 0; next < reached.size(); ++next) {
    if (reached.size() > limit)
      return true;
    Operation *op = reached[next];
    for (OpOperand &use : op->getUses()) {
      Operation *user = use.getOwner();
      if (isProduct(user))
        continue;
      // The caller, or what control flow leads to, may compute the sum.
      if (user->hasTrait<OpTrait::IsTerminator>()) {
        auto function = dyn_cast<FunctionOpInterface>(user->getParentOp());
        if (!function || signatures.contains(function))
          return true;
        continue;
      }
      if (isa<CallOpInterface>(user) ||
          (user->getNumRegions() != 0 && !hasSlots(user)) ||
          reduces(user, use.get()))
        return true;
      auto isOfSquares = [&](Value operand) {
        Operation *producer = operand.getDefiningOp();
        return !isFloat(operand) || isPlain(operand) ||
               (producer &&
                (reached.contains(producer) || squares.contains(producer)));
      };
      if (llvm::any_of(user->getResults(), isFloat) &&
          llvm::all_of(user->getOperands(), isOfSquares))
        reached.insert(user);
    }
  }
  return false;
}

void SlotGraph::freeSquares() {
  if (squares.empty() || !hasRangeOfF32(low))
    return;
  llvm::erase_if(rangeSlots, [&](std::pair<VertexId, OpClass> entry) {
    SlotVertex &vertex = vertices[entry.first];
    if (!squares.contains(vertex.op) || vertex.proof != RangeProof::None ||
        isSummed(vertex.op) || readsSum(vertex.op))
      return false;
    vertex.kind = SlotKind::Storage;
    vertex.opClass = entry.second;
    return true;
  });
}

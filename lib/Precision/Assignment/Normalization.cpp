//===- Normalization.cpp - Normalisations in primitives -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns the operation that computes `value`, its only result, if its
/// interface says how.
static PrecisionOpInterface getArithmeticOp(Value value) {
  auto op = value.getDefiningOp<PrecisionOpInterface>();
  return op && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
                 op.getArithmetic() != Arithmetic::Other
             ? op
             : PrecisionOpInterface();
}

bool mlir::amp::areEqual(Value a, Value b, unsigned depth) {
  if (a == b)
    return true;
  if (depth == 0)
    return false;
  PrecisionOpInterface first = getArithmeticOp(a), second = getArithmeticOp(b);
  if (!first || !second || first->getName() != second->getName() ||
      first->getNumOperands() != second->getNumOperands())
    return false;
  bool commutes = first.getArithmetic() == Arithmetic::Add ||
                  first.getArithmetic() == Arithmetic::Multiply;
  if (commutes && first->getNumOperands() == 2 &&
      first->getAttrDictionary() == second->getAttrDictionary() &&
      a.getType() == b.getType() &&
      areEqual(first->getOperand(0), second->getOperand(1), depth - 1) &&
      areEqual(first->getOperand(1), second->getOperand(0), depth - 1))
    return true;
  return OperationEquivalence::isEquivalentTo(
      first, second,
      [&](Value left, Value right) {
        return success(areEqual(left, right, depth - 1));
      },
      /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

bool mlir::amp::areOpposite(Value a, Value b) {
  PrecisionOpInterface first = getArithmeticOp(a), second = getArithmeticOp(b);
  return first && second && first->getNumOperands() == 2 &&
         second->getNumOperands() == 2 &&
         first.getArithmetic() == Arithmetic::Subtract &&
         second.getArithmetic() == Arithmetic::Subtract &&
         areEqual(first->getOperand(0), second->getOperand(1)) &&
         areEqual(first->getOperand(1), second->getOperand(0));
}

namespace {

/// A value that is combined elementwise with a tensor. Maps each dimension of
/// the tensor to a dimension of the value, or to -1 if the value repeats.
class Trace {
public:
  /// Starts at `operand` of an elementwise operation, which broadcasts its
  /// operands as NumPy does.
  explicit Trace(OpOperand &operand) : value(operand.get()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto result =
        dyn_cast<RankedTensorType>(operand.getOwner()->getResult(0).getType());
    if (!type || !result || type.getRank() > result.getRank())
      return;
    int64_t offset = result.getRank() - type.getRank();
    for (int64_t dim = 0; dim < result.getRank(); ++dim) {
      bool repeats = dim < offset || (type.getDimSize(dim - offset) == 1 &&
                                      result.getDimSize(dim) != 1);
      dims.push_back(repeats ? -1 : dim - offset);
    }
    valid = true;
  }

  /// Follows the value past operations that only move it. Returns the operation
  /// that computes it, or null if that has another kind.
  PrecisionOpInterface stepTo(Arithmetic kind) {
    while (valid) {
      auto op = value.getDefiningOp<PrecisionOpInterface>();
      if (!op)
        break;
      if (op.getArithmetic() == kind)
        return op;
      if (op.getArithmetic() != Arithmetic::Move || !follow(op))
        break;
    }
    return {};
  }

  /// Continues at operand 0 of `op`, which moves or reduces it. Returns false
  /// if the places of its elements are unknown.
  bool follow(PrecisionOpInterface op) {
    std::optional<SmallVector<int64_t>> map = op.getDimensionMap();
    valid = map.has_value();
    if (!valid)
      return false;
    for (int64_t &dim : dims)
      dim = dim == -1 ? -1 : (*map)[dim];
    value = op->getOperand(0);
    return true;
  }

  /// Continues at an operand of an elementwise operation that has the type of
  /// its result.
  bool followElementwise(OpOperand &operand) {
    valid &= operand.get().getType() == value.getType();
    value = operand.get();
    return valid;
  }

  ArrayRef<int64_t> getDims() const { return dims; }

private:
  Value value;
  SmallVector<int64_t> dims;
  bool valid = false;
};

} // namespace

/// Returns whether `mean`, which `trace` has reached, is the mean of the
/// squares of `x` over the dimensions along which it repeats when it meets `x`.
static bool isMeanOfSquares(PrecisionOpInterface mean, Trace trace, Value x) {
  auto squares = mean->getOperand(0).getDefiningOp<PrecisionOpInterface>();
  if (!squares)
    return false;
  bool isSquare = squares.getArithmetic() == Arithmetic::Square ||
                  (squares.getArithmetic() == Arithmetic::Multiply &&
                   areEqual(squares->getOperand(0), squares->getOperand(1)));
  if (!isSquare || !areEqual(squares->getOperand(0), x))
    return false;
  std::optional<SmallVector<int64_t>> kept = mean.getDimensionMap();
  auto type = dyn_cast<RankedTensorType>(x.getType());
  if (!kept || !type || !trace.follow(mean) ||
      static_cast<int64_t>(trace.getDims().size()) != type.getRank())
    return false;
  for (auto [dim, found] : llvm::enumerate(trace.getDims())) {
    int64_t expected = llvm::is_contained(*kept, dim) ? dim : -1;
    if (found != expected && type.getDimSize(dim) != 1)
      return false;
  }
  return true;
}

bool mlir::amp::isNormalization(OpOperand &factor) {
  Operation *product = factor.getOwner();
  Value x = product->getOperand(1 - factor.getOperandNumber());
  if (x.getType() != product->getResult(0).getType())
    return false;
  Trace trace(factor);
  PrecisionOpInterface root = trace.stepTo(Arithmetic::ReciprocalSqrt);
  if (!root || !trace.followElementwise(root->getOpOperand(0)))
    return false;
  PrecisionOpInterface sum = trace.stepTo(Arithmetic::Add);
  if (!sum)
    return false;
  return llvm::any_of(sum->getOpOperands(), [&](OpOperand &operand) {
    Trace branch = trace;
    PrecisionOpInterface mean;
    return branch.followElementwise(operand) &&
           (mean = branch.stepTo(Arithmetic::Mean)) &&
           isMeanOfSquares(mean, branch, x);
  });
}

//===- SquareProducts.cpp - Products that are squares or sums -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix product whose factors are proportional to one value, in any order of
// its elements, holds sums of squares if its shape tells that each element
// meets itself. A product by a constant with a single number is a sum.
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"
#include "amp/Precision/Assignment/SlotGraph.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::amp;

static bool isFloatTensor(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Returns the value that has the elements of `value`, each once, in another
/// order or shape.
static Value stripOrder(Value value,
                        llvm::function_ref<bool(Operation *)> moves) {
  constexpr int limit = 8;
  auto count = [](Value of) {
    std::pair<int64_t, int64_t> extents = {1, 0};
    if (auto type = dyn_cast<ShapedType>(of.getType()); type && type.hasRank())
      for (int64_t extent : type.getShape()) {
        if (ShapedType::isDynamic(extent))
          ++extents.second;
        else
          extents.first *= extent;
      }
    return extents;
  };
  for (int depth = 0; depth < limit; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        op->getNumOperands() == 0 || !moves(op) ||
        llvm::count_if(op->getOperands(), isFloatTensor) != 1 ||
        !isFloatTensor(op->getOperand(0)) ||
        count(op->getOperand(0)) != count(value))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Adds to `factors` the values to which `value`, an operand of a product, is
/// proportional, whatever the order of their elements. A value that is repeated
/// is a number that several values may have in common.
void SlotGraph::collectProductFactors(Value value,
                                      SmallVectorImpl<Value> &factors) const {
  auto moves = [&](Operation *op) { return movesElements(op); };
  SmallVector<Value, 6> found;
  collectFactors(stripOrder(value, moves), found);
  for (Value factor : found) {
    Value plain = stripOrder(factor, moves);
    Operation *op = plain.getDefiningOp();
    if (!op || (!holdsElements(op) && !movesElements(op)))
      factors.push_back(plain);
    else if (plain == found.front())
      // A part of a tensor is a value of its own.
      factors.push_back(plain);
  }
}

/// Returns whether the extents of `value` differ, so that a product of `value`
/// with itself sums over the same dimension of both. In a square matrix, rows
/// may meet columns.
static bool hasDistinctExtents(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasRank())
    return false;
  llvm::SmallDenseSet<int64_t> extents;
  return llvm::all_of(type.getShape(), [&](int64_t extent) {
    return extent == 1 || extents.insert(extent).second;
  });
}

/// Returns whether the result of `product` holds sums of squares.
bool SlotGraph::givesSquares(Operation *product) const {
  if (!low || product->getNumOperands() < 2 ||
      !isFloatTensor(product->getOperand(0)) ||
      !isFloatTensor(product->getOperand(1)))
    return false;
  SmallVector<Value, 6> left, right;
  collectProductFactors(product->getOperand(0), left);
  collectProductFactors(product->getOperand(1), right);
  return llvm::any_of(left, [&](Value a) {
    return llvm::any_of(right, [&](Value b) {
      Operation *op = a.getDefiningOp();
      return (areEqual(a, b) || areOpposite(a, b)) && hasDistinctExtents(a) &&
             !(op && holdsElements(op));
    });
  });
}

/// Returns whether a factor of `product` is a constant with a single number
/// other than zero, which may be repeated.
bool SlotGraph::addsUp(Operation *product) const {
  constexpr int limit = 8;
  auto isUniform = [&](Value value) {
    for (int depth = 0; depth < limit; ++depth) {
      Operation *op = value.getDefiningOp();
      if (!op || !isFloatTensor(value))
        return false;
      if (holdsElements(op)) {
        auto elements = readConstant(op);
        return elements && !elements->range.isEmpty() &&
               elements->range.lo == elements->range.hi &&
               elements->range.lo != 0;
      }
      if (op->getNumOperands() == 0 || !movesElements(op))
        return false;
      value = op->getOperand(0);
    }
    return false;
  };
  return low && product->getNumOperands() >= 2 &&
         (isUniform(product->getOperand(0)) ||
          isUniform(product->getOperand(1)));
}

/// Returns whether the square of each number that `value` can hold is finite in
/// the low type.
bool SlotGraph::hasBoundedSquare(Value value) const {
  return interval::square(getRanges(value).get(value)).fits(low);
}

//===- SquareProducts.cpp - Products that are squares or sums -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix product whose factors are proportional to one value, in any order of
// its elements, holds sums of squares if each element meets itself: the extents
// tell, or for a square matrix the number of transposes and the dimensions of
// the sum. A product by a constant with a single number is a sum.
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"
#include "amp/Precision/Assignment/SlotGraph.h"
#include "amp/Support/OperationAttributes.h"
#include "amp/Support/StableHLOText.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::amp;

static bool isFloatTensor(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

static bool hasSameShape(Value a, Value b) {
  auto first = dyn_cast<ShapedType>(a.getType()),
       second = dyn_cast<ShapedType>(b.getType());
  return first && second && first.hasRank() && second.hasRank() &&
         first.getShape() == second.getShape();
}

using ProductFactor = std::pair<Value, bool>;

/// Returns the value that has the elements of `value`, each once, in another
/// order or shape, and whether an odd number of operations on the way only
/// change the order, as the transpose of a square matrix does.
static ProductFactor stripOrder(Value value,
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
  bool isTransposed = false;
  for (int depth = 0; depth < limit; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        op->getNumOperands() == 0 || !moves(op) ||
        llvm::count_if(op->getOperands(), isFloatTensor) != 1 ||
        !isFloatTensor(op->getOperand(0)) ||
        count(op->getOperand(0)) != count(value))
      break;
    isTransposed ^= op->getOperand(0).getType() == value.getType();
    value = op->getOperand(0);
  }
  return {value, isTransposed};
}

/// Adds to `factors` the values to which `value`, an operand of a product, is
/// proportional, whatever the order of their elements, and whether they are
/// transposed. A value that is repeated is a number that several values may
/// have in common.
void SlotGraph::collectProductFactors(
    Value value, SmallVectorImpl<ProductFactor> &factors) const {
  constexpr size_t limit = 6;
  auto moves = [&](Operation *op) { return movesElements(op); };
  SmallVector<ProductFactor, limit> found = {stripOrder(value, moves)};
  for (size_t next = 0; next < found.size(); ++next) {
    auto [factor, isTransposed] = found[next];
    auto [plain, isMoved] = stripOrder(factor, moves);
    Operation *op = plain.getDefiningOp();
    // A part of a tensor is a value of its own.
    if (!op || (!holdsElements(op) && !movesElements(op)) ||
        plain == found.front().first)
      factors.push_back({plain, isTransposed != isMoved});
    op = factor.getDefiningOp();
    if (!op || op->getNumResults() != 1 || isProduct(op) || movesElements(op))
      continue;
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *producer = operand.get().getDefiningOp();
      if (found.size() < limit && isFloatTensor(operand.get()) &&
          hasSameShape(operand.get(), found.front().first) &&
          !(producer && holdsElements(producer)) && isProportional(operand))
        found.push_back({operand.get(), isTransposed});
    }
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

/// Returns whether `product` sums over the same dimension of both operands, by
/// affine maps, by the text of an attribute, or because it transposes one of
/// them. Other products multiply rows by columns.
static bool addsAlongSameDimension(Operation *product) {
  if (auto maps = product->getAttrOfType<ArrayAttr>("indexing_maps");
      maps && maps.size() == 3 &&
      llvm::all_of(maps, llvm::IsaPred<AffineMapAttr>)) {
    auto get = [&](unsigned map) {
      return cast<AffineMapAttr>(maps[map]).getValue();
    };
    for (unsigned i = 0, e = get(0).getNumDims(); i != e; ++i) {
      AffineExpr dimension = getAffineDimExpr(i, product->getContext());
      auto left = get(0).getResultPosition(dimension),
           right = get(1).getResultPosition(dimension);
      if (left && right && !get(2).getResultPosition(dimension))
        return left == right;
    }
    return false;
  }
  bool isTransposed = false;
  for (NamedAttribute attribute : getAllAttributes(product)) {
    isTransposed ^= attribute.getName().getValue().starts_with("transpose_") &&
                    isa<UnitAttr>(attribute.getValue());
    std::string text = getText(product, attribute.getName());
    SmallVector<int64_t> left = getField(text, "lhs_contracting_dimensions");
    if (!left.empty())
      return left == getField(text, "rhs_contracting_dimensions");
  }
  return isTransposed;
}

/// Returns whether the result of `product` holds sums of squares.
bool SlotGraph::givesSquares(Operation *product) const {
  if (!low || product->getNumOperands() < 2 ||
      !isFloatTensor(product->getOperand(0)) ||
      !isFloatTensor(product->getOperand(1)))
    return false;
  SmallVector<ProductFactor, 6> left, right;
  collectProductFactors(product->getOperand(0), left);
  collectProductFactors(product->getOperand(1), right);
  std::optional<bool> isSame;
  return llvm::any_of(left, [&](ProductFactor a) {
    return llvm::any_of(right, [&](ProductFactor b) {
      Operation *op = a.first.getDefiningOp();
      if ((op && holdsElements(op)) || !areSame(a.first, b.first))
        return false;
      if (hasDistinctExtents(a.first))
        return true;
      if (!isSame)
        isSame = addsAlongSameDimension(product);
      return (a.second != b.second) != *isSame;
    });
  });
}

/// Returns whether `value` is a constant with a single number other than zero,
/// which may be repeated or passed as an argument.
bool SlotGraph::isUniform(Value value, int depth) const {
  Operation *op = value.getDefiningOp();
  if (depth == 0 || !isFloatTensor(value))
    return false;
  if (!op)
    return sources.holdsInCall(
        value, [&](Value source) { return isUniform(source, depth - 1); });
  if (holdsElements(op)) {
    auto elements = readConstant(op);
    return elements && !elements->range.isEmpty() &&
           elements->range.lo == elements->range.hi && elements->range.lo != 0;
  }
  return op->getNumOperands() != 0 && movesElements(op) &&
         isUniform(op->getOperand(0), depth - 1);
}

/// Returns whether a factor of `product` is a constant with a single number
/// other than zero, which may be repeated.
bool SlotGraph::addsUp(Operation *product) const {
  return low && product->getNumOperands() >= 2 &&
         (isUniform(product->getOperand(0)) ||
          isUniform(product->getOperand(1)));
}

/// Returns whether the square of each number that `value` can hold is finite in
/// the low type.
bool SlotGraph::hasBoundedSquare(Value value) const {
  return interval::square(getRanges(value).get(value)).fits(low);
}

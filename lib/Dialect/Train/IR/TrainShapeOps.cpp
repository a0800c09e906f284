//===- TrainShapeOps.cpp - Reductions, data movement and randomness -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Train.h"

#include "ShapeVerifiers.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::train;

/// Verifies that `dims` are distinct dimensions of a tensor of rank `rank`, in
/// increasing order.
static LogicalResult verifyDims(Operation *op, ArrayRef<int64_t> dims,
                                int64_t rank) {
  int64_t previous = -1;
  for (int64_t dim : dims) {
    if (dim <= previous || dim >= rank)
      return op->emitOpError("'dims' must be increasing and in [0, ")
             << rank << "), got [" << dims << "]";
    previous = dim;
  }
  return success();
}

/// Verifies that the array attribute `name` has one entry per dimension.
static LogicalResult verifyPerDimension(Operation *op, StringRef name,
                                        ArrayRef<int64_t> values,
                                        int64_t rank) {
  if (static_cast<int64_t>(values.size()) != rank)
    return op->emitOpError("'")
           << name << "' must have " << rank
           << " entries, one per dimension, got " << values.size();
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Verifies that the result of a reduction has the operand's element type or
/// its compute type.
static LogicalResult verifyReduce(Operation *op) {
  return verifyAccumulatedType(op, op->getOperand(0), op->getResult(0));
}

static LogicalResult inferReduceShape(Operation *op, ArrayRef<int64_t> dims,
                                      bool keepDims, Shapes &shapes) {
  auto input = typeOf(op->getOperand(0));
  if (failed(verifyDims(op, dims, input.getRank())))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(input.getShape())) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(extent);
    else if (keepDims)
      shape.push_back(1);
  }
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult ReduceSumOp::verify() { return verifyReduce(*this); }
LogicalResult ReduceMeanOp::verify() { return verifyReduce(*this); }
LogicalResult ReduceMaxOp::verify() { return verifyReduce(*this); }
LogicalResult ReduceSumOp::inferResultShapes(Shapes &shapes) {
  return inferReduceShape(*this, getDims(), getKeepDims(), shapes);
}
LogicalResult ReduceMeanOp::inferResultShapes(Shapes &shapes) {
  return inferReduceShape(*this, getDims(), getKeepDims(), shapes);
}
LogicalResult ReduceMaxOp::inferResultShapes(Shapes &shapes) {
  return inferReduceShape(*this, getDims(), getKeepDims(), shapes);
}

LogicalResult BroadcastOp::verify() {
  if (!getLike() && !getType().hasStaticShape()) {
    for (int64_t dim : getDims())
      if (dim >= 0 && dim < getType().getRank() && getType().isDynamicDim(dim))
        return emitOpError("a dynamic dimension in 'dims' needs 'like'");
  }
  return success();
}

LogicalResult BroadcastOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  auto result = typeOf(getResult());
  auto like = getLike() ? typeOf(getLike()) : result;
  int64_t rank = input.getRank() + getDims().size();
  if (failed(verifyDims(*this, getDims(), rank)))
    return failure();
  if (like.getRank() != rank)
    return emitOpError("expected ")
           << (getLike() ? "'like'" : "a result") << " of rank " << rank
           << ", the operand's plus one per entry of 'dims', got " << like;
  SmallVector<int64_t> shape(like.getShape());
  ArrayRef<int64_t> extents = input.getShape();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (llvm::is_contained(getDims(), dim))
      continue;
    shape[dim] = extents.front();
    extents = extents.drop_front();
  }
  if (getLike() && like.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError("'like' must have the operand's extents in all "
                       "dimensions but 'dims', expected ")
           << like.clone(shape) << ", got " << like;
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult BroadcastOp::canonicalize(BroadcastOp op,
                                        PatternRewriter &rewriter) {
  // With static extents `like` only keeps its operand alive.
  if (!op.getLike() || !op.getType().hasStaticShape())
    return rewriter.notifyMatchFailure(op, "no reference to drop");
  rewriter.modifyOpInPlace(op, [&] { op.getLikeMutable().clear(); });
  return success();
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

/// Returns the product of the static extents of `type`, and the number of
/// dynamic ones.
static std::pair<int64_t, int64_t> splitExtents(RankedTensorType type) {
  int64_t product = 1, dynamic = 0;
  for (int64_t extent : type.getShape()) {
    if (ShapedType::isDynamic(extent))
      ++dynamic;
    else
      product *= extent;
  }
  return {product, dynamic};
}

/// Returns whether `from` and `to` have equally many dynamic extents and may
/// have equally many elements. With a dynamic extent, the product of the static
/// extents of one side must divide that of the other. Otherwise they must be
/// equal.
static bool areReshapable(RankedTensorType from, RankedTensorType to) {
  auto [fromProduct, fromDynamic] = splitExtents(from);
  auto [toProduct, toDynamic] = splitExtents(to);
  if (fromDynamic != toDynamic)
    return false;
  if (fromDynamic == 0)
    return fromProduct == toProduct;
  return fromProduct % toProduct == 0 || toProduct % fromProduct == 0;
}

LogicalResult ReshapeOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  auto result = typeOf(getResult());
  auto [inputProduct, inputDynamic] = splitExtents(input);
  auto [resultProduct, resultDynamic] = splitExtents(result);
  if (inputDynamic > 1 || resultDynamic > 1)
    return emitOpError("at most one dimension of the operand and one of the "
                       "result may be dynamic, got ")
           << input << " and " << result;
  SmallVector<int64_t> shape(result.getShape());
  if (inputDynamic != resultDynamic) {
    // A static operand fixes the dynamic extent of the result.
    if (inputDynamic || inputProduct % resultProduct)
      return emitOpError("cannot reshape ") << input << " to " << result;
    for (int64_t &extent : shape)
      if (ShapedType::isDynamic(extent))
        extent = inputProduct / resultProduct;
  } else if (inputDynamic == 0 && inputProduct != resultProduct) {
    return emitOpError("cannot reshape ")
           << input << " of " << inputProduct << " elements to " << result
           << " of " << resultProduct;
  } else if (!areReshapable(input, result)) {
    return emitOpError("cannot reshape ") << input << " to " << result;
  }
  shapes.push_back(std::move(shape));
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  // With equal static dimensions and equally many elements, the dynamic
  // dimension is equal too.
  if (getInput().getType() == getType())
    return getInput();
  // Two reshapes in a row fold to one if its types are valid. ?x6 to ?x2 to ?x4
  // is not.
  auto producer = getInput().getDefiningOp<ReshapeOp>();
  if (!producer || !areReshapable(typeOf(producer.getInput()), getType()))
    return {};
  getInputMutable().assign(producer.getInput());
  return getResult();
}

LogicalResult TransposeOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  ArrayRef<int64_t> permutation = getPermutation();
  if (failed(verifyPerDimension(*this, "permutation", permutation,
                                input.getRank())))
    return failure();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  for (auto [index, dim] : llvm::enumerate(sorted))
    if (dim != static_cast<int64_t>(index))
      return emitOpError("'permutation' must name each dimension once, got [")
             << permutation << "]";
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(input.getDimSize(dim));
  shapes.push_back(std::move(shape));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool identity = true;
  for (auto [index, dim] : llvm::enumerate(getPermutation()))
    identity &= dim == static_cast<int64_t>(index);
  if (identity)
    return getInput();
  auto producer = getInput().getDefiningOp<TransposeOp>();
  if (!producer)
    return {};
  for (auto [index, dim] : llvm::enumerate(getPermutation()))
    if (producer.getPermutation()[dim] != static_cast<int64_t>(index))
      return {};
  return producer.getInput();
}

LogicalResult SliceOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  int64_t rank = input.getRank();
  if (failed(verifyPerDimension(*this, "offsets", getOffsets(), rank)) ||
      failed(verifyPerDimension(*this, "sizes", getSizes(), rank)) ||
      failed(verifyPerDimension(*this, "strides", getStrides(), rank)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t offset = getOffsets()[dim], size = getSizes()[dim];
    int64_t stride = getStrides()[dim], extent = input.getDimSize(dim);
    if (size == -1) {
      if (offset != 0 || stride != 1)
        return emitOpError("dimension ")
               << dim << " is taken whole (size -1), so its offset must be 0 "
               << "and its stride 1, got " << offset << " and " << stride;
      shape.push_back(extent);
      continue;
    }
    if (ShapedType::isDynamic(extent))
      return emitOpError("dynamic dimension ")
             << dim << " must be taken whole, with size -1, got " << size;
    if (offset < 0 || size < 1 || stride < 1 || offset >= extent ||
        size - 1 > (extent - 1 - offset) / stride)
      return emitOpError("dimension ")
             << dim << " of extent " << extent << " has no " << size
             << " elements from " << offset << " on with stride " << stride;
    shape.push_back(size);
  }
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult PadOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  int64_t rank = input.getRank();
  if (failed(verifyPerDimension(*this, "low", getLow(), rank)) ||
      failed(verifyPerDimension(*this, "high", getHigh(), rank)) ||
      failed(verifyPerDimension(*this, "interior", getInterior(), rank)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t low = getLow()[dim], high = getHigh()[dim];
    int64_t interior = getInterior()[dim], extent = input.getDimSize(dim);
    if (low < 0 || high < 0 || interior < 0)
      return emitOpError("padding of dimension ")
             << dim << " must not be negative";
    if (ShapedType::isDynamic(extent) && (low || high || interior))
      return emitOpError("cannot pad dynamic dimension ") << dim;
    if (ShapedType::isDynamic(extent)) {
      shape.push_back(extent);
      continue;
    }
    std::optional<int64_t> padded =
        llvm::checkedMulAdd<int64_t>(extent - 1, interior, extent);
    for (int64_t more : {low, high})
      padded = padded ? llvm::checkedAdd(*padded, more) : padded;
    if (!padded)
      return emitOpError("padding of dimension ") << dim << " is too large";
    shape.push_back(*padded);
  }
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult ConcatOp::inferResultShapes(Shapes &shapes) {
  if (getInputs().empty())
    return emitOpError("expected at least one operand");
  auto first = typeOf(getInputs().front());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= first.getRank())
    return emitOpError("'axis' must be in [0, ")
           << first.getRank() << "), got " << axis;
  if (first.getElementType() != getElementTypeOrSelf(getResult()))
    return emitOpError("operands and result must have one element type, got ")
           << first.getElementType() << " and "
           << getElementTypeOrSelf(getResult());
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = 0;
  for (Value input : getInputs()) {
    auto type = typeOf(input);
    bool fits = type.getRank() == first.getRank() &&
                type.getElementType() == first.getElementType();
    for (int64_t dim = 0; fits && dim < type.getRank(); ++dim)
      fits = dim == axis ? !type.isDynamicDim(dim)
                         : type.getDimSize(dim) == first.getDimSize(dim);
    if (!fits)
      return emitOpError("operands must agree in element type and in all "
                         "dimensions but a static 'axis', got ")
             << first << " and " << type;
    std::optional<int64_t> joined =
        llvm::checkedAdd(shape[axis], type.getDimSize(axis));
    if (!joined)
      return emitOpError("operands are too many to join");
    shape[axis] = *joined;
  }
  shapes.push_back(std::move(shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Randomness
//===----------------------------------------------------------------------===//

/// Verifies that `type` is the type of a random generator's state.
static LogicalResult verifyRngState(Operation *op, Type type) {
  if (cast<RankedTensorType>(type).getShape() == ArrayRef<int64_t>{2})
    return success();
  return op->emitOpError(
             "the state of the generator must be tensor<2xi64>, got ")
         << type;
}

LogicalResult DropoutOp::verify() {
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate < 1))
    return emitOpError("'rate' must be in [0, 1), got ") << rate;
  if (getInput().getType() != getType())
    return emitOpError("operand and result must have one type, got ")
           << getInput().getType() << " and " << getType();
  return verifyRngState(*this, getRng().getType());
}

LogicalResult DropoutOp::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back(typeOf(getInput()).getShape());
  return success();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) {
  return getRate().isZero() ? getInput() : Value();
}

LogicalResult AdvanceRngOp::verify() {
  return verifyRngState(*this, getRng().getType());
}

LogicalResult AdvanceRngOp::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back(typeOf(getRng()).getShape());
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainShapeOps.cpp.inc"

void TrainDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/Train/IR/TrainShapeOps.cpp.inc"
      >();
}

//===- TrainProductOps.cpp - Products, convolutions and pooling -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Train.h"

#include "ShapeVerifiers.h"

#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::train;

/// Returns the product of `extents`, or 0 if one of them is dynamic.
static int64_t staticProduct(ArrayRef<int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent))
      return 0;
    product *= extent;
  }
  return product;
}

/// Counts two operations per multiply-add. Saturates at the largest int64_t.
static int64_t productFlops(int64_t results, int64_t contracted) {
  uint64_t flops = llvm::SaturatingMultiply<uint64_t>(2 * results, contracted);
  return std::min<uint64_t>(flops, std::numeric_limits<int64_t>::max());
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::verify() {
  return verifyAccumulatedType(*this, getLhs(), getResult());
}

LogicalResult MatmulOp::inferResultShapes(Shapes &shapes) {
  auto lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  int64_t rank = lhs.getRank();
  if (rank < 2 || rhs.getRank() != rank)
    return emitOpError("operands must have one rank of at least 2, got ")
           << lhs << " and " << rhs;
  int64_t m = lhs.getDimSize(rank - 2), k = lhs.getDimSize(rank - 1);
  int64_t k2 = rhs.getDimSize(rank - 2), n = rhs.getDimSize(rank - 1);
  if (getTransposeA())
    std::swap(m, k);
  if (getTransposeB())
    std::swap(k2, n);
  if (k != k2)
    return emitOpError("contracted dimensions differ: ")
           << lhs << (getTransposeA() ? " (transposed)" : "") << " and " << rhs
           << (getTransposeB() ? " (transposed)" : "");
  SmallVector<int64_t> shape(lhs.getShape().drop_back(2));
  if (ArrayRef<int64_t>(shape) != rhs.getShape().drop_back(2))
    return emitOpError("leading dimensions differ: ") << lhs << " and " << rhs;
  shape.append({m, n});
  shapes.push_back(std::move(shape));
  return success();
}

int64_t MatmulOp::getProductFlops() {
  auto lhs = typeOf(getLhs());
  int64_t k = lhs.getDimSize(lhs.getRank() - (getTransposeA() ? 2 : 1));
  return productFlops(staticProduct(getType().getShape()), staticProduct(k));
}

//===----------------------------------------------------------------------===//
// LinearOp
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::verify() {
  if (getBias() &&
      getElementTypeOrSelf(getBias()) != getElementTypeOrSelf(getResult()))
    return emitOpError("bias must have the result's element type ")
           << getElementTypeOrSelf(getResult()) << ", got "
           << getElementTypeOrSelf(getBias());
  return verifyAccumulatedType(*this, getInput(), getResult());
}

LogicalResult LinearOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput()), weight = typeOf(getWeight());
  if (input.getRank() < 1 || weight.getRank() != 2)
    return emitOpError("expected an input of rank at least 1 and a weight of "
                       "rank 2, got ")
           << input << " and " << weight;
  if (!weight.hasStaticShape())
    return emitOpError("the weight must have a static shape, got ") << weight;
  int64_t k = weight.getDimSize(0), n = weight.getDimSize(1);
  if (getTransposeWeight())
    std::swap(k, n);
  if (input.getShape().back() != k)
    return emitOpError("weight must take as many features as the input's last "
                       "dimension has, got ")
           << weight << (getTransposeWeight() ? " (transposed)" : "") << " for "
           << input;
  if (getBias() && typeOf(getBias()).getShape() != ArrayRef<int64_t>{n})
    return emitOpError("bias must have shape [")
           << n << "], got " << typeOf(getBias());
  SmallVector<int64_t> shape(input.getShape());
  shape.back() = n;
  shapes.push_back(std::move(shape));
  return success();
}

int64_t LinearOp::getProductFlops() {
  return productFlops(staticProduct(getType().getShape()),
                      staticProduct(typeOf(getInput()).getShape().back()));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Verifies strides, padding and a positive extent of everything else.
static LogicalResult verifyWindow(Operation *op, ArrayRef<int64_t> strides,
                                  ArrayRef<int64_t> padding,
                                  ArrayRef<int64_t> positive,
                                  StringRef positiveName) {
  // With 32-bit attributes, computations in 64 bits do not overflow.
  auto allFrom = [](ArrayRef<int64_t> values, int64_t least) {
    return llvm::all_of(values, [&](int64_t value) {
      return value >= least && value <= std::numeric_limits<int32_t>::max();
    });
  };
  if (strides.size() != 2 || !allFrom(strides, 1))
    return op->emitOpError(
               "'strides' must be two positive numbers of 32 bits, got [")
           << strides << "]";
  if (padding.size() != 4 || !allFrom(padding, 0))
    return op->emitOpError("'padding' must be four non-negative numbers of 32 "
                           "bits [top, bottom, left, right], got [")
           << padding << "]";
  if (positive.size() != 2 || !allFrom(positive, 1))
    return op->emitOpError("'")
           << positiveName << "' must be two positive numbers of 32 bits, got ["
           << positive << "]";
  return success();
}

/// Returns the spatial extents [H', W'] of the result for a window of extents
/// `window` on an input of type `input`, or failure after a diagnostic.
static FailureOr<std::array<int64_t, 2>>
inferSpatial(Operation *op, RankedTensorType input, ArrayRef<int64_t> window,
             ArrayRef<int64_t> strides, ArrayRef<int64_t> padding,
             ArrayRef<int64_t> dilations) {
  std::array<int64_t, 2> spatial;
  for (int i = 0; i < 2; ++i) {
    int64_t extent = input.getDimSize(i + 1);
    if (ShapedType::isDynamic(extent))
      return op->emitOpError("height and width must be static, got ") << input;
    int64_t padded = extent + padding[2 * i] + padding[2 * i + 1];
    std::optional<int64_t> last =
        llvm::checkedMul<int64_t>(window[i] - 1, dilations[i]);
    if (!last || *last >= padded)
      return op->emitOpError("a window of ")
             << window[i] << " elements, " << dilations[i]
             << " apart, does not fit in dimension " << i + 1 << " of extent "
             << extent << " with padding "
             << padding[2 * i] + padding[2 * i + 1];
    spatial[i] = (padded - *last - 1) / strides[i] + 1;
  }
  return spatial;
}

/// Verifies the attributes that the three forms of a convolution share, and
/// that the operands have one element type.
template <typename ConvOp>
static LogicalResult verifyConv(ConvOp op) {
  Type lhs = getElementTypeOrSelf(op->getOperand(0));
  Type rhs = getElementTypeOrSelf(op->getOperand(1));
  if (lhs != rhs)
    return op.emitOpError("operands must have one element type, got ")
           << lhs << " and " << rhs;
  return verifyAccumulatedType(op, op->getOperand(0), op.getResult());
}

/// Checks that `input`, `filter` and `output` belong to one convolution with
/// the attributes of `op`. `output` may be null. Returns its shape.
template <typename ConvOp>
static FailureOr<SmallVector<int64_t>>
inferConvShape(ConvOp op, RankedTensorType input, RankedTensorType filter,
               RankedTensorType output) {
  if (failed(verifyWindow(op, op.getStrides(), op.getPadding(),
                          op.getDilations(), "dilations")))
    return failure();
  if (input.getRank() != 4 || filter.getRank() != 4 ||
      (output && output.getRank() != 4))
    return op.emitOpError("expected tensors of rank 4");
  int64_t groups = op.getGroups();
  if (!filter.hasStaticShape())
    return op.emitOpError("the filter must have a static shape, got ")
           << filter;
  if (input.isDynamicDim(3))
    return op.emitOpError("the number of channels must be static, got ")
           << input;
  int64_t channels = input.getDimSize(3), filters = filter.getDimSize(3);
  if (groups < 1 || channels % groups != 0 || filters % groups != 0)
    return op.emitOpError("'groups' must divide the numbers of channels and of "
                          "filters, got ")
           << groups << " for " << channels << " and " << filters;
  if (filter.getDimSize(2) != channels / groups)
    return op.emitOpError("the filter must take ")
           << channels / groups << " channels, got " << filter;
  auto spatial =
      inferSpatial(op, input, filter.getShape().take_front(2), op.getStrides(),
                   op.getPadding(), op.getDilations());
  if (failed(spatial))
    return failure();
  SmallVector<int64_t> shape{input.getDimSize(0), (*spatial)[0], (*spatial)[1],
                             filters};
  if (output && output.getShape() != ArrayRef<int64_t>(shape))
    return op.emitOpError("'grad' must have type ")
           << output.clone(shape) << " as the result of the convolution, got "
           << output;
  return shape;
}

/// Each element of `output` sums over one filter.
static int64_t convFlops(RankedTensorType output, RankedTensorType filter) {
  return productFlops(staticProduct(output.getShape()),
                      staticProduct(filter.getShape().drop_back()));
}

LogicalResult Conv2DOp::verify() { return verifyConv(*this); }
LogicalResult Conv2DInputGradOp::verify() { return verifyConv(*this); }
LogicalResult Conv2DFilterGradOp::verify() { return verifyConv(*this); }

LogicalResult Conv2DOp::inferResultShapes(Shapes &shapes) {
  auto shape = inferConvShape(*this, typeOf(getInput()), typeOf(getFilter()),
                              RankedTensorType());
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

LogicalResult Conv2DInputGradOp::inferResultShapes(Shapes &shapes) {
  auto grad = typeOf(getGrad());
  SmallVector<int64_t> shape(getType().getShape());
  if (shape.size() == 4 && grad.getRank() == 4)
    shape[0] = grad.getDimSize(0);
  if (failed(
          inferConvShape(*this, grad.clone(shape), typeOf(getFilter()), grad)))
    return failure();
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult Conv2DFilterGradOp::inferResultShapes(Shapes &shapes) {
  if (failed(inferConvShape(*this, typeOf(getInput()), typeOf(getResult()),
                            typeOf(getGrad()))))
    return failure();
  shapes.emplace_back(getType().getShape());
  return success();
}

int64_t Conv2DOp::getProductFlops() {
  return convFlops(getType(), typeOf(getFilter()));
}
int64_t Conv2DInputGradOp::getProductFlops() {
  return convFlops(typeOf(getGrad()), typeOf(getFilter()));
}
int64_t Conv2DFilterGradOp::getProductFlops() {
  return convFlops(typeOf(getGrad()), getType());
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Verifies the window of a pooling operation, and that operands and result
/// have one element type.
template <typename PoolOp>
static LogicalResult verifyPool(PoolOp op) {
  for (Value operand : op->getOperands())
    if (getElementTypeOrSelf(operand) != getElementTypeOrSelf(op.getType()))
      return op.emitOpError("operands and result must have one element type, "
                            "got ")
             << getElementTypeOrSelf(operand) << " and "
             << getElementTypeOrSelf(op.getType());
  return success();
}

/// Returns the shape of the result of pooling `input` with the attributes of
/// `op`.
template <typename PoolOp>
static FailureOr<SmallVector<int64_t>> inferPoolShape(PoolOp op,
                                                      RankedTensorType input) {
  if (failed(verifyWindow(op, op.getStrides(), op.getPadding(), op.getWindow(),
                          "window")))
    return failure();
  if (input.getRank() != 4)
    return op.emitOpError("expected tensors of rank 4, got ") << input;
  for (int i = 0; i < 2; ++i)
    if (op.getPadding()[2 * i] >= op.getWindow()[i] ||
        op.getPadding()[2 * i + 1] >= op.getWindow()[i])
      return op.emitOpError("'padding' must be smaller than 'window', got [")
             << op.getPadding() << "] and [" << op.getWindow() << "]";
  auto spatial = inferSpatial(op, input, op.getWindow(), op.getStrides(),
                              op.getPadding(), {1, 1});
  if (failed(spatial))
    return failure();
  return SmallVector<int64_t>{input.getDimSize(0), (*spatial)[0], (*spatial)[1],
                              input.getDimSize(3)};
}

/// Checks that `value` has the shape of the result of pooling `input`.
template <typename PoolOp>
static LogicalResult checkPooled(PoolOp op, StringRef name,
                                 RankedTensorType value,
                                 RankedTensorType input) {
  auto shape = inferPoolShape(op, input);
  if (failed(shape))
    return failure();
  if (value.getShape() != ArrayRef<int64_t>(*shape))
    return op.emitOpError("'")
           << name << "' must have type " << value.clone(*shape)
           << " as the pooled result, got " << value;
  return success();
}

LogicalResult MaxPool2DOp::verify() { return verifyPool(*this); }
LogicalResult AvgPool2DOp::verify() { return verifyPool(*this); }
LogicalResult MaxPool2DGradOp::verify() { return verifyPool(*this); }
LogicalResult AvgPool2DGradOp::verify() { return verifyPool(*this); }

LogicalResult MaxPool2DOp::inferResultShapes(Shapes &shapes) {
  auto shape = inferPoolShape(*this, typeOf(getInput()));
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

LogicalResult AvgPool2DOp::inferResultShapes(Shapes &shapes) {
  auto shape = inferPoolShape(*this, typeOf(getInput()));
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

LogicalResult MaxPool2DGradOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  if (failed(checkPooled(*this, "grad", typeOf(getGrad()), input)) ||
      failed(checkPooled(*this, "output", typeOf(getOutput()), input)))
    return failure();
  shapes.emplace_back(input.getShape());
  return success();
}

LogicalResult AvgPool2DGradOp::inferResultShapes(Shapes &shapes) {
  auto grad = typeOf(getGrad());
  SmallVector<int64_t> shape(getType().getShape());
  if (shape.size() == 4 && grad.getRank() == 4)
    shape[0] = grad.getDimSize(0);
  if (failed(checkPooled(*this, "grad", grad, grad.clone(shape))))
    return failure();
  shapes.push_back(std::move(shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainProductOps.cpp.inc"

void TrainDialect::registerProductOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/Train/IR/TrainProductOps.cpp.inc"
      >();
}

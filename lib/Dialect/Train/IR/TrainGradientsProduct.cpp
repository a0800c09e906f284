//===- TrainGradientsProduct.cpp - Rules of products and pooling ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of low operands may have an f32 result, and its gradient is then
// f32 too. The rules narrow the gradient before the backward products, which
// then run on tensor cores as the forward product does. Loss scaling keeps the
// gradient in range.
//
//===----------------------------------------------------------------------===//

#include "GradientRules.h"

#include <limits>

using namespace mlir;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

AMP_GRADIENT_RULE(MatmulOp) {
  TrainBuilder t(builder, getLoc());
  Value lhs = getLhs(), rhs = getRhs();
  Value dy = t.castTo(resultGradients[0], getElementTypeOrSelf(lhs));
  bool ta = getTransposeA(), tb = getTransposeB();
  auto product = [&](Type type, Value a, Value b, bool transposeA,
                     bool transposeB) -> Value {
    return MatmulOp::create(builder, getLoc(), type, a, b, transposeA,
                            transposeB);
  };
  if (wanted[0])
    operandGradients[0] = ta ? product(lhs.getType(), rhs, dy, tb, true)
                             : product(lhs.getType(), dy, rhs, false, !tb);
  if (wanted[1])
    operandGradients[1] = tb ? product(rhs.getType(), dy, lhs, true, ta)
                             : product(rhs.getType(), lhs, dy, !ta, false);
  return success();
}

/// Joins all dimensions of `x` except the last into one. Returns null if more
/// than one of them is dynamic.
static Value flattenRows(TrainBuilder &t, Value x) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  int64_t rows = 1;
  for (int64_t extent : shape.drop_back()) {
    if (!ShapedType::isDynamic(extent) && !ShapedType::isDynamic(rows))
      rows *= extent;
    else if (ShapedType::isDynamic(extent) && ShapedType::isDynamic(rows))
      return {};
    else
      rows = ShapedType::kDynamic;
  }
  return t.reshape(x, {rows, shape.back()});
}

AMP_GRADIENT_RULE(LinearOp) {
  TrainBuilder t(builder, getLoc());
  Value dy = t.castTo(resultGradients[0], getElementTypeOrSelf(getInput()));
  if (wanted[0])
    operandGradients[0] =
        LinearOp::create(builder, getLoc(), getInput().getType(), dy,
                         getWeight(), Value(), !getTransposeWeight());
  if (wanted[1]) {
    Value x = flattenRows(t, getInput()), rows = flattenRows(t, dy);
    if (!x || !rows)
      return emitOpError("has no derivative by its weight for an input with "
                         "more than one dynamic dimension, got ")
             << getInput().getType();
    if (getTransposeWeight())
      std::swap(x, rows);
    operandGradients[1] =
        MatmulOp::create(builder, getLoc(), getWeight().getType(), x, rows,
                         /*transpose_a=*/true, /*transpose_b=*/false);
  }
  if (getBias() && wanted[2]) {
    SmallVector<int64_t> leading = TrainBuilder::allDims(dy);
    leading.pop_back();
    operandGradients[2] = leading.empty() ? resultGradients[0]
                                          : t.sum(resultGradients[0], leading);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Emits a form of the convolution `op` with the attributes of `op`.
template <typename ToOp, typename FromOp>
static Value convLike(FromOp op, OpBuilder &builder, Type type, Value a,
                      Value b) {
  return ToOp::create(builder, op.getLoc(), type, a, b, op.getStrides(),
                      op.getPadding(), op.getDilations(), op.getGroups());
}

AMP_GRADIENT_RULE(Conv2DOp) {
  TrainBuilder t(builder, getLoc());
  Value x = getInput(), w = getFilter();
  Value dy = t.castTo(resultGradients[0], getElementTypeOrSelf(x));
  if (wanted[0])
    operandGradients[0] =
        convLike<Conv2DInputGradOp>(*this, builder, x.getType(), dy, w);
  if (wanted[1])
    operandGradients[1] =
        convLike<Conv2DFilterGradOp>(*this, builder, w.getType(), x, dy);
  return success();
}

// The three forms are derivatives of one trilinear function of input, filter
// and gradient. Each is therefore a derivative of the others.

AMP_GRADIENT_RULE(Conv2DInputGradOp) {
  TrainBuilder t(builder, getLoc());
  Value dy = getGrad(), w = getFilter();
  Value d = t.castTo(resultGradients[0], getElementTypeOrSelf(dy));
  if (wanted[0])
    operandGradients[0] =
        convLike<Conv2DOp>(*this, builder, dy.getType(), d, w);
  if (wanted[1])
    operandGradients[1] =
        convLike<Conv2DFilterGradOp>(*this, builder, w.getType(), d, dy);
  return success();
}

AMP_GRADIENT_RULE(Conv2DFilterGradOp) {
  TrainBuilder t(builder, getLoc());
  Value x = getInput(), dy = getGrad();
  Value d = t.castTo(resultGradients[0], getElementTypeOrSelf(x));
  if (wanted[0])
    operandGradients[0] =
        convLike<Conv2DInputGradOp>(*this, builder, x.getType(), dy, d);
  if (wanted[1])
    operandGradients[1] =
        convLike<Conv2DOp>(*this, builder, dy.getType(), x, d);
  return success();
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

AMP_GRADIENT_RULE(MaxPool2DOp) {
  operandGradients[0] = MaxPool2DGradOp::create(
      builder, getLoc(), getInput().getType(), getInput(), getResult(),
      resultGradients[0], getWindow(), getStrides(), getPadding());
  return success();
}

AMP_GRADIENT_RULE(MaxPool2DGradOp) {
  // The choice of the maximum is locally constant in `input` and `output`. The
  // derivative by `grad` selects the incoming gradient at the maximum of each
  // window. It takes one step per element of the window, from the last to the
  // first, so the first maximum wins.
  if (!wanted[2])
    return success();
  TrainBuilder t(builder, getLoc());
  ArrayRef<int64_t> window = getWindow(), strides = getStrides();
  ArrayRef<int64_t> pooled = typeOf(getOutput()).getShape();
  auto pad = [&](Value value, double with) -> Value {
    SmallVector<int64_t> low{0, getPadding()[0], getPadding()[2], 0};
    SmallVector<int64_t> high{0, getPadding()[1], getPadding()[3], 0};
    SmallVector<int64_t> shape(typeOf(value).getShape());
    for (int i = 0; i < 4; ++i)
      if (low[i] || high[i])
        shape[i] += low[i] + high[i];
    if (typeOf(value).getShape() == ArrayRef<int64_t>(shape))
      return value;
    return PadOp::create(builder, getLoc(), typeOf(value).clone(shape), value,
                         low, high, ArrayRef<int64_t>{0, 0, 0, 0},
                         APFloat(with));
  };
  auto slice = [&](Value value, int64_t row, int64_t column) -> Value {
    return SliceOp::create(builder, getLoc(), getOutput().getType(), value,
                           ArrayRef<int64_t>{0, row, column, 0},
                           ArrayRef<int64_t>{-1, pooled[1], pooled[2], -1},
                           ArrayRef<int64_t>{1, strides[0], strides[1], 1});
  };
  Value x = pad(getInput(), -std::numeric_limits<double>::infinity());
  Value d = pad(resultGradients[0], 0.0);
  Value picked = t.scalar(0.0, d);
  for (int64_t row = window[0] - 1; row >= 0; --row) {
    for (int64_t column = window[1] - 1; column >= 0; --column) {
      Value isMax =
          t.compare(ComparePredicate::EQ, slice(x, row, column), getOutput());
      picked = t.select(isMax, slice(d, row, column), picked);
    }
  }
  operandGradients[2] = picked;
  return success();
}

AMP_GRADIENT_RULE(AvgPool2DOp) {
  operandGradients[0] = AvgPool2DGradOp::create(
      builder, getLoc(), getInput().getType(), resultGradients[0], getWindow(),
      getStrides(), getPadding());
  return success();
}

AMP_GRADIENT_RULE(AvgPool2DGradOp) {
  operandGradients[0] = AvgPool2DOp::create(
      builder, getLoc(), getGrad().getType(), resultGradients[0], getWindow(),
      getStrides(), getPadding());
  return success();
}

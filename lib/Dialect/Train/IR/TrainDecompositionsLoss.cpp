//===- TrainDecompositionsLoss.cpp - Definitions of linear and of losses ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"

using namespace mlir;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::decompose(OpBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  // All leading dimensions become the rows of one matrix.
  ArrayRef<int64_t> shape = typeOf(getResult()).getShape();
  int64_t rows = 1;
  for (int64_t extent : shape.drop_back())
    rows = ShapedType::isDynamic(rows) || ShapedType::isDynamic(extent)
               ? ShapedType::kDynamic
               : rows * extent;
  Value input =
      t.reshape(getInput(), {rows, typeOf(getInput()).getShape().back()});
  auto type = RankedTensorType::get({rows, shape.back()},
                                    getComputeType(getInput().getType()));
  Value product = MatmulOp::create(builder, getLoc(), type, input, getWeight(),
                                   /*transpose_a=*/false, getTransposeWeight());
  if (getBias())
    product = t.add(product, t.widen(getBias()));
  // If the rounding comes first, it fuses with the addition.
  product = t.castTo(product, getElementTypeOrSelf(getResult()));
  results.push_back(t.reshape(product, shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

/// The one-hot encoding of `labels`, with the type of `logits`.
static Value buildOneHot(TrainBuilder &t, Value labels, Value logits) {
  return OneHotOp::create(t.getBuilder(), t.getLoc(), logits.getType(), labels);
}

LogicalResult CrossEntropyOp::decompose(OpBuilder &builder,
                                        SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getLogits());
  int64_t axis = typeOf(x).getRank() - 1;
  Value shifted = t.sub(x, t.max(x, {axis}, /*keepDims=*/true));
  Value logSum = t.log(t.sum(t.exp(shifted), {axis}));
  // Select instead of a product: a logit of -inf elsewhere must not become NaN.
  Value zero = t.scalar(0.0, x);
  Value isLabel =
      t.compare(ComparePredicate::NE, buildOneHot(t, getLabels(), x), zero);
  Value chosen = t.sum(t.select(isLabel, shifted, zero), {axis});
  double smoothing = getLabelSmoothing().convertToDouble();
  if (smoothing != 0)
    chosen = t.add(t.mul(chosen, 1.0 - smoothing),
                   t.mul(t.mean(shifted, {axis}), smoothing));
  Value rows = t.sub(logSum, chosen);
  return finish(*this, t, t.mean(rows, t.allDims(rows)), results);
}

LogicalResult CrossEntropyGradOp::decompose(OpBuilder &builder,
                                            SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getLogits());
  auto type = typeOf(x);
  int64_t axis = type.getRank() - 1;
  Value e = t.exp(t.sub(x, t.max(x, {axis}, /*keepDims=*/true)));
  Value sum = t.sum(e, {axis});
  Value softmax = t.div(e, t.unsqueeze(sum, {axis}, type));
  // The gradient of the loss, divided by the number of rows.
  Value scale = t.broadcast(getGrad(), sum, t.allDims(sum), /*mean=*/true);
  Value target = buildOneHot(t, getLabels(), x);
  double smoothing = getLabelSmoothing().convertToDouble();
  if (smoothing != 0)
    target = t.add(t.mul(target, 1.0 - smoothing),
                   smoothing / static_cast<double>(type.getShape().back()));
  Value difference = t.sub(softmax, target);
  return finish(*this, t, t.mul(difference, t.unsqueeze(scale, {axis}, type)),
                results);
}

//===----------------------------------------------------------------------===//
// Regression
//===----------------------------------------------------------------------===//

LogicalResult MSEOp::decompose(OpBuilder &builder,
                               SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value d = t.sub(t.widen(getInput()), t.widen(getTarget()));
  return finish(*this, t, t.mean(t.square(d), t.allDims(d)), results);
}

LogicalResult L1Op::decompose(OpBuilder &builder,
                              SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value d = t.sub(t.widen(getInput()), t.widen(getTarget()));
  return finish(*this, t, t.mean(t.abs(d), t.allDims(d)), results);
}

LogicalResult MSEGradOp::decompose(OpBuilder &builder,
                                   SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value d = t.sub(t.widen(getInput()), t.widen(getTarget()));
  Value scale = t.broadcast(getGrad(), d, t.allDims(d), /*mean=*/true);
  return finish(*this, t, t.mul(t.mul(d, 2.0), scale), results);
}

LogicalResult L1GradOp::decompose(OpBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value d = t.sub(t.widen(getInput()), t.widen(getTarget()));
  Value scale = t.broadcast(getGrad(), d, t.allDims(d), /*mean=*/true);
  return finish(*this, t, t.mul(t.sign(d), scale), results);
}

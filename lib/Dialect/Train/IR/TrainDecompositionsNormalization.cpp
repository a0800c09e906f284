//===- TrainDecompositionsNormalization.cpp - Definitions of softmax and norms
//===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"

using namespace mlir;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Subtracts the maximum along `axis`. No exponential then overflows.
static Value shiftByMax(TrainBuilder &t, Value x, int64_t axis) {
  return t.sub(x, t.max(x, {axis}, /*keepDims=*/true));
}

LogicalResult SoftmaxOp::decompose(OpBuilder &builder,
                                   SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  int64_t axis = getAxis();
  Value e = t.exp(shiftByMax(t, t.widen(getInput()), axis));
  return finish(*this, t, t.div(e, t.sum(e, {axis}, true)), results);
}

LogicalResult LogSoftmaxOp::decompose(OpBuilder &builder,
                                      SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  int64_t axis = getAxis();
  Value shifted = shiftByMax(t, t.widen(getInput()), axis);
  Value logSum = t.log(t.sum(t.exp(shifted), {axis}, true));
  return finish(*this, t, t.sub(shifted, logSum), results);
}

LogicalResult LogsumexpOp::decompose(OpBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  int64_t axis = getAxis();
  Value x = t.widen(getInput());
  // inf - inf and -inf - -inf are NaN. Subtract a finite number from both.
  double largest =
      APFloat::getLargest(
          cast<FloatType>(getElementTypeOrSelf(x)).getFloatSemantics())
          .convertToDouble();
  Value max = t.maximum(t.max(x, {axis}, true), t.scalar(-largest, x));
  max = t.minimum(max, t.scalar(largest, x));
  Value sum = t.sum(t.exp(t.sub(x, max)), {axis}, true);
  Value y = t.add(max, t.log(sum));
  return finish(*this, t, t.reshape(y, typeOf(getResult()).getShape()),
                results);
}

LogicalResult SoftmaxGradOp::decompose(OpBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value y = t.widen(getOutput()), dy = t.widen(getGrad());
  Value dot = t.sum(t.mul(y, dy), {static_cast<int64_t>(getAxis())}, true);
  return finish(*this, t, t.mul(y, t.sub(dy, dot)), results);
}

LogicalResult LogSoftmaxGradOp::decompose(OpBuilder &builder,
                                          SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value y = t.widen(getOutput()), dy = t.widen(getGrad());
  Value total = t.sum(dy, {static_cast<int64_t>(getAxis())}, true);
  return finish(*this, t, t.sub(dy, t.mul(t.exp(y), total)), results);
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

/// The dimensions [begin, end).
static SmallVector<int64_t> dimRange(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq<int64_t>(begin, end));
}

LogicalResult LayerNormOp::decompose(OpBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  auto full = typeOf(x);
  auto dims =
      dimRange(full.getRank() - typeOf(getGamma()).getRank(), full.getRank());
  Value mean = t.mean(x, dims);
  Value centered = t.sub(x, t.unsqueeze(mean, dims, full));
  Value variance = t.mean(t.square(centered), dims);
  Value rstd = t.rsqrt(t.add(variance, getEpsilon().convertToDouble()));
  Value normal = t.mul(centered, t.unsqueeze(rstd, dims, full));
  Value y = t.add(t.mul(normal, getGamma()), getBeta());
  return finish(*this, t, {y, mean, rstd}, results);
}

LogicalResult RMSNormOp::decompose(OpBuilder &builder,
                                   SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  auto full = typeOf(x);
  auto dims =
      dimRange(full.getRank() - typeOf(getGamma()).getRank(), full.getRank());
  Value square = t.mean(t.square(x), dims);
  Value rstd = t.rsqrt(t.add(square, getEpsilon().convertToDouble()));
  Value normal = t.mul(x, t.unsqueeze(rstd, dims, full));
  return finish(*this, t, {t.mul(normal, getGamma()), rstd}, results);
}

LogicalResult RMSNormGradOp::decompose(OpBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput()), dy = t.widen(getGrad());
  auto full = typeOf(x);
  int64_t leading = full.getRank() - typeOf(getGamma()).getRank();
  auto outer = dimRange(0, leading), inner = dimRange(leading, full.getRank());
  Value rstd = t.unsqueeze(getRstd(), inner, full);
  Value normal = t.mul(x, rstd);
  // With g = dy · gamma, dx = rstd · (g - x̂ · mean (g · x̂)).
  Value g = t.mul(dy, getGamma());
  Value meanDot = t.mean(t.mul(g, normal), inner, /*keepDims=*/true);
  Value dx = t.mul(rstd, t.sub(g, t.mul(normal, meanDot)));
  return finish(*this, t, {dx, t.sum(t.mul(dy, normal), outer)}, results);
}

LogicalResult LayerNormGradOp::decompose(OpBuilder &builder,
                                         SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput()), dy = t.widen(getGrad());
  auto full = typeOf(x);
  int64_t leading = full.getRank() - typeOf(getGamma()).getRank();
  auto outer = dimRange(0, leading), inner = dimRange(leading, full.getRank());
  Value rstd = t.unsqueeze(getRstd(), inner, full);
  Value normal = t.mul(t.sub(x, t.unsqueeze(getMean(), inner, full)), rstd);
  // With g = dy · gamma, dx = rstd · (g - mean g - x̂ · mean (g · x̂)).
  Value g = t.mul(dy, getGamma());
  Value meanG = t.mean(g, inner, /*keepDims=*/true);
  Value meanDot = t.mean(t.mul(g, normal), inner, /*keepDims=*/true);
  Value dx = t.mul(rstd, t.sub(t.sub(g, meanG), t.mul(normal, meanDot)));
  Value dGamma = t.sum(t.mul(dy, normal), outer);
  Value dBeta = t.sum(dy, outer);
  return finish(*this, t, {dx, dGamma, dBeta}, results);
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// The number of elements of `x` that share a channel, minus one.
static Value countLessOne(TrainBuilder &t, Value x, ArrayRef<int64_t> dims) {
  auto type = typeOf(x);
  if (type.hasStaticShape()) {
    double count = type.getNumElements() / type.getShape().back();
    return t.scalar(count - 1, x);
  }
  // The sum of a one for each element is the number of elements.
  Value channel = t.zeros(type.clone(type.getShape().take_back()));
  Value one = t.add(channel, 1.0);
  return t.add(t.sum(t.broadcast(one, x, dims), dims), -1.0);
}

LogicalResult BatchNormTrainingOp::decompose(OpBuilder &builder,
                                             SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  auto dims = dimRange(0, typeOf(x).getRank() - 1);
  Value mean = t.mean(x, dims);
  Value centered = t.sub(x, mean);
  Value squares = t.square(centered);
  Value variance = t.mean(squares, dims);
  Value rstd = t.rsqrt(t.add(variance, getEpsilon().convertToDouble()));
  Value y = t.add(t.mul(t.mul(centered, rstd), getGamma()), getBeta());
  // The running variance uses the unbiased variance.
  Value unbiased = t.div(t.sum(squares, dims), countLessOne(t, x, dims));
  double momentum = getMomentum().convertToDouble();
  auto move = [&](Value running, Value batch) {
    return t.add(t.mul(running, 1.0 - momentum), t.mul(batch, momentum));
  };
  return finish(*this, t,
                {y, mean, rstd, move(getRunningMean(), mean),
                 move(getRunningVar(), unbiased)},
                results);
}

LogicalResult BatchNormInferenceOp::decompose(OpBuilder &builder,
                                              SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  Value rstd = t.rsqrt(t.add(getVar(), getEpsilon().convertToDouble()));
  Value normal = t.mul(t.sub(x, getMean()), rstd);
  return finish(*this, t, t.add(t.mul(normal, getGamma()), getBeta()), results);
}

LogicalResult BatchNormGradOp::decompose(OpBuilder &builder,
                                         SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput()), dy = t.widen(getGrad());
  auto dims = dimRange(0, typeOf(x).getRank() - 1);
  Value normal = t.mul(t.sub(x, getMean()), getRstd());
  Value product = t.mul(dy, normal);
  // dx = gamma · rstd · (dy - mean dy - x̂ · mean (dy · x̂)).
  Value inner =
      t.sub(t.sub(dy, t.mean(dy, dims)), t.mul(normal, t.mean(product, dims)));
  Value dx = t.mul(inner, t.mul(getGamma(), getRstd()));
  return finish(*this, t, {dx, t.sum(product, dims), t.sum(dy, dims)}, results);
}

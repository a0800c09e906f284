//===- TrainDecompositionsNormalization.cpp - Definitions of softmax and norms
//===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"

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

namespace {
/// The operands of the gradient of a norm over the last dimensions.
struct NormGradient {
  /// The input, the gradient of the result, and 1 / deviation of the shape of
  /// the input.
  Value x, dy, rstd;
  RankedTensorType full;
  /// The dimensions over which gamma is broadcast, and those of the norm.
  SmallVector<int64_t> outer, inner;
};
} // namespace

template <typename OpTy>
static NormGradient readNormGradient(TrainBuilder &t, OpTy op) {
  NormGradient result;
  result.x = t.widen(op.getInput());
  result.dy = t.widen(op.getGrad());
  result.full = typeOf(result.x);
  int64_t rank = result.full.getRank();
  int64_t leading = rank - typeOf(op.getGamma()).getRank();
  result.outer = dimRange(0, leading);
  result.inner = dimRange(leading, rank);
  result.rstd = t.unsqueeze(op.getRstd(), result.inner, result.full);
  return result;
}

LogicalResult RMSNormGradOp::decompose(OpBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  auto [x, dy, rstd, full, outer, inner] = readNormGradient(t, *this);
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
  auto [x, dy, rstd, full, outer, inner] = readNormGradient(t, *this);
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

/// The number of elements of `x` that share a channel: the sum of a one for
/// each.
static Value countElements(TrainBuilder &t, Value x, ArrayRef<int64_t> dims) {
  auto type = typeOf(x);
  Value channel = t.zeros(type.clone(type.getShape().take_back()));
  return t.sum(t.broadcast(t.add(channel, 1.0), x, dims), dims);
}

/// `value` · n / (n - 1), where n elements of `x` share a channel.
static Value unbias(TrainBuilder &t, Value value, Value x,
                    ArrayRef<int64_t> dims) {
  auto type = typeOf(x);
  if (type.hasStaticShape()) {
    double count = type.getNumElements() / type.getShape().back();
    return t.mul(value, count / (count - 1));
  }
  Value count =
      t.castTo(countElements(t, x, dims), getElementTypeOrSelf(value));
  return t.div(t.mul(value, count), t.add(count, -1.0));
}

/// The mean of `x` over `dims`, as f64. A batch has many elements in a channel,
/// and the mean may be large against their deviation.
static Value meanInDouble(TrainBuilder &t, Value x, ArrayRef<int64_t> dims) {
  return t.mean(t.castTo(x, t.getBuilder().getF64Type()), dims);
}

namespace {
/// The statistics of a batch and the values that they come from.
struct BatchStatistics {
  Value mean, centered, variance, unbiased;
};
} // namespace

/// The results of `op` from the statistics of its input.
static LogicalResult normalizeBatch(BatchNormTrainingOp op, TrainBuilder &t,
                                    const BatchStatistics &batch,
                                    SmallVectorImpl<Value> &results) {
  Value rstd =
      t.rsqrt(t.add(batch.variance, op.getEpsilon().convertToDouble()));
  Value y =
      t.add(t.mul(t.mul(batch.centered, rstd), op.getGamma()), op.getBeta());
  double momentum = op.getMomentum().convertToDouble();
  auto move = [&](Value running, Value seen) {
    return t.add(t.mul(running, 1.0 - momentum), t.mul(seen, momentum));
  };
  return finish(op, t,
                {y, batch.mean, rstd, move(op.getRunningMean(), batch.mean),
                 move(op.getRunningVar(), batch.unbiased)},
                results);
}

LogicalResult BatchNormTrainingOp::decompose(OpBuilder &builder,
                                             SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  auto dims = dimRange(0, typeOf(x).getRank() - 1);
  Type element = getElementTypeOrSelf(x);
  BatchStatistics batch;
  batch.mean = t.castTo(meanInDouble(t, x, dims), element);
  batch.centered = t.sub(x, batch.mean);
  Value variance = meanInDouble(t, t.square(batch.centered), dims);
  batch.variance = t.castTo(variance, element);
  // The running variance uses the unbiased variance.
  batch.unbiased = t.castTo(unbias(t, variance, x, dims), element);
  return normalizeBatch(*this, t, batch, results);
}

/// The sums over all ranks of `values`.
static SmallVector<Value> addOverRanks(TrainBuilder &t,
                                       ArrayRef<Value> values) {
  return llvm::to_vector_of<Value>(
      amp::AllReduceOp::create(t.getBuilder(), t.getLoc(),
                               amp::RankReductionKind::Sum, values)
          .getReduced());
}

/// The mean over all ranks of a value of each.
static Value divideByRanks(TrainBuilder &t, Value sum) {
  return amp::DivideByRanksOp::create(t.getBuilder(), t.getLoc(), sum,
                                      /*ranks=*/IntegerAttr());
}

LogicalResult
mlir::train::synchronizeBatchNorm(BatchNormTrainingOp op, OpBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, op.getLoc());
  Value x = t.widen(op.getInput());
  auto dims = dimRange(0, typeOf(x).getRank() - 1);
  Type element = getElementTypeOrSelf(x);
  Value ownMean = t.castTo(meanInDouble(t, x, dims), element);
  SmallVector<Value> sums =
      addOverRanks(t, {ownMean, countElements(t, x, dims)});
  BatchStatistics batch;
  batch.mean = divideByRanks(t, sums[0]);
  batch.centered = t.sub(x, batch.mean);
  Value own = meanInDouble(t, t.square(batch.centered), dims);
  batch.variance = divideByRanks(t, addOverRanks(t, t.castTo(own, element))[0]);
  batch.unbiased = t.div(t.mul(batch.variance, sums[1]), t.add(sums[1], -1.0));
  return normalizeBatch(op, t, batch, results);
}

LogicalResult BatchNormInferenceOp::decompose(OpBuilder &builder,
                                              SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  Value rstd = t.rsqrt(t.add(getVar(), getEpsilon().convertToDouble()));
  Value normal = t.mul(t.sub(x, getMean()), rstd);
  return finish(*this, t, t.add(t.mul(normal, getGamma()), getBeta()), results);
}

/// The results of `op`. `average` gives the means over the batch from those
/// over the batch of this rank.
static LogicalResult differentiateBatchNorm(
    BatchNormGradOp op, TrainBuilder &t,
    function_ref<SmallVector<Value>(ArrayRef<Value>)> average,
    SmallVectorImpl<Value> &results) {
  Value x = t.widen(op.getInput()), dy = t.widen(op.getGrad());
  auto dims = dimRange(0, typeOf(x).getRank() - 1);
  Value normal = t.mul(t.sub(x, op.getMean()), op.getRstd());
  Value product = t.mul(dy, normal);
  // dx = gamma · rstd · (dy - mean dy - x̂ · mean (dy · x̂)).
  Type element = getElementTypeOrSelf(x);
  auto mean = [&](Value value) {
    return t.castTo(meanInDouble(t, value, dims), element);
  };
  SmallVector<Value> means = average({mean(dy), mean(product)});
  Value inner = t.sub(t.sub(dy, means[0]), t.mul(normal, means[1]));
  Value dx = t.mul(inner, t.mul(op.getGamma(), op.getRstd()));
  Type sumType = t.getBuilder().getF64Type();
  auto sum = [&](Value value) {
    return t.castTo(t.sum(t.castTo(value, sumType), dims), element);
  };
  return finish(op, t, {dx, sum(product), sum(dy)}, results);
}

LogicalResult BatchNormGradOp::decompose(OpBuilder &builder,
                                         SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  auto own = [](ArrayRef<Value> means) { return llvm::to_vector(means); };
  return differentiateBatchNorm(*this, t, own, results);
}

LogicalResult
mlir::train::synchronizeBatchNorm(BatchNormGradOp op, OpBuilder &builder,
                                  SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, op.getLoc());
  auto average = [&](ArrayRef<Value> means) {
    SmallVector<Value> sums = addOverRanks(t, means);
    for (Value &sum : sums)
      sum = divideByRanks(t, sum);
    return sums;
  };
  return differentiateBatchNorm(op, t, average, results);
}

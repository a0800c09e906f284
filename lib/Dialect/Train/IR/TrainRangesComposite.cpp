//===- TrainRangesComposite.cpp - Value ranges of norms and losses --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds that follow from the definition of a composite operation. The
// intervals of its primitives do not give them.
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Train.h"

#include <cmath>

using namespace mlir;
using namespace mlir::train;
using namespace mlir::amp;
using amp::ElementFlow;
using amp::FloatRange;

using Ranges = ArrayRef<FloatRange>;
using MutableRanges = MutableArrayRef<FloatRange>;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The product of `extents`, dynamic if one of them is.
static int64_t countElements(ArrayRef<int64_t> extents) {
  int64_t count = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent))
      return ShapedType::kDynamic;
    count *= extent;
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// The range of -(largest - x - ln Σ exp(x - largest)) over `count` elements.
/// It is at most their spread plus ln `count`. A finite spread may overflow,
/// and exp(-inf) is zero.
static FloatRange negativeLogSoftmax(FloatRange x, int64_t count) {
  double most = ShapedType::isDynamic(count)
                    ? kInfinity
                    : x.hi - x.lo + std::log(4.0 * count);
  return interval::computed(0.0, std::isnan(most) ? kInfinity : most,
                            x.mayBeNaN || x.mayBeInfinite());
}

void SoftmaxOp::inferFloatRanges(Ranges x, MutableRanges results) {
  // The sum includes the numerator, and rounding is monotone.
  results[0] = FloatRange::get(0, 1, x[0].mayBeNaN || x[0].mayBeInfinite());
}
ElementFlow SoftmaxOp::getElementFlow() { return ElementFlow::IgnoresFarBelow; }

void LogSoftmaxOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] =
      interval::neg(negativeLogSoftmax(x[0], getType().getDimSize(getAxis())));
}

void LogsumexpOp::inferFloatRanges(Ranges x, MutableRanges results) {
  int64_t count = getInput().getType().getDimSize(getAxis());
  double more =
      ShapedType::isDynamic(count) ? kInfinity : std::log(4.0 * count);
  results[0] = interval::computed(x[0].lo, x[0].hi + more,
                                  x[0].mayBeNaN || x[0].mayBeInfinite());
}

void SoftmaxGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  FloatRange dot =
      interval::sum(interval::mul(x[0], x[1]), getType().getDimSize(getAxis()),
                    getComputeType(getType()));
  results[0] = interval::mul(x[0], interval::sub(x[1], dot));
}

void LogSoftmaxGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  FloatRange total = interval::sum(x[1], getType().getDimSize(getAxis()),
                                   getComputeType(getType()));
  results[0] = interval::sub(x[1], interval::mul(interval::exp(x[0]), total));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The range of (x - mean) · rstd over groups of `count` elements. The sum of
/// squares in the variance includes the square of each difference, so the
/// magnitude is at most √count for any mean. `epsilon` bounds rstd if the
/// squares underflow.
static FloatRange normalize(FloatRange x, int64_t count, double epsilon) {
  // Infinite sums give NaN: ∞ - ∞ and 0 · ∞.
  bool mayBeNaN = x.mayBeNaN || !(x.getMaxAbs() <= 0x1p40);
  if (ShapedType::isDynamic(count) || epsilon < 0x1p-80)
    return FloatRange::get(-kInfinity, kInfinity, true);
  double bound = std::sqrt(static_cast<double>(count)) * (1 + 0x1p-16);
  return FloatRange::get(-bound, bound, mayBeNaN);
}

/// 1 / √(variance + `epsilon`).
static FloatRange rstdOf(FloatRange x, double epsilon) {
  FloatRange variance = FloatRange::get(0, kInfinity);
  return interval::rsqrt(interval::add(variance, FloatRange::get(epsilon)))
      .withNaN(x.mayBeNaN || !(x.getMaxAbs() <= 0x1p40));
}

void LayerNormOp::inferFloatRanges(Ranges x, MutableRanges results) {
  double epsilon = getEpsilon().convertToDouble();
  ArrayRef<int64_t> extents = getGamma().getType().getShape();
  FloatRange normal = normalize(x[0], countElements(extents), epsilon);
  results[0] = interval::add(interval::mul(normal, x[1]), x[2]);
  results[1] = interval::mean(x[0], countElements(extents),
                              getComputeType(getInput().getType()));
  results[2] = rstdOf(x[0], epsilon);
}

void RMSNormOp::inferFloatRanges(Ranges x, MutableRanges results) {
  double epsilon = getEpsilon().convertToDouble();
  int64_t count = countElements(getGamma().getType().getShape());
  results[0] = interval::mul(normalize(x[0], count, epsilon), x[1]);
  results[1] = rstdOf(x[0], epsilon);
}

void BatchNormTrainingOp::inferFloatRanges(Ranges x, MutableRanges results) {
  double epsilon = getEpsilon().convertToDouble();
  double momentum = getMomentum().convertToDouble();
  int64_t count = countElements(getInput().getType().getShape().drop_back());
  FloatRange normal = normalize(x[0], count, epsilon);
  results[0] = interval::add(interval::mul(normal, x[1]), x[2]);
  results[1] =
      interval::mean(x[0], count, getComputeType(getInput().getType()));
  results[2] = rstdOf(x[0], epsilon);
  results[3] =
      interval::add(interval::mul(x[3], FloatRange::get(1 - momentum)),
                    interval::mul(results[1], FloatRange::get(momentum)));
}

void BatchNormInferenceOp::inferFloatRanges(Ranges x, MutableRanges results) {
  FloatRange epsilon = FloatRange::get(getEpsilon().convertToDouble());
  FloatRange rstd = interval::rsqrt(interval::add(x[4], epsilon));
  FloatRange normal = interval::mul(interval::sub(x[0], x[3]), rstd);
  results[0] = interval::add(interval::mul(normal, x[1]), x[2]);
}

//===----------------------------------------------------------------------===//
// Indexing and attention
//===----------------------------------------------------------------------===//

void GatherOp::inferFloatRanges(Ranges x, MutableRanges results) {
  // An index out of range gives zeros.
  results[0] = x[0].join(0.0);
}

void ScatterAddOp::inferFloatRanges(Ranges x, MutableRanges results) {
  auto type = cast<RankedTensorType>(getUpdates().getType());
  int64_t count = countElements(getIndices().getType().getShape());
  results[0] =
      interval::sum(x[0].join(0.0), count, getComputeType(type)).join(0.0);
}

void CumsumOp::inferFloatRanges(Ranges x, MutableRanges results) {
  auto type = cast<RankedTensorType>(getInput().getType());
  results[0] = x[0].join(
      interval::sum(x[0], type.getDimSize(getAxis()), getComputeType(type)));
}

void RotaryEmbeddingOp::inferFloatRanges(Ranges x, MutableRanges results) {
  FloatRange cosine = interval::mul(x[0], x[1]);
  FloatRange sine = interval::mul(x[0], x[2]);
  results[0] = interval::sub(cosine, sine).join(interval::add(cosine, sine));
}

void ScaledDotProductAttentionOp::inferFloatRanges(Ranges x,
                                                   MutableRanges results) {
  // The result is a mean of the values, up to the rounding of its weights and
  // the factor of dropout. A score that overflows gives NaN.
  auto query = cast<RankedTensorType>(getQuery().getType());
  double largest = x[0].getMaxAbs() * x[1].getMaxAbs() *
                   static_cast<double>(query.getShape().back());
  results[0] =
      interval::mul(x[2], FloatRange::get(0, 1.02 / (1 - getDropout())))
          .join(0.0)
          .withNaN(!(largest <= 0x1p100));
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// The mean of `x` over all elements of `type`.
static FloatRange meanOf(FloatRange x, RankedTensorType type,
                         ArrayRef<int64_t> extents) {
  return interval::mean(x, countElements(extents), getComputeType(type));
}

/// `gradient`, a scalar, divided by the number of elements of `extents`.
static FloatRange share(FloatRange gradient, ArrayRef<int64_t> extents) {
  int64_t count = countElements(extents);
  return ShapedType::isDynamic(count)
             ? gradient.join(0.0)
             : interval::div(gradient, FloatRange::get(count));
}

void CrossEntropyOp::inferFloatRanges(Ranges x, MutableRanges results) {
  auto type = cast<RankedTensorType>(getLogits().getType());
  ArrayRef<int64_t> shape = type.getShape();
  // Smoothing takes a mean of the losses of all classes, with the same bounds.
  results[0] =
      meanOf(negativeLogSoftmax(x[0], shape.back()), type, shape.drop_back());
}

void CrossEntropyGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  ArrayRef<int64_t> shape = getLogits().getType().getShape();
  FloatRange difference =
      FloatRange::get(-1, 1, x[0].mayBeNaN || x[0].mayBeInfinite());
  results[0] = interval::mul(difference, share(x[2], shape.drop_back()));
}

void MSEOp::inferFloatRanges(Ranges x, MutableRanges results) {
  auto type = cast<RankedTensorType>(getInput().getType());
  results[0] = meanOf(interval::square(interval::sub(x[0], x[1])), type,
                      type.getShape());
}

void L1Op::inferFloatRanges(Ranges x, MutableRanges results) {
  auto type = cast<RankedTensorType>(getInput().getType());
  results[0] =
      meanOf(interval::abs(interval::sub(x[0], x[1])), type, type.getShape());
}

void MSEGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  FloatRange twice =
      interval::mul(interval::sub(x[0], x[1]), FloatRange::get(2));
  results[0] = interval::mul(twice, share(x[2], getType().getShape()));
}

void L1GradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  FloatRange difference = interval::sub(x[0], x[1]);
  FloatRange sign = FloatRange::get(-1, 1, difference.mayBeNaN);
  results[0] = interval::mul(sign, share(x[2], getType().getShape()));
}

//===- TrainRanges.cpp - Value ranges of elementwise and shape operations -===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Value ranges of the results of operations that are not composites.
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

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

#define AMP_UNARY_RANGE(OP, FUNCTION)                                          \
  void OP::inferFloatRanges(Ranges x, MutableRanges results) {                 \
    results[0] = interval::FUNCTION(x[0]);                                     \
  }
AMP_UNARY_RANGE(NegOp, neg)
AMP_UNARY_RANGE(AbsOp, abs)
AMP_UNARY_RANGE(SinOp, wave)
AMP_UNARY_RANGE(CosOp, wave)
AMP_UNARY_RANGE(ErfOp, erf)
AMP_UNARY_RANGE(SqrtOp, sqrt)
AMP_UNARY_RANGE(LogOp, log)
AMP_UNARY_RANGE(Log1pOp, log1p)
AMP_UNARY_RANGE(TanhOp, tanh)
AMP_UNARY_RANGE(SigmoidOp, sigmoid)
AMP_UNARY_RANGE(ExpOp, exp)
AMP_UNARY_RANGE(Expm1Op, expm1)
AMP_UNARY_RANGE(RsqrtOp, rsqrt)
AMP_UNARY_RANGE(SquareOp, square)
#undef AMP_UNARY_RANGE

void ReluOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = interval::max(x[0], FloatRange::get(0));
}

void ReciprocalOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = interval::div(FloatRange::get(1), x[0]);
}

void SignOp::inferFloatRanges(Ranges x, MutableRanges results) {
  auto sign = [](double value) -> double { return (value > 0) - (value < 0); };
  // Results close to zero may be flushed to zero.
  results[0] =
      FloatRange::get(sign(x[0].lo), sign(x[0].hi), x[0].mayBeNaN).join(0.0);
}

void GeluOp::inferFloatRanges(Ranges x, MutableRanges results) {
  // x · Φ(x) is at most max(x, 0), and at least -0.17005 for both forms. -inf
  // times zero is NaN.
  constexpr double least = -0.1701;
  double lo = x[0].lo >= 0 ? 0.0 : least;
  results[0] = interval::computed(
      lo, std::max(x[0].hi, 0.0),
      x[0].mayBeNaN || x[0].contains(-std::numeric_limits<double>::infinity()));
}

void SiluOp::inferFloatRanges(Ranges x, MutableRanges results) {
  // The result is at most max(x, 0), and at least -0.27847. -inf times zero is
  // NaN.
  double lo = x[0].lo >= 0 ? 0.0 : -0.2785;
  results[0] = interval::computed(
      lo, std::max(x[0].hi, 0.0),
      x[0].mayBeNaN || x[0].contains(-std::numeric_limits<double>::infinity()));
}

/// Rounds `value` to the type in which operations on `type` compute.
static double inComputeType(const APFloat &value, Type type) {
  return amp::roundTo(value.convertToDouble(), getComputeType(type));
}

void ClipOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = x[0].clamp(inComputeType(getMin(), getType()),
                          inComputeType(getMax(), getType()));
}

//===----------------------------------------------------------------------===//
// Backward operations of activations
//===----------------------------------------------------------------------===//

void ReluGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = x[1].join(0.0);
}

void ClipGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = x[1].join(0.0);
}

void TanhGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  FloatRange one = FloatRange::get(1);
  results[0] = interval::mul(x[1], interval::sub(one, interval::square(x[0])));
}

void SigmoidGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  FloatRange one = FloatRange::get(1);
  FloatRange slope = interval::mul(x[0], interval::sub(one, x[0]));
  results[0] = interval::mul(x[1], slope);
}

void GeluGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  // The slope is within [-0.13, 1.13]. In the tanh form x³ may overflow and
  // meet a factor of zero, which gives NaN.
  FloatRange slope = FloatRange::get(-0.2, 1.2, x[0].mayBeNaN);
  results[0] =
      interval::mul(x[1], slope).withNaN(!(x[0].getMaxAbs() <= 0x1p40));
}

void SiluGradOp::inferFloatRanges(Ranges x, MutableRanges results) {
  // The slope is within [-0.1, 1.1]. x · (1 - s) is ∞ · 0 for infinite x.
  FloatRange slope = FloatRange::get(-0.2, 1.2, x[0].mayBeNaN);
  results[0] =
      interval::mul(x[1], slope).withNaN(!(x[0].getMaxAbs() <= 0x1p40));
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

#define AMP_BINARY_RANGE(OP, FUNCTION)                                         \
  void OP::inferFloatRanges(Ranges x, MutableRanges results) {                 \
    results[0] = interval::FUNCTION(x[0], x[1]);                               \
  }
AMP_BINARY_RANGE(AddOp, add)
AMP_BINARY_RANGE(SubOp, sub)
AMP_BINARY_RANGE(DivOp, div)
AMP_BINARY_RANGE(MaximumOp, max)
AMP_BINARY_RANGE(MinimumOp, min)
AMP_BINARY_RANGE(PowOp, pow)
#undef AMP_BINARY_RANGE

bool AddOp::isUnboundedWith(unsigned) { return true; }
bool SubOp::isUnboundedWith(unsigned) { return true; }

void MulOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] =
      getLhs() == getRhs() ? interval::square(x[0]) : interval::mul(x[0], x[1]);
}

void SelectOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = x[1].join(x[2]);
}
ElementFlow SelectOp::getElementFlow() { return ElementFlow::Moves; }

void OneHotOp::inferFloatRanges(Ranges, MutableRanges results) {
  results[0] = FloatRange::get(0, 1);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The sum of `count` products of elements of `a` and `b`.
static FloatRange dot(FloatRange a, FloatRange b, int64_t count, Type type) {
  return interval::sum(interval::mul(a, b), count, getComputeType(type));
}

void MatmulOp::inferFloatRanges(Ranges x, MutableRanges results) {
  auto type = cast<RankedTensorType>(getLhs().getType());
  int64_t inner = type.getDimSize(type.getRank() - (getTransposeA() ? 2 : 1));
  results[0] = dot(x[0], x[1], inner, type);
}

void LinearOp::inferFloatRanges(Ranges x, MutableRanges results) {
  auto type = cast<RankedTensorType>(getInput().getType());
  results[0] = dot(x[0], x[1], type.getShape().back(), type);
  if (getBias())
    results[0] = interval::add(results[0], x[2]);
}

// Unbounded, except in products with zeros only.
bool MatmulOp::isUnboundedWith(unsigned) { return true; }
bool LinearOp::isUnboundedWith(unsigned) { return true; }
bool Conv2DOp::isUnboundedWith(unsigned) { return true; }

void Conv2DOp::inferFloatRanges(Ranges x, MutableRanges results) {
  auto filter = cast<RankedTensorType>(getFilter().getType());
  if (!filter.hasStaticShape())
    return;
  bool isPadded = llvm::any_of(getPadding(), [](int64_t p) { return p != 0; });
  int64_t count = filter.getNumElements() / filter.getShape().back();
  results[0] =
      dot(isPadded ? x[0].join(0.0) : x[0], x[1], count, getInput().getType());
}

//===----------------------------------------------------------------------===//
// Reductions and pooling
//===----------------------------------------------------------------------===//

/// The product of the extents of `dims`, dynamic if one of them is.
static int64_t countElements(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (ShapedType::isDynamic(shape[dim]))
      return ShapedType::kDynamic;
    count *= shape[dim];
  }
  return count;
}

template <typename ReduceOp>
static int64_t countReduced(ReduceOp op) {
  return countElements(op.getInput().getType().getShape(), op.getDims());
}

void ReduceSumOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = interval::sum(x[0], countReduced(*this),
                             getComputeType(getInput().getType()));
}

void ReduceMeanOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = interval::mean(x[0], countReduced(*this),
                              getComputeType(getInput().getType()));
}

void ReduceMaxOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = x[0];
}

void MaxPool2DOp::inferFloatRanges(Ranges x, MutableRanges results) {
  // The padding is smaller than the window, so no window is all padding.
  results[0] = x[0];
}

void AvgPool2DOp::inferFloatRanges(Ranges x, MutableRanges results) {
  bool isPadded = llvm::any_of(getPadding(), [](int64_t p) { return p != 0; });
  results[0] = interval::mean(isPadded ? x[0].join(0.0) : x[0],
                              getWindow()[0] * getWindow()[1],
                              getComputeType(getInput().getType()));
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

void BroadcastOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = x[0];
  if (!getMean())
    return;
  int64_t count = countElements(getType().getShape(), getDims());
  results[0] = ShapedType::isDynamic(count)
                   ? x[0].join(0.0)
                   : interval::div(x[0], FloatRange::get(count));
}
ElementFlow BroadcastOp::getElementFlow() {
  // The operation reads only the extents of `like`.
  return getMean() || getLike() ? ElementFlow::Computes : ElementFlow::Moves;
}

#define AMP_MOVEMENT_RANGE(OP)                                                 \
  void OP::inferFloatRanges(Ranges x, MutableRanges results) {                 \
    results[0] = x[0];                                                         \
  }                                                                            \
  ElementFlow OP::getElementFlow() { return ElementFlow::Moves; }
AMP_MOVEMENT_RANGE(ReshapeOp)
AMP_MOVEMENT_RANGE(TransposeOp)
AMP_MOVEMENT_RANGE(SliceOp)
#undef AMP_MOVEMENT_RANGE

void ConcatOp::inferFloatRanges(Ranges x, MutableRanges results) {
  results[0] = FloatRange::empty();
  for (const FloatRange &input : x)
    results[0] = results[0].join(input);
}
ElementFlow ConcatOp::getElementFlow() { return ElementFlow::Moves; }

void PadOp::inferFloatRanges(Ranges x, MutableRanges results) {
  double value = inComputeType(getValue(), getType());
  results[0] = std::isnan(value) ? x[0].withNaN(true) : x[0].join(value);
}
// The padding value is not an element of the operand.
ElementFlow PadOp::getElementFlow() { return ElementFlow::Computes; }

void DropoutOp::inferFloatRanges(Ranges x, MutableRanges results) {
  double scale = 1 / (1 - getRate().convertToDouble());
  results[0] = interval::mul(x[0], FloatRange::get(scale)).join(0.0);
}

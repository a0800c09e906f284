//===- TrainDecompositionsElementwise.cpp - Definitions of activations ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"

#include <cmath>

using namespace mlir;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

// 1 / (1 + exp(-x)) and exp(x) / (1 + exp(x)) are equal. The form whose
// exponential does not overflow is accurate down to subnormal results.
LogicalResult SigmoidOp::decompose(OpBuilder &builder,
                                   SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  Value one = t.scalar(1.0, x);
  Value decay = t.exp(t.neg(t.abs(x)));
  Value positive = t.compare(ComparePredicate::GE, x, t.scalar(0.0, x));
  Value numerator = t.select(positive, one, decay);
  return finish(*this, t, t.div(numerator, t.add(decay, one)), results);
}

LogicalResult SiluOp::decompose(OpBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  Value gate = SigmoidOp::create(builder, getLoc(), x.getType(), x);
  return finish(*this, t, t.mul(x, gate), results);
}

/// (1 + erf(x / √2)) / 2, the distribution function of the normal distribution.
///
/// This sum cancels for negative x. From -1 downwards, Φ(x) is exp(-x² / 2) · w
/// · Q(w) / 2, where w = c / (c + z) for z = -x / √2, and w · Q(w) approximates
/// the scaled complementary error function exp(z²) · erfc(z). Q is the fit by
/// Chebyshev points for 0.7 <= z <= 10.5, with a relative error of 7e-8. That
/// is too much for f64, which keeps the sum.
static Value buildNormalCdf(TrainBuilder &t, Value x) {
  Value erf = t.erf(t.mul(x, std::sqrt(0.5)));
  Value body = t.mul(t.add(erf, 1.0), 0.5);
  if (!getElementTypeOrSelf(x).isF32())
    return body;
  constexpr double c = 2.5;
  constexpr double q[] = {0.22561006,   0.22702131,    0.196153337,
                          0.224296135,  -0.0195471823, 0.283426989,
                          -0.146894503, 0.0097887313};
  Value z = t.mul(t.abs(x), std::sqrt(0.5));
  Value w = t.div(t.scalar(c, x), t.add(z, c));
  Value sum = t.add(t.mul(w, q[7]), q[6]);
  for (int power = 5; power >= 0; --power)
    sum = t.add(t.mul(sum, w), q[power]);
  Value decay = t.exp(t.mul(t.square(x), -0.5));
  Value tail = t.mul(t.mul(t.mul(sum, w), 0.5), decay);
  Value isTail = t.compare(ComparePredicate::LT, x, t.scalar(-1.0, x));
  return t.select(isTail, tail, body);
}

static constexpr double kGeluCubic = 0.044715;

/// (1 + tanh(u)) / 2 for u = √(2/π) · (x + 0.044715 x³). This is the sigmoid of
/// 2 u, which does not cancel.
static Value buildGeluGate(OpBuilder &builder, TrainBuilder &t, Value x) {
  Value cubic = t.mul(t.mul(t.square(x), x), kGeluCubic);
  Value twice = t.mul(t.add(x, cubic), 2.0 * std::sqrt(2.0 / M_PI));
  return SigmoidOp::create(builder, t.getLoc(), x.getType(), twice);
}

LogicalResult GeluOp::decompose(OpBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  Value factor = getApproximate() == GeluApproximation::None
                     ? buildNormalCdf(t, x)
                     : buildGeluGate(builder, t, x);
  return finish(*this, t, t.mul(x, factor), results);
}

LogicalResult ClipOp::decompose(OpBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  Value low = t.scalar(getMin().convertToDouble(), x);
  Value high = t.scalar(getMax().convertToDouble(), x);
  return finish(*this, t, t.minimum(t.maximum(x, low), high), results);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

LogicalResult ReluGradOp::decompose(OpBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value y = t.widen(getOutput()), dy = t.widen(getGrad());
  Value zero = t.scalar(0.0, y);
  Value off = t.compare(ComparePredicate::LE, y, zero);
  return finish(*this, t, t.select(off, zero, dy), results);
}

LogicalResult TanhGradOp::decompose(OpBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value y = t.widen(getOutput()), dy = t.widen(getGrad());
  return finish(*this, t, t.mul(dy, t.sub(1.0, t.square(y))), results);
}

LogicalResult SigmoidGradOp::decompose(OpBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value y = t.widen(getOutput()), dy = t.widen(getGrad());
  return finish(*this, t, t.mul(dy, t.mul(y, t.sub(1.0, y))), results);
}

/// Clamps `x` to ±`limit`, from which on the slope of an activation is 0 or 1.
/// A product of 0 and infinity would be NaN.
static Value clampToSlope(TrainBuilder &t, Value x, double limit) {
  return t.minimum(t.maximum(x, t.scalar(-limit, x)), t.scalar(limit, x));
}

LogicalResult SiluGradOp::decompose(OpBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = clampToSlope(t, t.widen(getInput()), /*limit=*/1024.0);
  Value dy = t.widen(getGrad());
  // With s = sigmoid(x): s · (1 + x · (1 - s)).
  Value s = SigmoidOp::create(builder, getLoc(), x.getType(), x);
  Value slope = t.mul(s, t.add(t.mul(x, t.sub(1.0, s)), 1.0));
  return finish(*this, t, t.mul(dy, slope), results);
}

LogicalResult GeluGradOp::decompose(OpBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = clampToSlope(t, t.widen(getInput()), /*limit=*/64.0);
  Value dy = t.widen(getGrad());
  Value slope;
  if (getApproximate() == GeluApproximation::None) {
    // Φ(x) + x φ(x).
    Value density =
        t.mul(t.exp(t.mul(t.square(x), -0.5)), 1.0 / std::sqrt(2.0 * M_PI));
    slope = t.add(buildNormalCdf(t, x), t.mul(x, density));
  } else {
    // With the gate s, the sigmoid of 2 u: s + x · s (1 - s) · 2 u', where
    // u' = √(2/π) · (1 + 3 · 0.044715 x²).
    Value s = buildGeluGate(builder, t, x);
    Value inner = t.mul(t.add(t.mul(t.square(x), 3.0 * kGeluCubic), 1.0),
                        2.0 * std::sqrt(2.0 / M_PI));
    Value curve = t.mul(t.mul(x, inner), t.sub(1.0, s));
    slope = t.mul(s, t.add(curve, 1.0));
  }
  return finish(*this, t, t.mul(dy, slope), results);
}

LogicalResult ClipGradOp::decompose(OpBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput()), dy = t.widen(getGrad());
  Value low = t.scalar(getMin().convertToDouble(), x);
  Value high = t.scalar(getMax().convertToDouble(), x);
  Value zero = t.scalar(0.0, x);
  Value below = t.select(t.compare(ComparePredicate::LE, x, high), dy, zero);
  Value inside = t.select(t.compare(ComparePredicate::GE, x, low), below, zero);
  return finish(*this, t, inside, results);
}

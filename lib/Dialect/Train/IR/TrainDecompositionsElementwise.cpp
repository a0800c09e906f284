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
static Value buildNormalCdf(TrainBuilder &t, Value x) {
  Value erf = t.erf(t.mul(x, std::sqrt(0.5)));
  return t.mul(t.add(erf, 1.0), 0.5);
}

static constexpr double kGeluCubic = 0.044715;

/// tanh(√(2/π) · (x + 0.044715 x³)).
static Value buildGeluTanh(TrainBuilder &t, Value x) {
  Value cubic = t.mul(t.mul(t.square(x), x), kGeluCubic);
  return t.tanh(t.mul(t.add(x, cubic), std::sqrt(2.0 / M_PI)));
}

LogicalResult GeluOp::decompose(OpBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  Value factor = getApproximate() == GeluApproximation::None
                     ? buildNormalCdf(t, x)
                     : t.mul(t.add(buildGeluTanh(t, x), 1.0), 0.5);
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

LogicalResult SiluGradOp::decompose(OpBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput()), dy = t.widen(getGrad());
  // With s = sigmoid(x): s · (1 + x · (1 - s)).
  Value s = SigmoidOp::create(builder, getLoc(), x.getType(), x);
  Value slope = t.mul(s, t.add(t.mul(x, t.sub(1.0, s)), 1.0));
  return finish(*this, t, t.mul(dy, slope), results);
}

LogicalResult GeluGradOp::decompose(OpBuilder &builder,
                                    SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput()), dy = t.widen(getGrad());
  Value slope;
  if (getApproximate() == GeluApproximation::None) {
    // Φ(x) + x φ(x).
    Value density =
        t.mul(t.exp(t.mul(t.square(x), -0.5)), 1.0 / std::sqrt(2.0 * M_PI));
    slope = t.add(buildNormalCdf(t, x), t.mul(x, density));
  } else {
    // (1 + t) / 2 + x / 2 · (1 - t²) · √(2/π) · (1 + 3 · 0.044715 x²).
    Value tanh = buildGeluTanh(t, x);
    Value inner = t.mul(t.add(t.mul(t.square(x), 3.0 * kGeluCubic), 1.0),
                        std::sqrt(2.0 / M_PI));
    Value curve = t.mul(t.mul(x, 0.5), t.sub(1.0, t.square(tanh)));
    slope = t.add(t.mul(t.add(tanh, 1.0), 0.5), t.mul(curve, inner));
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

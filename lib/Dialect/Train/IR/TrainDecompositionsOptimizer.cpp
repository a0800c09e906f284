//===- TrainDecompositionsOptimizer.cpp - Definitions of optimizers ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decompositions.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"

#include <cmath>

using namespace mlir;
using namespace mlir::train;

LogicalResult SGDOp::decompose(OpBuilder &builder,
                               SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Value w = getParameter();
  Type element = getElementTypeOrSelf(w);
  Value g = t.castTo(getGrad(), element);
  Value rate = t.castTo(getLearningRate(), element);
  double decay = getWeightDecay().convertToDouble();
  double momentum = getMomentum().convertToDouble();
  if (decay != 0)
    g = t.add(g, t.mul(w, decay));
  Value velocity;
  if (getVelocity()) {
    velocity = t.add(t.mul(getVelocity(), momentum), g);
    g = getNesterov() ? t.add(g, t.mul(velocity, momentum)) : velocity;
  }
  results.push_back(t.sub(w, t.mul(g, rate)));
  if (velocity)
    results.push_back(velocity);
  return success();
}

/// Adam with the decay on the gradient, or on the weight if `decoupled` is set.
template <typename AdamLikeOp>
static LogicalResult decomposeAdam(AdamLikeOp op, bool decoupled,
                                   OpBuilder &builder,
                                   SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, op.getLoc());
  Value w = op.getParameter();
  Type element = getElementTypeOrSelf(w);
  Value g = t.castTo(op.getGrad(), element);
  Value rate = t.castTo(op.getLearningRate(), element);
  Value step = t.castTo(op.getStep(), element);
  double beta1 = op.getBeta1().convertToDouble();
  double beta2 = op.getBeta2().convertToDouble();
  double decay = op.getWeightDecay().convertToDouble();
  if (decay != 0) {
    if (decoupled)
      w = t.mul(w, t.sub(1.0, t.mul(rate, decay)));
    else
      g = t.add(g, t.mul(w, decay));
  }
  Value m = t.add(t.mul(op.getExpAvg(), beta1), t.mul(g, 1.0 - beta1));
  Value v =
      t.add(t.mul(op.getExpAvgSq(), beta2), t.mul(t.square(g), 1.0 - beta2));
  // Computes 1 - βᵗ as -expm1(t · ln β), because the difference cancels in f32.
  auto correction = [&](double beta) -> Value {
    Value exponent = t.mul(step, std::log(beta));
    return t.neg(
        Expm1Op::create(builder, op.getLoc(), exponent.getType(), exponent));
  };
  Value denominator = t.add(t.sqrt(t.div(v, correction(beta2))),
                            op.getEpsilon().convertToDouble());
  Value update = t.div(t.div(m, correction(beta1)), denominator);
  results.append({t.sub(w, t.mul(update, rate)), m, v});
  return success();
}

LogicalResult AdamOp::decompose(OpBuilder &builder,
                                SmallVectorImpl<Value> &results) {
  return decomposeAdam(*this, /*decoupled=*/false, builder, results);
}

LogicalResult AdamWOp::decompose(OpBuilder &builder,
                                 SmallVectorImpl<Value> &results) {
  return decomposeAdam(*this, /*decoupled=*/true, builder, results);
}

/// The results of `op` for `gradients`. `add` gives the sum of the squares of
/// their elements, in f64, from the sums for each of them.
static void clipGradients(ClipByGlobalNormOp op, TrainBuilder &t,
                          ValueRange gradients,
                          function_ref<Value(ArrayRef<Value>)> add,
                          SmallVectorImpl<Value> &results) {
  Type element = getElementTypeOrSelf(op.getNorm());
  // Squares of f32 are exact in f64, so the order of the sum rarely decides a
  // bit of the norm. Ranks that divide gradients add in another order.
  Type sumType = Float64Type::get(op.getContext());
  SmallVector<Value> wide, sums;
  for (Value gradient : gradients) {
    Value g = wide.emplace_back(t.castTo(gradient, element));
    sums.push_back(t.sum(t.square(t.castTo(g, sumType)), t.allDims(g)));
  }
  Value norm = t.sqrt(t.castTo(add(sums), element));
  Value limit = t.scalar(op.getMaxNorm().convertToDouble(), element);
  Value factor =
      t.minimum(t.div(limit, t.add(norm, 1.0e-6)), t.scalar(1.0, element));
  for (auto [g, clipped] : llvm::zip_equal(wide, op.getClipped()))
    results.push_back(
        t.castTo(t.mul(g, factor), getElementTypeOrSelf(clipped)));
  results.push_back(norm);
}

/// The sum of `terms`, scalars of type f64, in order.
static Value addAll(TrainBuilder &t, OpBuilder &builder,
                    ArrayRef<Value> terms) {
  Value total = t.scalar(0.0, builder.getF64Type());
  for (Value term : terms)
    total = t.add(total, term);
  return total;
}

LogicalResult ClipByGlobalNormOp::decompose(OpBuilder &builder,
                                            SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  clipGradients(
      *this, t, getGradients(),
      [&](ArrayRef<Value> sums) { return addAll(t, builder, sums); }, results);
  return success();
}

void mlir::train::clipParts(ClipByGlobalNormOp op, OpBuilder &builder,
                            ValueRange gradients, ArrayRef<bool> isPart,
                            SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, op.getLoc());
  auto add = [&](ArrayRef<Value> sums) {
    // Of whole gradients all ranks have the sum, of parts each has a summand.
    SmallVector<Value> own, whole;
    for (auto [sum, part] : llvm::zip_equal(sums, isPart))
      (part ? own : whole).push_back(sum);
    Value ofParts = addAll(t, builder, own);
    whole.push_back(amp::AllReduceOp::create(builder, op.getLoc(),
                                             amp::RankReductionKind::Sum,
                                             ofParts)
                        .getReduced()[0]);
    return addAll(t, builder, whole);
  };
  clipGradients(op, t, gradients, add, results);
}

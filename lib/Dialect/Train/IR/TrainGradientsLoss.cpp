//===- TrainGradientsLoss.cpp - Gradient rules of losses ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientRules.h"

using namespace mlir;
using namespace mlir::train;

AMP_GRADIENT_RULE(CrossEntropyOp) {
  if (wanted[0])
    operandGradients[0] = CrossEntropyGradOp::create(
        builder, getLoc(), getLogits().getType(), getLogits(), getLabels(),
        resultGradients[0], getLabelSmoothingAttr());
  return success();
}

AMP_DECOMPOSED_RULE(CrossEntropyGradOp)

/// The rule of a loss that depends only on input - target.
template <typename GradOp, typename LossOp>
static void differentiateRegression(LossOp op, OpBuilder &builder, Value dy,
                                    const BitVector &wanted,
                                    MutableArrayRef<Value> operandGradients) {
  TrainBuilder t(builder, op.getLoc());
  Value gradient = GradOp::create(builder, op.getLoc(), op.getInput().getType(),
                                  op.getInput(), op.getTarget(), dy);
  if (wanted[0])
    operandGradients[0] = gradient;
  if (wanted[1])
    operandGradients[1] = t.neg(gradient);
}

AMP_GRADIENT_RULE(MSEOp) {
  differentiateRegression<MSEGradOp>(*this, builder, resultGradients[0], wanted,
                                     operandGradients);
  return success();
}

AMP_GRADIENT_RULE(L1Op) {
  differentiateRegression<L1GradOp>(*this, builder, resultGradients[0], wanted,
                                    operandGradients);
  return success();
}

AMP_GRADIENT_RULE(MSEGradOp) {
  // 2 · (x - target) · g / n, computed in the type of g.
  TrainBuilder t(builder, getLoc());
  Value d = t.widen(resultGradients[0]);
  SmallVector<int64_t> all = TrainBuilder::allDims(d);
  if (wanted[0] || wanted[1]) {
    Value g = t.broadcast(getGrad(), d, all, /*mean=*/true);
    Value gradient =
        t.castTo(t.mul(t.mul(d, g), 2.0), getElementTypeOrSelf(getInput()));
    if (wanted[0])
      operandGradients[0] = gradient;
    if (wanted[1])
      operandGradients[1] = t.neg(gradient);
  }
  if (wanted[2]) {
    Value difference = t.sub(t.widen(getInput()), t.widen(getTarget()));
    operandGradients[2] = t.mul(t.mean(t.mul(d, difference), all), 2.0);
  }
  return success();
}

AMP_GRADIENT_RULE(L1GradOp) {
  // sign(x - target) · g / n is constant in x and target except where they are
  // equal.
  if (!wanted[2])
    return success();
  TrainBuilder t(builder, getLoc());
  Value d = t.widen(resultGradients[0]);
  Value sign = t.sign(t.sub(t.widen(getInput()), t.widen(getTarget())));
  operandGradients[2] = t.mean(t.mul(d, sign), TrainBuilder::allDims(d));
  return success();
}

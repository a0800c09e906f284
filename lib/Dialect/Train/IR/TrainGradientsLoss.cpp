//===- TrainGradientsLoss.cpp - Rules of losses and norms -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientRules.h"

using namespace mlir;
using namespace mlir::train;

/// Rules of operations without a backward operation: second derivatives of
/// composites, and norms with given statistics.
#define AMP_DECOMPOSED_RULE(OP)                                                \
  AMP_GRADIENT_RULE(OP) {                                                      \
    return differentiateDecomposition(*this, builder, resultGradients, wanted, \
                                      operandGradients);                       \
  }

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

AMP_GRADIENT_RULE(SoftmaxOp) {
  operandGradients[0] =
      SoftmaxGradOp::create(builder, getLoc(), getType(), getResult(),
                            resultGradients[0], getAxisAttr());
  return success();
}

AMP_GRADIENT_RULE(LogSoftmaxOp) {
  operandGradients[0] =
      LogSoftmaxGradOp::create(builder, getLoc(), getType(), getResult(),
                               resultGradients[0], getAxisAttr());
  return success();
}

AMP_GRADIENT_RULE(LogsumexpOp) {
  TrainBuilder t(builder, getLoc());
  Value x = t.widen(getInput());
  // Infinities share the gradient like equal numbers, and do not give NaN.
  double largest =
      APFloat::getLargest(
          cast<FloatType>(getElementTypeOrSelf(x)).getFloatSemantics())
          .convertToDouble();
  x = t.maximum(t.minimum(x, t.scalar(largest, x)), t.scalar(-largest, x));
  Value share =
      SoftmaxOp::create(builder, getLoc(), x.getType(), x, getAxisAttr());
  Value dy = t.unsqueeze(t.widen(resultGradients[0]),
                         {static_cast<int64_t>(getAxis())}, typeOf(x));
  operandGradients[0] =
      t.castTo(t.mul(share, dy), getElementTypeOrSelf(getInput()));
  return success();
}

AMP_DECOMPOSED_RULE(SoftmaxGradOp)
AMP_DECOMPOSED_RULE(LogSoftmaxGradOp)

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The rule of a norm. It uses the backward operation if only the first result
/// influences the loss, and the decomposition otherwise.
template <typename GradOp, typename NormOp>
static LogicalResult
differentiateNorm(NormOp op, OpBuilder &builder,
                  ArrayRef<Value> resultGradients, const BitVector &wanted,
                  MutableArrayRef<Value> operandGradients) {
  bool onlyFirst =
      resultGradients[0] &&
      llvm::none_of(resultGradients.drop_front(), [](Value v) { return !!v; });
  if (!onlyFirst)
    return differentiateDecomposition(op, builder, resultGradients, wanted,
                                      operandGradients);
  if (!wanted[0] && !wanted[1] && !wanted[2])
    return success();
  Type parameter = op.getGamma().getType();
  auto gradients =
      GradOp::create(builder, op.getLoc(), op.getInput().getType(), parameter,
                     parameter, resultGradients[0], op.getInput(),
                     op.getGamma(), op.getMean(), op.getRstd());
  for (unsigned i = 0; i < 3; ++i)
    if (wanted[i])
      operandGradients[i] = gradients->getResult(i);
  return success();
}

AMP_GRADIENT_RULE(LayerNormOp) {
  return differentiateNorm<LayerNormGradOp>(*this, builder, resultGradients,
                                            wanted, operandGradients);
}

AMP_GRADIENT_RULE(BatchNormTrainingOp) {
  return differentiateNorm<BatchNormGradOp>(*this, builder, resultGradients,
                                            wanted, operandGradients);
}

AMP_GRADIENT_RULE(RMSNormOp) {
  if (!resultGradients[0] || resultGradients[1])
    return differentiateDecomposition(*this, builder, resultGradients, wanted,
                                      operandGradients);
  auto gradients = RMSNormGradOp::create(
      builder, getLoc(), getInput().getType(), getGamma().getType(),
      resultGradients[0], getInput(), getGamma(), getRstd());
  for (unsigned i = 0; i < 2; ++i)
    if (wanted[i])
      operandGradients[i] = gradients->getResult(i);
  return success();
}

AMP_DECOMPOSED_RULE(RMSNormGradOp)
AMP_DECOMPOSED_RULE(LayerNormGradOp)
AMP_DECOMPOSED_RULE(BatchNormGradOp)
AMP_DECOMPOSED_RULE(BatchNormInferenceOp)

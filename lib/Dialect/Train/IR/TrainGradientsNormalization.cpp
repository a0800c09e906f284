//===- TrainGradientsNormalization.cpp - Gradient rules of norms ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientRules.h"

using namespace mlir;
using namespace mlir::train;

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
  // Clamp infinities, so that they share the gradient like equal numbers and do
  // not produce NaN.
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

/// The gradient rule of a norm. It uses the backward operation if the loss
/// depends only on the first result, and the decomposition otherwise.
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

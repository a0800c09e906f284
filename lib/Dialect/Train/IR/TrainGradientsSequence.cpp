//===- TrainGradientsSequence.cpp - Rules of attention and indexing -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientRules.h"

using namespace mlir;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

AMP_GRADIENT_RULE(GatherOp) {
  if (wanted[0])
    operandGradients[0] =
        ScatterAddOp::create(builder, getLoc(), getInput().getType(),
                             resultGradients[0], getIndices(), getAxisAttr());
  return success();
}

AMP_GRADIENT_RULE(ScatterAddOp) {
  if (!wanted[0])
    return success();
  TrainBuilder t(builder, getLoc());
  Value dy = resultGradients[0];
  Value taken = GatherOp::create(
      builder, getLoc(), typeOf(dy).clone(typeOf(getUpdates()).getShape()), dy,
      getIndices(), getAxisAttr());
  operandGradients[0] = t.castTo(taken, getElementTypeOrSelf(getUpdates()));
  return success();
}

AMP_GRADIENT_RULE(CumsumOp) {
  // Element i is part of the sums from i on.
  operandGradients[0] =
      CumsumOp::create(builder, getLoc(), getResult().getType(),
                       resultGradients[0], getAxis(), !getReverse());
  TrainBuilder t(builder, getLoc());
  operandGradients[0] =
      t.castTo(operandGradients[0], getElementTypeOrSelf(getInput()));
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

AMP_GRADIENT_RULE(RotaryEmbeddingOp) {
  if (wanted[1] || wanted[2])
    return differentiateDecomposition(*this, builder, resultGradients, wanted,
                                      operandGradients);
  // Rotate by the negative angles.
  TrainBuilder t(builder, getLoc());
  if (wanted[0])
    operandGradients[0] = RotaryEmbeddingOp::create(
        builder, getLoc(), getType(), resultGradients[0], getCosines(),
        t.neg(getSines()));
  return success();
}

AMP_GRADIENT_RULE(ScaledDotProductAttentionOp) {
  // Use the backward operation unless the second result influences the loss.
  if (!resultGradients[0] || resultGradients[1])
    return differentiateDecomposition(*this, builder, resultGradients, wanted,
                                      operandGradients);
  TrainBuilder t(builder, getLoc());
  Value q = getQuery(), k = getKey(), v = getValue();
  Value dy = t.castTo(resultGradients[0], getElementTypeOrSelf(q));
  auto gradients = ScaledDotProductAttentionGradOp::create(
      builder, getLoc(), q.getType(), k.getType(), v.getType(), dy, q, k, v,
      getResult(), getLogsumexp(), getExtras(), getScaleAttr(), getCausalAttr(),
      getDropoutRateAttr(), getDropoutKeyAttr());
  for (unsigned i = 0; i < 3; ++i)
    if (wanted[i])
      operandGradients[i] = gradients->getResult(i);
  return success();
}

AMP_GRADIENT_RULE(ScaledDotProductAttentionGradOp) {
  return differentiateDecomposition(*this, builder, resultGradients, wanted,
                                    operandGradients);
}

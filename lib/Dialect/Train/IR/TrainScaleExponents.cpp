//===- TrainScaleExponents.cpp - How a factor passes through train ops ----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of LossScaleOpInterface for each operation of the dialect:
// a table from rules to operations. Few rules cover many operations. They are
// therefore attached models and not methods.
//
//===----------------------------------------------------------------------===//

#include "ScaleExponentModels.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::train;
using amp::ScaleExponent;
using amp::ScaleExponentInference;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Sums, maxima, selections and movements: all operands and results have one
/// factor.
static LogicalResult joint(ScaleExponentInference &inference) {
  return amp::inferJointExponent(inference);
}

/// As `joint`, for operand 0. The others give a shape or a state.
static LogicalResult jointFirst(ScaleExponentInference &inference) {
  return amp::inferJointExponent(inference, {0});
}

static LogicalResult selection(ScaleExponentInference &inference) {
  return amp::inferJointExponent(inference, {1, 2});
}

/// The sign or the order of operands with one factor. The factor is positive.
static LogicalResult ordered(ScaleExponentInference &inference) {
  ScaleExponent exponent;
  SmallVector<unsigned> operands = llvm::to_vector(
      llvm::seq<unsigned>(inference.getOperation()->getNumOperands()));
  return inference.join(operands, exponent);
}

static LogicalResult product(ScaleExponentInference &inference) {
  return amp::inferProductExponent(inference);
}

static LogicalResult quotient(ScaleExponentInference &inference) {
  inference.setResults(inference.getOperand(0) +
                       inference.getOperand(1).power(-1));
  return success();
}

template <int64_t numerator, int64_t denominator>
static LogicalResult power(ScaleExponentInference &inference) {
  return amp::inferPowerExponent(inference, numerator, denominator);
}

/// A power whose exponent is a constant.
static LogicalResult variablePower(ScaleExponentInference &inference) {
  const ScaleExponent &base = inference.getOperand(0);
  DenseFPElementsAttr exponent;
  if (!base.isUnscaled() &&
      matchPattern(inference.getOperation()->getOperand(1),
                   m_Constant(&exponent)) &&
      exponent.isSplat()) {
    // Multiples of a quarter are exact. Other exponents of gradients do not
    // occur.
    double value = exponent.getSplatValue<APFloat>().convertToDouble();
    if (std::abs(value) <= 64 && value * 4 == std::floor(value * 4)) {
      inference.setResults(base.power(static_cast<int64_t>(value * 4), 4));
      return success();
    }
  }
  return amp::inferUnscaled(inference);
}

template <unsigned operand>
static LogicalResult linear(ScaleExponentInference &inference) {
  return amp::inferLinearExponent(inference, operand);
}

/// Selects elements of operand `grad` by the sign of the other operands.
template <unsigned grad>
static LogicalResult gated(ScaleExponentInference &inference) {
  inference.setResults(inference.getOperand(grad));
  return success();
}

static LogicalResult nonlinear(ScaleExponentInference &inference) {
  return amp::inferUnscaled(inference);
}

/// Bounds of 0 and infinity commute with a factor.
static LogicalResult clip(ScaleExponentInference &inference) {
  auto op = cast<ClipOp>(inference.getOperation());
  auto scales = [](const APFloat &bound) {
    return bound.isZero() || bound.isInfinity();
  };
  if (scales(op.getMin()) && scales(op.getMax()))
    return amp::inferJointExponent(inference);
  if (failed(inference.requireUnscaled(0, "the bounds are constants")))
    return failure();
  return success();
}

static LogicalResult clipGrad(ScaleExponentInference &inference) {
  return amp::inferLinearExponent(inference, 1);
}

static LogicalResult pad(ScaleExponentInference &inference) {
  auto op = cast<PadOp>(inference.getOperation());
  if (op.getValue().isZero() || op.getValue().isInfinity())
    return amp::inferJointExponent(inference);
  return inference.requireUnscaled(0, "it is padded with a constant");
}

/// (x - target)² has twice the exponent.
static LogicalResult meanSquare(ScaleExponentInference &inference) {
  ScaleExponent exponent;
  if (failed(inference.join({0, 1}, exponent)))
    return failure();
  inference.setResults(exponent.power(2));
  return success();
}

static LogicalResult meanSquareGrad(ScaleExponentInference &inference) {
  ScaleExponent exponent;
  if (failed(inference.join({0, 1}, exponent)))
    return failure();
  inference.setResults(exponent + inference.getOperand(2));
  return success();
}

static LogicalResult absoluteGrad(ScaleExponentInference &inference) {
  ScaleExponent exponent;
  if (failed(inference.join({0, 1}, exponent)))
    return failure();
  inference.setResults(inference.getOperand(2));
  return success();
}

/// Reads unscaled gradients, parameters and states.
static LogicalResult optimizer(ScaleExponentInference &inference) {
  for (unsigned i = 0, e = inference.getOperation()->getNumOperands(); i != e;
       ++i)
    if (failed(inference.requireUnscaled(
            i, i == 1 ? "an optimizer steps on true gradients"
                      : "it is part of the state that an optimizer updates")))
      return failure();
  return success();
}

/// w - lr · g: a factor of the gradient that the learning rate divides by.
/// Momentum and decay add terms without a factor to the gradient.
static LogicalResult sgd(ScaleExponentInference &inference) {
  auto op = cast<SGDOp>(inference.getOperation());
  const ScaleExponent &rate = inference.getOperand(2);
  if (rate.isUnscaled() || op.getVelocity() || !op.getWeightDecay().isZero() ||
      !inference.getOperand(0).isUnscaled() ||
      !(inference.getOperand(1) + rate).isUnscaled())
    return optimizer(inference);
  return success();
}

static LogicalResult clipByNorm(ScaleExponentInference &inference) {
  for (unsigned i = 0, e = inference.getOperation()->getNumOperands(); i != e;
       ++i)
    if (failed(inference.requireUnscaled(
            i, "gradients are unscaled before they are clipped against a "
               "constant norm")))
      return failure();
  return success();
}

static LogicalResult constant(ScaleExponentInference &inference) {
  auto op = cast<ConstantOp>(inference.getOperation());
  if (matchPattern(op->getResult(0), m_AnyZeroFloat()))
    inference.setResults(ScaleExponent::any());
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
using Rule = LogicalResult (*)(ScaleExponentInference &);

template <typename OpTy, Rule rule>
struct Model
    : amp::LossScaleOpInterface::ExternalModel<Model<OpTy, rule>, OpTy> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    return rule(inference);
  }
};
} // namespace

template <Rule rule, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops, rule>>(*context), ...);
}

void mlir::train::attachScaleExponentModels(MLIRContext *context) {
  attach<joint, NegOp, AbsOp, ReluOp, AddOp, SubOp, MaximumOp, MinimumOp,
         ConcatOp, ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReshapeOp,
         TransposeOp, SliceOp, CumsumOp, MaxPool2DOp, AvgPool2DOp,
         AvgPool2DGradOp, L1Op>(context);
  attach<jointFirst, BroadcastOp, DropoutOp, GatherOp, ScatterAddOp>(context);
  attach<selection, SelectOp>(context);
  attach<ordered, SignOp, CompareOp, ArgmaxOp>(context);
  attach<product, MulOp, MatmulOp, LinearOp, Conv2DOp, Conv2DInputGradOp,
         Conv2DFilterGradOp>(context);
  attach<quotient, DivOp>(context);
  attach<power<2, 1>, SquareOp>(context);
  attach<power<1, 2>, SqrtOp>(context);
  attach<power<-1, 2>, RsqrtOp>(context);
  attach<power<-1, 1>, ReciprocalOp>(context);
  attach<variablePower, PowOp>(context);
  attach<linear<0>, LayerNormGradOp, RMSNormGradOp, BatchNormGradOp,
         RotaryEmbeddingOp, ScaledDotProductAttentionGradOp>(context);
  attach<linear<1>, TanhGradOp, SigmoidGradOp, SiluGradOp, GeluGradOp,
         SoftmaxGradOp, LogSoftmaxGradOp>(context);
  attach<linear<2>, CrossEntropyGradOp>(context);
  attach<gated<1>, ReluGradOp>(context);
  attach<gated<2>, MaxPool2DGradOp>(context);
  attach<nonlinear, SinOp, CosOp, ErfOp, LogOp, Log1pOp, TanhOp, SigmoidOp,
         ExpOp, Expm1Op, SiluOp, GeluOp, LogsumexpOp, RMSNormOp,
         ScaledDotProductAttentionOp, SoftmaxOp, LogSoftmaxOp, LayerNormOp,
         BatchNormTrainingOp, BatchNormInferenceOp, CrossEntropyOp, OneHotOp,
         DocumentMaskOp, AdvanceRngOp, GradientsOp>(context);
  attach<clip, ClipOp>(context);
  attach<clipGrad, ClipGradOp>(context);
  attach<pad, PadOp>(context);
  attach<meanSquare, MSEOp>(context);
  attach<meanSquareGrad, MSEGradOp>(context);
  attach<absoluteGrad, L1GradOp>(context);
  attach<sgd, SGDOp>(context);
  attach<optimizer, AdamOp, AdamWOp>(context);
  attach<clipByNorm, ClipByGlobalNormOp>(context);
  attach<constant, ConstantOp>(context);
}

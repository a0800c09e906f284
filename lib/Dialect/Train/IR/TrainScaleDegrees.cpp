//===- TrainScaleDegrees.cpp - How a factor passes through train ops ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of LossScaleOpInterface for each operation of the dialect:
// a table from rules to operations. The rules are models that are attached
// rather than methods, because there are few rules and many operations.
//
//===----------------------------------------------------------------------===//

#include "ScaleDegreeModels.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::train;
using amp::ScaleDegree;
using amp::ScaleDegreeInference;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Sums, maxima, selections and movements: one factor throughout.
static LogicalResult joint(ScaleDegreeInference &inference) {
  return amp::inferJointDegree(inference);
}

/// As `joint`, of operand 0; the others give a shape or a state.
static LogicalResult jointFirst(ScaleDegreeInference &inference) {
  return amp::inferJointDegree(inference, {0});
}

static LogicalResult selection(ScaleDegreeInference &inference) {
  return amp::inferJointDegree(inference, {1, 2});
}

/// A sign or an order of operands with one factor, which is positive.
static LogicalResult ordered(ScaleDegreeInference &inference) {
  ScaleDegree degree;
  SmallVector<unsigned> operands = llvm::to_vector(
      llvm::seq<unsigned>(inference.getOperation()->getNumOperands()));
  return inference.join(operands, degree);
}

static LogicalResult product(ScaleDegreeInference &inference) {
  return amp::inferProductDegree(inference);
}

static LogicalResult quotient(ScaleDegreeInference &inference) {
  inference.setResults(inference.getOperand(0) +
                       inference.getOperand(1).power(-1));
  return success();
}

template <int64_t numerator, int64_t denominator>
static LogicalResult power(ScaleDegreeInference &inference) {
  return amp::inferPowerDegree(inference, numerator, denominator);
}

/// A power whose exponent is a constant.
static LogicalResult variablePower(ScaleDegreeInference &inference) {
  const ScaleDegree &base = inference.getOperand(0);
  DenseFPElementsAttr exponent;
  if (!base.isUnscaled() &&
      matchPattern(inference.getOperation()->getOperand(1),
                   m_Constant(&exponent)) &&
      exponent.isSplat()) {
    // Halves and quarters are exact; other exponents nobody writes of a
    // gradient.
    double value = exponent.getSplatValue<APFloat>().convertToDouble();
    if (std::abs(value) <= 64 && value * 4 == std::floor(value * 4)) {
      inference.setResults(base.power(static_cast<int64_t>(value * 4), 4));
      return success();
    }
  }
  return amp::inferUnscaled(inference);
}

template <unsigned operand>
static LogicalResult linear(ScaleDegreeInference &inference) {
  return amp::inferLinearDegree(inference, operand);
}

/// The gradient of operand `grad` where the sign of the others lets it pass.
template <unsigned grad>
static LogicalResult gated(ScaleDegreeInference &inference) {
  inference.setResults(inference.getOperand(grad));
  return success();
}

static LogicalResult nonlinear(ScaleDegreeInference &inference) {
  return amp::inferUnscaled(inference);
}

/// Bounds of 0 and infinity are the same of a multiple.
static LogicalResult clip(ScaleDegreeInference &inference) {
  auto op = cast<ClipOp>(inference.getOperation());
  auto scales = [](const APFloat &bound) {
    return bound.isZero() || bound.isInfinity();
  };
  if (scales(op.getMin()) && scales(op.getMax()))
    return amp::inferJointDegree(inference);
  if (failed(inference.requireUnscaled(0, "the bounds are constants")))
    return failure();
  return success();
}

static LogicalResult clipGrad(ScaleDegreeInference &inference) {
  return amp::inferLinearDegree(inference, 1);
}

static LogicalResult pad(ScaleDegreeInference &inference) {
  auto op = cast<PadOp>(inference.getOperation());
  if (op.getValue().isZero() || op.getValue().isInfinity())
    return amp::inferJointDegree(inference);
  return inference.requireUnscaled(0, "it is padded with a constant");
}

/// (x - target)²: twice the degree.
static LogicalResult meanSquare(ScaleDegreeInference &inference) {
  ScaleDegree degree;
  if (failed(inference.join({0, 1}, degree)))
    return failure();
  inference.setResults(degree.power(2));
  return success();
}

static LogicalResult meanSquareGrad(ScaleDegreeInference &inference) {
  ScaleDegree degree;
  if (failed(inference.join({0, 1}, degree)))
    return failure();
  inference.setResults(degree + inference.getOperand(2));
  return success();
}

static LogicalResult absoluteGrad(ScaleDegreeInference &inference) {
  ScaleDegree degree;
  if (failed(inference.join({0, 1}, degree)))
    return failure();
  inference.setResults(inference.getOperand(2));
  return success();
}

/// Reads gradients, parameters and states as they are.
static LogicalResult optimizer(ScaleDegreeInference &inference) {
  for (unsigned i = 0, e = inference.getOperation()->getNumOperands(); i != e;
       ++i)
    if (failed(inference.requireUnscaled(
            i, i == 1 ? "an optimizer steps on true gradients"
                      : "it is part of the state that an optimizer updates")))
      return failure();
  return success();
}

static LogicalResult clipByNorm(ScaleDegreeInference &inference) {
  for (unsigned i = 0, e = inference.getOperation()->getNumOperands(); i != e;
       ++i)
    if (failed(inference.requireUnscaled(
            i, "gradients are unscaled before they are clipped against a "
               "constant norm")))
      return failure();
  return success();
}

static LogicalResult constant(ScaleDegreeInference &inference) {
  auto op = cast<ConstantOp>(inference.getOperation());
  if (matchPattern(op->getResult(0), m_AnyZeroFloat()))
    inference.setResults(ScaleDegree::any());
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
using Rule = LogicalResult (*)(ScaleDegreeInference &);

template <typename OpTy, Rule rule>
struct Model
    : amp::LossScaleOpInterface::ExternalModel<Model<OpTy, rule>, OpTy> {
  LogicalResult inferScaleDegrees(Operation *op,
                                  ScaleDegreeInference &inference) const {
    return rule(inference);
  }
};
} // namespace

template <Rule rule, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops, rule>>(*context), ...);
}

void mlir::train::attachScaleDegreeModels(MLIRContext *context) {
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
         AdvanceRngOp, GradientsOp>(context);
  attach<clip, ClipOp>(context);
  attach<clipGrad, ClipGradOp>(context);
  attach<pad, PadOp>(context);
  attach<meanSquare, MSEOp>(context);
  attach<meanSquareGrad, MSEGradOp>(context);
  attach<absoluteGrad, L1GradOp>(context);
  attach<optimizer, SGDOp, AdamOp, AdamWOp>(context);
  attach<clipByNorm, ClipByGlobalNormOp>(context);
  attach<constant, ConstantOp>(context);
}

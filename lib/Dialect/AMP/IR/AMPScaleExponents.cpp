//===- AMPScaleExponents.cpp - Where the loss scale comes in and goes -----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleExponentModels.h"

#include "amp/Dialect/AMP/IR/AMPCallOps.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Interfaces/LossScaleOpInterface.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

template <typename OpTy>
struct JointModel
    : LossScaleOpInterface::ExternalModel<JointModel<OpTy>, OpTy> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &inference) const {
    return inferJointExponent(inference);
  }
};

/// Squares have twice the exponent of the gradients.
struct SquareSumModel
    : LossScaleOpInterface::ExternalModel<SquareSumModel, SquareSumOp> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    auto all = llvm::to_vector(llvm::seq(0u, op->getNumOperands()));
    ScaleExponent exponent;
    if (failed(inference.join(all, exponent)))
      return failure();
    inference.setResults(exponent.power(2));
    return success();
  }
};

/// The results do not depend on the scale: a seed has none yet, and statistics
/// only describe a value.
template <typename OpTy>
struct UnscaledModel
    : LossScaleOpInterface::ExternalModel<UnscaledModel<OpTy>, OpTy> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &) const {
    return success();
  }
};

/// Each result combines the values that ranks have for one operand.
struct AllReduceModel
    : LossScaleOpInterface::ExternalModel<AllReduceModel, AllReduceOp> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    for (unsigned i = 0, e = op->getNumResults(); i != e; ++i)
      inference.setResult(i, inference.getOperand(i));
    return success();
  }
};

/// A derivative is linear in the gradients of the results. The effect of the
/// operation itself on a scale is unknown.
struct CallModel : LossScaleOpInterface::ExternalModel<CallModel, CallOp> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    auto call = cast<CallOp>(op);
    if (!call.isGradient())
      return inferUnscaled(inference);
    const unsigned numSeeds = call.getSeeds()->size();
    const unsigned numOwn = call.getInputs().size() - numSeeds;
    for (unsigned i = 0; i != numOwn; ++i)
      if (failed(inference.requireUnscaled(
              i, "the operation may depend on it in any way")))
        return failure();
    auto seeds = llvm::to_vector(llvm::seq(numOwn, numOwn + numSeeds));
    ScaleExponent exponent;
    if (failed(inference.join(seeds, exponent)))
      return failure();
    inference.setResults(exponent);
    return success();
  }
};

struct ScaleModel : LossScaleOpInterface::ExternalModel<ScaleModel, ScaleOp> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &inference) const {
    inference.setResults(inference.getOperand(0) + inference.getScale(1));
    return success();
  }
  int getLossScaleOperand(Operation *) const { return 1; }
};

struct InnerGradientModel
    : LossScaleOpInterface::ExternalModel<InnerGradientModel, InnerGradientOp> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    int scale = getLossScaleOperand(op);
    inference.setResults(scale < 0 ? inference.getOperand(0)
                                   : inference.getOperand(0) +
                                         inference.getScale(scale).power(-1));
    return success();
  }
  int getLossScaleOperand(Operation *op) const {
    return op->getNumOperands() == 2 ? 1 : -1;
  }
};

/// Whether `exponent` is the power n of `scale`, with an integer n above 1.
static bool isHigherPower(const ScaleExponent &exponent,
                          const ScaleExponent &scale) {
  if (exponent.isAny() || exponent.getTerms().size() != 1)
    return false;
  const ScaleExponent::Term &term = exponent.getTerms().front();
  return term.denominator == 1 && term.numerator > 1 &&
         exponent == scale.power(term.numerator);
}

struct UnscaleModel
    : LossScaleOpInterface::ExternalModel<UnscaleModel, UnscaleOp> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    auto unscale = cast<UnscaleOp>(op);
    ScaleExponent scale = inference.getScale(getLossScaleOperand(op));
    for (unsigned i = 0, e = unscale.getGradients().size(); i != e; ++i) {
      const ScaleExponent &exponent = inference.getOperand(i);
      // A higher power of the scale, as in a squared norm, is divided several
      // times.
      if (isHigherPower(exponent, scale)) {
        inference.setResult(i, exponent + scale.power(-1));
        continue;
      }
      if (!exponent.join(scale))
        return inference.fail(i, "gradient " + Twine(i) + " is multiplied by " +
                                     inference.describe(exponent) +
                                     ", expected " + inference.describe(scale));
    }
    return success();
  }
  int getLossScaleOperand(Operation *op) const {
    return op->getNumOperands() - 1;
  }
  int getFiniteFlagResult(Operation *op) const {
    return op->getNumResults() - 1;
  }
};

struct UpdateScaleModel
    : LossScaleOpInterface::ExternalModel<UpdateScaleModel, UpdateScaleOp> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &) const {
    return success();
  }
  int getLossScaleOperand(Operation *) const { return 0; }
  int getLossScaleResult(Operation *) const { return 0; }
  int getFiniteFlagOperand(Operation *) const { return 3; }
  int getNewStateResult(Operation *, unsigned operand) const {
    return operand < 3 ? static_cast<int>(operand) : -1;
  }
};

struct RescaleModel
    : LossScaleOpInterface::ExternalModel<RescaleModel, RescaleOp> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &inference) const {
    const ScaleExponent &exponent = inference.getOperand(0);
    ScaleExponent from = inference.getScale(1);
    if (!exponent.join(from))
      return inference.fail(0, "the gradient is multiplied by " +
                                   inference.describe(exponent) +
                                   ", expected " + inference.describe(from));
    inference.setResults(exponent.isAny() ? exponent : inference.getScale(2));
    return success();
  }
  int getLossScaleOperand(Operation *) const { return 1; }
};

struct AdaptScaleModel
    : LossScaleOpInterface::ExternalModel<AdaptScaleModel, AdaptScaleOp> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &inference) const {
    const ScaleExponent &exponent = inference.getOperand(1);
    ScaleExponent scale = inference.getScale(0);
    if (!exponent.join(scale))
      return inference.fail(1, "the magnitude is multiplied by " +
                                   inference.describe(exponent) +
                                   ", expected " + inference.describe(scale));
    return success();
  }
  int getLossScaleOperand(Operation *) const { return 0; }
  int getLossScaleResult(Operation *) const { return 0; }
  int getFiniteFlagOperand(Operation *) const { return 2; }
  int getNewStateResult(Operation *, unsigned operand) const {
    return operand == 0 ? 0 : -1;
  }
};

/// Rounds a weight, or computes its rounding error.
template <typename OpTy>
struct WeightModel
    : LossScaleOpInterface::ExternalModel<WeightModel<OpTy>, OpTy> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      if (failed(inference.requireUnscaled(i, "it becomes a parameter")))
        return failure();
    return success();
  }
};

} // namespace

void mlir::amp::attachScaleExponentModels(MLIRContext *context) {
  CallOp::attachInterface<CallModel>(*context);
  AllGatherOp::attachInterface<JointModel<AllGatherOp>>(*context);
  AllReduceOp::attachInterface<AllReduceModel>(*context);
  DivideByRanksOp::attachInterface<JointModel<DivideByRanksOp>>(*context);
  RankPartOp::attachInterface<JointModel<RankPartOp>>(*context);
  ReduceScatterOp::attachInterface<JointModel<ReduceScatterOp>>(*context);
  CastOp::attachInterface<JointModel<CastOp>>(*context);
  GradientSeedOp::attachInterface<UnscaledModel<GradientSeedOp>>(*context);
  StatisticsOp::attachInterface<UnscaledModel<StatisticsOp>>(*context);
  ScaleOp::attachInterface<ScaleModel>(*context);
  InnerGradientOp::attachInterface<InnerGradientModel>(*context);
  UnscaleOp::attachInterface<UnscaleModel>(*context);
  UpdateScaleOp::attachInterface<UpdateScaleModel>(*context);
  GlobalNormOp::attachInterface<JointModel<GlobalNormOp>>(*context);
  SquareSumOp::attachInterface<SquareSumModel>(*context);
  MaxMagnitudeOp::attachInterface<JointModel<MaxMagnitudeOp>>(*context);
  RescaleOp::attachInterface<RescaleModel>(*context);
  AdaptScaleOp::attachInterface<AdaptScaleModel>(*context);
  MasterCopyOp::attachInterface<WeightModel<MasterCopyOp>>(*context);
  ResidualOp::attachInterface<WeightModel<ResidualOp>>(*context);
  CompensateOp::attachInterface<WeightModel<CompensateOp>>(*context);
  UpperHalfOp::attachInterface<JointModel<UpperHalfOp>>(*context);
}

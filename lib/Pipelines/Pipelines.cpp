//===- Pipelines.cpp - The assembled pipelines ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Pipelines/Pipelines.h"

#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Precision/Policy.h"
#include "amp/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns whether `precision` stands for fp16, the one low type whose range
/// loses small gradients.
static bool isFP16(StringRef precision) {
  return precision == "fp16" || precision == "f16" || precision == "half";
}

/// Sets `option` to what the policy says, if it says anything.
template <typename OptionT, typename SettingT>
static void setFrom(OptionT &option, const std::optional<SettingT> &setting) {
  if (setting)
    option = *setting;
}

void mlir::amp::buildAMPTrainingPipeline(OpPassManager &pm,
                                         const AMPPipelineOptions &options,
                                         OperationClassifier classifier,
                                         ReportHandler onReport) {
  bool training = options.mode == PipelineMode::Training;
  // What is not given as an option is up to the policy. If that is wrong,
  // auto-mixed-precision says so.
  PolicySettings settings = Policy::readSettings(options.policy);
  auto choose = [](StringRef option, StringRef setting, StringRef otherwise) {
    return (!option.empty()    ? option
            : !setting.empty() ? setting
                               : otherwise)
        .str();
  };
  std::string precision = choose(options.precision, settings.precision, "fp16");
  std::string masters =
      choose(options.masterWeights, settings.masterWeights, "cast");
  AutoMixedPrecisionPassOptions mixedPrecision;
  mixedPrecision.precision = precision;
  mixedPrecision.policy = options.policy;
  mixedPrecision.strategy = options.strategy;
  mixedPrecision.sinkRule = options.sinkRule;
  mixedPrecision.target = options.target;
  if (training)
    mixedPrecision.masterWeights = masters;
  mixedPrecision.reports.assign(options.reports.begin(), options.reports.end());

  // Autocast sees the forward pass alone, as in torch: the backward pass then
  // runs in the types that the forward pass saved.
  bool isAutocast = options.strategy.empty()
                        ? settings.strategy == Strategy::Autocast
                        : options.strategy == "autocast";
  bool beforeAutodiff = training && isAutocast;
  // A step from a framework has its gradients marked by position.
  if (training)
    pm.addPass(createImportStepPass());
  if (beforeAutodiff)
    pm.addPass(
        createAutoMixedPrecisionPass(mixedPrecision, classifier, onReport));
  if (training)
    pm.addPass(train::createTrainAutodiff());
  else
    pm.addPass(train::createTrainToInference());
  if (!beforeAutodiff)
    pm.addPass(
        createAutoMixedPrecisionPass(mixedPrecision, classifier, onReport));

  if (training && options.narrowSavedActivations)
    pm.addPass(createNarrowSavedActivationsPass());

  // Masters come before scaling, so that the copies are written under the same
  // overflow guard.
  InsertMasterWeightsPassOptions masterWeights;
  masterWeights.mode = training ? masters : "inference";
  if (training) {
    masterWeights.updateRounding = options.updateRounding;
    masterWeights.moments = options.moments;
  }
  pm.addPass(createInsertMasterWeightsPass(masterWeights));
  if (options.padForTensorCores) {
    train::TrainPadForTensorCoresOptions padding;
    if (!options.target.empty())
      padding.target = options.target;
    pm.addPass(train::createTrainPadForTensorCores(padding));
  }

  if (training) {
    InsertLossScalingPassOptions lossScaling;
    const LossScalingSettings &scaling = settings.lossScaling;
    lossScaling.mode = choose(options.lossScaling, scaling.mode,
                              isFP16(precision) ? "dynamic" : "none");
    // A scaler that is given as an option replaces the policy's altogether, and
    // so do the scales of layers, which have another machine.
    // A constant scale has none.
    bool isOtherMachine =
        lossScaling.mode != "dynamic" && lossScaling.mode != scaling.mode;
    if (!options.scaler.empty()) {
      lossScaling.scaler = options.scaler;
    } else if (!isOtherMachine) {
      if (!scaling.scaler.empty())
        lossScaling.scaler = scaling.scaler;
      setFrom(lossScaling.initScale, scaling.initScale);
      setFrom(lossScaling.growthFactor, scaling.growthFactor);
      setFrom(lossScaling.backoffFactor, scaling.backoffFactor);
      setFrom(lossScaling.growthInterval, scaling.growthInterval);
      setFrom(lossScaling.minScale, scaling.minScale);
      setFrom(lossScaling.maxScale, scaling.maxScale);
      setFrom(lossScaling.hysteresis, scaling.hysteresis);
      lossScaling.hysteresisRefill = scaling.hysteresisRefill;
      lossScaling.afterBackoff = scaling.afterBackoff;
      lossScaling.growthGuard = scaling.growthGuard;
      lossScaling.intervalRule = scaling.intervalRule;
      lossScaling.check = scaling.check;
    }
    lossScaling.perLoss = options.scalePerLoss;
    lossScaling.guardModelState = options.guardModelState;
    lossScaling.gradientNorm = options.gradientNorm;
    lossScaling.countSkipped = options.countSkipped;
    pm.addPass(createInsertLossScalingPass(lossScaling));
  }
  pm.addPass(createOptimizeCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (training && options.checkLossScaling) {
    CheckLossScalingPassOptions check;
    check.linear.assign(settings.linear.begin(), settings.linear.end());
    pm.addPass(createCheckLossScalingPass(check));
  }
  // Last: common subexpression elimination would undo it.
  if (training && (options.rematerialize || !options.recomputeBlocks.empty())) {
    train::TrainRematerializeOptions again;
    if (!options.rematerialize)
      again.chain = 0;
    again.blocks.assign(options.recomputeBlocks.begin(),
                        options.recomputeBlocks.end());
    pm.addPass(train::createTrainRematerialize(again));
  }
}

void mlir::amp::registerPipelines() {
  PassPipelineRegistration<AMPPipelineOptions>(
      "amp-training-pipeline",
      "Differentiate a training step and rewrite it to mixed precision",
      [](OpPassManager &pm, const AMPPipelineOptions &options) {
        buildAMPTrainingPipeline(pm, options);
      });
}

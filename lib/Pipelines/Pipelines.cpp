//===- Pipelines.cpp - The assembled pipelines ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Pipelines/Pipelines.h"

#include "amp/Dialect/Train/Transforms/Passes.h"
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

void mlir::amp::buildAMPTrainingPipeline(OpPassManager &pm,
                                         const AMPPipelineOptions &options) {
  bool training = options.mode == PipelineMode::Training;
  if (training)
    pm.addPass(train::createTrainAutodiff());
  else
    pm.addPass(train::createTrainToInference());

  AutoMixedPrecisionPassOptions mixedPrecision;
  mixedPrecision.precision = options.precision;
  mixedPrecision.policy = options.policy;
  mixedPrecision.strategy = options.strategy;
  mixedPrecision.target = options.target;
  if (training && options.masterWeights == "copy")
    mixedPrecision.masterWeights = "copy";
  mixedPrecision.reports.assign(options.reports.begin(), options.reports.end());
  pm.addPass(createAutoMixedPrecisionPass(mixedPrecision));

  // Masters come before scaling, so that the copies are written under the same
  // overflow guard.
  InsertMasterWeightsPassOptions masterWeights;
  masterWeights.mode =
      training ? options.masterWeights.getValue() : "inference";
  pm.addPass(createInsertMasterWeightsPass(masterWeights));

  if (training) {
    InsertLossScalingPassOptions lossScaling;
    lossScaling.mode = options.lossScaling;
    if (lossScaling.mode.empty())
      lossScaling.mode = isFP16(options.precision) ? "dynamic" : "none";
    pm.addPass(createInsertLossScalingPass(lossScaling));
  }
  pm.addPass(createOptimizeCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::amp::registerPipelines() {
  PassPipelineRegistration<AMPPipelineOptions>(
      "amp-training-pipeline",
      "Differentiate a training step and rewrite it to mixed precision",
      buildAMPTrainingPipeline);
}

//===- CUDAPipeline.cpp - From a training step to a program ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Pipelines/CUDAPipeline.h"

#include "amp/Conversion/Passes.h"
#include "amp/Dialect/CUDA/Transforms/Passes.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Replication/Passes.h"
#include "amp/Support/OptionText.h"
#include "amp/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::amp;

std::string mlir::amp::findTrainingFault(StringRef training,
                                         StringRef precision, StringRef policy,
                                         StringRef lossScaling) {
  if (training.empty())
    return "";
  if (precision.empty())
    return "further options of the training pipeline need a precision: without "
           "it the step is taken as it is";
  AMPPipelineOptions options;
  if (!policy.empty())
    options.policy = policy.str();
  if (std::string wrong = parsePipeline(training, options); !wrong.empty())
    return wrong;
  if (options.mode != PipelineMode::Training)
    return "a program has a training step, expected mode=training";
  options.precision = precision == "tf32" ? "f32" : precision.str();
  if (!lossScaling.empty())
    options.lossScaling = lossScaling.str();
  return findIdleOption(options);
}

void mlir::amp::buildCUDAPipeline(OpPassManager &pm,
                                  const CUDAPipelineOptions &options) {
  AnnotateStepOptions annotation;
  annotation.precision = options.precision;
  pm.addPass(createAnnotateStep(annotation));
  if (options.batchSize > 0) {
    train::TrainSetBatchOptions batch;
    batch.batchSize = options.batchSize;
    pm.addPass(train::createTrainSetBatch(batch));
  }
  bool tf32 = options.precision == "tf32";
  AMPPipelineOptions training;
  training.policy = options.policy;
  (void)training.parseFromString(options.training, llvm::nulls());
  if (!options.precisionReports)
    training.reports = ArrayRef<std::string>();
  if (options.precision.empty()) {
    pm.addPass(train::createTrainAutodiff());
  } else {
    training.precision =
        tf32 ? std::string("f32") : options.precision.getValue();
    if (!options.lossScaling.empty())
      training.lossScaling = options.lossScaling;
    if (!options.masterWeights.empty())
      training.masterWeights = options.masterWeights;
    buildAMPTrainingPipeline(pm, training);
  }
  if (options.ranks > 1) {
    // All ranks divide the state.
    if (options.shardOptimizer || training.shardOptimizer != 0)
      training.shardOptimizer = options.ranks;
    if (!training.shardMinElements.hasValue())
      training.shardMinElements = options.shardMinElements;
    buildDataParallelPipeline(pm, training);
  }
  if (options.ranks != 0) {
    // The program asks for the number of the rank when it runs.
    SetRanksPassOptions ranks;
    ranks.ranks = options.ranks;
    pm.addPass(createSetRanksPass(ranks));
  }
  pm.addPass(createAnnotateScaler());
  if (!options.inference.empty()) {
    train::TrainToInferenceOptions inference;
    inference.entry = options.inference;
    inference.keepStep = true;
    pm.addPass(train::createTrainToInference(inference));
  }
  pm.addPass(createCheckSymbolTables());
  pm.addPass(createInlinerPass());
  pm.addPass(createSymbolDCEPass());
  ConvertTrainToCUDAOptions convert;
  convert.tf32 = tf32;
  convert.epilogues = options.epilogues;
  convert.strictRounding = options.strictRounding;
  convert.attention = options.attention;
  convert.convolutions = options.convolutions;
  convert.deterministic = options.deterministic;
  convert.logitBytes = options.logitBytes;
  convert.attentionBytes = options.attentionBytes;
  convert.libraryDropout = options.libraryDropout;
  convert.documents = options.documents;
  convert.recomputeRate = options.recomputeRate;
  convert.ranks = options.ranks;
  pm.addNestedPass<func::FuncOp>(createConvertTrainToCUDA(convert));
  if (!options.watch.empty()) {
    CudaWatchOptions watch;
    watch.match = options.watch;
    pm.addNestedPass<func::FuncOp>(createCudaWatch(watch));
  }
  PlanMemoryOptions plan;
  plan.report = options.report;
  plan.ranks = options.ranks > 1 ? int64_t(options.ranks) : 0;
  pm.addPass(createPlanMemory(plan));
}

void mlir::amp::registerCUDAPipeline() {
  registerPipeline<CUDAPipelineOptions>(
      "amp-cuda-pipeline",
      "Turn a training step into a program of launches for a GPU",
      buildCUDAPipeline, /*lists=*/{}, [](const CUDAPipelineOptions &options) {
        return findTrainingFault(options.training, options.precision,
                                 options.policy, options.lossScaling);
      });
}

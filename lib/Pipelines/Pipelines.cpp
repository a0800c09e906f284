//===- Pipelines.cpp - The assembled pipelines ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Pipelines/Pipelines.h"

#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Precision/Policy/Policy.h"
#include "amp/Precision/Policy/ScalingRecipe.h"
#include "amp/Replication/Passes.h"
#include "amp/Support/OptionText.h"
#include "amp/Support/PrecisionName.h"
#include "amp/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// Returns whether `precision` is fp16, the only low type whose range loses
/// small gradients.
static bool isFP16(StringRef precision) {
  return canonicalizePrecision(precision) == "fp16";
}

static bool isF32(StringRef precision) {
  return canonicalizePrecision(precision) == "f32";
}

/// Returns the first of `option` and `setting` that says something, or
/// `otherwise`.
static std::string choose(StringRef option, StringRef setting,
                          StringRef otherwise) {
  return (!option.empty()    ? option
          : !setting.empty() ? setting
                             : otherwise)
      .str();
}

/// Returns the loss scale of `mode` if it is a constant, else 0: a dynamic
/// scale finds its own place.
static double getKnownScale(StringRef mode) {
  if (mode == "none")
    return 1;
  double scale;
  // amp-insert-loss-scaling rejects a scale that is not positive and finite.
  return !mode.getAsDouble(scale) && scale > 0 && std::isfinite(scale) ? scale
                                                                       : 0;
}

/// Adds the pass that scales the loss. `precision` is the low type, and
/// `linear` are the rules of the policy.
static void addLossScaling(OpPassManager &pm, const AMPPipelineOptions &options,
                           const LossScalingSettings &settings,
                           ArrayRef<std::string> linear, StringRef precision) {
  InsertLossScalingPassOptions lossScaling;
  lossScaling.mode = choose(options.lossScaling, settings.mode,
                            isFP16(precision) ? "dynamic" : "none");
  // A scaler that is given as an option replaces the policy's altogether, and
  // so do the scales of layers, which have another scaler. A constant scale has
  // none.
  bool isOtherScaler =
      lossScaling.mode != "dynamic" && lossScaling.mode != settings.mode;
  bool followsPolicy = options.scaler.empty() && !isOtherScaler;
  lossScaling.scaler =
      choose(options.scaler, followsPolicy ? settings.scaler : "", "amp");
  lossScaling.perLoss = options.scalePerLoss;
  lossScaling.guardModelState = options.guardModelState;
  lossScaling.gradientNorm = options.gradientNorm;
  lossScaling.countSkipped = options.countSkipped;
  lossScaling.trackerMetrics = options.trackerMetrics;
  lossScaling.linear.assign(linear.begin(), linear.end());
  std::unique_ptr<Pass> pass = createInsertLossScalingPass(lossScaling);
  // A key of a policy sets the option of the same name.
  if (followsPolicy)
    for (const auto &[key, value] : settings.values)
      (void)pass->initializeOptions(key + "=" + value,
                                    [](const Twine &) { return failure(); });
  for (const auto *option :
       {&options.initScale, &options.growthFactor, &options.backoffFactor,
        &options.growthInterval, &options.minScale, &options.maxScale,
        &options.hysteresis})
    if (!option->empty())
      (void)pass->initializeOptions(
          (option->getArgStr() + "=" + option->getValue()).str(),
          [](const Twine &) { return failure(); });
  pm.addPass(std::move(pass));
}

/// If `precision` is fp8, or fp8- and a recipe, replaces it by bf16, the type
/// of operations that have no 8-bit operands. Returns the recipe, or an empty
/// string for no 8-bit operands. `setting` is the recipe of the policy.
static std::string takeRecipe(std::string &precision, StringRef option,
                              StringRef setting) {
  StringRef rest = precision;
  bool isFloat8 =
      rest.consume_front("fp8") && (rest.empty() || rest.consume_front("-"));
  if (setting == "none" || (!isFloat8 && isF32(precision)))
    setting = "";
  std::string recipe =
      isFloat8 ? choose(choose(option, rest, ""), setting, "current")
               : choose(option, setting, "");
  if (isFloat8)
    precision = "bf16";
  return recipe == "none" ? "" : recipe;
}

/// Returns the settings of 8-bit products whose options are given: the names of
/// the options without `fp8-`.
static SmallVector<StringRef>
listGivenFloat8(const AMPPipelineOptions &options) {
  const std::pair<StringRef, bool> given[] = {
      {"formats", options.fp8Formats.hasValue()},
      {"history-length", options.fp8HistoryLength.hasValue()},
      {"algorithm", options.fp8Algorithm.hasValue()},
      {"margin", options.fp8Margin.hasValue()},
      {"accumulator-bits", options.fp8AccumulatorBits.hasValue()},
      {"promotion", options.fp8Promotion.hasValue()},
      {"keep-first", options.fp8KeepFirst.hasValue()},
      {"keep-last", options.fp8KeepLast.hasValue()},
      {"backward", options.fp8Backward.hasValue()},
      {"high-weight-gradients", options.fp8HighWeightGradients.hasValue()},
      {"keep", !options.fp8Keep.empty()},
      {"report", options.fp8Report.hasValue()}};
  SmallVector<StringRef> names;
  for (auto [name, isGiven] : given)
    if (isGiven)
      names.push_back(name);
  return names;
}

/// Adds the pass that chooses products of 8-bit operands by `recipe`.
static void addQuantization(OpPassManager &pm,
                            const AMPPipelineOptions &options,
                            const PolicySettings &settings,
                            const std::string &recipe) {
  QuantizeProductsPassOptions quantize;
  quantize.recipe = recipe;
  quantize.formats = options.fp8Formats;
  quantize.historyLength = options.fp8HistoryLength;
  quantize.algorithm = options.fp8Algorithm;
  quantize.margin = options.fp8Margin;
  quantize.accumulatorBits = options.fp8AccumulatorBits;
  quantize.promotion = options.fp8Promotion;
  quantize.target = options.target;
  if (options.target.empty() && settings.target)
    quantize.target = settings.target->name;
  quantize.linear.assign(settings.linear.begin(), settings.linear.end());
  quantize.keepFirst = options.fp8KeepFirst;
  quantize.keepLast = options.fp8KeepLast;
  quantize.keep.assign(settings.float8.keep.begin(),
                       settings.float8.keep.end());
  llvm::append_range(quantize.keep, options.fp8Keep);
  quantize.backward = options.fp8Backward;
  quantize.highWeightGradients = options.fp8HighWeightGradients;
  quantize.report = options.fp8Report;
  std::unique_ptr<Pass> pass = createQuantizeProductsPass(quantize);
  // A key of a policy sets the option of the same name. Another recipe has
  // nothing to do with the values of the policy's recipe.
  const std::string &own = settings.float8.recipe;
  const SmallVector<StringRef> given = listGivenFloat8(options);
  if (own.empty() || own == recipe)
    for (const auto &[key, value] : settings.float8.values)
      if (!llvm::is_contained(given, key))
        (void)pass->initializeOptions(key + "=" + value,
                                      [](const Twine &) { return failure(); });
  pm.addPass(std::move(pass));
}

/// Returns the options of auto-mixed-precision for the low type `precision`,
/// with master weights by `masters`.
static AutoMixedPrecisionPassOptions
getMixedPrecision(const AMPPipelineOptions &options,
                  const PolicySettings &settings, const std::string &precision,
                  const std::string &masters) {
  AutoMixedPrecisionPassOptions mixedPrecision;
  mixedPrecision.precision = precision;
  mixedPrecision.policy = options.policy;
  mixedPrecision.strategy = options.strategy;
  mixedPrecision.sinkRule = options.sinkRule;
  mixedPrecision.ranges = options.ranges;
  mixedPrecision.rangesMargin = options.rangesMargin;
  mixedPrecision.rangesTolerance = options.rangesTolerance;
  mixedPrecision.rangesScale =
      getKnownScale(choose(options.lossScaling, settings.lossScaling.mode,
                           isFP16(precision) ? "dynamic" : "none"));
  // Padding alone may have use for a target.
  bool isOptimal =
      options.strategy.empty()
          ? settings.strategy.value_or(Strategy::Optimal) == Strategy::Optimal
          : options.strategy == "optimal";
  if (isOptimal || !options.padForTensorCores)
    mixedPrecision.target = options.target;
  if (options.mode == PipelineMode::Training)
    mixedPrecision.masterWeights = masters;
  mixedPrecision.reports.assign(options.reports.begin(), options.reports.end());
  return mixedPrecision;
}

/// Adds the passes that store weights as `masters` says and pad products.
static void addMasterWeights(OpPassManager &pm,
                             const AMPPipelineOptions &options,
                             const std::string &masters) {
  bool training = options.mode == PipelineMode::Training;
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
}

/// Autocast sees only the forward pass, as in torch. The backward pass then
/// runs in the types that the forward pass saved.
static bool isAutocast(const AMPPipelineOptions &options,
                       const PolicySettings &settings) {
  return options.strategy.empty() ? settings.strategy == Strategy::Autocast
                                  : options.strategy == "autocast";
}

bool mlir::amp::choosesTypesBeforeAutodiff(const AMPPipelineOptions &options) {
  return isAutocast(options, Policy::readSettings(options.policy));
}

void mlir::amp::buildAMPTrainingPipeline(OpPassManager &pm,
                                         const AMPPipelineOptions &options,
                                         OperationClassifier classifier,
                                         ReportHandler onReport) {
  bool training = options.mode == PipelineMode::Training;
  // The policy supplies the missing options. If the policy is invalid,
  // auto-mixed-precision reports it.
  PolicySettings settings = Policy::readSettings(options.policy);
  std::string precision = choose(options.precision, settings.precision, "fp16");
  std::string recipe =
      takeRecipe(precision, options.fp8Recipe, settings.float8.recipe);
  std::string masters =
      choose(options.masterWeights, settings.masterWeights, "cast");
  AutoMixedPrecisionPassOptions mixedPrecision =
      getMixedPrecision(options, settings, precision, masters);
  bool beforeAutodiff = training && isAutocast(options, settings);
  // The gradients of a step from a framework are marked by position.
  if (training)
    pm.addPass(createImportStepPass());
  // The backward pass then has the orders of the forward pass.
  if (options.propagateLayout)
    pm.addPass(train::createTrainPropagateLayout());
  if (beforeAutodiff)
    pm.addPass(
        createAutoMixedPrecisionPass(mixedPrecision, classifier, onReport));
  if (training)
    pm.addPass(train::createTrainAutodiff({options.loopValues}));
  else
    pm.addPass(train::createTrainToInference());
  if (!beforeAutodiff)
    pm.addPass(
        createAutoMixedPrecisionPass(mixedPrecision, classifier, onReport));

  if (training && options.compressActivations)
    pm.addPass(createCompressActivationsPass());

  // Master weights come before scaling, so that the same overflow guard covers
  // their copies.
  addMasterWeights(pm, options, masters);
  if (training)
    addLossScaling(pm, options, settings.lossScaling, settings.linear,
                   precision);
  pm.addPass(createOptimizeCastsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  if (training && !recipe.empty())
    addQuantization(pm, options, settings, recipe);
  if (training && options.checkLossScaling) {
    CheckLossScalingPassOptions check;
    check.linear.assign(settings.linear.begin(), settings.linear.end());
    check.intervals.assign(settings.intervals.begin(),
                           settings.intervals.end());
    pm.addPass(createCheckLossScalingPass(check));
  }
  if (training && options.dataParallel)
    buildDataParallelPipeline(pm, options);
  // This is last because common subexpression elimination would undo it.
  if (training && (options.rematerialize || !options.recomputeBlocks.empty())) {
    train::TrainRematerializeOptions again;
    if (!options.rematerialize)
      again.chain = 0;
    again.blocks.assign(options.recomputeBlocks.begin(),
                        options.recomputeBlocks.end());
    pm.addPass(train::createTrainRematerialize(again));
  }
}

void mlir::amp::buildDataParallelPipeline(OpPassManager &pm,
                                          const AMPPipelineOptions &options) {
  DataParallelPassOptions parallel;
  parallel.reduceType = options.reduceType;
  parallel.bucketBytes = options.bucketBytes;
  parallel.batchNorm = options.batchNorm;
  pm.addPass(createDataParallelPass(parallel));
  if (options.shardOptimizer != 0) {
    ShardOptimizerPassOptions shard;
    shard.ranks = options.shardOptimizer;
    shard.minElements = options.shardMinElements;
    pm.addPass(createShardOptimizerPass(shard));
  }
  pm.addPass(createCheckReplicationPass());
}

/// Returns the names of the options in `pipeline`, a pass as text.
static SmallVector<StringRef> getOptionNames(StringRef pipeline) {
  SmallVector<StringRef> settings, names;
  pipeline.split('{').second.rtrim('}').split(settings, ' ', -1,
                                              /*KeepEmpty=*/false);
  for (StringRef setting : settings)
    names.push_back(setting.split('=').first);
  return names;
}

SmallVector<std::string> mlir::amp::listRankOptions() {
  SmallVector<std::string> names;
  auto add = [&](std::unique_ptr<Pass> pass, StringRef prefix) {
    std::string text;
    llvm::raw_string_ostream os(text);
    pass->printAsTextualPipeline(os);
    for (StringRef name : getOptionNames(text))
      names.push_back((prefix + name).str());
  };
  add(createDataParallelPass(), "");
  add(createShardOptimizerPass(), "shard-");
  return names;
}

void mlir::amp::buildWatchPipeline(OpPassManager &pm, StringRef match,
                                   bool values, bool inside) {
  pm.addPass(createInlinerPass());
  if (inside)
    pm.addPass(train::createTrainDecompose());
  WatchPassOptions options;
  options.match = match.str();
  options.values = values;
  pm.addPass(createWatchPass(options));
}

void mlir::amp::buildUnmixedPipeline(OpPassManager &pm,
                                     const AMPPipelineOptions &options) {
  pm.addPass(createImportStepPass());
  if (options.propagateLayout)
    pm.addPass(train::createTrainPropagateLayout());
  pm.addPass(train::createTrainAutodiff({options.loopValues}));
}

void mlir::amp::buildCalibrationPipeline(OpPassManager &pm) {
  pm.addPass(createImportStepPass());
  pm.addPass(train::createTrainAutodiff());
  pm.addPass(createWatchPass());
}

/// Says that an option of 8-bit products has no effect, or returns an empty
/// text.
static std::string findIdleFloat8(const AMPPipelineOptions &options,
                                  const PolicySettings &settings) {
  const std::string given =
      choose(options.precision, settings.precision, "fp16");
  std::string precision = given;
  std::string recipe =
      takeRecipe(precision, options.fp8Recipe, settings.float8.recipe);
  const bool asksForRecipe =
      !options.fp8Recipe.empty() && options.fp8Recipe != "none";
  const bool isInference = options.mode != PipelineMode::Training;
  if (isInference || isF32(precision))
    recipe = "";
  SmallVector<StringRef> names = listGivenFloat8(options);
  if (asksForRecipe)
    names.insert(names.begin(), "recipe");
  auto describe = [](StringRef name, const Twine &why) {
    return ("option 'fp8-" + name + "' has no effect " + why).str();
  };
  if (recipe.empty()) {
    // A policy may ask for 8-bit products of its training steps.
    if (!options.precision.empty() && given != precision)
      return "precision=" + given + " has no effect with " +
             (isInference ? "mode=inference" : "fp8-recipe=none") +
             ", expected precision=bf16";
    if (names.empty())
      return "";
    return isInference ? describe(names.front(), "with mode=inference")
           : isF32(precision)
               ? describe(names.front(), "with precision=f32, expected "
                                         "precision=fp8, bf16 or fp16")
               : describe(names.front(), "without 8-bit products, expected "
                                         "precision=fp8 or fp8-recipe");
  }
  for (StringRef name : names)
    if ((name == "history-length" || name == "algorithm") &&
        recipe != "delayed")
      return describe(name, "with the recipe " + Twine(recipe) +
                                ", expected fp8-recipe=delayed");
  const StringRef backward = options.fp8Backward;
  if (options.fp8HighWeightGradients && backward != "quantized")
    return describe("high-weight-gradients",
                    "with fp8-backward=" + backward +
                        ", expected fp8-backward=quantized");
  return "";
}

std::string mlir::amp::findIdleOption(const AMPPipelineOptions &options) {
  PolicySettings settings = Policy::readSettings(options.policy);
  if (std::string idle = findIdleFloat8(options, settings); !idle.empty())
    return idle;
  if (options.mode != PipelineMode::Training)
    return "";
  std::string precision = choose(options.precision, settings.precision, "fp16");
  std::string mode = choose(options.lossScaling, settings.lossScaling.mode,
                            isFP16(precision) ? "dynamic" : "none");
  if (mode == "dynamic" || mode == "layerwise")
    return "";
  for (const auto *option :
       {&options.scaler, &options.initScale, &options.growthFactor,
        &options.backoffFactor, &options.growthInterval, &options.minScale,
        &options.maxScale, &options.hysteresis}) {
    if (option->empty())
      continue;
    std::string name = "option '" + option->getArgStr().str();
    if (mode != "none")
      return name + "' has no effect with the constant loss scale " + mode +
             ", expected loss-scale=dynamic";
    return name + "' has no effect without a loss scale, which " + precision +
           " has only with loss-scale=dynamic";
  }
  return "";
}

static constexpr StringLiteral kTrainingPipeline = "amp-training-pipeline";
/// Options that take several values.
static constexpr StringRef kListOptions[] = {"report", "recompute-blocks",
                                             "fp8-keep"};

std::string mlir::amp::parsePipeline(StringRef text,
                                     AMPPipelineOptions &options) {
  return parseOptions(options, kTrainingPipeline, text, kListOptions);
}

void mlir::amp::registerPipelines() {
  registerPipeline<AMPPipelineOptions>(
      kTrainingPipeline,
      "Differentiate a training step and rewrite it to mixed precision",
      [](OpPassManager &pm, const AMPPipelineOptions &options) {
        buildAMPTrainingPipeline(pm, options);
      },
      kListOptions, findIdleOption);
}

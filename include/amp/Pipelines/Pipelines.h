//===- Pipelines.h - The assembled pipelines --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PIPELINES_PIPELINES_H
#define AMP_PIPELINES_PIPELINES_H

#include "amp/Precision/Policy/Policy.h"
#include "amp/Support/OptionText.h"
#include "amp/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::amp {

/// The result of `amp-training-pipeline` for a training step.
enum class PipelineMode { Training, Inference };

/// Options of `amp-training-pipeline`.
struct AMPPipelineOptions : public PassPipelineOptions<AMPPipelineOptions> {
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("fp16 (also f16, half), bf16 (also bfloat16), fp8 (bf16 "
                     "and fp8-recipe=current), fp8-RECIPE or f32; "
                     "by default the policy's value, else fp16"),
      llvm::cl::init("")};
  Option<std::string> fp8Recipe{
      *this, "fp8-recipe",
      llvm::cl::desc("Multiply matrices of 8-bit floats in layers, with scales "
                     "by this recipe: current, delayed, rowwise, block-128 "
                     "or mxfp8 (amp-quantize-products); none: ignore the "
                     "recipe of the policy; by default the policy's value. The "
                     "policy also gives the defaults of the other options of "
                     "its recipe"),
      llvm::cl::init("")};
  Option<std::string> fp8Formats{
      *this, "fp8-formats",
      llvm::cl::desc("hybrid: gradients are f8E5M2; e4m3: all operands are "
                     "f8E4M3FN; by default the formats of the recipe"),
      llvm::cl::init("")};
  Option<int64_t, ValueParser<int64_t>> fp8HistoryLength{
      *this, "fp8-history-length",
      llvm::cl::desc("The number of steps whose magnitudes a scale of the "
                     "recipe 'delayed' follows"),
      llvm::cl::init(1024)};
  Option<std::string> fp8Algorithm{
      *this, "fp8-algorithm",
      llvm::cl::desc("A scale of the recipe 'delayed' follows the largest "
                     "magnitude of the history (max) or the last one "
                     "(most_recent)"),
      llvm::cl::init("max")};
  Option<int32_t, ValueParser<int32_t>> fp8Margin{
      *this, "fp8-margin",
      llvm::cl::desc("Magnitudes use the range of a format up to 2^-margin of "
                     "its largest number"),
      llvm::cl::init(0)};
  Option<int32_t, ValueParser<int32_t>> fp8AccumulatorBits{
      *this, "fp8-accumulator-bits",
      llvm::cl::desc("The width in which the CPU accumulates products of 8-bit "
                     "floats; an H100 has 22 bits"),
      llvm::cl::init(32)};
  Option<int64_t, ValueParser<int64_t>> fp8Promotion{
      *this, "fp8-promotion",
      llvm::cl::desc("The number of such products whose sum is added in f32; 0 "
                     "for all of them"),
      llvm::cl::init(0)};
  Option<unsigned, ValueParser<unsigned>> fp8KeepFirst{
      *this, "fp8-keep-first",
      llvm::cl::desc("The number of first layers that keep 16-bit operands"),
      llvm::cl::init(0)};
  Option<unsigned, ValueParser<unsigned>> fp8KeepLast{
      *this, "fp8-keep-last",
      llvm::cl::desc("The number of last layers that keep 16-bit operands"),
      llvm::cl::init(1)};
  ListOption<std::string> fp8Keep{
      *this, "fp8-keep",
      llvm::cl::desc("Layers that keep 16-bit operands: globs of the names of "
                     "their weights, in addition to those of the policy")};
  Option<std::string> fp8Backward{
      *this, "fp8-backward",
      llvm::cl::desc("The products of the backward pass: quantized, high (16 "
                     "bits), or dequantized (16 bits, from the 8-bit copies "
                     "of the forward pass)"),
      llvm::cl::init("quantized")};
  Option<bool, ValueParser<bool>> fp8HighWeightGradients{
      *this, "fp8-high-weight-gradients",
      llvm::cl::desc("Keep the products that compute gradients of weights in "
                     "16 bits"),
      llvm::cl::init(false)};
  Option<std::string> fp8Report{
      *this, "fp8-report",
      llvm::cl::desc("Write the 8-bit products and copies, with their bytes, "
                     "to this JSON file"),
      llvm::cl::init("")};
  Option<std::string> lossScaling{
      *this, "loss-scale",
      llvm::cl::desc("dynamic, layerwise (a scale for each layer), none, or a "
                     "number: a constant scale; by default the policy's "
                     "value, else dynamic for fp16 and none otherwise"),
      llvm::cl::init("")};
  Option<std::string> scaler{
      *this, "scaler",
      llvm::cl::desc("How a dynamic loss scale adapts: amp, pytorch, apex, "
                     "deepspeed, megatron, tf-keras, keras, mxnet or paddle; "
                     "by default the policy's value, else amp"),
      llvm::cl::init("")};
  Option<std::string> initScale{
      *this, "init-scale",
      llvm::cl::desc(
          "Initial loss scale. The scaler gives the default of this option "
          "and of the options of growth"),
      llvm::cl::init("")};
  Option<std::string> growthFactor{
      *this, "growth-factor",
      llvm::cl::desc("Factor of the loss scale after growth-interval steps "
                     "without overflow"),
      llvm::cl::init("")};
  Option<std::string> backoffFactor{
      *this, "backoff-factor",
      llvm::cl::desc("Factor of the loss scale after an overflow"),
      llvm::cl::init("")};
  Option<std::string> growthInterval{
      *this, "growth-interval",
      llvm::cl::desc("Steps without overflow after which the loss scale grows"),
      llvm::cl::init("")};
  Option<std::string> minScale{*this, "min-scale",
                               llvm::cl::desc("Floor of the loss scale"),
                               llvm::cl::init("")};
  Option<std::string> maxScale{*this, "max-scale",
                               llvm::cl::desc("Cap of the loss scale"),
                               llvm::cl::init("")};
  Option<std::string> hysteresis{
      *this, "hysteresis",
      llvm::cl::desc("Overflows before the loss scale backs off"),
      llvm::cl::init("")};
  Option<bool, ValueParser<bool>> scalePerLoss{
      *this, "scale-per-loss",
      llvm::cl::desc("One dynamic loss scale for each loss"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> guardModelState{
      *this, "guard-model-state",
      llvm::cl::desc("A step that overflows keeps float model state "
                     "(batch-norm statistics) too"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> gradientNorm{
      *this, "gradient-norm",
      llvm::cl::desc("Publish the norm of all gradients as a metric"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> countSkipped{
      *this, "count-skipped",
      llvm::cl::desc("Keep the number of skipped steps, as a metric"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> trackerMetrics{
      *this, "tracker-metrics",
      llvm::cl::desc("Publish the growth and hysteresis trackers of a dynamic "
                     "scale as metrics"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> compressActivations{
      *this, "compress-activations",
      llvm::cl::desc("Store f32 values that the backward pass reads in the low "
                     "type (amp-compress-activations)"),
      llvm::cl::init(false)};
  Option<std::string> masterWeights{
      *this, "master-weights",
      llvm::cl::desc(
          "cast: parameters stay f32 and are cast once per step; "
          "copy: each f32 parameter has a low-precision copy; split: the "
          "upper half of each f32 parameter is its bf16 copy; none: parameters "
          "are low; by default the policy's value, else cast"),
      llvm::cl::init("")};
  Option<std::string> updateRounding{
      *this, "update-rounding",
      llvm::cl::desc("How updates of weights without a master are rounded: "
                     "nearest, stochastic or kahan"),
      llvm::cl::init("nearest")};
  Option<std::string> moments{
      *this, "moments",
      llvm::cl::desc("How optimizer states are stored: f32 or bf16"),
      llvm::cl::init("f32")};
  Option<std::string> policy{*this, "policy",
                             llvm::cl::desc("Name of a preset, or a YAML file"),
                             llvm::cl::init("default")};
  Option<std::string> strategy{
      *this, "strategy",
      llvm::cl::desc("How types are assigned: optimal (the default), "
                     "grappler or autocast (before differentiation)"),
      llvm::cl::init("")};
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc(
          "The GPU on which products must pay for their casts: "
          "a100, h100, h200 or b200; by default every allowed product "
          "is low"),
      llvm::cl::init("")};
  Option<std::string> ranges{
      *this, "ranges",
      llvm::cl::desc("A file of ranges from amp-run --calibrate: measured "
                     "values that leave the range of the low type stay f32, "
                     "and those that fit may be low"),
      llvm::cl::init("")};
  Option<double, ValueParser<double>> rangesMargin{
      *this, "ranges-margin",
      llvm::cl::desc("With ranges: the largest magnitude counts this many "
                     "times, at least 1"),
      llvm::cl::init(2.0)};
  Option<double, ValueParser<double>> rangesTolerance{
      *this, "ranges-tolerance",
      llvm::cl::desc("With ranges: the largest error of a value in the low "
                     "type, relative to its Euclidean norm"),
      llvm::cl::init(0.01)};
  Option<bool, ValueParser<bool>> checkLossScaling{
      *this, "check-loss-scaling",
      llvm::cl::desc(
          "Check at the end that the loss scale is handled correctly "
          "(amp-check-loss-scaling)"),
      llvm::cl::init(true)};
  Option<bool, ValueParser<bool>> dataParallel{
      *this, "data-parallel",
      llvm::cl::desc("Insert the reductions of several ranks and check them "
                     "(amp-data-parallel, amp-check-replication)"),
      llvm::cl::init(false)};
  Option<std::string> reduceType{
      *this, "reduce-type",
      llvm::cl::desc("The type in which ranks exchange gradients: f32 or low"),
      llvm::cl::init("f32")};
  Option<std::string> batchNorm{
      *this, "batch-norm",
      llvm::cl::desc(
          "With several ranks, the statistics of a batch norm: local "
          "or synchronized"),
      llvm::cl::init("local")};
  Option<int64_t, ValueParser<int64_t>> bucketBytes{
      *this, "bucket-bytes",
      llvm::cl::desc("Bytes of gradients that ranks exchange together"),
      llvm::cl::init(26214400)};
  Option<int64_t, ValueParser<int64_t>> shardOptimizer{
      *this, "shard-optimizer",
      llvm::cl::desc("With data-parallel: the number of ranks that divide the "
                     "state of optimizers (amp-shard-optimizer), or 0"),
      llvm::cl::init(0)};
  Option<int64_t, ValueParser<int64_t>> shardMinElements{
      *this, "shard-min-elements",
      llvm::cl::desc("With shard-optimizer: the least number of elements of a "
                     "parameter that is divided"),
      llvm::cl::init(1024)};
  Option<bool, ValueParser<bool>> sinkRule{
      *this, "sink-rule",
      llvm::cl::desc("With strategy=grappler: operations between an allowed "
                     "operation and the end of the graph become low too"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> padForTensorCores{
      *this, "pad-for-tensor-cores",
      llvm::cl::desc("Pad products to extents that fill tensor cores if that "
                     "pays on the target (default: h100)"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> propagateLayout{
      *this, "propagate-layout",
      llvm::cl::desc("Move transposes to where they cost the fewest bytes "
                     "(train-propagate-layout)"),
      llvm::cl::init(true)};
  Option<bool, ValueParser<bool>> rematerialize{
      *this, "rematerialize",
      llvm::cl::desc("Compute cheap values again in the backward pass instead "
                     "of storing them"),
      llvm::cl::init(false)};
  Option<std::string> loopValues{
      *this, "loop-values",
      llvm::cl::desc("What the backward pass of a loop reads of an iteration: "
                     "stack or recompute"),
      llvm::cl::init("stack")};
  ListOption<std::string> recomputeBlocks{
      *this, "recompute-blocks",
      llvm::cl::desc("Patterns of location names; the backward pass computes "
                     "each such block again, e.g. h.*")};
  ListOption<std::string> reports{
      *this, "report",
      llvm::cl::desc("Files to write every decision on precision to, as JSON "
                     "(*.json) or as an HTML page (*.html)")};
  Option<PipelineMode> mode{
      *this, "mode", llvm::cl::desc("The result of the pipeline"),
      llvm::cl::init(PipelineMode::Training),
      llvm::cl::values(
          clEnumValN(PipelineMode::Training, "training", "a training step"),
          clEnumValN(PipelineMode::Inference, "inference",
                     "its forward function, with weights stored in low "
                     "precision"))};
};

/// Sets `options` from `text`, as `amp-training-pipeline` takes them. Returns
/// an empty text or the error.
std::string parsePipeline(StringRef text, AMPPipelineOptions &options);

/// Names an option of the scaler that has no effect, because the loss scale is
/// constant or there is none, and says why. Returns an empty text if each one
/// has an effect.
std::string findIdleOption(const AMPPipelineOptions &options);

/// Adds the passes that turn a training step into one in mixed precision:
/// differentiation, precision assignment, master weights, loss scaling, cast
/// cleanup, and the check of the loss scale. The pass that receives a wrong
/// option value diagnoses it. The policy may come from a `PolicyBuilder`.
/// `classifier`, if there is one, is queried before the policy. `onReport`
/// receives the report of the precisions.
void buildAMPTrainingPipeline(OpPassManager &pm,
                              const AMPPipelineOptions &options,
                              OperationClassifier classifier = {},
                              ReportHandler onReport = {});

/// Adds the passes that return statistics of the values of a step, or the
/// values themselves, whose names match the regular expression `match`. Called
/// functions are inlined. `inside` decomposes composite operations first.
void buildWatchPipeline(OpPassManager &pm, StringRef match, bool values,
                        bool inside);

/// Whether the pipeline for training chooses the types before it adds the
/// backward pass, as the strategy `autocast` does.
bool choosesTypesBeforeAutodiff(const AMPPipelineOptions &options);

/// Adds the passes that run before `auto-mixed-precision` in the pipeline for
/// training, unless the strategy is `autocast`.
void buildUnmixedPipeline(OpPassManager &pm, const AMPPipelineOptions &options);

/// Adds the passes that return statistics of all values of a step as
/// `auto-mixed-precision` gets it in the pipeline.
void buildCalibrationPipeline(OpPassManager &pm);

/// Adds the passes that divide a step, differentiated and with its types,
/// between ranks, and the check of the result.
void buildDataParallelPipeline(OpPassManager &pm,
                               const AMPPipelineOptions &options);

/// Returns the names of the options of the pipeline that only steps of several
/// ranks use: those of `amp-data-parallel`, and with the prefix `shard-` those
/// of `amp-shard-optimizer`.
SmallVector<std::string> listRankOptions();

/// Registers `amp-training-pipeline`.
void registerPipelines();

} // namespace mlir::amp

#endif // AMP_PIPELINES_PIPELINES_H

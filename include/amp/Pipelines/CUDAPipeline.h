//===- CUDAPipeline.h - From a training step to a program -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PIPELINES_CUDAPIPELINE_H
#define AMP_PIPELINES_CUDAPIPELINE_H

#include "amp/Support/OptionText.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::amp {

/// Options of `amp-cuda-pipeline`.
struct CUDAPipelineOptions : public PassPipelineOptions<CUDAPipelineOptions> {
  Option<int64_t, ValueParser<int64_t>> batchSize{
      *this, "batch-size",
      llvm::cl::desc("The number of samples in a batch, if the step has a "
                     "dynamic batch"),
      llvm::cl::init(0)};
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("f32, tf32, fp16, bf16, fp8, or fp8- and a recipe: run "
                     "the training pipeline with this precision first "
                     "(default: only expand gradients)"),
      llvm::cl::init("")};
  Option<std::string> lossScaling{
      *this, "loss-scale", llvm::cl::desc("As for amp-training-pipeline"),
      llvm::cl::init("")};
  Option<std::string> masterWeights{
      *this, "master-weights", llvm::cl::desc("As for amp-training-pipeline"),
      llvm::cl::init("")};
  Option<std::string> policy{*this, "policy",
                             llvm::cl::desc("As for amp-training-pipeline"),
                             llvm::cl::init("default")};
  Option<std::string> training{
      *this, "training",
      llvm::cl::desc("With 'precision': further options of "
                     "amp-training-pipeline, such as "
                     "training='fp8-keep-last=0 fp8-margin=1'"),
      llvm::cl::init("")};
  Option<bool, ValueParser<bool>> epilogues{
      *this, "epilogues",
      llvm::cl::desc("Move activations and bias gradients into products"),
      llvm::cl::init(true)};
  Option<bool, ValueParser<bool>> strictRounding{
      *this, "strict-rounding",
      llvm::cl::desc("Round the result of each operation to its type, as the "
                     "CPU does; the results are then equal bit for bit except "
                     "for the order of sums"),
      llvm::cl::init(false)};
  Option<std::string> attention{
      *this, "attention",
      llvm::cl::desc("cudnn, decomposed, or auto: by cuDNN if this build has "
                     "its library and rounding is not strict"),
      llvm::cl::init("auto")};
  Option<std::string> convolutions{
      *this, "convolutions",
      llvm::cl::desc("cudnn, patches, or auto: by cuDNN if this build has its "
                     "library"),
      llvm::cl::init("auto")};
  Option<bool, ValueParser<bool>> deterministic{
      *this, "deterministic",
      llvm::cl::desc("Choose library kernels that give the same bits in each "
                     "run"),
      llvm::cl::init(true)};
  Option<int64_t, ValueParser<int64_t>> logitBytes{
      *this, "logit-bytes",
      llvm::cl::desc(
          "The most memory for the logits of a classifier, in bytes; "
          "the loss of larger ones goes through the rows in chunks; "
          "0 sets no limit"),
      llvm::cl::init(int64_t(1) << 30)};
  Option<int64_t, ValueParser<int64_t>> attentionBytes{
      *this, "attention-bytes",
      llvm::cl::desc(
          "The most scratch memory for the gradient of an attention, in bytes; "
          "a larger one computes its samples in parts; 0 sets no limit"),
      llvm::cl::init(int64_t(2) << 30)};
  Option<bool, ValueParser<bool>> libraryDropout{
      *this, "library-dropout",
      llvm::cl::desc("Let cuDNN draw the random numbers of dropout within "
                     "attention, which are not those of the CPU; such "
                     "attention is decomposed otherwise"),
      llvm::cl::init(false)};
  Option<std::string> documents{
      *this, "documents",
      llvm::cl::desc("How plans of attention read the documents of packed "
                     "sequences. bias: as a mask, which is added to all "
                     "scores. offsets: each document as a sample, so that no "
                     "score between documents is computed. The gradient then "
                     "needs compute capability 9.0"),
      llvm::cl::init("bias")};
  Option<int64_t, ValueParser<int64_t>> recomputeRate{
      *this, "recompute-rate",
      llvm::cl::desc("The fewest bytes of memory that computing a value of the "
                     "forward pass again frees per microsecond; 0 keeps all "
                     "values"),
      llvm::cl::init(500000)};
  Option<int64_t, ValueParser<int64_t>> ranks{
      *this, "ranks",
      llvm::cl::desc(
          "The number of ranks that run the step together, each on a "
          "batch of 'batch-size' samples; more than 1: insert their "
          "reductions (amp-data-parallel, amp-set-ranks); 0: take "
          "the step as it is"),
      llvm::cl::init(0)};
  Option<bool, ValueParser<bool>> shardOptimizer{
      *this, "shard-optimizer",
      llvm::cl::desc("Divide the state of the optimizers between the ranks "
                     "(amp-shard-optimizer)"),
      llvm::cl::init(false)};
  Option<int64_t, ValueParser<int64_t>> shardMinElements{
      *this, "shard-min-elements",
      llvm::cl::desc("With 'shard-optimizer': the smallest parameter that is "
                     "divided, in elements"),
      llvm::cl::init(1024)};
  Option<std::string> inference{
      *this, "inference",
      llvm::cl::desc("The step whose forward function also becomes a program, "
                     "for predictions"),
      llvm::cl::init("")};
  Option<std::string> watch{
      *this, "watch",
      llvm::cl::desc("Count the values whose names match this regular "
                     "expression, such as '.', and return the counts as "
                     "predictions (cuda-watch)"),
      llvm::cl::init("")};
  Option<bool, ValueParser<bool>> report{
      *this, "report", llvm::cl::desc("Print the sizes of the memory plan"),
      llvm::cl::init(false)};
  Option<bool, ValueParser<bool>> precisionReports{
      *this, "precision-reports",
      llvm::cl::desc("Write the reports that 'training' asks for"),
      llvm::cl::init(true)};
};

/// Returns an error message if `training` is invalid or has an option without
/// effect, and otherwise an empty string. `training` contains the additional
/// options of the training pipeline for a step with `precision`, `policy` and
/// `lossScaling`, each of which may be empty.
std::string findTrainingFault(StringRef training, StringRef precision,
                              StringRef policy, StringRef lossScaling);

/// Adds the passes that turn each training step of a module into a
/// `cuda.program`. The caller has checked `options.training`.
void buildCUDAPipeline(OpPassManager &pm, const CUDAPipelineOptions &options);

/// Registers `amp-cuda-pipeline`.
void registerCUDAPipeline();

} // namespace mlir::amp

#endif // AMP_PIPELINES_CUDAPIPELINE_H

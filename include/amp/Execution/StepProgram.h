//===- StepProgram.h - A training step made ready to run --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_STEPPROGRAM_H
#define AMP_EXECUTION_STEPPROGRAM_H

#include "amp/Analysis/StepStatistics.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/IR/Evaluation.h"
#include "amp/Execution/CompiledStep.h"
#include "amp/Execution/Dataset.h"
#include "amp/Execution/Initializer.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>

namespace mlir::amp {

/// How a graph becomes a program.
struct ProgramOptions {
  /// The step function; empty if the module has only one.
  std::string entry;
  /// `f32`, `fp16`, `bf16` and their synonyms; empty runs the IR as written.
  std::string precision;
  /// Options of the training pipeline; empty leaves its default.
  std::string lossScaling;
  std::string masterWeights;
  /// Further options of the training pipeline, as `amp-opt` takes them.
  std::string pipeline;
  /// The threads that compiled functions run on; 0 for as many as OpenMP gives
  /// (`chooseThreads`). Results do not depend on the number.
  unsigned threads = 0;
  /// Adds a prediction `gradient of NAME` to the step for each gradient.
  bool exposeGradients = false;
};

/// One buffer of a compiled function and what it is to the runner.
struct Binding {
  enum class Kind { State, Batch, Hyperparameter, Metric, Prediction };
  Kind kind;
  std::string name;
  BufferType type;
};

/// A compiled function with the meaning of its buffers.
struct BoundStep {
  std::unique_ptr<CompiledStep> code;
  llvm::SmallVector<Binding> bindings;
  /// The most bytes that a run allocates at one time, by the lowered code;
  /// nothing where that depends on values.
  std::optional<int64_t> plannedBytes;
};

/// A training step in one precision, compiled for the batch sizes that are
/// asked for.
class StepProgram {
public:
  /// Prepares the step function of `source`, which stays unchanged. Problems of
  /// the IR are diagnosed at their location; the error is then a
  /// `DiagnosedError`.
  static llvm::Expected<std::unique_ptr<StepProgram>>
  create(ModuleOp source, const ProgramOptions &options);

  /// The step after the pipeline, for reading.
  ModuleOp getModule() { return *module; }

  /// The step function after the pipeline.
  FunctionOpInterface getFunction();

  /// `f32`, `fp16` or `bf16`; empty if the IR runs as written.
  llvm::StringRef getPrecision() const { return precision; }

  /// A hash of what the step computes, before the pipeline: of everything but
  /// names of values, locations and initial values.
  uint64_t getFingerprint() const { return fingerprint; }

  /// The rules by which the step scales its loss, as in a saved state.
  llvm::StringRef getScalerRules() const { return scalerRules; }

  const StepSignature &getSignature() const { return signature; }

  /// Every state of the step with its initial value.
  llvm::ArrayRef<StateSpec> getStates() const { return states; }

  /// The batch inputs of training, with the classes of labels.
  llvm::ArrayRef<BatchInput> getBatchInputs() const { return batchInputs; }

  /// Those of them that the forward function reads, in its order. Fails when
  /// the step has no prediction, or one that is not a value for each sample.
  llvm::Expected<llvm::SmallVector<BatchInput>> getForwardInputs();

  llvm::ArrayRef<EvaluationRule> getEvaluationRules() const { return rules; }

  /// The batch size that the graph fixes, if it does.
  std::optional<int64_t> getStaticBatch() const { return staticBatch; }

  /// The training step for `batchSize` samples, compiled on first use.
  llvm::Expected<BoundStep *> getTraining(int64_t batchSize);

  /// The forward function for `batchSize` samples, compiled on first use.
  llvm::Expected<BoundStep *> getForward(int64_t batchSize);

  /// Fails if the machine lacks the memory for the states, or for a training
  /// step for `batchSize` samples if it is given.
  llvm::Error checkMemory(std::optional<int64_t> batchSize);

  /// Memory and precision of the training step for `batchSize` samples.
  llvm::Expected<StepStatistics> getStatistics(int64_t batchSize);

private:
  StepProgram() = default;

  llvm::Error collectStates();
  llvm::Error collectBatchInputs();
  llvm::Error checkResults() const;
  void collectRules();
  llvm::Error exposeGradients();
  llvm::Error deriveForward();
  llvm::Expected<BoundStep> compile(ModuleOp source, llvm::StringRef name,
                                    int64_t batchSize);

  OwningOpRef<ModuleOp> module;
  /// `module` before gradients were exposed, if they are: the forward function
  /// is derived from it.
  OwningOpRef<ModuleOp> unexposed;
  /// The forward function derived from `module`, once it is asked for.
  OwningOpRef<ModuleOp> forwardModule;
  std::string entry, forwardEntry, precision, scalerRules;
  uint64_t fingerprint = 0;
  /// Those that compiled functions run on.
  unsigned threads = 1;
  StepSignature signature;
  llvm::SmallVector<StateSpec> states;
  llvm::SmallVector<BatchInput> batchInputs;
  llvm::SmallVector<EvaluationRule> rules;
  std::optional<int64_t> staticBatch;
  std::map<int64_t, BoundStep> training, forward;
};

/// The prefix of the predictions that `exposeGradients` adds.
inline constexpr llvm::StringLiteral kGradientPrefix = "gradient of ";

} // namespace mlir::amp

#endif // AMP_EXECUTION_STEPPROGRAM_H

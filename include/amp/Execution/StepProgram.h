//===- StepProgram.h - Preparation of a step --------------------*- C++ -*-===//
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
#include "amp/Runtime/Host/Tensor.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/StringSaver.h"
#include <map>
#include <mutex>

namespace mlir::amp {

struct AMPPipelineOptions;

/// Additional results of a step for debugging (`amp-watch`).
struct WatchOptions {
  /// A regular expression that names of watched values match.
  std::string match;
  /// Return values instead of statistics.
  bool values = false;
  /// Watch the values within composite operations too.
  bool inside = false;
};

/// Options for the compilation of a graph.
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
  /// The threads of compiled functions. 0 selects the number of OpenMP
  /// (`chooseThreads`). Results do not depend on the number.
  unsigned threads = 0;
  /// The processes that run the step together, and the number of this one. The
  /// step is divided between them unless it has collectives.
  int64_t ranks = 1, rank = 0;
  /// Divide the state of optimizers between the ranks (amp-shard-optimizer).
  bool shardOptimizer = false;
  /// A folder for compiled code, or empty.
  std::string objectCache;
  /// Adds a prediction `gradient of NAME` to the step for each gradient.
  bool exposeGradients = false;
  /// Adds predictions `watch N` to the step.
  std::optional<WatchOptions> watch;
};

/// Rejects options of the pipeline that are invalid, alone or together, in the
/// words of amp-run.
llvm::Error checkProgramOptions(const ProgramOptions &options);

/// Rejects an option of the pipeline that has no effect in any of `precisions`.
llvm::Error checkIdleOptions(const ProgramOptions &options,
                             llvm::ArrayRef<std::string> precisions);

/// The options of the same step in f32.
ProgramOptions getWideOptions(ProgramOptions options);

/// One buffer of a compiled function and its meaning to the runner.
struct Binding {
  host::Role role;
  std::string name;
  BufferType type;
};

/// The meaning of an argument or a result to the runner.
host::Role getHostRole(const StepArgument &argument);
host::Role getHostRole(const StepResult &result);

/// Describes a tensor of a step. Dynamic extents are -1.
host::TensorInfo describeTensor(host::Role role, llvm::StringRef name,
                                RankedTensorType type);

/// A compiled function and the meaning of its buffers.
struct BoundStep {
  std::unique_ptr<CompiledStep> code;
  llvm::SmallVector<Binding> bindings;
  /// The most bytes that a run allocates at one time, by the lowered code.
  /// Nothing if that depends on values.
  std::optional<int64_t> plannedBytes;
};

/// A training step in one precision, compiled for the requested batch sizes.
class StepProgram {
public:
  /// Prepares the step function of `source`, which does not change. Problems of
  /// the IR are diagnosed at their location. The error is then a
  /// `DiagnosedError`.
  static llvm::Expected<std::unique_ptr<StepProgram>>
  create(ModuleOp source, const ProgramOptions &options);

  /// The step after the pipeline, for inspection.
  ModuleOp getModule() { return *module; }

  /// The step function after the pipeline.
  FunctionOpInterface getFunction();

  /// `f32`, `fp16` or `bf16`; empty if the IR runs as written.
  llvm::StringRef getPrecision() const { return precision; }

  /// A hash of the computation of the step before the pipeline. It ignores
  /// names of values, locations and initial values.
  uint64_t getFingerprint() const { return fingerprint; }

  /// The name of the first operation that the step calls with `amp.call`, or an
  /// empty string.
  llvm::StringRef getCallee() const { return callee; }

  /// The loss-scaling rules of the step, as in a checkpoint.
  llvm::StringRef getScalerRules() const { return scalerRules; }

  const StepSignature &getSignature() const { return signature; }

  /// All inputs and outputs of the training step, with initial values and the
  /// classes of labels.
  const std::vector<host::TensorInfo> &getTensors() const { return tensors; }

  /// Those of the forward function, without initial values. Fails if the step
  /// has no prediction.
  llvm::Expected<std::vector<host::TensorInfo>> getForwardTensors();

  /// The elements that each rank keeps of the state `name`, or 0 if all ranks
  /// have the whole state.
  int64_t getPartSize(llvm::StringRef name) const {
    return partSizes.lookup(name);
  }
  bool hasParts() const { return !partSizes.empty(); }
  int64_t getRank() const { return rank; }
  int64_t getNumRanks() const { return ranks; }

  llvm::ArrayRef<EvaluationRule> getEvaluationRules() const { return rules; }

  /// The batch size if the graph fixes it.
  std::optional<int64_t> getStaticBatch() const { return staticBatch; }

  /// The training step for `batchSize` samples, compiled on first use.
  llvm::Expected<BoundStep *> getTraining(int64_t batchSize);

  /// The forward function for `batchSize` samples, compiled on first use.
  llvm::Expected<BoundStep *> getForward(int64_t batchSize);

  /// Protects the compiled functions and the module while steps run.
  std::mutex &getMutex() { return mutex; }

  /// Fails if the machine lacks the memory for the states or, if `batchSize` is
  /// given, for a training step with that many samples.
  llvm::Error checkMemory(std::optional<int64_t> batchSize);

  /// Memory and precision of the training step for `batchSize` samples.
  llvm::Expected<StepStatistics> getStatistics(int64_t batchSize);

private:
  StepProgram() = default;

  llvm::Error collectStates();
  llvm::Error collectBatches();
  llvm::Error collectResults();
  void collectRules();
  llvm::Error exposeGradients();
  llvm::Error deriveForward();
  llvm::Error divideBetweenRanks(const AMPPipelineOptions &pipeline,
                                 bool shardOptimizer);
  llvm::Expected<BoundStep> compile(ModuleOp source, llvm::StringRef name,
                                    int64_t batchSize, int64_t numRanks);

  OwningOpRef<ModuleOp> module;
  /// `module` before it was divided between ranks and before gradients were
  /// exposed, if they are. The forward function derives from it.
  OwningOpRef<ModuleOp> unexposed;
  /// The forward function derived from `module`, after the first request.
  OwningOpRef<ModuleOp> forwardModule;
  std::string entry, forwardEntry, precision, scalerRules, callee;
  uint64_t fingerprint = 0;
  /// The threads of compiled functions.
  unsigned threads = 1;
  int64_t ranks = 1, rank = 0;
  std::string objectCache;
  StepSignature signature;
  /// Owns the names that `tensors` refer to.
  llvm::BumpPtrAllocator allocator;
  std::vector<host::TensorInfo> tensors;
  llvm::StringMap<int64_t> partSizes;
  llvm::SmallVector<EvaluationRule> rules;
  std::optional<int64_t> staticBatch;
  std::map<int64_t, BoundStep> training, forward;
  std::mutex mutex;
};

/// The prefix of the predictions that `exposeGradients` adds.
inline constexpr llvm::StringLiteral kGradientPrefix = "gradient of ";

} // namespace mlir::amp

#endif // AMP_EXECUTION_STEPPROGRAM_H

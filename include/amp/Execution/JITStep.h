//===- JITStep.h - A step that runs on the CPU ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_JITSTEP_H
#define AMP_EXECUTION_JITSTEP_H

#include "amp/Execution/StepProgram.h"
#include "amp/Runtime/Step/InterfaceStep.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace mlir::amp {

class RankGroup;

/// The results for the most bytes that a training step allocates at one time,
/// without its arguments and results: by the lowered code, and as counted.
inline constexpr llvm::StringLiteral kPlannedBytes = "peak bytes planned";
inline constexpr llvm::StringLiteral kAllocatedBytes = "peak bytes allocated";

/// The states and hyperparameters of a step, which its forward function shares.
struct StepValues {
  StepValues() = default;
  StepValues(const StepValues &) = delete;
  StepValues &operator=(const StepValues &) = delete;
  ~StepValues();

  /// Adds an array of zeros, in memory of the caller's allocator if there is
  /// one.
  host::Status allocate(const host::TensorInfo &tensor, host::ArrayMap &to);

  host::ArrayMap arrays;
  /// Those of `arrays` that have no value yet.
  std::set<std::string> unset;
  amp_step_allocator allocator = {};
  std::vector<std::pair<void *, uint64_t>> blocks;
};

/// The training step of a program, or its forward function, and its state. It
/// takes any number of slots.
class JITStep : public host::InterfaceStep {
public:
  /// The training step.
  explicit JITStep(StepProgram &program)
      : JITStep(program, program.getTensors(), std::make_shared<StepValues>(),
                /*isForward=*/false) {}

  /// Continues with `other`, which computes the same step and may return more
  /// predictions. The states, the batches and the metrics stay.
  void setProgram(StepProgram &other) {
    if (program != &other)
      current = nullptr;
    program = &other;
  }
  /// Sets the program for sampled steps. It computes the same step and returns
  /// the counts of `records` as predictions.
  void setWatched(StepProgram &other,
                  std::vector<host::WatchedRecord> records) {
    plain = program;
    watched = &other;
    described = std::move(records);
  }

  /// Prepares for a caller of the C interface: allocates all states, so that
  /// their addresses are fixed.
  host::Status configure(const host::StepSettings &settings);
  /// Converts an error that MLIR has reported to one with a message.
  using Explainer = std::function<host::Status(host::Status)>;
  void setExplainer(Explainer function) { explain = std::move(function); }

  const std::vector<host::TensorInfo> &getTensors() const override {
    return tensors;
  }
  host::CheckpointIdentity getIdentity() const override;
  int64_t getFixedBatch() const override {
    return program->getStaticBatch().value_or(0);
  }
  int64_t getNumRanks() const override { return program->getNumRanks(); }
  host::Status prepare(int64_t samples) override;
  host::Status read(size_t tensor, host::Array *value) override;
  host::Status write(size_t tensor, host::Array value) override;
  host::Status fill(size_t tensor, int64_t samples, size_t bytes,
                    const std::function<void(void *)> &fill) override;
  host::Status run(int steps) override { return runWatched(0, steps); }
  host::Status wait() override { return host::Status(); }
  bool isAsynchronous() const override { return false; }
  host::Status readMetrics(std::vector<double> *values) override;
  void addMemory(host::Results *results) override;
  host::Status
  createForwardStep(std::unique_ptr<host::InterfaceStep> *forward) override;
  std::vector<host::EvaluationRule> getEvaluationRules() const override;
  /// A forward function reads the states of the step that created it.
  host::Status useStates(host::Step &) override { return host::Status(); }

  host::Status gatherStates() override;

  /// The state or hyperparameter `name`, or null.
  const host::Array *getValue(llvm::StringRef name) const {
    return values->arrays.lookup(name.str());
  }
  /// The batch `name` of the last run, or null.
  const host::Array *getBatch(llvm::StringRef name) const {
    return slots[0].lookup(name.str());
  }
  /// The prediction `name` of the last run, or null.
  const host::Array *getPrediction(llvm::StringRef name) const;

  // The C interface. Work is done when a function returns.
  void *getData(size_t tensor) override;
  int64_t getMemoryBytes() const override;
  host::Status zeroStates() override;
  host::Status setStream(void *stream) override;
  host::Status setBatch(const host::BatchData &batch) override;
  host::Status runSlot(int slot, int steps) override;
  host::Status enqueueHyperparameter(size_t tensor, double value) override;

  std::vector<host::WatchedRecord> describeWatched() const override {
    return described;
  }
  void setCounting(bool isCounted) override {
    setProgram(isCounted ? *watched : *plain);
  }
  host::Status readCounts(const host::WatchedRecord &record,
                          int64_t *fields) override;

private:
  JITStep(StepProgram &program, std::vector<host::TensorInfo> tensors,
          std::shared_ptr<StepValues> values, bool isForward)
      : program(&program), tensors(std::move(tensors)),
        values(std::move(values)), isForward(isForward) {}

  /// Fails if the step calls operations and has no caller.
  host::Status checkCaller() const;
  /// Compiles the function for batches of `samples` if necessary.
  host::Status choose(int64_t samples);
  /// The samples of the batches of a slot.
  host::Status countSamples(int slot, int64_t *samples) const;
  /// The arrays of the current function for the batches of a slot.
  host::Status bind(int slot, llvm::SmallVectorImpl<host::Array *> &arrays);
  host::Status explained(llvm::Error error) const {
    host::Status status = toStatus(std::move(error));
    return explain ? explain(std::move(status)) : status;
  }

  StepProgram *program;
  /// The programs without and with counts, and the counted values. Null and
  /// empty without a call of `setWatched`.
  StepProgram *plain = nullptr, *watched = nullptr;
  std::vector<host::WatchedRecord> described;
  std::vector<host::TensorInfo> tensors;
  std::shared_ptr<StepValues> values;
  bool isForward;
  amp_step_caller caller = {};
  Explainer explain;
  /// The states that ranks divide, while rank 0 reads them.
  host::ArrayMap gathered;
  /// The batches of each slot, by name.
  host::ArrayMap slots[host::kMaxSlots];
  host::ArrayMap metrics;
  /// The function for the last batch, by its size. For each function: the
  /// predictions, by binding.
  BoundStep *current = nullptr;
  int64_t currentSamples = 0;
  /// The arrays of the predictions of a function, by binding.
  struct Predictions {
    std::vector<host::Array> arrays;
    llvm::StringMap<unsigned> positions;
  };
  std::map<const BoundStep *, Predictions> buffers;
  /// The ranks that the C interface provides, or null.
  std::shared_ptr<RankGroup> group;
  int64_t plannedBytes = 0, allocatedBytes = 0;
  bool isPlanned = true;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_JITSTEP_H

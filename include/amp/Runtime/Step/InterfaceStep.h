//===- InterfaceStep.h - Steps behind the C interface -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of a backend. ProgramTable.h exports the steps of its
// implementations.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_STEP_INTERFACESTEP_H
#define AMP_RUNTIME_STEP_INTERFACESTEP_H

#include "amp/Runtime/Host/CheckpointFile.h"
#include "amp/Runtime/Host/Step.h"
#include "amp/Runtime/Step/Export.h"
#include "amp/Runtime/Step/Interface.h"

#include <optional>

namespace amphost {

/// The most slots of batches that a step has.
inline constexpr int kMaxSlots = 2;

/// `amp_step_options` after its checks.
struct StepSettings {
  int device = 0;
  int numSlots = 1;
  /// The stream of the caller, if the caller has given one.
  std::optional<void *> stream;
  /// Without functions: the step allocates.
  amp_step_allocator allocator = {};
  /// If this has no function, the step must have no calls.
  amp_step_caller caller = {};
  uint64_t seed = 0;
  std::string tuneCache;
  bool zeroStates = false, useGraph = true, poison = false, tune = false;
  bool predictions = true, hidesStates = false;
  CheckpointTolerance tolerance;
  /// The rank of this process, the number of ranks, and their connection.
  int rank = 0, numRanks = 1;
  void *communicator = nullptr;
  const amp_step_exchange *exchange = nullptr;
  int64_t deadline = 600; ///< seconds
};

/// A batch that the caller sets.
struct BatchData {
  int slot = 0;
  size_t tensor = 0;
  bool isOnDevice = false;
  Shape shape; ///< fits that of the tensor
  size_t bytes = 0;
  const void *data = nullptr;
  /// The stream to copy on; without a value that of the step.
  std::optional<void *> stream;
};

/// Fails if an element of `data`, which has the type of `tensor` and is in host
/// memory, is not a label, index or cumulative sum of the tensor.
inline Status checkLabels(const TensorInfo &tensor, const void *data,
                          int64_t count) {
  if (tensor.classes <= 0 && !tensor.isCumulative)
    return Status();
  int64_t before = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = tensor.type == ElementType::I32
                              ? static_cast<const int32_t *>(data)[i]
                              : static_cast<const int64_t *>(data)[i];
    const std::string why = checkIndex(tensor, i, value, before);
    if (!why.empty())
      return makeError(
          kInvalidArgument, "value %lld at element %lld of '%s' %s",
          (long long)value, (long long)i, tensor.name.c_str(), why.c_str());
    before = value;
  }
  return Status();
}

/// A step that a caller of the C interface drives.
class InterfaceStep : public Step {
public:
  /// The address of a state, hyperparameter, metric or prediction, or null as
  /// long as it has none.
  virtual void *getData(size_t tensor) = 0;
  /// The bytes of device memory that the step holds.
  virtual int64_t getMemoryBytes() const = 0;
  /// Sets all states to zero, as values of the caller.
  virtual Status zeroStates() = 0;
  /// Makes later calls run on a stream of the caller.
  virtual Status setStream(void *stream) = 0;
  virtual Status setBatch(const BatchData &batch) = 0;
  /// Enqueues steps on the batches of `slot`.
  virtual Status runSlot(int slot, int steps) = 0;
  /// Sets every element of a hyperparameter without a wait.
  virtual Status enqueueHyperparameter(size_t tensor, double value) = 0;
  /// Creates the forward function, without values.
  virtual Status createForwardStep(std::unique_ptr<InterfaceStep> *forward) = 0;

  /// The values that the step can count, without counts.
  virtual std::vector<WatchedRecord> describeWatched() const { return {}; }
  /// Sets whether the last step of each later run counts these values.
  virtual void setCounting(bool) {}
  /// Waits and reads the counts of a value in the last step: at least the
  /// fields that `ValueStatistics::add` reads.
  virtual Status readCounts(const WatchedRecord &, int64_t *) {
    return Status();
  }

  Status watch(int64_t every) override {
    std::vector<WatchedRecord> described = describeWatched();
    if (described.empty())
      return Step::watch(every);
    isWatching = every > 0;
    setCounting(false);
    if (!isWatching)
      return Status();
    const char *precision = getIdentity().precision;
    report.emplace(std::move(described), getLowType(precision ? precision : ""),
                   every);
    return Status();
  }
  Status printWatched(WatchFormat format, const std::string &title,
                      std::string *text) override {
    if (!report)
      return Step::printWatched(format, title, text);
    *text = report->print(format, title);
    return Status();
  }
  /// The report of the counted steps, or null before the first call of `watch`.
  const WatchReport *getWatchReport() const {
    return report ? &*report : nullptr;
  }
  /// Runs steps on the batches of `slot`, and counts values in sampled steps.
  Status runWatched(int slot, int steps) {
    if (!isWatching || steps <= 0)
      return runSlot(slot, steps);
    for (int done = 0; done < steps;) {
      const int64_t before = progress.step;
      const bool isSampled = report->isSampled(before);
      int count = 1;
      while (!isSampled && done + count < steps &&
             !report->isSampled(before + count))
        ++count;
      setCounting(isSampled);
      const Status status = runCounted(slot, count, isSampled);
      if (!status.isOk()) {
        setCounting(false);
        return status;
      }
      done += count;
    }
    return Status();
  }

  Status createForward(std::unique_ptr<Step> *forward) override {
    std::unique_ptr<InterfaceStep> own;
    AMP_RETURN_IF_ERROR(createForwardStep(&own));
    *forward = std::move(own);
    return Status();
  }

  CheckpointTolerance tolerance;

private:
  /// Runs `count` steps, and adds the counts of a sampled step to the report.
  Status runCounted(int slot, int count, bool isSampled) {
    AMP_RETURN_IF_ERROR(runSlot(slot, count));
    if (!isSampled)
      return Status();
    return report->add(progress.step,
                       [&](const WatchedRecord &record, int64_t *fields) {
                         return readCounts(record, fields);
                       });
  }

  std::optional<WatchReport> report;
  bool isWatching = false;
};

/// A compiled program. Its functions may be called by several threads.
class InterfaceProgram {
public:
  virtual ~InterfaceProgram() = default;
  virtual const std::vector<TensorInfo> &getTensors() const = 0;
  /// Returns the number of ranks of a step, or -1 if any number is allowed.
  virtual int getNumRanks() const { return 1; }
  /// Creates a step and allocates its memory. States have no values yet.
  virtual Status create(const StepSettings &settings,
                        std::unique_ptr<InterfaceStep> *step) const = 0;
  /// Frees the program, if it is not static.
  virtual void release() const {}
};

} // namespace amphost

#endif // AMP_RUNTIME_STEP_INTERFACESTEP_H

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
  /// Without a function: the step must have no calls.
  amp_step_caller caller = {};
  uint64_t seed = 0;
  std::string tuneCache;
  bool zeroStates = false, useGraph = true, poison = false, tune = false;
  bool predictions = true;
  CheckpointTolerance tolerance;
  /// The ranks that run the step together, and their connection.
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

/// Fails if a label of `data`, which has the type of `tensor` and is in host
/// memory, is not a class.
inline Status checkLabels(const TensorInfo &tensor, const void *data,
                          int64_t count) {
  if (tensor.classes <= 0)
    return Status();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = tensor.type == ElementType::I32
                              ? static_cast<const int32_t *>(data)[i]
                              : static_cast<const int64_t *>(data)[i];
    if (label < 0 || label >= tensor.classes)
      return makeError(kInvalidArgument,
                       "value %lld at element %lld of '%s' is out of range, "
                       "expected 0 to %lld",
                       (long long)label, (long long)i, tensor.name.c_str(),
                       (long long)tensor.classes - 1);
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

  Status createForward(std::unique_ptr<Step> *forward) override {
    std::unique_ptr<InterfaceStep> own;
    AMP_RETURN_IF_ERROR(createForwardStep(&own));
    *forward = std::move(own);
    return Status();
  }

  CheckpointTolerance tolerance;
};

/// A compiled program. Its functions may be called by several threads.
class InterfaceProgram {
public:
  virtual ~InterfaceProgram() = default;
  virtual const std::vector<TensorInfo> &getTensors() const = 0;
  /// The number of ranks of a step, or -1 for any number.
  virtual int getNumRanks() const { return 1; }
  /// Creates a step and allocates its memory. States have no values yet.
  virtual Status create(const StepSettings &settings,
                        std::unique_ptr<InterfaceStep> *step) const = 0;
  /// Frees the program, if it is not static.
  virtual void release() const {}
};

} // namespace amphost

#endif // AMP_RUNTIME_STEP_INTERFACESTEP_H

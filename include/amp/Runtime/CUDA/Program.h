//===- Program.h - A generated training step at run time --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code that all generated programs share. Programs differ in their tables
// and in the list of launches. A generated file holds
//
//   static const BufferInfo kBuffers[] = {...};      // the memory plan
//   static const GemmConfig kGemms[] or a function that fills them;
//   static const LaunchInfo kLaunches[] = {...};     // costs, for the profile
//   static Status enqueue(StepRun &run) { ... }      // launches, in order
//   static const ProgramInfo kProgram = {...};
//
// and exports it through the C interface (ProgramInterface.h):
//
//   static const ProgramInterface interface(kProgram, forward::kForward);
//
// This file declares a program. ProgramCreation.h, ProgramData.h and
// ProgramRun.h define it.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAM_H
#define AMP_RUNTIME_CUDA_PROGRAM_H

#include "amp/Runtime/CUDA/BatchSlots.h"
#include "amp/Runtime/CUDA/Buffers.h"
#include "amp/Runtime/CUDA/Gemm.h"
#include "amp/Runtime/CUDA/Graph.h"
#include "amp/Runtime/CUDA/ProgramInfo.h"
#include "amp/Runtime/CUDA/ProgramOptions.h"
#include "amp/Runtime/CUDA/ProgramParts.h"
#include "amp/Runtime/Host/CheckpointFile.h"
#include "amp/Runtime/Step/InterfaceStep.h"

#include <memory>
#include <string>
#include <vector>

namespace amp::cuda {

/// One instance of a program: an arena on a device and the state in it. Any
/// thread may call it, with any current device, but only one at a time.
class Program : public InterfaceStep {
public:
  explicit Program(const ProgramInfo &info, const ForwardInfo &forward = {})
      : info(info), forward(forward) {
    for (int i = 0; i < info.numBuffers; ++i)
      tensors.push_back(describeBuffer(info.buffers[i]));
  }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program() override {
    DeviceScope scope(options.device);
    if (ownStream) {
      // Copies run on streams of the caller too.
      (void)slots.delay(stream);
      cudaStreamSynchronize(stream);
    }
    for (StepGraphs &graph : graphs)
      graph.reset();
    for (void *plan : plans)
      info.plans.destroy(plan);
    staging.clear();
    slots.reset();
    spare.reset();
    // Collectives use the memory, and the group may outlive this program.
    if (options.ranks)
      options.ranks->deregisterMemory();
    options.ranks.reset();
    memory.reset();
    for (cudaStream_t created : {ownStream, copyStream})
      if (created)
        cudaStreamDestroy(created);
  }

  /// Allocates, plans and initialises. No device memory is allocated after
  /// that. If there is too little memory, the message says how much is needed.
  Status create(const ProgramOptions &from) {
    AMP_RETURN_IF_ERROR(allocate(from));
    return restart(options.seed);
  }
  /// The same, but leaves the states without values.
  inline Status allocate(const ProgramOptions &from);
  /// Sets the options that `prepare` allocates with.
  void setOptions(const ProgramOptions &from) { options = from; }

  /// Starts again from `seed`, as after creation.
  Status restart(uint64_t seed) {
    return initialize(*this, seed, nullptr, "", /*partial=*/true);
  }

  /// Replaces all states by those of a file that `save` or amp-run wrote. It is
  /// an error if the file has another graph, precision, batch size or other
  /// rules of loss scaling. Nothing changes after an error.
  Status load(const std::string &path) {
    return loadCheckpoint(*this, path,
                          {options.otherScaler, options.otherBatchSize});
  }
  /// Writes all states and the progress, for `load` and amp-run.
  Status save(const std::string &path) { return saveCheckpoint(*this, path); }

  /// Copies a batch to the device before the next step. The batch must have
  /// exactly the size of batch argument `index`. Labels are checked.
  inline Status setBatch(int index, const void *host, size_t bytes);
  /// The same, but `fill` writes the `bytes` bytes to the address that it
  /// receives. Nothing is copied twice.
  template <typename Fill>
  Status fillBatch(int index, size_t bytes, Fill fill);
  /// Sets the hyperparameter `name`.
  Status setHyperparameter(const std::string &name, double value) {
    size_t index = 0;
    AMP_RETURN_IF_ERROR(findHyperparameter(*this, name, &index));
    return enqueueHyperparameter(index, value);
  }

  /// Fails if a state or hyperparameter has no value, or with `batches` a
  /// batch.
  inline Status checkValues(bool batches, int slot = 0) const;
  /// Enqueues `steps` steps. For each reader, the first step runs as launches
  /// and later steps run as a graph. On one rank, only the last step computes
  /// metrics and predictions.
  Status run(int steps) override {
    AMP_RETURN_IF_ERROR(runWatched(hostSlot, steps));
    isFilling = false;
    return Status();
  }
  void setReadsMetrics(bool reads) override { readsMetrics = reads; }
  /// Waits for the device.
  Status synchronize() {
    DeviceScope scope(options.device);
    return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  /// Waits and reads the metrics of the last step, in the order of the plan.
  inline Status readMetrics(float *out, int count);
  /// Only rank 0 receives the values.
  inline Status gatherStates() override;
  /// Whether the ranks divide a state.
  bool hasParts() const {
    for (int i = 0; i < info.numBuffers; ++i)
      if (info.buffers[i].isPart())
        return true;
    return false;
  }
  /// Waits and reads or writes buffer `index` of the plan. If the ranks divide
  /// a state, `array` is the whole state, and each rank stores its part.
  inline Status readBuffer(int index, Array *array);
  inline Status writeBuffer(int index, const Array &array);

  /// Runs `steps` steps as launches with events and returns the table of times.
  inline Status profile(int steps, std::string *table);

  /// Bytes of the arena. Nothing else is allocated except by the libraries.
  int64_t memoryBytes() const {
    return options.predictions && info.predictionBytes ? info.predictionBytes
                                                       : info.arenaBytes;
  }
  const ProgramInfo &getInfo() const { return info; }
  /// The nodes of the graph of a step whose results are read or not.
  size_t getNumGraphNodes(bool isRead = true) const {
    return graphs[isRead ? getGraph(getLastReader()) : 0].getNumNodes();
  }

  // The interface of a step of the host runtime. The tensors are the buffers of
  // the plan.
  const std::vector<TensorInfo> &getTensors() const override { return tensors; }
  CheckpointIdentity getIdentity() const override { return info.identity; }
  int64_t getFixedBatch() const override {
    for (const TensorInfo &tensor : tensors)
      if (tensor.role == Role::Batch && !tensor.shape.empty())
        return tensor.shape[0];
    return 1;
  }
  int64_t getNumRanks() const override {
    return options.ranks ? options.ranks->getNumRanks() : 1;
  }
  Status prepare(int64_t) override {
    return arena ? Status() : allocate(options);
  }
  Status read(size_t tensor, Array *value) override {
    return readBuffer(int(tensor), value);
  }
  Status write(size_t tensor, Array value) override {
    AMP_RETURN_IF_ERROR(writeBuffer(int(tensor), value));
    return synchronize(); // before the value is destroyed
  }
  inline Status fill(size_t tensor, int64_t samples, size_t bytes,
                     const std::function<void(void *)> &fill) override;
  Status wait() override { return synchronize(); }
  bool isAsynchronous() const override { return true; }
  inline Status readMetrics(std::vector<double> *values) override;
  inline void addMemory(Results *results) override;
  inline Status
  createForwardStep(std::unique_ptr<InterfaceStep> *made) override;
  std::vector<EvaluationRule> getEvaluationRules() const override {
    return {forward.rules, forward.rules + forward.numRules};
  }

  // The C interface.
  void *getData(size_t tensor) override {
    // A caller may write a state through its address at any time.
    isExposed |= isState(info.buffers[tensor].role);
    // A caller sees only the whole state, which is not at one address.
    return arena && isInMemory(info.buffers[tensor]) &&
                   !info.buffers[tensor].isPart() &&
                   !info.buffers[tensor].isSplit
               ? arena + info.buffers[tensor].offset
               : nullptr;
  }
  int64_t getMemoryBytes() const override {
    return int64_t(memory.size() + slots.getBytes());
  }
  inline Status zeroStates() override;
  inline Status setStream(void *to) override;
  inline Status setBatch(const BatchData &batch) override;
  inline Status runSlot(int slot, int steps) override;
  inline Status enqueueHyperparameter(size_t tensor, double value) override;

  // Watched values, whose counts are predictions.
  inline std::vector<WatchedRecord> describeWatched() const override;
  void setCounting(bool isCounted) override { counts = isCounted; }
  inline Status readCounts(const WatchedRecord &record,
                           int64_t *fields) override;

private:
  inline Status allocateArena();
  inline Status createPlans();
  inline Status createSlots();
  inline Status prepareRanks();
  inline Status reportMemory(int64_t bytes) const;
  /// Whether to register the memory. The forward function has no collectives.
  bool registersMemory() const {
    return options.registersMemory && options.ranks &&
           info.collectives.numCollectives > 0;
  }
  /// Fills batch argument `index` through pinned memory.
  template <typename Fill>
  Status stageBatch(int slot, size_t index, size_t bytes, cudaStream_t on,
                    Fill fill);
  /// Chooses the slot that the host runtime fills for the next step.
  inline void beginFilling();
  inline Status enqueueStep(cudaStream_t on, Profiler *profiler, Reader reader,
                            bool refreshes, int part = -1);
  /// Whether every step computes the copies of states again.
  bool isRefreshedAlways() const { return keepsCopies && isExposed; }
  /// The reader of the last step of a run.
  Reader getLastReader() const {
    return counts.value_or(options.predictions) ? Reader::Predictions
           : readsMetrics || options.ranks      ? Reader::Metrics
                                                : Reader::Training;
  }
  /// The graph of a step with this reader.
  size_t getGraph(Reader reader) const {
    return hasReaders ? size_t(reader) : 0;
  }
  /// Whether `buffer` is not a prediction that the options leave out.
  bool isInMemory(const BufferInfo &buffer) const {
    return buffer.offset + bytesOf(buffer) <= memoryBytes();
  }

  const ProgramInfo &info;
  const ForwardInfo forward;
  std::vector<TensorInfo> tensors;
  ProgramOptions options;
  /// The stream of all work, which is `ownStream` or one of the caller. Steps
  /// are captured on `ownStream`: the default stream cannot be.
  cudaStream_t stream = nullptr, ownStream = nullptr;
  /// The stream that copies batches if `overlapsCopies` is set.
  cudaStream_t copyStream = nullptr;
  DeviceMemory memory;
  unsigned char *arena = nullptr; ///< `memory` after its allocation
  GemmPlans gemms;
  std::vector<void *> plans;
  DeviceMemory spare;
  std::vector<OptimizerTable> tables;
  /// The graphs of steps by their readers, if the launches of these differ.
  StepGraphs graphs[kNumReaders];
  /// The batch arguments, by their buffers, and the pinned buffers of those
  /// that come from host memory.
  std::vector<size_t> batchBuffers;
  std::vector<std::unique_ptr<Staging>> staging;
  BatchSlots slots;
  /// The slot that the host runtime fills, and whether it has been chosen since
  /// the last run.
  int hostSlot = 0;
  bool isFilling = false;
  bool warm[kNumReaders] = {};
  bool hasReaders = false, readsMetrics = true;
  /// Whether the program keeps copies of states from step to step, whether a
  /// state has changed since the copies were computed, whether the caller has
  /// the address of a state, and `isRefreshedAlways` of the last run.
  bool keepsCopies = false, areCopiesStale = true;
  bool isExposed = false, wasRefreshedAlways = false;
  /// Whether the next runs count values. Empty before `setCounting`.
  std::optional<bool> counts;
  /// Which states and hyperparameters have a value.
  std::vector<bool> written;
  /// The whole states that the ranks divide, from `gatherStates` until the next
  /// run. Empty on ranks other than 0.
  ArrayMap gathered;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAM_H

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
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAM_H
#define AMP_RUNTIME_CUDA_PROGRAM_H

#include "amp/Runtime/CUDA/BatchSlots.h"
#include "amp/Runtime/CUDA/Buffers.h"
#include "amp/Runtime/CUDA/GatherState.h"
#include "amp/Runtime/CUDA/Gemm.h"
#include "amp/Runtime/CUDA/Graph.h"
#include "amp/Runtime/CUDA/ProgramInfo.h"
#include "amp/Runtime/CUDA/ProgramOptions.h"
#include "amp/Runtime/CUDA/ProgramParts.h"
#include "amp/Runtime/Host/CheckpointFile.h"
#include "amp/Runtime/Host/RankPart.h"
#include "amp/Runtime/Step/InterfaceStep.h"

#include <cmath>
#include <cstring>
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
    for (StepGraph &graph : graphs)
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
  inline Status enqueueStep(cudaStream_t on, Profiler *profiler, Reader reader);
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
  StepGraph graphs[kNumReaders];
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
  /// Whether the next runs count values. Empty before `setCounting`.
  std::optional<bool> counts;
  /// Which states and hyperparameters have a value.
  std::vector<bool> written;
  /// The whole states that the ranks divide, from `gatherStates` until the next
  /// run. Empty on ranks other than 0.
  ArrayMap gathered;
};

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

inline Status Program::reportMemory(int64_t bytes) const {
  cudaGetLastError(); // reset the error, which is handled
  size_t free = 0, total = 0;
  AMP_CUDA_CALL(cudaMemGetInfo(&free, &total));
  return makeError(kOutOfMemory,
                   "program '%s' needs %lld bytes of device memory, but %zu "
                   "are free",
                   info.name, (long long)bytes, free);
}

inline Status Program::allocateArena() {
  amp_step_allocator allocator = options.allocator;
  if (registersMemory())
    AMP_RETURN_IF_ERROR(options.ranks->findAllocator(&allocator));
  cudaError_t error =
      memory.allocate(allocator, size_t(memoryBytes()), options.device, stream);
  if (error == cudaErrorMemoryAllocation)
    return reportMemory(memoryBytes());
  AMP_RETURN_IF_ERROR(check(error, "cudaMalloc"));
  if (reinterpret_cast<uintptr_t>(memory.get()) % size_t(kBufferAlignment) != 0)
    return makeError(kInvalidArgument,
                     "the allocator returned an address that is not a multiple "
                     "of %lld",
                     (long long)kBufferAlignment);
  arena = memory.get();
  AMP_CUDA_CALL(cudaMemsetAsync(arena, 0, size_t(memoryBytes()), stream));
  return synchronize();
}

inline Status Program::createPlans() {
  int64_t bytes = 0;
  for (int i = 0; i < info.plans.numPlans; ++i) {
    void *plan = nullptr;
    int64_t spareBytes = 0;
    AMP_RETURN_IF_ERROR(info.plans.create(i, &plan, &spareBytes));
    plans.push_back(plan);
    bytes = std::max(bytes, spareBytes);
  }
  if (bytes == 0)
    return Status();
  cudaError_t error =
      spare.allocate(options.allocator, size_t(bytes), options.device, stream);
  if (error == cudaErrorMemoryAllocation)
    return reportMemory(info.arenaBytes + bytes);
  return check(error, "cudaMalloc");
}

inline Status Program::createSlots() {
  batchBuffers = find(Role::Batch);
  staging.resize(batchBuffers.size());
  std::vector<BatchSlots::Target> targets;
  int64_t bytes = 0;
  for (size_t i : batchBuffers) {
    const BufferInfo &buffer = info.buffers[i];
    targets.push_back({arena + buffer.offset, size_t(bytesOf(buffer))});
    bytes += bytesOf(buffer);
  }
  cudaError_t error = cudaSuccess;
  AMP_RETURN_IF_ERROR(slots.create(std::move(targets), options.numSlots,
                                   options.allocator, options.device, stream,
                                   &error));
  if (error == cudaErrorMemoryAllocation)
    return reportMemory(memoryBytes() + options.numSlots * bytes);
  return check(error, "cudaMalloc");
}

/// Verifies that the ranks are those that the program is for.
inline Status Program::prepareRanks() {
  const CollectiveTable &table = info.collectives;
  if (table.numCollectives == 0) {
    options.ranks.reset();
    return Status();
  }
  if (!options.ranks)
    return makeError(kInvalidArgument,
                     "program '%s' has collectives, expected several ranks to "
                     "run it",
                     info.name);
  if (table.numRanks && table.numRanks != options.ranks->getNumRanks())
    return makeError(kInvalidArgument,
                     "program '%s' is for %d ranks, but %d run it", info.name,
                     table.numRanks, options.ranks->getNumRanks());
  if (registersMemory())
    AMP_RETURN_IF_ERROR(
        options.ranks->registerMemory(arena, size_t(memoryBytes())));
  return options.ranks->prepare(table.collectives, table.numCollectives);
}

inline Status Program::allocate(const ProgramOptions &from) {
  options = from;
  AMP_RETURN_IF_ERROR(verifyProgram(info));
  for (int i = 0; i < info.numLaunches; ++i)
    hasReaders |= info.launches[i].reader != Reader::Training;
  int devices = 0;
  AMP_CUDA_CALL(cudaGetDeviceCount(&devices));
  if (options.device < 0 || options.device >= devices)
    return makeError(kNoDevice, "there is no device %d, but %d in all",
                     options.device, devices);
  DeviceScope scope(options.device);
  AMP_CUDA_CALL(cudaStreamCreateWithFlags(&ownStream, cudaStreamNonBlocking));
  if (options.overlapsCopies)
    AMP_CUDA_CALL(
        cudaStreamCreateWithFlags(&copyStream, cudaStreamNonBlocking));
  stream =
      options.stream ? static_cast<cudaStream_t>(*options.stream) : ownStream;
  AMP_RETURN_IF_ERROR(allocateArena());
  AMP_RETURN_IF_ERROR(gemms.create(info.gemms, info.numGemms,
                                   arena + info.workspaceOffset,
                                   size_t(info.workspaceBytes), options.gemm));
  AMP_RETURN_IF_ERROR(createPlans());
  AMP_RETURN_IF_ERROR(createOptimizerTables(info, arena, &tables));
  AMP_RETURN_IF_ERROR(createSlots());
  AMP_RETURN_IF_ERROR(prepareRanks());
  for (size_t i : find(Role::Constant)) {
    Array array;
    AMP_RETURN_IF_ERROR(initializeTensor(tensors[i], options.seed, &array));
    AMP_RETURN_IF_ERROR(writeBuffer(int(i), array));
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

inline Status Program::readBuffer(int index, Array *array) {
  if (index < 0 || index >= info.numBuffers)
    return makeError(kInvalidArgument, "buffer %d of %d", index,
                     info.numBuffers);
  const BufferInfo &buffer = info.buffers[index];
  if (!arena)
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  if (!isInMemory(buffer))
    return makeError(kInvalidArgument,
                     "'%s' is a prediction, which the step was created without",
                     buffer.name);
  if (buffer.isPart()) {
    const Array *whole = gathered.lookup(buffer.name);
    if (!whole)
      return makeError(kInvalidArgument,
                       "the ranks divide '%s', expected all of them to gather "
                       "it first",
                       buffer.name);
    *array = whole->clone();
    return Status();
  }
  DeviceScope scope(options.device);
  *array = Array(buffer.type, tensors[size_t(index)].shape);
  std::vector<unsigned char> halves(buffer.isSplit ? storedBytesOf(buffer) : 0);
  AMP_CUDA_CALL(cudaMemcpyAsync(
      buffer.isSplit ? halves.data() : array->data(), arena + buffer.offset,
      size_t(storedBytesOf(buffer)), cudaMemcpyDeviceToHost, stream));
  AMP_RETURN_IF_ERROR(synchronize());
  if (buffer.isSplit)
    joinHalves(halves.data(), countOf(buffer), array->data());
  return Status();
}

inline Status Program::writeBuffer(int index, const Array &array) {
  if (index < 0 || index >= info.numBuffers)
    return makeError(kInvalidArgument, "buffer %d of %d", index,
                     info.numBuffers);
  const BufferInfo &buffer = info.buffers[index];
  written.resize(size_t(info.numBuffers));
  if (!tensors[size_t(index)].fits(array))
    return makeError(kInvalidArgument, "'%s' is %s, expected %s", buffer.name,
                     array.describe().c_str(),
                     tensors[size_t(index)].describe().c_str());
  written[size_t(index)] = true;
  DeviceScope scope(options.device);
  if (buffer.isPart() || buffer.isSplit) {
    const Array stored =
        buffer.isSplit
            ? splitHalves(array)
            : takeRankPart(array, countOf(buffer), options.ranks->getRank());
    AMP_CUDA_CALL(cudaMemcpyAsync(arena + buffer.offset, stored.data(),
                                  stored.getNumBytes(), cudaMemcpyHostToDevice,
                                  stream));
    return synchronize(); // before the copy is destroyed
  }
  return check(cudaMemcpyAsync(arena + buffer.offset, array.data(),
                               array.getNumBytes(), cudaMemcpyHostToDevice,
                               stream),
               "cudaMemcpyAsync");
}

template <typename Fill>
Status Program::stageBatch(int slot, size_t index, size_t bytes,
                           cudaStream_t on, Fill fill) {
  const size_t buffer = batchBuffers[index];
  std::unique_ptr<Staging> &pinned = staging[index];
  if (!pinned) {
    pinned = std::make_unique<Staging>();
    AMP_RETURN_IF_ERROR(pinned->create(bytes));
  }
  void *data = nullptr;
  AMP_RETURN_IF_ERROR(pinned->acquire(&data));
  fill(data);
  AMP_RETURN_IF_ERROR(
      checkLabels(tensors[buffer], data, countOf(info.buffers[buffer])));
  return slots.fill(slot, index, on, [&](unsigned char *place) {
    return pinned->send(place, on);
  });
}

inline void Program::beginFilling() {
  if (!options.overlapsCopies || isFilling)
    return;
  isFilling = true;
  hostSlot = 1 - hostSlot;
  slots.empty(hostSlot);
}

template <typename Fill>
Status Program::fillBatch(int index, size_t bytes, Fill fill) {
  const std::vector<size_t> batches = find(Role::Batch);
  if (index < 0 || index >= int(batches.size()))
    return makeError(kInvalidArgument, "batch argument %d of %zu", index,
                     batches.size());
  const BufferInfo *buffer = &info.buffers[batches[size_t(index)]];
  if (bytes != size_t(bytesOf(*buffer)))
    return makeError(kInvalidArgument,
                     "batch argument '%s' has %zu bytes, expected %lld (%s)",
                     buffer->name, bytes, (long long)bytesOf(*buffer),
                     describeBuffer(*buffer).describe().c_str());
  if (size_t(index) >= batchBuffers.size())
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  DeviceScope scope(options.device);
  beginFilling();
  return stageBatch(hostSlot, size_t(index), bytes,
                    copyStream ? copyStream : stream, fill);
}

inline Status Program::setBatch(int index, const void *host, size_t bytes) {
  return fillBatch(index, host ? bytes : 0,
                   [&](void *to) { std::memcpy(to, host, bytes); });
}

inline Status Program::fill(size_t tensor, int64_t, size_t bytes,
                            const std::function<void(void *)> &fill) {
  int index = 0;
  for (size_t batch : find(Role::Batch)) {
    if (batch == tensor)
      return fillBatch(index, bytes, fill);
    ++index;
  }
  return makeError(kInvalidArgument, "buffer %zu is not a batch", tensor);
}

inline Status Program::setBatch(const BatchData &batch) {
  DeviceScope scope(options.device);
  const cudaStream_t on =
      batch.stream ? static_cast<cudaStream_t>(*batch.stream) : stream;
  size_t index = 0;
  while (batchBuffers[index] != batch.tensor)
    ++index;
  if (!batch.isOnDevice)
    return stageBatch(batch.slot, index, batch.bytes, on, [&](void *to) {
      if (batch.bytes)
        std::memcpy(to, batch.data, batch.bytes);
    });
  return slots.fill(batch.slot, index, on, [&](unsigned char *place) {
    return check(cudaMemcpyAsync(place, batch.data, batch.bytes,
                                 cudaMemcpyDeviceToDevice, on),
                 "cudaMemcpyAsync");
  });
}

inline Status Program::gatherStates() {
  if (!hasParts())
    return Status();
  AMP_RETURN_IF_ERROR(synchronize());
  DeviceScope scope(options.device);
  return gatherParts(info, tensors, arena, *options.ranks, &gathered);
}

inline void Program::addMemory(Results *results) {
  results->emplace_back("bytes of device memory", double(getMemoryBytes()));
  if (!hasParts())
    return;
  addStateBytes(
      tensors, [&](size_t i) { return bytesOf(info.buffers[i]); }, results);
}

inline Status Program::zeroStates() {
  DeviceScope scope(options.device);
  written.resize(size_t(info.numBuffers));
  for (int i = 0; i < info.numBuffers; ++i) {
    const BufferInfo &buffer = info.buffers[i];
    if (!isState(buffer.role))
      continue;
    AMP_CUDA_CALL(cudaMemsetAsync(arena + buffer.offset, 0,
                                  size_t(storedBytesOf(buffer)), stream));
    written[size_t(i)] = true;
  }
  return synchronize();
}

inline Status Program::enqueueHyperparameter(size_t tensor, double value) {
  const BufferInfo &buffer = info.buffers[tensor];
  if (!arena)
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  DeviceScope scope(options.device);
  Array element(buffer.type, {});
  element.fill(value);
  AMP_RETURN_IF_ERROR(
      enqueueFill(stream, arena + buffer.offset, countOf(buffer), element));
  written.resize(size_t(info.numBuffers));
  written[tensor] = true;
  return Status();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

inline Status Program::enqueueStep(cudaStream_t on, Profiler *profiler,
                                   Reader reader) {
  if (options.poison && memoryBytes() > info.stateBytes)
    AMP_CUDA_CALL(cudaMemsetAsync(arena + info.stateBytes, 0xff,
                                  size_t(memoryBytes() - info.stateBytes), on));
  StepRun step;
  step.stream = on;
  step.arena = arena;
  step.gemms = &gemms;
  step.optimizers = tables.data();
  step.info = &info;
  step.profiler = profiler;
  step.plans = plans.data();
  step.spareWorkspace = spare.get();
  step.reader = reader;
  step.ranks = options.ranks.get();
  if (step.ranks) {
    step.rank = step.ranks->getRank();
    step.numRanks = step.ranks->getNumRanks();
  }
  return info.enqueue(step);
}

inline Status Program::checkValues(bool batches, int slot) const {
  if (!arena)
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  auto missing = [&](size_t buffer, const char *what) {
    return makeError(kInvalidArgument, "'%s' has no value: %s",
                     info.buffers[buffer].name, what);
  };
  for (size_t i = 0; i < size_t(info.numBuffers); ++i)
    if (info.buffers[i].role <= Role::Hyperparameter &&
        (i >= written.size() || !written[i]))
      return missing(i, "load it from a file, or set it");
  for (size_t i = 0; batches && i < batchBuffers.size(); ++i)
    if (!slots.isFilled(slot, i))
      return missing(batchBuffers[i], "set a batch first");
  return Status();
}

inline Status Program::setStream(void *to) {
  DeviceScope scope(options.device);
  Event event;
  AMP_RETURN_IF_ERROR(event.create());
  AMP_RETURN_IF_ERROR(event.record(stream));
  AMP_RETURN_IF_ERROR(event.delay(static_cast<cudaStream_t>(to)));
  stream = static_cast<cudaStream_t>(to);
  return Status();
}

inline Status Program::runSlot(int slot, int steps) {
  if (steps < 0)
    return makeError(kInvalidArgument,
                     "%d steps to run, expected a number that is not negative",
                     steps);
  AMP_RETURN_IF_ERROR(checkValues(/*batches=*/true, slot));
  gathered = ArrayMap();
  DeviceScope scope(options.device);
  AMP_RETURN_IF_ERROR(slots.begin(slot, stream));
  const Reader last = getLastReader();
  for (int i = 0; i < steps; ++i) {
    // All ranks must run and capture the same steps, though only one of them
    // shows metrics.
    const Reader reader =
        options.ranks || i + 1 == steps ? last : Reader::Training;
    const size_t number = getGraph(reader);
    const bool isCaptured = options.useGraph && warm[number];
    if (options.ranks)
      options.ranks->beginStep();
    // Do not capture the first step: libraries load their kernels lazily.
    if (!isCaptured) {
      AMP_RETURN_IF_ERROR(enqueueStep(stream, nullptr, reader));
      warm[number] = true;
    } else {
      StepGraph &graph = graphs[number];
      if (!graph.isCaptured())
        AMP_RETURN_IF_ERROR(graph.capture(ownStream, [&](cudaStream_t on) {
          return enqueueStep(on, nullptr, reader);
        }));
      AMP_RETURN_IF_ERROR(graph.launch(stream));
    }
    ++progress.step;
    progress.batchSize = getFixedBatch() * getNumRanks();
  }
  return slots.end(slot, stream);
}

inline std::vector<WatchedRecord> Program::describeWatched() const {
  std::vector<WatchedRecord> records;
  for (size_t i : find(Role::Prediction)) {
    WatchedRecord record;
    if (options.predictions && readWatchedName(tensors[i].name, &record))
      records.push_back(std::move(record));
  }
  return records;
}

inline Status Program::readCounts(const WatchedRecord &record,
                                  int64_t *fields) {
  for (size_t i : find(Role::Prediction)) {
    if (tensors[i].name != record.prediction)
      continue;
    Array array;
    AMP_RETURN_IF_ERROR(readBuffer(int(i), &array));
    if (array.getNumBytes() != kNumStatistics * sizeof(int64_t))
      break;
    std::memcpy(fields, array.data(), array.getNumBytes());
    return Status();
  }
  return makeError(kInvalidArgument, "the step returned no counts of '%s'",
                   record.name.c_str());
}

inline Status Program::readMetrics(float *out, int count) {
  const std::vector<size_t> metrics = find(Role::Metric);
  if (count != int(metrics.size()))
    return makeError(kInvalidArgument, "%d metrics asked for, there are %zu",
                     count, metrics.size());
  for (int i = 0; i < count; ++i) {
    Array array;
    AMP_RETURN_IF_ERROR(readBuffer(int(metrics[size_t(i)]), &array));
    out[i] = float(array.getDouble(0));
  }
  return Status();
}

inline Status Program::readMetrics(std::vector<double> *values) {
  std::vector<float> metrics(find(Role::Metric).size());
  AMP_RETURN_IF_ERROR(readMetrics(metrics.data(), int(metrics.size())));
  values->assign(metrics.begin(), metrics.end());
  return Status();
}

inline Status Program::createForwardStep(std::unique_ptr<InterfaceStep> *made) {
  if (!forward.program)
    return makeError(kInvalidArgument,
                     "'%s' has been emitted without a forward function, which "
                     "--eval and --predict need",
                     info.name);
  auto program = std::make_unique<Program>(*forward.program);
  ProgramOptions own = options;
  if (own.overlapsCopies)
    own.numSlots = 1; // a caller waits for each result
  own.overlapsCopies = false;
  // A forward program has no collectives. The memory of this program stays
  // registered.
  own.ranks.reset();
  own.registersMemory = false;
  if (arena && stream != ownStream)
    own.stream = stream;
  program->setOptions(own);
  *made = std::move(program);
  return Status();
}

inline Status Program::profile(int steps, std::string *table) {
  DeviceScope scope(options.device);
  cudaDeviceProp properties;
  AMP_CUDA_CALL(cudaGetDeviceProperties(&properties, options.device));
  AMP_RETURN_IF_ERROR(run(1)); // warm
  Profiler profiler;
  AMP_RETURN_IF_ERROR(profiler.create(info.launches, info.numLaunches));
  for (int i = 0; i < steps; ++i) {
    if (options.ranks)
      options.ranks->beginStep();
    AMP_RETURN_IF_ERROR(enqueueStep(stream, &profiler, Reader::Training));
    AMP_RETURN_IF_ERROR(profiler.finishStep(stream));
    ++progress.step;
    progress.batchSize = getFixedBatch() * getNumRanks();
  }
  *table = profiler.table(findGPUDevice(properties.name));
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAM_H

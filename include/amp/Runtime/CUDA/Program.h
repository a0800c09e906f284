//===- Program.h - A generated training step at run time --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all generated programs have in common: they differ in the tables and in
// the list of launches. A generated file holds
//
//   static const BufferInfo kBuffers[] = {...};      // the memory plan
//   static const GemmConfig kGemms[] or a function that fills them;
//   static const LaunchInfo kLaunches[] = {...};     // costs, for the profile
//   static Status enqueue(StepRun &run) { ... }      // launches, in order
//   static const ProgramInfo kProgram = {...};
//
// and a C interface of one-line functions over `Program`:
//
//   struct step_t : amp::cuda::Program { using Program::Program; };
//   extern "C" int step_run(step_t *step, int steps) {
//     return amp::cuda::reportCall([&] { return step->run(steps); });
//   }
//   extern "C" const char *step_last_error() { return amp::cuda::lastError(); }
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAM_H
#define AMP_RUNTIME_CUDA_PROGRAM_H

#include "amp/Runtime/CUDA/Gemm.h"
#include "amp/Runtime/CUDA/Graph.h"
#include "amp/Runtime/CUDA/Init.h"
#include "amp/Runtime/CUDA/Optimizer.h"
#include "amp/Runtime/CUDA/Profile.h"
#include "amp/Runtime/CUDA/Staging.h"
#include "amp/Runtime/CUDA/StateRecord.h"

#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace amp::cuda {

/// One entry of an optimizer's table, by offsets in the arena; -1: none.
struct OptimizerEntry {
  int64_t parameter = -1, gradient = -1, first = -1, second = -1, copy = -1;
  int64_t count = 0;
  Type gradientType = Type::F32, copyType = Type::F32;
  float weightDecay = 0.0f;
};
struct OptimizerGroup {
  const OptimizerEntry *entries = nullptr;
  int32_t size = 0;
  int64_t tableOffset = 0; ///< `optimizerTableBytes(size)`, in the state region
};

struct StepRun;

struct ProgramInfo {
  const char *name = "";
  /// The arena: [0, stateBytes) keeps its contents from step to step (states,
  /// metrics, predictions, batches, tables, tickets), [stateBytes, arenaBytes)
  /// does not.
  int64_t arenaBytes = 0, stateBytes = 0;
  const BufferInfo *buffers = nullptr;
  int numBuffers = 0;
  const GemmConfig *gemms = nullptr;
  int numGemms = 0;
  /// Of the workspace of products; `workspaceBytes` 0 if there are none.
  int64_t workspaceOffset = 0, workspaceBytes = 0;
  const OptimizerGroup *optimizers = nullptr;
  int numOptimizers = 0;
  const LaunchInfo *launches = nullptr;
  int numLaunches = 0;
  /// Enqueues one step.
  Status (*enqueue)(const StepRun &run) = nullptr;
  /// What its states are of; not known of a program written by hand.
  StateIdentity identity;
};

/// What `enqueue` gets.
struct StepRun {
  cudaStream_t stream = nullptr;
  unsigned char *arena = nullptr;
  const GemmPlans *gemms = nullptr;
  const OptimizerTable *optimizers = nullptr;
  const ProgramInfo *info = nullptr;
  Profiler *profiler = nullptr;

  /// The buffer at `offset`.
  template <typename T>
  T *at(int64_t offset) const {
    return reinterpret_cast<T *>(arena + offset);
  }
  /// NVTX range and profile of launch `index` while the result lives.
  LaunchScope scope(int index) const {
    return LaunchScope(info->launches, index, stream, profiler);
  }
};

struct ProgramOptions {
  int device = 0;
  uint64_t seed = 0;
  bool useGraph = true;
  /// Fills what does not outlive a step with NaN before each step: finds reads
  /// of what was never written.
  bool poison = false;
  /// Resumes states of other rules of loss scaling, or of another batch size.
  bool otherScaler = false, otherBatchSize = false;
  GemmOptions gemm;
};

/// Where a run is: what amp-run keeps in the member `__amp_progress__`.
struct Progress {
  int64_t step = 0;
  uint64_t seed = 0; ///< of the order of the data
  int64_t epoch = 0;
  int64_t offset = 0; ///< samples of this epoch already used
  int64_t samples = 0;
};

/// One instance: an arena on a device and the state in it. Any thread may call
/// it, whatever device is current there, but only one at a time.
class Program {
public:
  explicit Program(const ProgramInfo &info) : info(info) {}
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;
  ~Program() {
    DeviceScope scope(options.device);
    if (stream)
      cudaStreamSynchronize(stream);
    graph.reset();
    staging.clear();
    cudaFree(arena);
    if (stream)
      cudaStreamDestroy(stream);
  }

  /// Allocates, plans and initialises; no allocation after that. Says how much
  /// memory is needed if there is too little.
  inline Status create(const ProgramOptions &from);

  /// Starts anew from `seed`, as if just created.
  Status restart(uint64_t seed) {
    options.seed = seed;
    return initialize(seed);
  }

  /// Replaces all states by those of a file that `save` or amp-run wrote. A
  /// file of another graph, precision, batch size, or of other rules of loss
  /// scaling, is an error and changes nothing.
  inline Status load(const std::string &path);
  /// Replaces parameters and model states by the arrays of their names, as far
  /// as the file has them, rounded to their types; copies of parameters follow.
  /// All other states start anew; `missing` takes the names of those that the
  /// file could have had.
  inline Status loadWeights(const std::string &path,
                            std::vector<std::string> *missing = nullptr);
  /// Writes all states and the progress, for `load` and amp-run.
  inline Status save(const std::string &path);

  /// Copies a batch, of exactly the size of batch argument `index`, to the
  /// device before the next step. Labels are checked.
  inline Status setBatch(int index, const void *host, size_t bytes);
  /// The same, of the `bytes` that `fill` writes where it is told to; nothing
  /// is copied twice.
  template <typename Fill>
  Status fillBatch(int index, size_t bytes, Fill fill);
  /// Sets the hyperparameter `name`.
  inline Status setHyperparameter(const std::string &name, double value);

  /// Fails if a state or hyperparameter, or a batch with `batches`, has no
  /// value.
  inline Status checkValues(bool batches) const;
  /// Enqueues `steps` steps. The first runs as launches, the others as a graph.
  inline Status run(int steps);
  /// Waits.
  Status synchronize() {
    DeviceScope scope(options.device);
    return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  /// Waits and reads the metrics of the last step, in the order of the plan.
  inline Status readMetrics(float *out, int count);
  /// Waits and reads, or writes, buffer `index` of the plan.
  inline Status readBuffer(int index, HostArray *array);
  inline Status writeBuffer(int index, const HostArray &array);

  /// Runs `steps` steps as launches with events and gives the table of times.
  inline Status profile(int steps, std::string *table);

  /// Of the arena; nothing else is allocated but what the libraries need.
  int64_t memoryBytes() const { return info.arenaBytes; }
  const ProgramInfo &getInfo() const { return info; }
  /// Samples of a batch.
  int64_t batchSize() const {
    for (int i : buffersOf(Role::Batch))
      if (info.buffers[i].rank > 0)
        return info.buffers[i].shape[0];
    return 1;
  }
  size_t getNumGraphNodes() const { return graph.getNumNodes(); }

  /// The buffers with a role, by their index in the plan.
  std::vector<int> buffersOf(Role role) const {
    std::vector<int> result;
    for (int i = 0; i < info.numBuffers; ++i)
      if (info.buffers[i].role == role)
        result.push_back(i);
    return result;
  }
  /// The states, in the order of the plan.
  std::vector<int> states() const {
    std::vector<int> result;
    for (int i = 0; i < info.numBuffers; ++i)
      if (info.buffers[i].role <= Role::ScalerState)
        result.push_back(i);
    return result;
  }

  Progress progress;

private:
  inline Status verifyInfo() const;
  inline Status enqueueStep(Profiler *profiler);
  inline Status initialize(uint64_t seed);
  inline Status checkStates(const std::string &path,
                            const std::vector<HostArray> &arrays) const;
  inline Status writeStates(const std::vector<HostArray> &arrays);

  const ProgramInfo &info;
  ProgramOptions options;
  cudaStream_t stream = nullptr;
  unsigned char *arena = nullptr;
  GemmPlans gemms;
  std::vector<OptimizerTable> tables;
  StepGraph graph;
  /// Of the batch arguments, in order.
  std::vector<std::unique_ptr<Staging>> staging;
  bool warm = false;
  /// Which buffers have got a value from the host.
  std::vector<bool> written;
};

/// The message of the last error reported in this thread; empty if none.
inline std::string &lastErrorText() {
  static thread_local std::string text;
  return text;
}
inline const char *lastError() { return lastErrorText().c_str(); }

/// Keeps the message of an error for `lastError` and returns its code.
inline int report(const Status &status) {
  lastErrorText() = status.getMessage();
  return status.getCode();
}

/// Reports what `body` returns. Nothing is thrown to a caller, which may be C.
template <typename Body>
int reportCall(Body &&body) {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    // Short enough to need no memory.
    return report(Status(kOutOfMemory, "no host memory"));
  } catch (const std::exception &exception) {
    return report(Status(kInvalidArgument, exception.what()));
  }
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// A plan that was damaged by hand must not write outside of the arena.
inline Status Program::verifyInfo() const {
  if (!info.enqueue || info.arenaBytes <= 0 || info.stateBytes < 0 ||
      info.stateBytes > info.arenaBytes)
    return makeError(kInvalidArgument, "program '%s' has no step or no arena",
                     info.name);
  for (int i = 0; i < info.numBuffers; ++i) {
    const BufferInfo &b = info.buffers[i];
    int64_t end = b.role == Role::Temporary ? info.arenaBytes : info.stateBytes;
    if (b.offset < 0 || b.offset % kBufferAlignment != 0 ||
        b.offset + bytesOf(b) > end)
      return makeError(kInvalidArgument,
                       "buffer '%s' at %lld of %lld bytes does not lie in its "
                       "part of the arena, or is not aligned to %lld",
                       b.name, (long long)b.offset, (long long)bytesOf(b),
                       (long long)kBufferAlignment);
  }
  return Status();
}

inline Status Program::create(const ProgramOptions &from) {
  options = from;
  AMP_RETURN_IF_ERROR(verifyInfo());
  int devices = 0;
  AMP_CUDA_CALL(cudaGetDeviceCount(&devices));
  if (options.device < 0 || options.device >= devices)
    return makeError(kNoDevice, "there is no device %d, but %d in all",
                     options.device, devices);
  DeviceScope scope(options.device);
  AMP_CUDA_CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaError_t error =
      cudaMalloc(reinterpret_cast<void **>(&arena), size_t(info.arenaBytes));
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError(); // it has been dealt with
    size_t free = 0, total = 0;
    AMP_CUDA_CALL(cudaMemGetInfo(&free, &total));
    return makeError(kOutOfMemory,
                     "program '%s' needs %lld bytes of device memory, but %zu "
                     "are free",
                     info.name, (long long)info.arenaBytes, free);
  }
  AMP_RETURN_IF_ERROR(check(error, "cudaMalloc"));
  AMP_CUDA_CALL(cudaMemsetAsync(arena, 0, size_t(info.arenaBytes), stream));
  AMP_RETURN_IF_ERROR(synchronize());

  AMP_RETURN_IF_ERROR(gemms.create(info.gemms, info.numGemms,
                                   arena + info.workspaceOffset,
                                   size_t(info.workspaceBytes), options.gemm));
  for (int i = 0; i < info.numOptimizers; ++i) {
    const OptimizerGroup &group = info.optimizers[i];
    auto pointer = [&](int64_t offset) -> void * {
      return offset < 0 ? nullptr : arena + offset;
    };
    std::vector<OptimizerTensor> tensors;
    for (int32_t j = 0; j < group.size; ++j) {
      const OptimizerEntry &entry = group.entries[j];
      OptimizerTensor tensor;
      tensor.parameter = static_cast<float *>(pointer(entry.parameter));
      tensor.gradient = pointer(entry.gradient);
      tensor.first = static_cast<float *>(pointer(entry.first));
      tensor.second = static_cast<float *>(pointer(entry.second));
      tensor.copy = pointer(entry.copy);
      tensor.count = entry.count;
      tensor.gradientType = entry.gradientType;
      tensor.copyType = entry.copyType;
      tensor.weightDecay = entry.weightDecay;
      tensors.push_back(tensor);
    }
    OptimizerTable table;
    AMP_RETURN_IF_ERROR(writeOptimizerTable(tensors.data(), group.size,
                                            arena + group.tableOffset, &table));
    tables.push_back(table);
  }
  for (int i : buffersOf(Role::Batch)) {
    staging.push_back(std::make_unique<Staging>());
    AMP_RETURN_IF_ERROR(
        staging.back()->create(size_t(bytesOf(info.buffers[i]))));
  }
  for (int i : buffersOf(Role::Constant)) {
    HostArray array;
    AMP_RETURN_IF_ERROR(initializeArray(info.buffers[i], options.seed, &array));
    AMP_RETURN_IF_ERROR(writeBuffer(i, array));
  }
  return initialize(options.seed);
}

inline Status Program::initialize(uint64_t seed) {
  progress = Progress();
  progress.seed = seed;
  std::vector<HostArray> arrays;
  AMP_RETURN_IF_ERROR(
      initializeArrays(info.buffers, info.numBuffers, seed, &arrays));
  return writeStates(arrays);
}

/// Writes the arrays to the buffers of their names.
inline Status Program::writeStates(const std::vector<HostArray> &arrays) {
  for (int i = 0; i < info.numBuffers; ++i)
    if (info.buffers[i].role <= Role::Hyperparameter)
      if (const HostArray *array = findArray(arrays, info.buffers[i].name))
        AMP_RETURN_IF_ERROR(writeBuffer(i, *array));
  return Status();
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

inline Status Program::readBuffer(int index, HostArray *array) {
  if (index < 0 || index >= info.numBuffers)
    return makeError(kInvalidArgument, "buffer %d of %d", index,
                     info.numBuffers);
  const BufferInfo &buffer = info.buffers[index];
  DeviceScope scope(options.device);
  *array = makeArray(buffer);
  AMP_CUDA_CALL(cudaMemcpyAsync(array->bytes.data(), arena + buffer.offset,
                                array->bytes.size(), cudaMemcpyDeviceToHost,
                                stream));
  return synchronize();
}

inline Status Program::writeBuffer(int index, const HostArray &array) {
  if (index < 0 || index >= info.numBuffers)
    return makeError(kInvalidArgument, "buffer %d of %d", index,
                     info.numBuffers);
  const BufferInfo &buffer = info.buffers[index];
  written.resize(size_t(info.numBuffers));
  if (array.describe() != makeArray(buffer).describe())
    return makeError(kInvalidArgument, "'%s' is %s, expected %s", buffer.name,
                     array.describe().c_str(),
                     makeArray(buffer).describe().c_str());
  written[size_t(index)] = true;
  DeviceScope scope(options.device);
  return check(cudaMemcpyAsync(arena + buffer.offset, array.bytes.data(),
                               array.bytes.size(), cudaMemcpyHostToDevice,
                               stream),
               "cudaMemcpyAsync");
}

template <typename Fill>
Status Program::fillBatch(int index, size_t bytes, Fill fill) {
  std::vector<int> batches = buffersOf(Role::Batch);
  if (index < 0 || index >= int(batches.size()))
    return makeError(kInvalidArgument, "batch argument %d of %zu", index,
                     batches.size());
  const BufferInfo *buffer = &info.buffers[batches[size_t(index)]];
  if (bytes != size_t(bytesOf(*buffer)))
    return makeError(kInvalidArgument,
                     "batch argument '%s' has %zu bytes, expected %lld (%s)",
                     buffer->name, bytes, (long long)bytesOf(*buffer),
                     makeArray(*buffer).describe().c_str());
  if (size_t(index) >= staging.size())
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  DeviceScope scope(options.device);
  Staging &slots = *staging[size_t(index)];
  void *data = nullptr;
  AMP_RETURN_IF_ERROR(slots.acquire(&data));
  fill(data);
  for (int64_t i = 0; buffer->classes > 0 && i < countOf(*buffer); ++i) {
    int64_t label = buffer->type == Type::I32
                        ? static_cast<const int32_t *>(data)[i]
                        : static_cast<const int64_t *>(data)[i];
    if (label < 0 || label >= buffer->classes)
      return makeError(kInvalidArgument,
                       "value %lld at element %lld of '%s' is out of range, "
                       "expected 0 to %lld",
                       (long long)label, (long long)i, buffer->name,
                       (long long)buffer->classes - 1);
  }
  written.resize(size_t(info.numBuffers));
  written[size_t(buffer - info.buffers)] = true;
  return slots.send(arena + buffer->offset, stream);
}

inline Status Program::setBatch(int index, const void *host, size_t bytes) {
  return fillBatch(index, host ? bytes : 0,
                   [&](void *to) { std::memcpy(to, host, bytes); });
}

inline Status Program::setHyperparameter(const std::string &name,
                                         double value) {
  std::string known;
  for (int i : buffersOf(Role::Hyperparameter)) {
    if (name == info.buffers[i].name) {
      HostArray array = makeArray(info.buffers[i]);
      for (int64_t j = 0; j < array.count(); ++j)
        array.set(j, value);
      return writeBuffer(i, array);
    }
    known += std::string(known.empty() ? "" : ", ") + info.buffers[i].name;
  }
  return makeError(kInvalidArgument,
                   "there is no hyperparameter '%s'; the step has %s",
                   name.c_str(), known.empty() ? "none" : known.c_str());
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

inline Status Program::enqueueStep(Profiler *profiler) {
  if (options.poison && info.arenaBytes > info.stateBytes)
    AMP_CUDA_CALL(cudaMemsetAsync(arena + info.stateBytes, 0xff,
                                  size_t(info.arenaBytes - info.stateBytes),
                                  stream));
  StepRun step;
  step.stream = stream;
  step.arena = arena;
  step.gemms = &gemms;
  step.optimizers = tables.data();
  step.info = &info;
  step.profiler = profiler;
  return info.enqueue(step);
}

inline Status Program::checkValues(bool batches) const {
  if (!arena)
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  for (int i = 0; i < info.numBuffers; ++i)
    if (info.buffers[i].role <=
            (batches ? Role::Batch : Role::Hyperparameter) &&
        (size_t(i) >= written.size() || !written[size_t(i)]))
      return makeError(kInvalidArgument, "'%s' has no value: %s",
                       info.buffers[i].name,
                       info.buffers[i].role == Role::Batch
                           ? "set a batch first"
                           : "load it from a file, or set it");
  return Status();
}

inline Status Program::run(int steps) {
  if (steps < 0)
    return makeError(kInvalidArgument,
                     "%d steps to run, expected a number that is not negative",
                     steps);
  AMP_RETURN_IF_ERROR(checkValues(/*batches=*/true));
  DeviceScope scope(options.device);
  for (int i = 0; i < steps; ++i) {
    // Not captured the first time: libraries load their kernels lazily.
    if (!options.useGraph || !warm) {
      AMP_RETURN_IF_ERROR(enqueueStep(nullptr));
      warm = true;
    } else {
      if (!graph.isCaptured())
        AMP_RETURN_IF_ERROR(graph.capture(
            stream, [&](cudaStream_t) { return enqueueStep(nullptr); }));
      AMP_RETURN_IF_ERROR(graph.launch(stream));
    }
    ++progress.step;
  }
  return Status();
}

inline Status Program::readMetrics(float *out, int count) {
  std::vector<int> metrics = buffersOf(Role::Metric);
  if (count != int(metrics.size()))
    return makeError(kInvalidArgument, "%d metrics asked for, there are %zu",
                     count, metrics.size());
  for (int i = 0; i < count; ++i) {
    HostArray array;
    AMP_RETURN_IF_ERROR(readBuffer(metrics[size_t(i)], &array));
    out[i] = float(array.get(0));
  }
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
    AMP_RETURN_IF_ERROR(enqueueStep(&profiler));
    AMP_RETURN_IF_ERROR(profiler.finishStep(stream));
    ++progress.step;
  }
  *table = profiler.table(findDeviceRates(properties.name));
  return Status();
}

} // namespace amp::cuda

// The rest of the members.
#include "amp/Runtime/CUDA/ProgramFiles.h"

#endif // AMP_RUNTIME_CUDA_PROGRAM_H

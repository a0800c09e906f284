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

#include "amp/Runtime/CUDA/Buffers.h"
#include "amp/Runtime/CUDA/Gemm.h"
#include "amp/Runtime/CUDA/Graph.h"
#include "amp/Runtime/CUDA/Optimizer.h"
#include "amp/Runtime/CUDA/Profile.h"
#include "amp/Runtime/CUDA/Staging.h"
#include "amp/Runtime/Host/CheckpointFile.h"

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
  /// The size of the arena and of its state region. The bytes [0, stateBytes)
  /// keep their contents from step to step: states, metrics, predictions,
  /// batches, tables, arrival counters. The bytes [stateBytes, arenaBytes) do
  /// not.
  int64_t arenaBytes = 0, stateBytes = 0;
  const BufferInfo *buffers = nullptr;
  int numBuffers = 0;
  const GemmConfig *gemms = nullptr;
  int numGemms = 0;
  /// The workspace of products. `workspaceBytes` is 0 if there are none.
  int64_t workspaceOffset = 0, workspaceBytes = 0;
  const OptimizerGroup *optimizers = nullptr;
  int numOptimizers = 0;
  const LaunchInfo *launches = nullptr;
  int numLaunches = 0;
  /// Enqueues one step.
  Status (*enqueue)(const StepRun &run) = nullptr;
  /// The run that the states belong to. A program written by hand leaves it
  /// empty.
  CheckpointIdentity identity;
};

/// The arguments of `enqueue`.
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
  /// Opens the NVTX range and the profile of launch `index` until the result is
  /// destroyed.
  LaunchScope scope(int index) const {
    return LaunchScope(info->launches, index, stream, profiler);
  }
};

struct ProgramOptions {
  int device = 0;
  uint64_t seed = 0;
  bool useGraph = true;
  /// Fills buffers that do not outlive a step with NaN before each step. This
  /// finds reads of values that were never written.
  bool poison = false;
  /// Resumes states that were saved with other rules of loss scaling, or with
  /// another batch size.
  bool otherScaler = false, otherBatchSize = false;
  GemmOptions gemm;
};

/// The forward function of a step.
struct ForwardInfo {
  const ProgramInfo *program = nullptr; ///< null: no forward function
  const EvaluationRule *rules = nullptr;
  int numRules = 0;
};

/// One instance of a program: an arena on a device and the state in it. Any
/// thread may call it, with any current device, but only one at a time.
class Program : public Step {
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
    if (stream)
      cudaStreamSynchronize(stream);
    graph.reset();
    staging.clear();
    cudaFree(arena);
    if (stream)
      cudaStreamDestroy(stream);
  }

  /// Allocates, plans and initialises. Nothing is allocated after that. If
  /// there is too little memory, the message says how much is needed.
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
    return amphost::setHyperparameter(*this, name, value);
  }

  /// Fails if a state or hyperparameter has no value, or with `batches` a
  /// batch.
  inline Status checkValues(bool batches) const;
  /// Enqueues `steps` steps. The first runs as launches, the others as a graph.
  inline Status run(int steps) override;
  /// Waits for the device.
  Status synchronize() {
    DeviceScope scope(options.device);
    return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  /// Waits and reads the metrics of the last step, in the order of the plan.
  inline Status readMetrics(float *out, int count);
  /// Waits and reads or writes buffer `index` of the plan.
  inline Status readBuffer(int index, Array *array);
  inline Status writeBuffer(int index, const Array &array);

  /// Runs `steps` steps as launches with events and returns the table of times.
  inline Status profile(int steps, std::string *table);

  /// Bytes of the arena. Nothing else is allocated except by the libraries.
  int64_t memoryBytes() const { return info.arenaBytes; }
  const ProgramInfo &getInfo() const { return info; }
  size_t getNumGraphNodes() const { return graph.getNumNodes(); }

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
  void addMemory(Results *results) override {
    results->emplace_back("bytes of device memory", double(memoryBytes()));
  }
  inline Status createForward(std::unique_ptr<Step> *made) override;
  std::vector<EvaluationRule> getEvaluationRules() const override {
    return {forward.rules, forward.rules + forward.numRules};
  }

private:
  inline Status verifyInfo() const;
  inline Status enqueueStep(Profiler *profiler);

  const ProgramInfo &info;
  const ForwardInfo forward;
  std::vector<TensorInfo> tensors;
  ProgramOptions options;
  cudaStream_t stream = nullptr;
  unsigned char *arena = nullptr;
  GemmPlans gemms;
  std::vector<OptimizerTable> tables;
  StepGraph graph;
  /// Staging buffers of the batch arguments, in order.
  std::vector<std::unique_ptr<Staging>> staging;
  bool warm = false;
  /// Which buffers have a value from the host.
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

/// Reports the result of `body`. No exception reaches the caller, which may be
/// C.
template <typename Body>
int reportCall(Body &&body) {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    // The message is short enough to need no memory.
    return report(Status(kOutOfMemory, "no host memory"));
  } catch (const std::exception &exception) {
    return report(Status(kInvalidArgument, exception.what()));
  }
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// A damaged plan must not write outside of the arena.
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

inline Status Program::allocate(const ProgramOptions &from) {
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
    cudaGetLastError(); // reset the error, which is handled
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
  for (size_t i : find(Role::Batch)) {
    staging.push_back(std::make_unique<Staging>());
    AMP_RETURN_IF_ERROR(
        staging.back()->create(size_t(bytesOf(info.buffers[i]))));
  }
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
  DeviceScope scope(options.device);
  *array = Array(buffer.type, tensors[size_t(index)].shape);
  AMP_CUDA_CALL(cudaMemcpyAsync(array->data(), arena + buffer.offset,
                                array->getNumBytes(), cudaMemcpyDeviceToHost,
                                stream));
  return synchronize();
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
  return check(cudaMemcpyAsync(arena + buffer.offset, array.data(),
                               array.getNumBytes(), cudaMemcpyHostToDevice,
                               stream),
               "cudaMemcpyAsync");
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
  if (size_t(index) >= staging.size())
    return makeError(kInvalidArgument, "program '%s' has not been created",
                     info.name);
  DeviceScope scope(options.device);
  Staging &stagingBuffers = *staging[size_t(index)];
  void *data = nullptr;
  AMP_RETURN_IF_ERROR(stagingBuffers.acquire(&data));
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
  return stagingBuffers.send(arena + buffer->offset, stream);
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
    // Do not capture the first step: libraries load their kernels lazily.
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
    progress.batchSize = getFixedBatch();
  }
  return Status();
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

inline Status Program::createForward(std::unique_ptr<Step> *made) {
  if (!forward.program)
    return makeError(kInvalidArgument,
                     "'%s' has been emitted without a forward function, which "
                     "--eval and --predict need",
                     info.name);
  auto program = std::make_unique<Program>(*forward.program);
  program->setOptions(options);
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
    AMP_RETURN_IF_ERROR(enqueueStep(&profiler));
    AMP_RETURN_IF_ERROR(profiler.finishStep(stream));
    ++progress.step;
    progress.batchSize = getFixedBatch();
  }
  *table = profiler.table(findGPUDevice(properties.name));
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAM_H

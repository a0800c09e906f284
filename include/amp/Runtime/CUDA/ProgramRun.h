//===- ProgramRun.h - Steps and results of a program ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMRUN_H
#define AMP_RUNTIME_CUDA_PROGRAMRUN_H

#include "amp/Runtime/CUDA/Graph.h"
#include "amp/Runtime/CUDA/Program.h"

#include <cmath>

namespace amp::cuda {

inline Status Program::enqueueStep(cudaStream_t on, Profiler *profiler,
                                   Reader reader, bool refreshes, int part) {
  if (part <= 0 && options.poison && memoryBytes() > info.stateBytes)
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
  step.refreshes = refreshes;
  step.caller = &options.caller;
  step.part = part;
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
  if (isRefreshedAlways() != wasRefreshedAlways)
    for (StepGraphs &graph : graphs)
      graph.reset();
  wasRefreshedAlways = isRefreshedAlways();
  for (int i = 0; i < steps; ++i) {
    // All ranks must run and capture the same steps, though only one of them
    // shows metrics.
    const Reader reader =
        options.ranks || i + 1 == steps ? last : Reader::Training;
    const size_t number = getGraph(reader);
    if (options.ranks)
      options.ranks->beginStep();
    const bool refreshes = keepsCopies && (areCopiesStale || isExposed);
    areCopiesStale = true; // unless the step succeeds
    auto enqueue = [&](cudaStream_t on, int part) {
      return enqueueStep(on, nullptr, reader, refreshes, part);
    };
    // Do not capture the first step: libraries load their kernels lazily. No
    // graph covers a collective that runs next to a call. A graph computes
    // copies of states again always or never.
    const bool isCaptured = warm[number] && options.useGraph &&
                            !(options.ranks && info.numCalls) &&
                            refreshes == isRefreshedAlways();
    StepGraphs &graph = graphs[number];
    AMP_RETURN_IF_ERROR(
        isCaptured ? graph.run(info.numCalls, ownStream, stream, enqueue)
                   : enqueue(stream, -1));
    warm[number] = true;
    areCopiesStale = false;
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
    AMP_RETURN_IF_ERROR(
        enqueueStep(stream, &profiler, Reader::Training, isRefreshedAlways()));
    AMP_RETURN_IF_ERROR(profiler.finishStep(stream));
    ++progress.step;
    progress.batchSize = getFixedBatch() * getNumRanks();
  }
  *table = profiler.table(findGPUDevice(properties.name));
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMRUN_H

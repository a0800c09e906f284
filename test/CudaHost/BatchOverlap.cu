//===- BatchOverlap.cu - Copies of batches during steps ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trainer copies the next batch on a separate stream while a step runs. The
// CPU implementation of CUDA runs a stream only up to the point that another
// stream waits for. Without the waits of either stream, a step reads the wrong
// batch, and the states differ.
//
// RUN: %plain_cuda_host_cxx %s %plain_cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include <cuda_runtime.h>

/// The streams that have waited for an event, in the order of their first wait,
/// and the index of the stream whose waits are dropped, or -1.
static cudaStream_t waiting[8] = {};
static int numWaiting = 0, dropped = -1;

static cudaError_t waitUnlessDropped(cudaStream_t stream, cudaEvent_t event,
                                     unsigned flags) {
  int place = 0;
  while (place < numWaiting && waiting[place] != stream)
    ++place;
  if (place == numWaiting)
    waiting[numWaiting++] = stream;
  return place == dropped ? cudaSuccess
                          : cudaStreamWaitEvent(stream, event, flags);
}
#define cudaStreamWaitEvent waitUnlessDropped

#include "Inputs/HandWrittenStep.h"
#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/Host/Trainer.h"

#include <string>

using namespace amp::cuda::testing;

/// Trains on 40 different batches. The first steps overflow. Returns the
/// parameters.
static std::vector<double> train(bool overlaps, int drops = -1,
                                 bool useGraph = true) {
  numWaiting = 0;
  dropped = -1;
  Program program(kProgram);
  ProgramOptions options;
  options.useGraph = useGraph;
  options.overlapsCopies = overlaps;
  options.numSlots = overlaps ? 2 : 1;
  CHECK_OK(program.create(options));
  dropped = drops;
  for (int step = 0; step < 40; ++step) {
    const std::vector<double> x = randomValues<__half>(N * I, 7 + step);
    for (size_t tensor : program.find(Role::Batch)) {
      const bool isLabels = program.getTensors()[tensor].name == "labels";
      auto fill = [&](void *to) {
        for (int64_t i = 0; isLabels && i < N; ++i)
          static_cast<int64_t *>(to)[i] = (i + step) % O;
        for (int64_t i = 0; !isLabels && i < N * I; ++i)
          static_cast<__half *>(to)[i] = roundTo<__half>(float(x[i]));
      };
      CHECK_OK(program.fill(tensor, N, isLabels ? N * 8 : N * I * 2, fill));
    }
    CHECK_OK(program.run(1 + step % 2));
  }
  CHECK_OK(program.synchronize());
  std::vector<double> states;
  for (size_t tensor : program.find(Role::Parameter)) {
    Array array;
    CHECK_OK(program.read(tensor, &array));
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      states.push_back(array.getDouble(i));
  }
  dropped = -1;
  return states;
}

static void testOrder() {
  const std::vector<double> expected = train(false);
  CHECK(numWaiting <= 1);
  for (bool useGraph : {true, false}) {
    CHECK(train(true, -1, useGraph) == expected);
    // First, a copy waits for the steps that read its slot.
    CHECK(numWaiting == 2);
    // Copies that do not wait overwrite batches before a step reads them.
    CHECK(train(true, 0, useGraph) != expected);
    // Steps that do not wait read batches before they arrive.
    CHECK(train(true, 1, useGraph) != expected);
  }
}

/// A step needs all of its batches in one slot.
static void testParts() {
  Program program(kProgram);
  ProgramOptions options;
  options.overlapsCopies = true;
  options.numSlots = 2;
  CHECK_OK(program.create(options));
  const std::vector<__half> x(N * I);
  const std::vector<int64_t> labels(N);
  CHECK_OK(program.setBatch(0, x.data(), N * I * 2));
  CHECK_OK(program.setBatch(1, labels.data(), N * 8));
  CHECK_OK(program.run(1));
  CHECK_OK(program.run(2));
  CHECK_OK(program.setBatch(1, labels.data(), N * 8));
  CHECK_ERROR(program.run(1), "'x' has no value: set a batch first");
  CHECK_OK(program.setBatch(0, x.data(), N * I * 2));
  CHECK_OK(program.run(1));
  CHECK(program.getMemoryBytes() ==
        program.memoryBytes() + 2 * (N * I * 2 + N * 8));
}

/// Records the calls of a trainer: f fills a batch, r runs, m reads metrics.
class Recorder : public Program {
public:
  explicit Recorder(std::string &calls) : Program(kProgram), calls(calls) {}
  Status fill(size_t tensor, int64_t samples, size_t bytes,
              const std::function<void(void *)> &fill) override {
    if (tensor == find(Role::Batch).front())
      calls += 'f';
    return Program::fill(tensor, samples, bytes, fill);
  }
  Status run(int steps) override {
    calls += 'r';
    return Program::run(steps);
  }
  Status readMetrics(std::vector<double> *values) override {
    calls += 'm';
    return Program::readMetrics(values);
  }

private:
  std::string &calls;
};

/// A trainer that reads the metrics of each step copies the next batch before
/// it waits for them, and none after the last step. The metrics are the same.
static void testMetrics() {
  std::vector<std::vector<double>> metrics;
  for (bool overlaps : {true, false}) {
    std::string calls;
    Recorder program(calls);
    ProgramOptions options;
    options.overlapsCopies = overlaps;
    options.numSlots = overlaps ? 2 : 1;
    CHECK_OK(program.create(options));
    amphost::TrainingOptions training;
    training.synthetic = training.quiet = true;
    training.steps = 3;
    // A path asks for the metrics of each step. This trainer writes no files.
    training.csvPath = "metrics.csv";
    amphost::Trainer trainer("test", training);
    std::vector<amphost::RunRecord> runs;
    CHECK_OK(trainer.run(program, "", false, {}, &runs));
    CHECK(calls.find("frfmrfmrm") == 0);
    metrics.emplace_back();
    for (const amphost::StepRecord &step : runs.at(0).steps)
      metrics.back().insert(metrics.back().end(), step.values.begin(),
                            step.values.end());
  }
  CHECK(metrics[0].size() >= 3 && metrics[0] == metrics[1]);
}

int main() {
  testOrder();
  testParts();
  testMetrics();
  return finish();
}

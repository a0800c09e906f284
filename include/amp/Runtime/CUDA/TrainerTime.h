//===- TrainerTime.h - How a trainer times its steps ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Members of `Trainer` for --time; part of Trainer.h.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAINERTIME_H
#define AMP_RUNTIME_CUDA_TRAINERTIME_H

#include "amp/Runtime/CUDA/Trainer.h"
#include "amp/Runtime/CUDA/WarmUp.h"

namespace amp::cuda {

/// Runs steps and looks at the metrics of each: the last loss, if there is one,
/// and how many were skipped.
inline Status Trainer::readSteps(int64_t count, double *loss,
                                 int64_t *skipped) {
  const RunRecord &record = runs.back();
  const std::optional<size_t> lossColumn = record.findMetric("loss"),
                              skipColumn = record.findMetric("skipped");
  std::vector<float> values(record.metrics.size());
  *skipped = 0;
  for (int64_t i = 0; i < count; ++i) {
    AMP_RETURN_IF_ERROR(program.run(1));
    AMP_RETURN_IF_ERROR(program.readMetrics(values.data(), int(values.size())));
    *skipped += skipColumn && values[*skipColumn] != 0;
    if (lossColumn)
      *loss = values[*lossColumn];
  }
  return Status();
}

/// The least loss scale; 1 if there is none.
inline Status Trainer::readScale(double *scale) {
  double least = HUGE_VAL;
  for (int i : program.buffersOf(Role::ScalerState)) {
    if (!info.buffers[i].isLossScale)
      continue;
    HostArray array;
    AMP_RETURN_IF_ERROR(program.readBuffer(i, &array));
    for (int64_t j = 0; j < array.count(); ++j)
      least = std::min(least, array.get(j));
  }
  *scale = least == HUGE_VAL ? 1.0 : least;
  return Status();
}

/// Trains on, with one batch, for --time.
inline Status Trainer::timeSteps() {
  if (options.steps == 0 || options.epochs == 0) {
    std::vector<int64_t> order = permuteEpoch(
        data.size(), program.progress.seed, program.progress.epoch);
    AMP_RETURN_IF_ERROR(setBatches(order.data()));
  }
  if (options.timedSteps == 0)
    return Status();
  auto now = [] {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  auto runAndWait = [&](int steps) {
    AMP_RETURN_IF_ERROR(program.run(steps));
    return program.synchronize();
  };
  // The graph is there after two steps.
  AMP_RETURN_IF_ERROR(runAndWait(3));
  WarmUpResult warmth;
  AMP_RETURN_IF_ERROR(warmUp(WarmUpLimits(), runAndWait, now, &warmth));
  double before = 1, after = 1, loss = 0;
  AMP_RETURN_IF_ERROR(readScale(&before));
  const double begin = now();
  AMP_RETURN_IF_ERROR(runAndWait(int(options.timedSteps)));
  const double ms = (now() - begin) * 1e3 / double(options.timedSteps);
  AMP_RETURN_IF_ERROR(readScale(&after));
  // A step that overflows skips its update and is the faster for it. Reading
  // each one would change the time: those behind tell of a run that diverged,
  // and the scale of a single step.
  int64_t skipped = 0;
  AMP_RETURN_IF_ERROR(readSteps(10, &loss, &skipped));
  auto add = [&](const char *name, double value) {
    runs.back().results.emplace_back(name, value);
  };
  add("ms per step on the device", ms);
  add("timed steps", double(options.timedSteps));
  add("seconds of warm-up", warmth.seconds);
  add("steady after warm-up", warmth.isSteady);
  if (runs.back().findMetric("loss"))
    add("loss after timed steps", loss);
  if (runs.back().findMetric("skipped")) {
    add("skipped of 10 steps after timed ones", double(skipped));
    add("loss scale before timed steps", before);
    add("loss scale after timed steps", after);
  }
  const char *mark =
      skipped > 0 || after < before ? ", with steps that overflow" : "";
  if (!options.quiet)
    std::printf("%lld steps of one batch, %.4g ms per step%s\n",
                (long long)options.timedSteps, ms, mark);
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAINERTIME_H

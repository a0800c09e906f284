//===- WarmUp.h - Warm-up of a device ---------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_WARMUP_H
#define AMP_RUNTIME_CUDA_WARMUP_H

#include "amp/Runtime/CUDA/Status.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace amp::cuda {

/// An idle GPU runs at a low clock, which rises within tenths of a second.
/// peers.py of `tools/dev gpu` has the same numbers.
struct WarmUpLimits {
  double least = 0.3;  ///< seconds in total
  double most = 3.0;   ///< seconds, whether or not two windows agree
  double window = 0.1; ///< seconds of the steps that are averaged
  double apart = 0.03; ///< permitted difference of two windows in a row
};
struct WarmUpResult {
  double seconds = 0;        ///< duration of the warm-up
  double secondsPerStep = 0; ///< in the last window
  bool isSteady = false;     ///< whether the last two agree
};

/// Runs windows of steps until two in a row agree. `run(n)` runs n steps and
/// waits for them. `now()` returns seconds.
template <typename Run, typename Now>
Status warmUp(const WarmUpLimits &limits, Run &&run, Now &&now,
              WarmUpResult *result) {
  const double begin = now();
  int64_t steps = 1;
  double before = 0;
  do {
    const double start = now();
    AMP_RETURN_IF_ERROR(run(int(steps)));
    const double end = now(), each = (end - start) / double(steps);
    result->seconds = end - begin;
    result->secondsPerStep = each;
    if (end - start < limits.window / 2) {
      // The window is too short to compare. Approach a full window carefully.
      const double wanted = each > 0 ? limits.window / each : 1e9;
      steps = int64_t(std::min({std::ceil(wanted), double(steps) * 10, 1e6}));
      before = 0;
      continue;
    }
    result->isSteady =
        before > 0 && std::abs(each - before) <= limits.apart * before;
    before = each;
  } while (result->seconds < limits.most &&
           !(result->isSteady && result->seconds >= limits.least));
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_WARMUP_H

//===- WarmUp.h - Steps until a device runs evenly --------------*- C++ -*-===//
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

/// A GPU that had nothing to do runs at a low clock, which rises within tenths
/// of a second. peers.py of `tools/dev gpu` has the same numbers.
struct WarmUpLimits {
  double least = 0.3;  ///< seconds in all
  double most = 3.0;   ///< seconds, whether or not two windows agree
  double window = 0.1; ///< seconds over which steps are averaged
  double apart = 0.03; ///< by how much two windows in turn may differ
};
struct WarmUpResult {
  double seconds = 0;        ///< that it took
  double secondsPerStep = 0; ///< in the last window
  bool isSteady = false;     ///< whether the last two agree
};

/// Runs windows of steps until two in turn agree. `run(n)` runs n steps and
/// waits for them; `now()` gives seconds.
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
      // Too short to compare: towards a full window, carefully.
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

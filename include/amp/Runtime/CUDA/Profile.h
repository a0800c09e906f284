//===- Profile.h - Times of launches and their floors -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_PROFILE_H
#define AMP_RUNTIME_CUDA_PROFILE_H

#include "amp/Runtime/CUDA/Status.h"

#include <nvtx3/nvToolsExt.h>

#include <string>
#include <vector>

namespace amp::cuda {

/// What the compiler knows of a launch.
struct LaunchInfo {
  const char *name = "";     ///< as in the NVTX range
  const char *ops = "";      ///< operations that it computes
  const char *location = ""; ///< in the graph
  double flops = 0;
  double bytes = 0; ///< global memory read and written
  /// Rate that bounds its arithmetic.
  enum class Unit : uint8_t { F32, TF32, Half } unit = Unit::F32;
};

/// Rates of a GPU: operations and bytes per second.
struct DeviceRates {
  const char *name;
  double f32, tf32, half, bytes;
  /// The least time of a launch, in seconds.
  double floor(const LaunchInfo &launch) const;
};

/// The rates of the GPU called `name` ("NVIDIA H100 80GB HBM3"): A100, H100,
/// H200; null for others.
inline const DeviceRates *findDeviceRates(const std::string &name);

/// An event pair around each launch of a step that is not captured.
class Profiler {
public:
  Profiler() = default;
  Profiler(const Profiler &) = delete;
  Profiler &operator=(const Profiler &) = delete;
  ~Profiler();

  /// Prepares events for `count` launches.
  Status create(const LaunchInfo *launches, int count);
  void begin(int index, cudaStream_t stream);
  void end(int index, cudaStream_t stream);
  /// Waits for the step and adds its times.
  Status finishStep(cudaStream_t stream);

  /// Median seconds of launch `index`.
  double median(int index) const;
  /// The table: launch, median time, floor, ratio, sorted by time; `rates` may
  /// be null.
  std::string table(const DeviceRates *rates) const;

private:
  const LaunchInfo *launches = nullptr;
  std::vector<cudaEvent_t> starts, stops;
  std::vector<std::vector<float>> times;
  Status failure;
};

/// An NVTX range, and the events of a profiler if there is one, around one
/// launch.
class LaunchScope {
public:
  LaunchScope(const LaunchInfo *launches, int index, cudaStream_t stream,
              Profiler *profiler)
      : index(index), stream(stream), profiler(profiler) {
    nvtxRangePushA(launches[index].name);
    if (profiler)
      profiler->begin(index, stream);
  }
  LaunchScope(const LaunchScope &) = delete;
  LaunchScope &operator=(const LaunchScope &) = delete;
  ~LaunchScope() {
    if (profiler)
      profiler->end(index, stream);
    nvtxRangePop();
  }

private:
  int index;
  cudaStream_t stream;
  Profiler *profiler;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROFILE_H

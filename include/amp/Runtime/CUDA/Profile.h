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

#include <algorithm>
#include <cstdio>
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
  double floor(const LaunchInfo &launch) const {
    double rate = launch.unit == LaunchInfo::Unit::F32    ? f32
                  : launch.unit == LaunchInfo::Unit::TF32 ? tf32
                                                          : half;
    double arithmetic = launch.flops / rate, memory = launch.bytes / bytes;
    return arithmetic > memory ? arithmetic : memory;
  }
};

/// The rates of the GPU called `name` ("NVIDIA H100 80GB HBM3"), dense and as
/// its data sheet says; null for others.
inline const DeviceRates *findDeviceRates(const std::string &name) {
  static constexpr DeviceRates table[] = {
      {"A100", 19.5e12, 156e12, 312e12, 2.04e12},
      {"H100", 67e12, 495e12, 989e12, 3.35e12},
      {"H200", 67e12, 495e12, 989e12, 4.8e12},
  };
  for (const DeviceRates &rates : table)
    if (name.find(rates.name) != std::string::npos)
      return &rates;
  return nullptr;
}

/// An event pair around each launch of a step that is not captured.
class Profiler {
public:
  Profiler() = default;
  Profiler(const Profiler &) = delete;
  Profiler &operator=(const Profiler &) = delete;
  ~Profiler() {
    for (auto *events : {&starts, &stops})
      for (cudaEvent_t event : *events)
        cudaEventDestroy(event);
  }

  /// Prepares events for `count` launches.
  Status create(const LaunchInfo *infos, int count) {
    launches = infos;
    times.resize(size_t(count));
    for (auto *events : {&starts, &stops})
      for (int i = 0; i < count; ++i) {
        cudaEvent_t event;
        AMP_CUDA_CALL(cudaEventCreate(&event));
        events->push_back(event);
      }
    return Status();
  }
  void begin(int index, cudaStream_t stream) {
    note(cudaEventRecord(starts[size_t(index)], stream));
  }
  void end(int index, cudaStream_t stream) {
    note(cudaEventRecord(stops[size_t(index)], stream));
  }
  /// Waits for the step and adds its times, of the launches that ran.
  Status finishStep(cudaStream_t stream) {
    AMP_CUDA_CALL(cudaStreamSynchronize(stream));
    AMP_RETURN_IF_ERROR(check(failure, "cudaEventRecord"));
    for (size_t i = 0; i < times.size(); ++i) {
      float milliseconds = 0;
      AMP_CUDA_CALL(cudaEventElapsedTime(&milliseconds, starts[i], stops[i]));
      times[i].push_back(milliseconds * 1e-3f);
    }
    return Status();
  }

  /// Median seconds of launch `index`.
  double median(int index) const {
    std::vector<float> sorted = times[size_t(index)];
    if (sorted.empty())
      return 0;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

  /// The table: launch, median time, floor, ratio, sorted by time; `rates` may
  /// be null.
  std::string table(const DeviceRates *rates) const {
    std::vector<int> order(times.size());
    double total = 0, totalFloor = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = int(i);
      total += median(int(i));
    }
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      double x = median(a), y = median(b);
      return x > y || (x == y && a < b);
    });
    std::string text = "      us    floor  ratio  launch\n";
    auto line = [&](double time, double floor, const std::string &name) {
      char columns[64];
      if (rates)
        std::snprintf(columns, sizeof(columns), "%8.2f %8.2f %6.2f  ",
                      time * 1e6, floor * 1e6, time > 0 ? floor / time : 0.0);
      else
        std::snprintf(columns, sizeof(columns), "%8.2f        -      -  ",
                      time * 1e6);
      text += columns + name + "\n";
    };
    for (int i : order) {
      const LaunchInfo &launch = launches[i];
      double floor = rates ? rates->floor(launch) : 0;
      totalFloor += floor;
      line(median(i), floor,
           std::string(launch.name) + " (" + launch.ops + ")");
    }
    line(total, totalFloor, "all launches");
    return text;
  }

private:
  const LaunchInfo *launches = nullptr;
  std::vector<cudaEvent_t> starts, stops;
  std::vector<std::vector<float>> times;
  cudaError_t failure = cudaSuccess;

  void note(cudaError_t error) {
    if (failure == cudaSuccess)
      failure = error;
  }
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

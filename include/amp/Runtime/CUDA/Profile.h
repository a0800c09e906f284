//===- Profile.h - Times of launches and their floors -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_PROFILE_H
#define AMP_RUNTIME_CUDA_PROFILE_H

#include "amp/Runtime/CUDA/Launch.h"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
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
/// its data sheet says; null for others, such as a GH200, whose memory is not
/// that of an H200, and for a part of a GPU.
inline const DeviceRates *findDeviceRates(const std::string &name) {
  // Special ones before those whose names are part of theirs.
  static constexpr DeviceRates table[] = {
      {"A100 80GB PCIe", 19.5e12, 156e12, 312e12, 1.935e12},
      {"A100-PCIE-40GB", 19.5e12, 156e12, 312e12, 1.555e12},
      {"A100-SXM4-40GB", 19.5e12, 156e12, 312e12, 1.555e12},
      {"A100", 19.5e12, 156e12, 312e12, 2.04e12},
      {"H100 PCIe", 51e12, 378e12, 756e12, 2.0e12},
      {"H100 NVL", 60e12, 417.5e12, 835e12, 3.9e12},
      {"H100", 67e12, 495e12, 989e12, 3.35e12},
      {"H200 NVL", 60e12, 417.5e12, 835e12, 4.8e12},
      {"H200", 67e12, 495e12, 989e12, 4.8e12},
  };
  if (name.find(" MIG ") != std::string::npos)
    return nullptr;
  for (const DeviceRates &rates : table) {
    const size_t at = name.find(rates.name);
    if (at != std::string::npos && (at == 0 || name[at - 1] == ' '))
      return &rates;
  }
  return nullptr;
}

/// Keeps a stream busy for `cycles` of the clock of the device.
template <typename = void>
__global__ void spinKernel(long long cycles) {
#ifdef __CUDA_ARCH__
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
#else
  (void)cycles;
#endif
}

/// An event pair around each launch of a step that is not captured. A short
/// kernel ends before the host has launched the next: a kernel that only spins
/// runs before each step, until all of its launches are in the queue, so that
/// the events stand as far apart as the device takes. It is in no time.
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
    // A launch and two events take the host several microseconds.
    spinSeconds = std::min(kMostSpin, 1e-3 + 2e-5 * count);
    for (auto *events : {&starts, &stops})
      for (int i = 0; i < count; ++i) {
        cudaEvent_t event;
        AMP_CUDA_CALL(cudaEventCreate(&event));
        events->push_back(event);
      }
    return Status();
  }
  void begin(int index, cudaStream_t stream) {
    if (!spins) {
      spins = true;
      // No clock is faster.
      constexpr double kCyclesPerSecond = 3e9;
      LaunchShape shape;
      shape.block.x = 1;
      Status status = launch("spin", stream, shape, spinKernel<>,
                             (long long)(spinSeconds * kCyclesPerSecond));
      if (!status.isOk())
        note(cudaErrorLaunchFailure);
      enqueued = std::chrono::steady_clock::now();
    }
    note(cudaEventRecord(starts[size_t(index)], stream));
  }
  void end(int index, cudaStream_t stream) {
    note(cudaEventRecord(stops[size_t(index)], stream));
  }
  /// Waits for the step and adds its times, of the launches that ran.
  Status finishStep(cudaStream_t stream) {
    const double seconds = std::chrono::duration<double>(
                               std::chrono::steady_clock::now() - enqueued)
                               .count();
    queued.push_back(seconds <= spinSeconds);
    if (!queued.back())
      spinSeconds = std::min(kMostSpin, 2 * seconds);
    spins = false;
    AMP_CUDA_CALL(cudaStreamSynchronize(stream));
    AMP_RETURN_IF_ERROR(check(failure, "cudaEventRecord"));
    for (size_t i = 0; i < times.size(); ++i) {
      float milliseconds = 0;
      AMP_CUDA_CALL(cudaEventElapsedTime(&milliseconds, starts[i], stops[i]));
      times[i].push_back(milliseconds * 1e-3f);
    }
    return Status();
  }

  /// Whether the launches of any step were all in the queue before its first
  /// one began.
  bool wasQueued() const {
    return std::find(queued.begin(), queued.end(), true) != queued.end();
  }
  /// How long the next step is held back.
  double getSpinSeconds() const { return spinSeconds; }

  /// Median seconds of launch `index`, of such steps if there are any.
  double median(int index) const {
    std::vector<float> sorted;
    const std::vector<float> &all = times[size_t(index)];
    for (size_t i = 0; i < all.size(); ++i)
      if (queued[i] || !wasQueued())
        sorted.push_back(all[i]);
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
    if (!wasQueued())
      text += "the host took longer to launch a step than the device waits: "
              "short launches hold its time\n";
    return text;
  }

private:
  const LaunchInfo *launches = nullptr;
  std::vector<cudaEvent_t> starts, stops;
  std::vector<std::vector<float>> times;
  std::vector<bool> queued; ///< of each step
  static constexpr double kMostSpin = 0.05;
  double spinSeconds = 0;
  bool spins = false; ///< in the present step
  std::chrono::steady_clock::time_point enqueued;
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

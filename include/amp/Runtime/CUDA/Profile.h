//===- Profile.h - Times of launches, roofline bounds -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_CUDA_PROFILE_H
#define AMP_RUNTIME_CUDA_PROFILE_H

#include "amp/Runtime/CUDA/Launch.h"
#include "amp/Runtime/Host/GPUModels.h"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace amp::cuda {

/// The results of a step that its caller reads. Launches that no result before
/// needs run only if their results are read.
enum class Reader : uint8_t { Training, Metrics, Predictions };
inline constexpr int kNumReaders = int(Reader::Predictions) + 1;

/// The compiler's description of a launch.
struct LaunchInfo {
  const char *name = "";     ///< as in the NVTX range
  const char *ops = "";      ///< operations of the launch
  const char *location = ""; ///< in the graph
  double flops = 0;
  double bytes = 0; ///< global memory read and written
  /// The unit whose rate bounds the arithmetic.
  enum class Unit : uint8_t { F32, TF32, Half, Float8 } unit = Unit::F32;
  /// The results that alone need the launch.
  Reader reader = Reader::Training;
  /// Whether the launch runs only in steps that compute copies of states again.
  bool refreshes = false;

  /// Whether each training step runs the launch.
  bool isInEachStep() const { return reader == Reader::Training && !refreshes; }
};

/// The roofline bound of a launch on `gpu`: its least time, in seconds.
inline double rooflineBound(const GPUModel &gpu, const LaunchInfo &launch) {
  const double rate = launch.unit == LaunchInfo::Unit::F32    ? gpu.f32
                      : launch.unit == LaunchInfo::Unit::TF32 ? gpu.tf32
                      : launch.unit == LaunchInfo::Unit::Half
                          ? gpu.half
                          : gpu.getFloat8Rate();
  return std::max(launch.flops / rate, launch.bytes / gpu.bandwidth);
}

/// Keeps a stream busy for `cycles` of the device clock.
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

/// Puts a pair of events around each launch of a training step, whose results
/// nobody reads, and which is not captured. A
/// short kernel ends before the host has launched the next. A kernel that only
/// spins therefore runs before each part of a step until all launches of the
/// part are in the queue. The events then measure the time of the device. The
/// spin is in no measured time.
class Profiler {
public:
  /// Launches of a part. A stream takes about a thousand kernels and events
  /// ahead. The host waits for the end of each part, so that these, with their
  /// events, always find room.
  static constexpr int kPart = 64;

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
    queued.resize(size_t(count));
    // A launch and two events take the host several microseconds.
    spinSeconds = std::min(kMaxSpin, 1e-3 + 2e-5 * std::min(count, kPart));
    for (auto *events : {&starts, &stops})
      for (int i = 0; i < count; ++i) {
        cudaEvent_t event;
        AMP_CUDA_CALL(cudaEventCreate(&event));
        events->push_back(event);
      }
    return Status();
  }
  void begin(int index, cudaStream_t stream) {
    if (part.size() == kPart)
      finishPart(stream);
    if (part.empty()) {
      // No device clock is faster.
      constexpr double kCyclesPerSecond = 3e9;
      LaunchShape shape;
      shape.block.x = 1;
      Status status = launch("spin", stream, shape, spinKernel<>,
                             (long long)(spinSeconds * kCyclesPerSecond));
      if (!status.isOk())
        note(cudaErrorLaunchFailure);
      enqueued = std::chrono::steady_clock::now();
    }
    part.push_back(size_t(index));
    note(cudaEventRecord(starts[size_t(index)], stream));
  }
  void end(int index, cudaStream_t stream) {
    note(cudaEventRecord(stops[size_t(index)], stream));
  }
  /// Waits for the step and adds the times of the launches that ran.
  Status finishStep(cudaStream_t stream) {
    finishPart(stream);
    AMP_RETURN_IF_ERROR(check(failure, "profiling"));
    for (size_t i = 0; i < times.size(); ++i) {
      if (!launches[i].isInEachStep())
        continue;
      float milliseconds = 0;
      AMP_CUDA_CALL(cudaEventElapsedTime(&milliseconds, starts[i], stops[i]));
      times[i].push_back(milliseconds * 1e-3f);
    }
    return Status();
  }

  /// Whether each launch was in the queue before its part began, in any step.
  bool wasQueued() const {
    return std::all_of(queued.begin(), queued.end(), isAnyQueued);
  }
  /// The delay of the next part.
  double getSpinSeconds() const { return spinSeconds; }

  /// Median seconds of launch `index`. Uses only the steps in which it was
  /// queued in time, if there are any.
  double median(int index) const {
    std::vector<float> sorted;
    const std::vector<float> &all = times[size_t(index)];
    const std::vector<bool> &mine = queued[size_t(index)];
    for (size_t i = 0; i < all.size(); ++i)
      if (mine[i] || !isAnyQueued(mine))
        sorted.push_back(all[i]);
    if (sorted.empty())
      return 0;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }

  /// The table of launch, median time, roofline bound and ratio, sorted by
  /// time. `gpu` may be null.
  std::string table(const GPUModel *gpu) const {
    std::vector<int> order;
    double total = 0, totalBound = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      if (!launches[i].isInEachStep())
        continue;
      order.push_back(int(i));
      total += median(int(i));
    }
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      double x = median(a), y = median(b);
      return x > y || (x == y && a < b);
    });
    std::string text = "      us roofline  ratio  launch\n";
    auto line = [&](double time, double bound, const std::string &name) {
      char columns[64];
      if (gpu)
        std::snprintf(columns, sizeof(columns), "%8.2f %8.2f %6.2f  ",
                      time * 1e6, bound * 1e6, time > 0 ? bound / time : 0.0);
      else
        std::snprintf(columns, sizeof(columns), "%8.2f        -      -  ",
                      time * 1e6);
      text += columns + name + "\n";
    };
    for (int i : order) {
      const LaunchInfo &launch = launches[i];
      double bound = gpu ? rooflineBound(*gpu, launch) : 0;
      totalBound += bound;
      line(median(i), bound,
           std::string(launch.name) + " (" + launch.ops + ")");
    }
    line(total, totalBound, "all launches");
    if (!wasQueued())
      text += "the host took longer to launch a step than the device waits: "
              "short launches hold its time\n";
    return text;
  }

private:
  const LaunchInfo *launches = nullptr;
  std::vector<cudaEvent_t> starts, stops;
  std::vector<std::vector<float>> times;
  /// Per launch and step: whether it was queued in time.
  std::vector<std::vector<bool>> queued;
  std::vector<size_t> part; ///< the launches since the last spin
  static constexpr double kMaxSpin = 0.05;
  double spinSeconds = 0;
  std::chrono::steady_clock::time_point enqueued;
  cudaError_t failure = cudaSuccess;

  static bool isAnyQueued(const std::vector<bool> &steps) {
    return std::find(steps.begin(), steps.end(), true) != steps.end();
  }
  /// Waits for the launches of the part.
  void finishPart(cudaStream_t stream) {
    const double seconds = std::chrono::duration<double>(
                               std::chrono::steady_clock::now() - enqueued)
                               .count();
    const bool isInTime = seconds <= spinSeconds;
    for (size_t index : part)
      queued[index].push_back(isInTime);
    if (!part.empty() && !isInTime)
      spinSeconds = std::min(kMaxSpin, 2 * seconds);
    part.clear();
    note(cudaStreamSynchronize(stream));
  }
  void note(cudaError_t error) {
    if (failure == cudaSuccess)
      failure = error;
  }
};

/// Puts an NVTX range, and the events of a profiler if there is one, around one
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

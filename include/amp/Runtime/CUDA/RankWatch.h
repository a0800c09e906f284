//===- RankWatch.h - Ends a rank that waits in vain -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a rank ends, stops or leaves out a collective, the kernels of the others
// wait for ever, and so do their hosts. A thread therefore watches the
// collectives. It reads only a number that the device writes, so it works
// during a capture and while the host waits in a call.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_RANKWATCH_H
#define AMP_RUNTIME_CUDA_RANKWATCH_H

#include "amp/Runtime/CUDA/Launch.h"
#include "amp/Runtime/CUDA/RankGroup.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace amp::cuda {

/// Counts a collective that has ended. `finished` is host memory.
template <typename = void>
__global__ void countCollectiveKernel(volatile uint64_t *finished) {
  *finished = *finished + 1;
}

/// Watches the collectives of a rank.
class RankWatch {
public:
  struct Settings {
    int rank, numRanks;
    int64_t deadline; ///< seconds
    const CollectiveInfo *collectives;
    int count; ///< of one step
  };

  /// The counters of finished collectives, in steps and between steps.
  enum Counter { kOfSteps, kOfGathers, kNumCounters };

  /// `finished` points to `kNumCounters` counters. `findError` returns the
  /// message of a connection error, or an empty string.
  RankWatch(const Settings &settings, const volatile uint64_t *finished,
            std::function<std::string()> findError)
      : settings(settings), finished(finished), findError(std::move(findError)),
        thread([this] { run(); }) {}
  RankWatch(const RankWatch &) = delete;
  RankWatch &operator=(const RankWatch &) = delete;
  ~RankWatch() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stops = true;
    }
    wake.notify_all();
    thread.join();
  }

  void beginStep() { begun += uint64_t(settings.count); }
  /// The host is about to enqueue a collective between two steps. `what` names
  /// it in messages.
  void beginGather(const std::string &what) {
    std::lock_guard<std::mutex> lock(mutex);
    gathers = what;
    ++begunGathers;
  }

private:
  using Clock = std::chrono::steady_clock;

  void run() {
    uint64_t seen = 0;
    Clock::time_point since = Clock::now();
    std::unique_lock<std::mutex> lock(mutex);
    while (!wake.wait_for(lock, std::chrono::milliseconds(50),
                          [this] { return stops; })) {
      const uint64_t done = finished[kOfSteps] + finished[kOfGathers],
                     all = begun + begunGathers;
      if (done != seen || done >= all) {
        seen = done;
        since = Clock::now();
      }
      const std::string error = findError();
      if (!error.empty())
        end(error.c_str());
      if (Clock::now() - since > std::chrono::seconds(settings.deadline))
        end(("it has not ended within " + std::to_string(settings.deadline) +
             " s; a rank has ended, stopped or left out a collective")
                .c_str());
    }
  }

  /// Ends the process. Its launcher ends the others, or their own watch does.
  [[noreturn]] void end(const char *reason) const {
    const uint64_t done = finished[kOfSteps];
    const CollectiveInfo &at =
        settings.collectives[done % uint64_t(settings.count)];
    std::fprintf(stderr, "error: rank %d of %d: ", settings.rank,
                 settings.numRanks);
    if (finished[kOfGathers] < begunGathers)
      std::fprintf(stderr, "%s: %s\n", gathers.c_str(), reason);
    else
      std::fprintf(
          stderr,
          "collective '%s' of %lld elements, number %llu, in step "
          "%llu of this run: %s\n",
          at.name, (long long)at.elements, (unsigned long long)(done + 1),
          (unsigned long long)(done / uint64_t(settings.count) + 1), reason);
    std::fflush(nullptr);
    std::_Exit(1);
  }

  const Settings settings;
  const volatile uint64_t *finished;
  std::function<std::string()> findError;
  std::atomic<uint64_t> begun{0}, begunGathers{0};
  /// The name of the latest collective between steps, for messages.
  std::string gathers;
  std::mutex mutex;
  std::condition_variable wake;
  bool stops = false;
  /// Last, because it uses the others.
  std::thread thread;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_RANKWATCH_H

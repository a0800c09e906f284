//===- Ranks.h - The processes that run a step together ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a data-parallel step on CPUs are processes that `mpirun` or
// `srun` has started. They exchange data through MPI, whose library is loaded
// only then.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_RANKS_H
#define AMP_EXECUTION_RANKS_H

#include "amp/Runtime/Host/Step.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <functional>
#include <vector>

namespace mlir::amp {

struct MPILibrary;

/// The processes of one run. There is at most one group in a process.
///
/// A rank that waits too long for others, or whose collective is not that of
/// the others, prints a message and ends the processes of all ranks.
class RankGroup {
public:
  /// Joins the processes that a launcher of MPI has started. Returns null if
  /// this process was started alone. Fails if `expected` is neither 0
  /// nor the number of processes, or if there is no MPI.
  static llvm::Expected<std::unique_ptr<RankGroup>> join(int64_t expected);
  /// Waits for all ranks.
  ~RankGroup();
  RankGroup(const RankGroup &) = delete;
  RankGroup &operator=(const RankGroup &) = delete;

  /// The group of this process, or null.
  static RankGroup *getCurrent();

  int64_t getRank() const { return rank; }
  int64_t getNumRanks() const { return ranks; }
  /// Sets the number of seconds after which this rank no longer waits for
  /// others. The default is 600.
  void setDeadline(double seconds) { deadline = seconds; }

  /// Begins the next collective with the others. All ranks call it with the
  /// same `what`, which describes the collective with its number of elements.
  void begin(const std::string &what);
  /// Sends `bytes` bytes to each rank, those for rank i at i · `bytes`, and
  /// receives as many from each rank, in order. All ranks call it.
  void exchange(const void *send, void *receive, size_t bytes);
  /// Sends `bytes` bytes to all ranks, and receives those of each, in order. A
  /// rank without `receive` drops them.
  void gather(const void *send, void *receive, size_t bytes);
  /// Ends the processes of all ranks, with exit code 1.
  [[noreturn]] void abort() const;

private:
  using Clock = std::chrono::steady_clock;

  RankGroup(const MPILibrary &library, int64_t rank, int64_t ranks)
      : library(library), rank(rank), ranks(ranks) {}

  /// Waits until `isDone`, or ends all processes after the deadline. `describe`
  /// says whom this rank waits for.
  void wait(Clock::time_point start, const std::function<bool()> &isDone,
            const std::function<std::string()> &describe) const;
  /// Prints `message` after the rank, and ends the processes of all ranks.
  [[noreturn]] void fail(const std::string &message) const;
  /// Sends `bytes` bytes to each rank, those for rank i at i · `sendStride`,
  /// and receives as many from each, in order. `doing` says in a message what a
  /// rank has not done.
  void transfer(const char *send, size_t sendStride, char *receive,
                size_t bytes, const char *doing);

  const MPILibrary &library;
  int64_t rank, ranks;
  double deadline = 600;
  /// The number of this collective, from 1, and its description.
  uint64_t number = 0;
  std::string current;
};

/// Fails, on all ranks, if a state of `step` differs between them. The message
/// names the first one. `isPart` says which states the ranks divide; these are
/// not compared.
amphost::Status
checkEqualStates(amphost::Step &step, RankGroup &group,
                 llvm::function_ref<bool(llvm::StringRef)> isPart);

} // namespace mlir::amp

#endif // AMP_EXECUTION_RANKS_H

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

namespace mlir::amp {

struct MPILibrary;

/// The processes of one run. There is at most one group in a process.
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

  /// Sends `bytes` bytes to each rank, those for rank i at i · `bytes`, and
  /// receives as many from each rank, in order. All ranks call it.
  void exchange(const void *send, void *receive, size_t bytes) const;
  /// Sends `bytes` bytes to all ranks, and receives those of each, in order.
  void gather(const void *send, void *receive, size_t bytes) const;
  /// Ends the processes of all ranks, with exit code 1.
  [[noreturn]] void abort() const;

private:
  RankGroup(const MPILibrary &library, int64_t rank, int64_t ranks)
      : library(library), rank(rank), ranks(ranks) {}

  const MPILibrary &library;
  int64_t rank, ranks;
};

/// Fails, on all ranks, if a state of `step` differs between them. The message
/// names the first one.
amphost::Status checkEqualStates(amphost::Step &step, const RankGroup &group);

} // namespace mlir::amp

#endif // AMP_EXECUTION_RANKS_H

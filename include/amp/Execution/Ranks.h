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

#include "amp/Runtime/Step/InterfaceStep.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::amp {

/// The processes of one run.
///
/// A rank fails if it waits too long for others or begins another collective
/// than they do. A rank that a launcher started prints a message and ends the
/// processes of all ranks. A rank of the C interface keeps the error.
class RankGroup {
public:
  /// Joins the processes that a launcher of MPI has started. Returns null if
  /// this process was started alone. Fails if `expected` is neither 0
  /// nor the number of processes, or if there is no MPI.
  static llvm::Expected<std::unique_ptr<RankGroup>> join(int64_t expected);
  /// Creates the group of a step of the C interface. The ranks exchange bytes
  /// through `exchange`, whose context must outlive the group.
  static std::unique_ptr<RankGroup> create(const amp_step_exchange &exchange,
                                           int64_t rank, int64_t ranks);
  virtual ~RankGroup();
  RankGroup(const RankGroup &) = delete;
  RankGroup &operator=(const RankGroup &) = delete;

  /// Returns the group of this thread, else the group of this process, else
  /// null.
  static RankGroup *getCurrent();
  /// Sets the group of this thread for the lifetime of the object. Null keeps
  /// the current group.
  class Scope {
  public:
    explicit Scope(RankGroup *group);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    RankGroup *before;
  };

  int64_t getRank() const { return rank; }
  int64_t getNumRanks() const { return ranks; }
  /// Sets the number of seconds after which this rank no longer waits for
  /// others. The default is 600.
  void setDeadline(double seconds) { deadline = seconds; }
  double getDeadline() const { return deadline; }
  /// Returns the first error of a group of the C interface. Other groups end
  /// the process at an error.
  virtual amphost::Status getError() const { return amphost::Status(); }
  /// Returns an exchange of bytes through this group. The group must outlive
  /// it.
  amp_step_exchange getExchange();

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
  [[noreturn]] virtual void abort() const = 0;

protected:
  RankGroup(int64_t rank, int64_t ranks) : rank(rank), ranks(ranks) {}

  /// Prints or keeps `message`, prefixed with the rank.
  virtual void fail(const std::string &message) = 0;
  /// Runs when the collective that `current` describes begins.
  virtual void beginCurrent() {}
  /// Sends `bytes` bytes to each rank, those for rank i at i · `sendStride`,
  /// and receives as many from each, in order. `doing` completes the message
  /// about a late rank: "rank 1 has not <doing> ...".
  virtual void transfer(const char *send, size_t sendStride, char *receive,
                        size_t bytes, const char *doing) = 0;

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

//===- RankGroup.h - The ranks that run a program together ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the code that all programs share knows of ranks. Only programs that have
// collectives include NCCLGroup.h, which implements it over NCCL.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_RANKGROUP_H
#define AMP_RUNTIME_CUDA_RANKGROUP_H

#include "amp/Runtime/CUDA/Status.h"
#include "amp/Runtime/Host/Launcher.h"
#include "amp/Runtime/Step/Interface.h"

#include <memory>
#include <string>

namespace amphost {
struct StepSettings;
}

namespace amp::cuda {

/// A collective of a program, for messages.
struct CollectiveInfo {
  const char *name;
  int64_t elements;
};

/// The ranks of one instance of a program, and the collectives between them.
class RankGroup {
public:
  virtual ~RankGroup() = default;
  virtual int getRank() const = 0;
  virtual int getNumRanks() const = 0;

  /// Sets `allocator` to functions that allocate memory for `registerMemory`.
  virtual Status findAllocator(amp_step_allocator *allocator) const = 0;
  /// Registers memory that collectives use, until `deregisterMemory`. All ranks
  /// call this function, before `prepare`.
  virtual Status registerMemory(void *memory, size_t bytes) = 0;
  /// Ends the registration if there is one. No collective may be running.
  virtual void deregisterMemory() = 0;
  /// Creates the stream of the collectives, which a step runs once each, on the
  /// current device. A group serves one instance.
  virtual Status prepare(const CollectiveInfo *collectives, int count) = 0;
  /// The host is about to enqueue a step. It counts for the deadline.
  virtual void beginStep() = 0;
  /// Makes the stream of the collectives wait for the work of `stream`, before
  /// collective `index`.
  virtual Status begin(int index, cudaStream_t stream) = 0;
  /// Makes `stream` wait for collective `index` and those before it.
  virtual Status await(int index, cudaStream_t stream) = 0;
  /// Gathers `bytes` bytes of device memory at `part` from each rank. Writes
  /// them in the order of the ranks to `whole` in host memory. `whole` may be
  /// null on ranks that do not need the value. All ranks call this function
  /// while no step runs. `what` names the value in messages.
  virtual Status gather(const void *part, int64_t bytes,
                        const std::string &what, void *whole) = 0;
  /// Gives each rank the `bytes` bytes in host memory at `own` of all ranks, in
  /// their order, at `all`. All ranks call this function, before `prepare`.
  virtual Status share(const void *own, int64_t bytes, const std::string &what,
                       void *all) = 0;
};

/// The collectives of a program. Without them a program does not need NCCL.
struct CollectiveTable {
  const CollectiveInfo *collectives = nullptr;
  int numCollectives = 0;
  /// The number of ranks that the program is for. 0: any number.
  int numRanks = 0;
  /// Connects the ranks that a launcher has started. `device` is the number of
  /// the device of this rank.
  Status (*join)(const amphost::RankOptions &options,
                 const amphost::LaunchedProcess &process, int device,
                 std::shared_ptr<RankGroup> *group) = nullptr;
  /// Connects the ranks of a caller of the C interface, by its communicator or
  /// by its exchange.
  Status (*connect)(const amphost::StepSettings &settings,
                    std::shared_ptr<RankGroup> *group) = nullptr;
};

/// Finds the device of a rank: the device of its local number, or the only
/// device that the process sees.
inline Status findDeviceOfRank(const amphost::LaunchedProcess &process,
                               int *device) {
  int devices = 0;
  AMP_CUDA_CALL(cudaGetDeviceCount(&devices));
  if (devices > 1 && process.localRank >= devices)
    return makeError(kNoDevice,
                     "rank %lld is number %lld on this machine, which has %d "
                     "devices; expected a device for each rank",
                     (long long)process.rank, (long long)process.localRank,
                     devices);
  *device = devices > 1 ? int(process.localRank) : 0;
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_RANKGROUP_H

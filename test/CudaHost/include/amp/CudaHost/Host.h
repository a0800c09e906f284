//===- Host.h - CUDA on the CPU: what tests see -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state and the checks of the emulated device. Everything that a GPU leaves
// undefined is a violation here. The emulator records it, and the next CUDA
// call that reports asynchronous errors fails. A program that does not query
// violations therefore fails too. The emulator checks for
//   * accesses outside of allocations, or not aligned to their size;
//   * races on global memory: two threads that touch the same bytes in one
//     launch, one of them writing, with no barrier, or fence and arrival
//     counter, between;
//   * barriers and shuffles that not all threads reach;
//   * use of uninitialized memory: device memory and shared memory are filled
//     with NaN patterns when they are allocated and when a block starts;
//   * operands of matrix products that overlap the result, or that have less
//     alignment than the heuristic was given.
// To find dependences on the order of threads, run the same program in
// ascending, descending and random order.
//
// The emulator does not model races between threads of one warp that shared
// memory resolves, the accuracy of device intrinsics, the accumulation order of
// tensor cores, or performance.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_CUDAHOST_HOST_H
#define AMP_TEST_CUDAHOST_HOST_H

#include "cuda_runtime.h"

#include <string>
#include <utility>
#include <vector>

namespace amp::cuda::host {

enum class Order { Ascending, Descending, Random };
/// When work on a stream of high priority runs: when it is enqueued, when the
/// host waits for it, or at random one of both.
enum class Priority { Early, Late, Random };

/// May be changed between launches. The environment sets the defaults:
/// AMP_CUDA_HOST_ORDER=ascending|descending|random, AMP_CUDA_HOST_IN_ORDER=1,
/// AMP_CUDA_HOST_EXTRA_WORKSPACE=bytes,
/// AMP_CUDA_HOST_PRIORITY=early|late|random,
/// AMP_CUDA_HOST_CAPABILITY=90.
struct Options {
  /// The order of blocks, and of the threads of a block between two barriers.
  Order order = Order::Ascending;
  uint64_t seed = 1;
  /// Products sum in f32 from the first element on, as amp-run does. Otherwise
  /// they sum in f64.
  bool sumsInOrder = false;
  bool checkAccesses = true;
  bool checkRaces = true;
  /// The memory that cudaMalloc can allocate.
  size_t deviceMemory = size_t(4) << 30;
  int devices = 1;
  /// Ten times the major and the minor number of the compute capability.
  int capability = 90;
  /// RELU epilogues, each with a type of computation, that turn NaN into 0. The
  /// epilogues of a library may do so.
  std::vector<std::pair<int, int>> epiloguesDroppingNaN;
  /// Epilogues for which the library has no algorithm, that it rejects as
  /// invalid, for which no algorithm of the heuristic works, and that are slow.
  std::vector<int> unsupportedEpilogues, invalidEpilogues, failingEpilogues,
      slowEpilogues;
  /// Bytes of workspace that plans of cuDNN need beyond the usual ones.
  size_t extraWorkspace = 0;
  Priority priority = Priority::Early;
};
Options &options();

/// One kernel, copy, fill or product that ran.
struct LaunchRecord {
  std::string name;
  std::string range; ///< the NVTX range in which it was launched
  dim3 grid, block;
  size_t sharedBytes = 0;
  /// Global memory that the threads read and wrote through `load` and `store`.
  uint64_t bytesLoaded = 0, bytesStored = 0;
  /// The same, each address once. This is the memory traffic of a device whose
  /// caches hold everything that a launch reads again. Counted only while races
  /// are checked. Single bytes count each time.
  uint64_t distinctLoaded = 0, distinctStored = 0;
};
/// The launches since the last call of `clearLaunches`, in order of execution.
/// At the end of the program they are written to the file that
/// AMP_CUDA_HOST_TRACE names. Each line has range, name, distinct bytes loaded
/// and stored, separated by tabs.
const std::vector<LaunchRecord> &launches();
void clearLaunches();

/// The violations since the last call of `clearViolations`, which also clears
/// the error that later calls report.
const std::vector<std::string> &violations();
void clearViolations();
/// Records a violation.
void violate(const std::string &message);

/// Bytes that cudaMalloc has allocated and that are not freed.
size_t allocatedBytes();
/// Calls of cudaMalloc so far.
size_t allocationCount();
/// Whether [pointer, pointer + bytes) is inside one allocation of the device.
bool isDeviceMemory(const void *pointer, size_t bytes);

/// Puts `work` on a stream, as a kernel launch does. It runs later, or is
/// captured if a capture of the stream is in progress.
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);
/// Whether a capture of `stream` is in progress.
bool isCapturing(cudaStream_t stream);
/// The NVTX range in which the calling thread launches now.
std::string getRange();
/// Adds a record for work that is not a kernel.
void recordLaunch(LaunchRecord record);

/// Runs `body` for each thread of the grid.
void runKernel(dim3 grid, dim3 block, size_t sharedBytes,
               const std::function<void()> &body, LaunchRecord &record);

} // namespace amp::cuda::host

#endif // AMP_TEST_CUDAHOST_HOST_H

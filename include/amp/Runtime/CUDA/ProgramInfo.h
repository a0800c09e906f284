//===- ProgramInfo.h - The tables of a generated program --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMINFO_H
#define AMP_RUNTIME_CUDA_PROGRAMINFO_H

#include "amp/Runtime/CUDA/Buffers.h"
#include "amp/Runtime/CUDA/GemmPlans.h"
#include "amp/Runtime/CUDA/Optimizer.h"
#include "amp/Runtime/CUDA/Profile.h"
#include "amp/Runtime/CUDA/RankGroup.h"
#include "amp/Runtime/Host/Checkpoint.h"
#include "amp/Runtime/Host/EvaluationRule.h"

namespace amp::cuda {

/// One entry of an optimizer's table, by offsets in the arena; -1: none.
struct OptimizerEntry {
  int64_t parameter = -1, gradient = -1, first = -1, second = -1, copy = -1;
  int64_t count = 0;
  Type gradientType = Type::F32, copyType = Type::F32;
  float weightDecay = 0.0f;
  OptimizerStorage storage = {};
  int16_t quantized = -1; ///< its 8-bit copies in the group
};
/// The 8-bit copies of a parameter, by offsets in the arena; -1: none.
struct QuantizedEntry {
  int64_t payload = -1, transposed = -1, inverse = -1, amax = -1, scale = -1;
  int64_t rows = 0, columns = 0;
  Type source = Type::F32;
  bool saturate = false, keepNonFinite = false;
};
struct OptimizerGroup {
  const OptimizerEntry *entries = nullptr;
  int32_t size = 0;
  int64_t tableOffset = 0; ///< `optimizerTableBytes(size)`, in the state region
  const QuantizedEntry *quantized = nullptr;
  int32_t numQuantized = 0;
  /// `quantizedTableBytes(numQuantized)`, in the state region.
  int64_t quantizedOffset = 0;
};

struct StepRun;

/// Plans of a library, which a program creates before its first step. Without
/// plans a program does not need the library.
struct PlanTable {
  int numPlans = 0;
  /// Creates plan `index`. `spareBytes` receives the bytes of workspace that it
  /// needs besides its scratch memory.
  Status (*create)(int index, void **plan, int64_t *spareBytes) = nullptr;
  void (*destroy)(void *plan) = nullptr;
};

struct ProgramInfo {
  const char *name = "";
  /// The size of the arena and of its state region. The bytes [0, stateBytes)
  /// keep their contents from step to step: states, metrics, predictions,
  /// batches, tables, arrival counters. The bytes [stateBytes, arenaBytes) do
  /// not.
  int64_t arenaBytes = 0, stateBytes = 0;
  const BufferInfo *buffers = nullptr;
  int numBuffers = 0;
  const GemmConfig *gemms = nullptr;
  int numGemms = 0;
  /// The workspace of products. `workspaceBytes` is 0 for a program without
  /// products.
  int64_t workspaceOffset = 0, workspaceBytes = 0;
  const OptimizerGroup *optimizers = nullptr;
  int numOptimizers = 0;
  const LaunchInfo *launches = nullptr;
  int numLaunches = 0;
  /// Enqueues one step.
  Status (*enqueue)(const StepRun &run) = nullptr;
  /// The run that the states belong to. A program written by hand leaves it
  /// empty.
  CheckpointIdentity identity;
  PlanTable plans = {};
  /// The size of the arena with the buffers that only predictions need, which
  /// come after `arenaBytes`. 0 without such buffers.
  int64_t predictionBytes = 0;
  CollectiveTable collectives = {};
  /// The operations of the caller that the step calls.
  const char *const *callees = nullptr;
  int numCalls = 0;
};

/// The forward function of a step.
struct ForwardInfo {
  const ProgramInfo *program = nullptr; ///< null: no forward function
  const EvaluationRule *rules = nullptr;
  int numRules = 0;
};

/// The arguments of `enqueue`.
struct StepRun {
  cudaStream_t stream = nullptr;
  unsigned char *arena = nullptr;
  const GemmPlans *gemms = nullptr;
  const OptimizerTable *optimizers = nullptr;
  const ProgramInfo *info = nullptr;
  Profiler *profiler = nullptr;
  /// The plans of the program, and the workspace of those whose scratch memory
  /// is too small.
  void *const *plans = nullptr;
  void *spareWorkspace = nullptr;
  Reader reader = Reader::Predictions;
  /// Whether to compute the copies of states again. The caller may have changed
  /// a state since the last step.
  bool refreshes = true;
  /// Null for a program without collectives.
  RankGroup *ranks = nullptr;
  int rank = 0, numRanks = 1;
  /// Null for a program without calls.
  const amp_step_caller *caller = nullptr;
  /// The part to enqueue (Calls.h), or -1 for all of them.
  int part = -1;

  /// The buffer at `offset`.
  template <typename T>
  T *at(int64_t offset) const {
    return reinterpret_cast<T *>(arena + offset);
  }
  /// The same, or null if `offset` is -1.
  template <typename T>
  T *find(int64_t offset) const {
    return offset < 0 ? nullptr : at<T>(offset);
  }
  /// Opens the NVTX range and the profile of launch `index` until the result is
  /// destroyed.
  LaunchScope scope(int index) const {
    return LaunchScope(info->launches, index, stream, profiler);
  }
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMINFO_H

//===- ProgramOptions.h - How a program is created --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMOPTIONS_H
#define AMP_RUNTIME_CUDA_PROGRAMOPTIONS_H

#include "amp/Runtime/CUDA/GemmPlans.h"
#include "amp/Runtime/CUDA/ProgramInfo.h"
#include "amp/Runtime/CUDA/RankGroup.h"
#include "amp/Runtime/Step/InterfaceStep.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace amp::cuda {

struct ProgramOptions {
  int device = 0;
  uint64_t seed = 0;
  bool useGraph = true;
  /// Fills buffers that do not outlive a step with NaN before each step. This
  /// finds reads of values that were never written.
  bool poison = false;
  /// Resumes states that were saved with other rules of loss scaling, or with
  /// another batch size.
  bool otherScaler = false, otherBatchSize = false;
  GemmOptions gemm;
  /// Whether the last step of each run computes its predictions, which take
  /// memory of their own.
  bool predictions = true;
  /// The slots of batches, 1 or 2.
  int numSlots = 1;
  /// Whether the host runtime fills two slots alternately and copies on a
  /// separate stream. It must then fill all batches before a step that reads
  /// a new one.
  bool overlapsCopies = false;
  /// The stream of the caller, if it has one for the step.
  std::optional<void *> stream;
  /// The functions are null: the program allocates.
  amp_step_allocator allocator = {};
  /// Performs the calls of the step. The function is null if the step has none.
  amp_step_caller caller = {};
  /// The ranks of a program with collectives.
  std::shared_ptr<RankGroup> ranks;
  /// Whether the ranks register the memory of the program with NCCL.
  bool registersMemory = false;
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMOPTIONS_H

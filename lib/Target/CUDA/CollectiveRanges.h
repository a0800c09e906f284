//===- CollectiveRanges.h - Memory that ranks exchange at once --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TARGET_CUDA_COLLECTIVERANGES_H
#define AMP_LIB_TARGET_CUDA_COLLECTIVERANGES_H

#include "amp/Dialect/CUDA/IR/CUDA.h"

namespace mlir::cuda {

/// Memory that one call of NCCL exchanges: an operand of a collective, or
/// several contiguous operands.
struct CollectiveRange {
  /// The first input and output.
  Value input, output;
  /// The elements of one rank, including padding between operands.
  int64_t count;
};

/// Returns the memory of each call that executes the collective `launch`. The
/// calls have the same order on all ranks.
SmallVector<CollectiveRange> getCollectiveRanges(LaunchOpInterface launch);

} // namespace mlir::cuda

#endif // AMP_LIB_TARGET_CUDA_COLLECTIVERANGES_H

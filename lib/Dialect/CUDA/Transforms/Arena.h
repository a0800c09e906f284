//===- Arena.h - Placement in an arena --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_CUDA_TRANSFORMS_ARENA_H
#define AMP_LIB_DIALECT_CUDA_TRANSFORMS_ARENA_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mlir::cuda {

/// A buffer of `bytes` that is in use from operation `first` to `last`, and its
/// offset.
struct ArenaRange {
  int64_t bytes;
  unsigned first, last;
  int64_t offset;
};

/// The most bytes that are in use at one operation.
int64_t getMostBytesInUse(llvm::ArrayRef<ArenaRange> ranges);

/// Places `ranges` such that no two that are in use at one operation overlap.
/// Returns the bytes that they take. Tries several orders until one takes no
/// more than `bound`, and keeps the best. The result is deterministic.
int64_t placeInArena(llvm::MutableArrayRef<ArenaRange> ranges, int64_t bound);

} // namespace mlir::cuda

#endif // AMP_LIB_DIALECT_CUDA_TRANSFORMS_ARENA_H

//===- CUDAArena.h - Places in an arena -------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_CUDAARENA_H
#define AMP_LIB_CONVERSION_CUDAARENA_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mlir::cuda {

/// Something of `bytes` that is in use from operation `first` to `last`, and
/// where it is placed.
struct ArenaRange {
  int64_t bytes;
  unsigned first, last;
  int64_t offset;
};

/// The most bytes that are in use at one operation.
int64_t getMostBytesInUse(llvm::ArrayRef<ArenaRange> ranges);

/// Places `ranges` such that no two that are in use at one operation overlap,
/// and returns the bytes that they take. Several orders are tried, until one
/// takes no more than `bound`; the best is kept. The same ranges always get the
/// same places.
int64_t placeInArena(llvm::MutableArrayRef<ArenaRange> ranges, int64_t bound);

} // namespace mlir::cuda

#endif // AMP_LIB_CONVERSION_CUDAARENA_H

//===- BufferLiveness.h - What a lowered step allocates ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The most bytes that a function over buffers has allocated at one point, from
// its allocations and deallocations: the plan of the memory that a lowered step
// takes, as `TensorLiveness` is that of the step before lowering.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_ANALYSIS_BUFFERLIVENESS_H
#define AMP_ANALYSIS_BUFFERLIVENESS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>
#include <optional>

namespace mlir::amp {

/// Returns the most bytes that `function`, structured and over buffers, has
/// allocated by memref.alloc at one point, what it calls included. Each buffer
/// counts as what is asked of the allocator, a multiple of its alignment.
/// Buffers that are freed on one path only count as if they were not. Returns
/// nothing where sizes depend on values.
std::optional<int64_t> computePeakBufferBytes(func::FuncOp function);

} // namespace mlir::amp

#endif // AMP_ANALYSIS_BUFFERLIVENESS_H

//===- BufferLiveness.h - What a lowered step allocates ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The peak of allocated bytes of a function over buffers, computed from its
// allocations and deallocations. It is the memory of a lowered step.
// `TensorLiveness` analyzes the step before lowering.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_ANALYSIS_BUFFERLIVENESS_H
#define AMP_ANALYSIS_BUFFERLIVENESS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cstdint>
#include <optional>

namespace mlir::amp {

/// Returns the most bytes that `function` and its callees have allocated by
/// memref.alloc at one point. `function` is structured and works on buffers.
/// Each buffer counts with the size passed to the allocator, a multiple of its
/// alignment. A buffer that only one path frees counts as not freed. Returns
/// std::nullopt if a size depends on values.
std::optional<int64_t> computePeakBufferBytes(func::FuncOp function);

} // namespace mlir::amp

#endif // AMP_ANALYSIS_BUFFERLIVENESS_H

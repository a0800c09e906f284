//===- StridedViews.h - Parts of tensors by strides ------------*- C++ -*--===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_TRAINTOCUDA_STRIDEDVIEWS_H
#define AMP_LIB_CONVERSION_TRAINTOCUDA_STRIDEDVIEWS_H

#include "amp/Dialect/CUDA/IR/CUDA.h"

namespace mlir::cuda {

/// A value as a part of `source`: the element at which it begins and a stride
/// for each of its dimensions.
struct StridedView {
  Value source;
  int64_t offset = 0;
  SmallVector<int64_t> strides;
};

SmallVector<int64_t> getContiguousStrides(ArrayRef<int64_t> shape);

/// Follows `value` through operations that only move elements.
StridedView trace(Value value);

/// Where the heads of a tensor of shape [.., positions, size] begin.
HeadsAttr getHeads(MLIRContext *context, int64_t offset,
                   ArrayRef<int64_t> strides);

/// The permutation that swaps the heads and the positions.
SmallVector<int64_t> getSwap(int64_t rank);

} // namespace mlir::cuda

#endif // AMP_LIB_CONVERSION_TRAINTOCUDA_STRIDEDVIEWS_H

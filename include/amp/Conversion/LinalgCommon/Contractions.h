//===- Contractions.h - Sums of products as loops ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_LINALGCOMMON_CONTRACTIONS_H
#define AMP_CONVERSION_LINALGCOMMON_CONTRACTIONS_H

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

namespace mlir::amp {

/// Emits a contraction into a tensor of zeros of shape `shape` and of the
/// compute type. The innermost loop runs over contiguous elements of the
/// result.
Value contract(LinalgBuilder &b, ArrayRef<int64_t> shape, Value lhs, Value rhs,
               ArrayRef<AffineMap> maps,
               ArrayRef<utils::IteratorType> iterators);

/// Multiplies matrices, the last two dimensions of `lhs` and `rhs`, which may
/// be transposed, into a tensor of shape `shape` and of the compute type.
/// Leading dimensions are batches.
Value multiplyMatrices(LinalgBuilder &b, ArrayRef<int64_t> shape, Value lhs,
                       Value rhs, bool transposeLhs, bool transposeRhs);

} // namespace mlir::amp

#endif // AMP_CONVERSION_LINALGCOMMON_CONTRACTIONS_H

//===- Float8ScaleKinds.h - Scales of blocks of operands --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps the block sizes of operations of the dialect to the kinds of scales of
// the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_IR_FLOAT8SCALEKINDS_H
#define AMP_DIALECT_CUDA_IR_FLOAT8SCALEKINDS_H

#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Runtime/CUDA/Float8Scale.h"

namespace mlir::cuda {

/// Returns the kind of scales for `blocks` of a matrix, as in `cuda.quantize`.
/// The product contracts the columns of the matrix or, with `transposed`, its
/// rows. Returns std::nullopt if no library supports these blocks.
std::optional<::amp::cuda::Float8Scale> getFloat8Scale(ArrayRef<int64_t> blocks,
                                                       bool transposed);

/// Returns the type of the factors of an operand with the padded extents
/// `outer` x `inner`.
RankedTensorType getFactorType(MLIRContext *context,
                               ::amp::cuda::Float8Scale kind, int64_t outer,
                               int64_t inner);

/// Returns the enumerator as C++ code, such as `Float8Scale::Outer`.
StringRef getEnumerator(::amp::cuda::Float8Scale kind);

/// Returns the kinds of the factors of the payload and of the transposed codes.
/// `Tensor` stands for codes that are not written.
std::pair<::amp::cuda::Float8Scale, ::amp::cuda::Float8Scale>
getScaleKinds(QuantizationAttr quantization);

/// Whether tiles of 128 x 128 elements hold the blocks of `kind`.
bool fitsTiles(::amp::cuda::Float8Scale kind);

/// Returns the kind of the factors that `op` writes.
::amp::cuda::Float8Scale getScaleKind(QuantizeOp op);

/// Returns the kind of the factors of A or, with `isB`, of B.
::amp::cuda::Float8Scale getScaleKind(ScaledGemmOp op, bool isB);

} // namespace mlir::cuda

#endif // AMP_DIALECT_CUDA_IR_FLOAT8SCALEKINDS_H

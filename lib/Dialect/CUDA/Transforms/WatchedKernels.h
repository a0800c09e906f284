//===- WatchedKernels.h - Kernels that count values -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_CUDA_TRANSFORMS_WATCHEDKERNELS_H
#define AMP_LIB_DIALECT_CUDA_TRANSFORMS_WATCHEDKERNELS_H

#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::cuda {

/// The result of a kernel that counts a value, and the shape of the value. The
/// result is null if the value is not counted.
struct CountedValue {
  Value counts;
  SmallVector<int64_t> shape;
};

/// A scalar in the body of `kernel`. `number` is the index of its counts. The
/// step narrows the scalar to `to`, or `to` is null.
struct ScalarToCount {
  unsigned number;
  KernelOp kernel;
  Value value;
  FloatType to;
};

/// Appends the two values that a kernel yields to count `scalar`.
void appendCounted(OpBuilder &b, Value scalar, FloatType to,
                   SmallVectorImpl<Value> &yielded);

/// Creates a kernel that counts `numValues` values over all loops. The caller
/// creates its body.
KernelOp createCounter(OpBuilder &b, Location loc, ValueRange inputs,
                       ArrayRef<int64_t> extents, SmallVector<AffineMap> maps,
                       size_t numValues);

/// The names of the values that `launch` computes for each pair of a query and
/// a key. Empty for other launches.
ArrayRef<StringLiteral> getInnerValuesOfAttention(Operation *launch);

/// Adds a kernel that computes these values again and counts them, for the
/// first samples of the batch. Sets an element of `counted` for each.
void countAttention(Operation *launch, MutableArrayRef<CountedValue> counted);

/// Adds a kernel that reads `tensor`, an argument or a result of a launch, and
/// counts its elements. Unless `to` is null, also counts the effects of a cast
/// to `to`. The kernel follows the launch, or comes first for an argument.
CountedValue countTensor(Value tensor, FloatType to);

/// Adds a copy of the reduction `kernel` that stores `value`, a scalar of its
/// `finish` region, and counts the stored elements.
CountedValue countInFinish(KernelOp kernel, Value value, FloatType to);

/// Adds kernels before the kernels of `scalars`. They compute the same scalars
/// and count them. Sets the elements of `counted` at the numbers of the
/// scalars. A kernel runs only over the loops on which its scalars depend, so
/// it counts a repeated scalar once.
void countScalars(ArrayRef<ScalarToCount> scalars,
                  MutableArrayRef<CountedValue> counted);

} // namespace mlir::cuda

#endif // AMP_LIB_DIALECT_CUDA_TRANSFORMS_WATCHEDKERNELS_H

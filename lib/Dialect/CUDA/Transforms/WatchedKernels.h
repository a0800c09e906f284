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
/// result is null for a value that is not counted.
struct CountedValue {
  Value counts;
  SmallVector<int64_t> shape;
};

/// A scalar in the body of a kernel.
struct ScalarToCount {
  unsigned number;
  KernelOp kernel;
  Value value;
  FloatType to;
};

/// Adds a kernel that reads `tensor`, an argument or a result of a launch, and
/// counts its elements and the rounding of each to `to`, which may be null. The
/// kernel follows the launch, or is the first of the step.
CountedValue countTensor(Value tensor, FloatType to);

/// Adds a copy of the reduction `kernel` that ends with `value`, a scalar of
/// its 'finish', and counts its results.
CountedValue countInFinish(KernelOp kernel, Value value, FloatType to);

/// Adds kernels before those of `scalars`, which compute the same values and
/// count them. Sets the elements of `counted` with the numbers of the scalars.
/// A scalar that is the same in several positions of a loop is counted once.
void countScalars(ArrayRef<ScalarToCount> scalars,
                  MutableArrayRef<CountedValue> counted);

} // namespace mlir::cuda

#endif // AMP_LIB_DIALECT_CUDA_TRANSFORMS_WATCHEDKERNELS_H

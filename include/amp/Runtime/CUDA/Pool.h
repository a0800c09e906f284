//===- Pool.h - Pooling -----------------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.max_pool2d, train.avg_pool2d and their gradients on NHWC. The gradients
// gather, for each element of the input, from the windows that cover it: no
// atomics, and sums in f32 in the order of the CPU lowering.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_POOL_H
#define AMP_RUNTIME_CUDA_POOL_H

#include "amp/Runtime/CUDA/Elementwise.h"

namespace amp::cuda {

struct PoolShape {
  int64_t batch, height, width, channels;
  int64_t windowHeight, windowWidth;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t padTop = 0, padBottom = 0, padLeft = 0, padRight = 0;

  AMP_HOST_DEVICE int64_t outHeight() const {
    return (height + padTop + padBottom - windowHeight) / strideHeight + 1;
  }
  AMP_HOST_DEVICE int64_t outWidth() const {
    return (width + padLeft + padRight - windowWidth) / strideWidth + 1;
  }
};

/// The maximum of each window, padding being -inf; NaN if one is inside.
template <typename Y, typename X>
Status maxPoolForward(cudaStream_t stream, Y *y, const X *x,
                      const PoolShape &shape);

/// The gradient of each window goes to the first element, in row-major order,
/// that equals its maximum `y` or is NaN.
template <typename DX, typename X, typename Y, typename DY>
Status maxPoolBackward(cudaStream_t stream, DX *dx, const X *x, const Y *y,
                       const DY *dy, const PoolShape &shape);

/// The sum of each window, padding being 0, divided by the window's size.
template <typename Y, typename X>
Status avgPoolForward(cudaStream_t stream, Y *y, const X *x,
                      const PoolShape &shape);

/// The gradient of each window spread evenly over it.
template <typename DX, typename DY>
Status avgPoolBackward(cudaStream_t stream, DX *dx, const DY *dy,
                       const PoolShape &shape);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_POOL_H

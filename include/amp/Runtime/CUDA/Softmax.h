//===- Softmax.h - Softmax and its logarithm --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.softmax, train.log_softmax and their gradients along the middle of
// [outer, extent, inner]; the last dimension has inner = 1.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_SOFTMAX_H
#define AMP_RUNTIME_CUDA_SOFTMAX_H

#include "amp/Runtime/CUDA/Reduce.h"

namespace amp::cuda {

/// y = exp(x - max x) / Σ exp(x - max x). y may be x.
template <typename Y, typename X>
Status softmaxForward(cudaStream_t stream, Y *y, const X *x, int64_t outer,
                      int64_t extent, int64_t inner = 1);

/// dx = y · (dy - Σ y · dy). dx may be y or dy.
template <typename DX, typename Y, typename DY>
Status softmaxBackward(cudaStream_t stream, DX *dx, const Y *y, const DY *dy,
                       int64_t outer, int64_t extent, int64_t inner = 1);

/// y = x - max x - ln Σ exp(x - max x). y may be x.
template <typename Y, typename X>
Status logSoftmaxForward(cudaStream_t stream, Y *y, const X *x, int64_t outer,
                         int64_t extent, int64_t inner = 1);

/// dx = dy - exp(y) · Σ dy. dx may be y or dy.
template <typename DX, typename Y, typename DY>
Status logSoftmaxBackward(cudaStream_t stream, DX *dx, const Y *y, const DY *dy,
                          int64_t outer, int64_t extent, int64_t inner = 1);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_SOFTMAX_H

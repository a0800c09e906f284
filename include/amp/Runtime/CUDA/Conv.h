//===- Conv.h - Convolution as matrix products ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.conv2d and its gradients on NHWC images: a kernel gathers patches, or
// sums their gradients back, and cuBLASLt does the rest. A convolution whose
// patches are its pixels (1x1, stride 1, no padding) is the product alone.
// With groups, the product is batched over them.
//
// Each function has a companion that gives its `GemmConfig`, to be planned with
// the others; `gemm` is its index in the plans.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_CONV_H
#define AMP_RUNTIME_CUDA_CONV_H

#include "amp/Runtime/CUDA/Gemm.h"

namespace amp::cuda {

/// Y[rows, F] = patches[rows, KH·KW·C] · filter. The epilogue of the result (a
/// bias, a relu) may be added if there is one group.
inline GemmConfig convForwardGemm(const char *name, const ConvShape &shape,
                                  Type operands, Type result);
/// dW = patchesᵀ · dY.
inline GemmConfig convFilterGradGemm(const char *name, const ConvShape &shape,
                                     Type operands, Type result);
/// dPatches = dY · filterᵀ, in f32 unless the convolution is pointwise.
inline GemmConfig convInputGradGemm(const char *name, const ConvShape &shape,
                                    Type operands, Type result);

/// `buffers.b` is the filter, `buffers.d` the result, bias and aux as in the
/// product; `buffers.a` is ignored. `scratch` has `convScratchBytes`.
template <typename T>
Status convForward(cudaStream_t stream, const GemmPlans &plans, int gemm,
                   const ConvShape &shape, GemmBuffers buffers, const T *x,
                   void *scratch);

/// dW of the type planned, from dY and the input.
template <typename T>
Status convFilterGrad(cudaStream_t stream, const GemmPlans &plans, int gemm,
                      const ConvShape &shape, void *dw, const T *dy, const T *x,
                      void *scratch);

/// dX, rounded once to `R`, from dY and the filter. `scratch` has
/// `convInputGradScratchBytes`.
template <typename R, typename T>
Status convInputGrad(cudaStream_t stream, const GemmPlans &plans, int gemm,
                     const ConvShape &shape, R *dx, const T *dy,
                     const T *filter, void *scratch);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_CONV_H

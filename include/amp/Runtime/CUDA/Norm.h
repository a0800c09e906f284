//===- Norm.h - Layer and batch normalisation -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.layer_norm, train.batch_norm_training, train.batch_norm_inference and
// their gradients. Statistics, gains and their gradients are f32; variances are
// taken about the mean (two passes or Chan's combination, never E[x²] - E[x]²).
// Layer norm: rows are normalised; batch norm: columns, the channels.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_NORM_H
#define AMP_RUNTIME_CUDA_NORM_H

#include "amp/Runtime/CUDA/Reduce.h"

namespace amp::cuda {

/// y = (x - mean) · rstd · gamma + beta for each of `rows` rows of `columns`;
/// mean[rows] and rstd[rows] = 1 / √(var + epsilon) are saved.
template <typename Y, typename X>
Status layerNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        const X *x, const float *gamma, const float *beta,
                        int64_t rows, int64_t columns, float epsilon);

/// With g = dy · gamma: dx = rstd · (g - mean g - x̂ · mean(g · x̂));
/// dgamma = Σ dy · x̂, dbeta = Σ dy over rows. dx may be dy. `scratch` has
/// `layerNormScratchBytes`. dx, or dgamma and dbeta, may be null.
template <typename DX, typename DY, typename X>
Status layerNormBackward(cudaStream_t stream, DX *dx, float *dgamma,
                         float *dbeta, const DY *dy, const X *x,
                         const float *gamma, const float *mean,
                         const float *rstd, int64_t rows, int64_t columns,
                         void *scratch, unsigned *tickets);

/// y = (x - mean) · rstd · gamma + beta per channel, over `rows` pixels of
/// `channels`. The running statistics move in place: running += momentum ·
/// (batch - running) as (1 - momentum) · running + momentum · batch, the
/// variance with the unbiased one; the new ones go to `newRunningMean` and
/// `newRunningVar`, which may be the old. With `guard` false they keep their
/// value. `scratch` has `batchNormForwardScratchBytes`.
template <typename Y, typename X>
Status batchNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        float *newRunningMean, float *newRunningVar, const X *x,
                        const float *gamma, const float *beta,
                        const float *runningMean, const float *runningVar,
                        int64_t rows, int64_t channels, float momentum,
                        float epsilon, const uint8_t *guard, void *scratch,
                        unsigned *tickets);

/// dx = gamma · rstd · (dy - mean dy - x̂ · mean(dy · x̂)); dgamma = Σ dy · x̂,
/// dbeta = Σ dy. dx may be dy. `scratch` has `batchNormBackwardScratchBytes`.
template <typename DX, typename DY, typename X>
Status batchNormBackward(cudaStream_t stream, DX *dx, float *dgamma,
                         float *dbeta, const DY *dy, const X *x,
                         const float *gamma, const float *mean,
                         const float *rstd, int64_t rows, int64_t channels,
                         void *scratch, unsigned *tickets);

/// y = (x - mean) / √(var + epsilon) · gamma + beta.
template <typename Y, typename X>
Status batchNormInference(cudaStream_t stream, Y *y, const X *x,
                          const float *gamma, const float *beta,
                          const float *mean, const float *var, int64_t rows,
                          int64_t channels, float epsilon);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_NORM_H

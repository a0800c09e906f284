//===- Compile.cu - The kernels as nvcc compiles them -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles every kernel and the code around it: no warning, no spill to local
// memory, and 128-bit accesses to consecutive elements. compile-types.test also
// compiles them for sm_80.
//
// REQUIRES: nvcc, full
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: %nvcc -gencode arch=compute_90,code=sm_90 -Xptxas -v \
// RUN:   --keep --keep-dir %t.dir -c %s -o %t.o > %t.log 2>&1
// RUN: %python %S/Inputs/check-ptxas.py %t.log
// RUN: %python %S/Inputs/check-vectors.py %t.dir/Compile.ptx
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/CUDA/BatchNorm.h"
#include "amp/Runtime/CUDA/Conv.h"
#include "amp/Runtime/CUDA/CrossEntropy.h"
#include "amp/Runtime/CUDA/Documents.h"
#include "amp/Runtime/CUDA/LinearCrossEntropy.h"
#include "amp/Runtime/CUDA/Norm.h"
#include "amp/Runtime/CUDA/Optimizer.h"
#include "amp/Runtime/CUDA/Pool.h"
#include "amp/Runtime/CUDA/Random.h"
#include "amp/Runtime/CUDA/Softmax.h"
#include "amp/Runtime/CUDA/Trainer.h"

using namespace amp::cuda;

/// The same form as in generated code.
__global__ void __launch_bounds__(kThreads)
    biasRelu(__half *out, const __half *x, const __half *bias, int64_t count) {
  elementwise<8>(count, [=](auto at) {
    auto a = at.load(x);
    auto b = at.column(bias, 128);
    at.store(out, at.map([](float a, float b) { return maximum(a + b, 0.0f); },
                         a, b));
  });
}

__global__ void __launch_bounds__(kThreads)
    rowMaxima(float *out, const float *x, int64_t rows) {
  reduceRows<Maximum, 32, 4>(
      rows, 64, [=](auto at, int64_t, int64_t) { return at.load(x); },
      [=](int64_t row, float most) { storeOne(out + row, most); });
}

__global__ void __launch_bounds__(kThreads)
    total(float *out, const __nv_bfloat16 *x, int64_t count, float *partials,
          unsigned *arrivalCounter) {
  reduceAll<Sum<float>, 8>(
      count, partials, arrivalCounter, [=](auto at) { return at.load(x); },
      [=](float sum) { storeOne(out, sum); });
}

Status launchGenerated(cudaStream_t stream, void *p,
                       unsigned *arrivalCounters) {
  auto *h = static_cast<__half *>(p);
  auto *f = static_cast<float *>(p);
  AMP_RETURN_IF_ERROR(launch("bias_relu", stream, elementwiseShape(8192, 8),
                             biasRelu, h, h, h, int64_t(8192)));
  AMP_RETURN_IF_ERROR(launch("row_maxima", stream, rowShape<32>(64), rowMaxima,
                             f, f, int64_t(64)));
  return launch("total", stream, reduceShape(8192), total, f,
                static_cast<__nv_bfloat16 *>(p), int64_t(8192), f,
                arrivalCounters);
}

/// Every composite kernel with operands of `T` and, where they differ, results
/// of `R`.
template <typename T, typename R>
Status launchAll(cudaStream_t stream, void *p, unsigned *arrivalCounters,
                 const GemmPlans &plans) {
  auto *t = static_cast<T *>(p);
  auto *r = static_cast<R *>(p);
  auto *f = static_cast<float *>(p);
  auto *labels = static_cast<int64_t *>(p);
  auto *flag = static_cast<uint8_t *>(p);
  AMP_RETURN_IF_ERROR(softmaxForward(stream, r, t, 64, 64));
  AMP_RETURN_IF_ERROR(softmaxBackward(stream, t, r, r, 64, 64));
  AMP_RETURN_IF_ERROR(logSoftmaxForward(stream, r, t, 64, 64));
  AMP_RETURN_IF_ERROR(logSoftmaxBackward(stream, t, r, r, 64, 64));
  AMP_RETURN_IF_ERROR(
      crossEntropy(stream, f, t, r, labels, f, 64, 64, p, arrivalCounters));
  AMP_RETURN_IF_ERROR(linearCrossEntropy(
      stream, plans, 0, LinearLossShape{64, 64, 64, 64, false}, f, r, f,
      static_cast<int64_t *>(nullptr), static_cast<const T *>(t),
      static_cast<const T *>(t), labels, f, p));
  AMP_RETURN_IF_ERROR(layerNormForward(stream, r, f, f, t, f, f, 64, 64, 0.1f));
  AMP_RETURN_IF_ERROR(layerNormBackward(stream, t, f, f, r, t, f, f, f, 64, 64,
                                        p, arrivalCounters));
  AMP_RETURN_IF_ERROR(layerNormAndBackward(stream, t, f, f, t, r, t, f, f, f, f,
                                           64, 64, p, arrivalCounters));
  AMP_RETURN_IF_ERROR(rmsNormForward(stream, r, f, t, f, 64, 64, 0.1f));
  AMP_RETURN_IF_ERROR(
      rmsNormBackward(stream, t, f, r, t, f, f, 64, 64, p, arrivalCounters));
  AMP_RETURN_IF_ERROR(rmsNormAndBackward(stream, t, f, t, r, t, f, f, 64, 64, p,
                                         arrivalCounters));
  AMP_RETURN_IF_ERROR(batchNormForward(stream, r, f, f, f, f, t, f, f, f, f, 64,
                                       64, 0.1f, 0.1f, flag, p,
                                       arrivalCounters));
  AMP_RETURN_IF_ERROR(batchNormBackward(stream, t, f, f, r, t, f, f, f, 64, 64,
                                        p, arrivalCounters));
  AMP_RETURN_IF_ERROR(batchNormApply(stream, r, t, f, f, f, f, 64, 64));
  AMP_RETURN_IF_ERROR(batchNormReluApply(stream, r, t, f, f, f, f, 64, 64));
  AMP_RETURN_IF_ERROR(
      batchNormAddReluApply(stream, r, t, f, f, f, f, t, 64, 64));
  AMP_RETURN_IF_ERROR(
      batchNormInference(stream, r, t, f, f, f, f, 64, 64, 0.1f));
  auto *mask = static_cast<int8_t *>(p);
  AMP_RETURN_IF_ERROR(batchNormReluForward(stream, r, f, f, f, f, mask, t, f, f,
                                           f, f, 64, 64, 0.1f, 0.1f, flag, p,
                                           arrivalCounters));
  AMP_RETURN_IF_ERROR(batchNormAddReluForward(stream, r, f, f, f, f, mask, t, f,
                                              f, f, f, t, 64, 64, 0.1f, 0.1f,
                                              flag, p, arrivalCounters));
  AMP_RETURN_IF_ERROR(batchNormReluBackward(stream, t, f, f, r, mask, t, f, f,
                                            f, 64, 64, p, arrivalCounters));
  AMP_RETURN_IF_ERROR(batchNormAddReluBackward(
      stream, t, f, f, r, r, mask, t, f, f, f, 64, 64, p, arrivalCounters));
  PoolShape pool = {1, 8, 8, 8, 2, 2, 2, 2};
  AMP_RETURN_IF_ERROR(maxPoolForward(stream, t, t, pool));
  AMP_RETURN_IF_ERROR(maxPoolBackward(stream, t, t, t, t, pool));
  AMP_RETURN_IF_ERROR(avgPoolForward(stream, r, t, pool));
  AMP_RETURN_IF_ERROR(avgPoolBackward(stream, t, r, pool));
  AMP_RETURN_IF_ERROR(dropout(stream, r, t, labels, 1, 0.5, 64));
  ConvShape conv = {1, 8, 8, 8, 3, 3, 8};
  AMP_RETURN_IF_ERROR(convForward(stream, plans, 0, conv, GemmBuffers(), t, p));
  AMP_RETURN_IF_ERROR(convFilterGrad(stream, plans, 1, conv, p, t, t, p));
  return convInputGrad(stream, plans, 2, conv, r, t, t, p);
}

Status launchState(cudaStream_t stream, void *p, unsigned *arrivalCounters) {
  auto *f = static_cast<float *>(p);
  auto *i = static_cast<int32_t *>(p);
  auto *flag = static_cast<uint8_t *>(p);
  auto *state = static_cast<UnscaleState *>(p);
  OptimizerTable table;
  AMP_RETURN_IF_ERROR(
      unscaleCheck(stream, table, f, 1.0f, state, flag, f, p, arrivalCounters));
  AMP_RETURN_IF_ERROR(sgd(stream, table, {}, f, state, flag));
  AMP_RETURN_IF_ERROR(adam(stream, table, {}, f, f, state, flag));
  AMP_RETURN_IF_ERROR(castParameters(stream, table));
  AMP_RETURN_IF_ERROR(updateScale(stream, {}, f, i, i, flag));
  AMP_RETURN_IF_ERROR(stochasticRound(stream, static_cast<__nv_bfloat16 *>(p),
                                      f, static_cast<int64_t *>(p), 1, 64));
  return advanceRng(stream, static_cast<int64_t *>(p),
                    static_cast<int64_t *>(p));
}

int runTrainer(int argc, char **argv, const ProgramInfo &info) {
  return trainerMain(argc, argv, info);
}

template Status launchAll<__half, float>(cudaStream_t, void *, unsigned *,
                                         const GemmPlans &);
#ifdef AMP_ALL_TYPES // as compile-types.test does
template Status launchAll<float, float>(cudaStream_t, void *, unsigned *,
                                        const GemmPlans &);
template Status launchAll<__half, __half>(cudaStream_t, void *, unsigned *,
                                          const GemmPlans &);
template Status launchAll<__nv_bfloat16, __nv_bfloat16>(cudaStream_t, void *,
                                                        unsigned *,
                                                        const GemmPlans &);
#endif

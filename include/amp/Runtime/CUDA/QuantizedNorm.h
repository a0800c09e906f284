//===- QuantizedNorm.h - Norms as 8-bit floats ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layer norms and RMS norms that write their results as 8-bit floats, for
// products. The kernel that normalises a row also writes its codes. It writes
// the norm itself only if another launch reads it. For the transposed codes, a
// block collects several rows in shared memory and writes their columns.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_QUANTIZEDNORM_H
#define AMP_RUNTIME_CUDA_QUANTIZEDNORM_H

#include "amp/Runtime/CUDA/Norm.h"
#include "amp/Runtime/CUDA/Quantize.h"

namespace amp::cuda {

/// Bytes of shared memory for the reductions of rows and of the magnitude. The
/// codes follow them.
inline constexpr int kQuantizedNormBytes = kThreads / 32 * 16 + 16;

/// The statistics, operands and result of a norm of rows. `Means` and `Beta`
/// are NoMean in an RMS norm. A null `y` is not written.
template <typename Y, typename X, typename Means, typename Beta>
struct NormOperands {
  Y *y;
  Means mean;
  float *rstd;
  const X *x;
  const float *gamma;
  Beta beta;
  float epsilon;
};

/// Writes `rows` rows of codes as columns of `transposed`. The first of them is
/// row `begin` of the matrix. A row of `codes` takes `pitch` bytes.
AMP_DEVICE void storeColumns(const QuantizeConfig &config, uint8_t *transposed,
                             const unsigned char *codes, int64_t begin,
                             int rows, int pitch) {
  const int64_t paddedRows = padFloat8(config.rows);
  const int parts = rows / 16;
  for (int i = int(threadIdx.x); i < int(config.columns) * parts;
       i += kThreads) {
    const int column = i / parts, first = i % parts * 16;
    if (begin + first >= paddedRows)
      continue;
    Pack<uint8_t, 16> pack;
#pragma unroll
    for (int lane = 0; lane < 16; ++lane)
      pack[lane] = codes[(first + lane) * pitch + column];
    store<16>(transposed + column * paddedRows + begin + first, pack);
  }
}

/// Normalises rows and writes the copies of the result. `partials` holds a
/// float for each block.
template <Float8 Format, typename Plan, typename Y, typename X, typename Means,
          typename Beta>
__global__ void __launch_bounds__(kThreads)
    quantizedNormKernel(NormOperands<Y, X, Means, Beta> norm,
                        QuantizeConfig config, QuantizeResults out,
                        const float *scales, int rowsOfBlock, float *partials,
                        unsigned *arrivalCounter) {
  auto *codes = sharedMemory<unsigned char>() + kQuantizedNormBytes;
  const int64_t columns = config.columns, rows = padFloat8(config.rows);
  const int pitch = int(columns) + 4;
  const float scale = readScale(out, scales);
  float amax = 0.0f;
  for (int64_t begin = int64_t(blockIdx.x) * rowsOfBlock; begin < rows;
       begin += int64_t(gridDim.x) * rowsOfBlock) {
    for (int line = Plan::rowInBlock(); line < rowsOfBlock;
         line += Plan::rowsPerBlock) {
      const int64_t row = begin + line;
      auto write = [&](int64_t column, const auto &pack) {
        if (out.payload)
          store(out.payload + row * columns + column, pack);
        if (out.transposed)
          keepCodes(codes + line * pitch + column, pack);
      };
      if (row < config.rows)
        normalizeRow<Plan>(
            norm.mean, norm.rstd, norm.x, norm.gamma, norm.beta, row, columns,
            norm.epsilon, [&](int64_t column, const auto &values) {
              if (norm.y)
                store(norm.y + row * columns + column, values);
              Pack<uint8_t, Plan::width> pack;
#pragma unroll
              for (int lane = 0; lane < Plan::width; ++lane) {
                const float value = widen(roundTo<Y>(values[lane]));
                amax = maximum(amax, fabsf(value));
                pack[lane] = quantizeOne<Format>(config, value, scale);
              }
              write(column, pack);
            });
      else if (row < rows)
        forEachPack<Plan>(columns, [&](int, int64_t column) {
          write(column, Pack<uint8_t, Plan::width>::of(uint8_t(0)));
        });
    }
    if (!out.transposed)
      continue;
    __syncthreads();
    storeColumns(config, out.transposed, codes, begin, rowsOfBlock, pitch);
    __syncthreads(); // the codes have been read
  }
  if (!out.amax)
    return;
  __syncthreads(); // the last sum of a row has been read
  storeMagnitude(out.amax, amax, partials, arrivalCounter,
                 sharedMemory<float>());
}

template <typename Y, typename X, typename Means, typename Beta>
Status launchQuantizedNorm(const char *name, cudaStream_t stream,
                           const NormOperands<Y, X, Means, Beta> &norm,
                           const QuantizeConfig &config,
                           const QuantizeResults &out, const float *scale,
                           void *partials, unsigned *arrivalCounter) {
  const auto rows = int(quantizedNormRows(config.columns));
  return withRowPlan<kCommonWidth<Y, X>>(config.columns, [&](auto plan) {
    using Plan = decltype(plan);
    LaunchShape shape;
    shape.grid.x = unsigned(quantizedNormParts(config.rows, config.columns));
    shape.sharedBytes = size_t(kQuantizedNormBytes);
    if (out.transposed)
      shape.sharedBytes += size_t(rows) * size_t(config.columns + 4);
    auto *kernel =
        config.format == Float8::E4M3
            ? quantizedNormKernel<Float8::E4M3, Plan, Y, X, Means, Beta>
            : quantizedNormKernel<Float8::E5M2, Plan, Y, X, Means, Beta>;
    return launch(name, stream, shape, kernel, norm, config, out, scale, rows,
                  static_cast<float *>(partials), arrivalCounter);
  });
}

/// Computes `layerNormForward`, rounds the result to `Y`, and writes it as
/// 8-bit floats. `y` may be null. `config.columns` must be a multiple of 16 for
/// which `quantizedNormRows` is not 0. `scale` may be null if `out` has only a
/// magnitude. `partials` is scratch of `quantizedNormScratchBytes`, and
/// `arrivalCounter` is zero before and after; only a magnitude needs them.
template <typename Y, typename X>
Status quantizedLayerNorm(cudaStream_t stream, const QuantizeConfig &config,
                          const QuantizeResults &out, Y *y, float *mean,
                          float *rstd, const X *x, const float *gamma,
                          const float *beta, const float *scale, float epsilon,
                          void *partials, unsigned *arrivalCounter) {
  return launchQuantizedNorm("quantized_layer_norm", stream,
                             NormOperands<Y, X, float *, const float *>{
                                 y, mean, rstd, x, gamma, beta, epsilon},
                             config, out, scale, partials, arrivalCounter);
}

/// Does the same for `rmsNormForward`.
template <typename Y, typename X>
Status quantizedRMSNorm(cudaStream_t stream, const QuantizeConfig &config,
                        const QuantizeResults &out, Y *y, float *rstd,
                        const X *x, const float *gamma, const float *scale,
                        float epsilon, void *partials,
                        unsigned *arrivalCounter) {
  return launchQuantizedNorm(
      "quantized_rms_norm", stream,
      NormOperands<Y, X, NoMean, NoMean>{y, NoMean(), rstd, x, gamma, NoMean(),
                                         epsilon},
      config, out, scale, partials, arrivalCounter);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_QUANTIZEDNORM_H

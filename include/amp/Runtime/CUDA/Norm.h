//===- Norm.h - Layer normalisation -----------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.layer_norm and its gradient. Layer norm normalises rows. Statistics,
// gains and their gradients are f32. Squares are summed of distances from the
// mean. Nothing cancels when the mean is large against the deviation.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_NORM_H
#define AMP_RUNTIME_CUDA_NORM_H

#include "amp/Runtime/CUDA/Rows.h"

namespace amp::cuda {

/// y = (x - mean) · rstd · gamma + beta for each of `rows` rows of `columns`.
/// Saves mean[rows] and rstd[rows] = 1 / √(var + epsilon).
template <typename Y, typename X>
Status layerNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        const X *x, const float *gamma, const float *beta,
                        int64_t rows, int64_t columns, float epsilon);

/// With g = dy · gamma: dx = rstd · (g - mean g - x̂ · mean(g · x̂));
/// dgamma = Σ dy · x̂, dbeta = Σ dy over rows. dx may be dy. `scratch` has
/// `layerNormScratchBytes`.
template <typename DX, typename DY, typename X>
Status layerNormBackward(cudaStream_t stream, DX *dx, float *dgamma,
                         float *dbeta, const DY *dy, const X *x,
                         const float *gamma, const float *mean,
                         const float *rstd, int64_t rows, int64_t columns,
                         void *scratch, unsigned *arrivalCounters);

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

template <typename Plan, typename Y, typename X>
__global__ void __launch_bounds__(kThreads)
    layerNormForwardKernel(Y *y, float *means, float *rstds, const X *x,
                           const float *gamma, const float *beta, int64_t rows,
                           int64_t columns, float epsilon) {
  forEachRow<Plan>(rows, [=](int64_t number) {
    const Row<Plan, X> row(x + number * columns, columns);
    float sum = 0.0f;
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      sum = combineLanes<Sum<float>>(sum, row.get(pack, column));
    });
    const float mean = reduceRow<Plan, Sum<float>>(sum) / float(columns);
    float squares = 0.0f;
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      const auto values = row.get(pack, column);
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane)
        squares += (values[lane] - mean) * (values[lane] - mean);
    });
    const float variance =
        reduceRow<Plan, Sum<float>>(squares) / float(columns);
    const float rstd = 1.0f / sqrtf(variance + epsilon);
    if (Plan::thread() == 0) {
      storeOne(means + number, mean);
      storeOne(rstds + number, rstd);
    }
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      auto values = row.get(pack, column);
      const auto gain = load<Plan::width>(gamma + column);
      const auto shift = load<Plan::width>(beta + column);
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane)
        values[lane] = (values[lane] - mean) * rstd * gain[lane] + shift[lane];
      store(y + number * columns + column, values);
    });
  });
}

template <typename Y, typename X>
Status layerNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        const X *x, const float *gamma, const float *beta,
                        int64_t rows, int64_t columns, float epsilon) {
  return withRowPlan<kCommonWidth<Y, X>>(columns, [&](auto plan) {
    using Plan = decltype(plan);
    return launch("layer_norm", stream, planShape<Plan>(rows),
                  layerNormForwardKernel<Plan, Y, X>, y, mean, rstd, x, gamma,
                  beta, rows, columns, epsilon);
  });
}

/// dx of one row.
template <typename Plan, typename DX, typename DY, typename X>
__global__ void __launch_bounds__(kThreads)
    layerNormInputGradKernel(DX *dx, const DY *dy, const X *x,
                             const float *gamma, const float *means,
                             const float *rstds, int64_t rows,
                             int64_t columns) {
  forEachRow<Plan>(rows, [=](int64_t number) {
    const Row<Plan, X> input(x + number * columns, columns);
    const Row<Plan, DY> gradient(dy + number * columns, columns);
    const float mean = loadOne(means + number), rstd = loadOne(rstds + number);
    TwoSums sums = TwoSums::identity();
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      const auto a = input.get(pack, column), b = gradient.get(pack, column);
      const auto gain = load<Plan::width>(gamma + column);
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane) {
        const float g = b[lane] * gain[lane];
        sums.first += g;
        sums.second += g * ((a[lane] - mean) * rstd);
      }
    });
    sums = reduceRow<Plan, TwoSums>(sums);
    const float meanG = sums.first / float(columns);
    const float meanDot = sums.second / float(columns);
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      const auto a = input.get(pack, column), b = gradient.get(pack, column);
      const auto gain = load<Plan::width>(gamma + column);
      Pack<float, Plan::width> out;
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane) {
        const float normal = (a[lane] - mean) * rstd;
        out[lane] = rstd * (b[lane] * gain[lane] - meanG - normal * meanDot);
      }
      store(dx + number * columns + column, out);
    });
  });
}

/// Σ dy and Σ dy · x̂ over rows.
template <int Width, typename DY, typename X>
__global__ void __launch_bounds__(kThreads, kBlocks)
    normGainGradKernel(float *dgamma, float *dbeta, const DY *dy, const X *x,
                       const float *means, const float *rstds, int64_t rows,
                       int64_t columns, TwoSums *partials,
                       unsigned *arrivalCounters) {
  reduceColumns<TwoSums, Width>(
      rows, columns, partials, arrivalCounters,
      [=](auto at, int64_t row, int64_t) {
        const auto a = at.load(x);
        const auto b = at.load(dy);
        const float mean = loadOne(means + row), rstd = loadOne(rstds + row);
        Pack<TwoSums, at.width> result;
#pragma unroll
        for (int lane = 0; lane < at.width; ++lane)
          result[lane] = {b[lane], b[lane] * ((a[lane] - mean) * rstd)};
        return result;
      },
      [=](int64_t column, TwoSums sums) {
        storeOne(dbeta + column, sums.first);
        storeOne(dgamma + column, sums.second);
      });
}

template <typename DY, typename X>
Status launchNormGainGrad(const char *name, cudaStream_t stream, float *dgamma,
                          float *dbeta, const DY *dy, const X *x,
                          const float *mean, const float *rstd, int64_t rows,
                          int64_t columns, void *scratch,
                          unsigned *arrivalCounters) {
  return launch(name, stream, columnShape(rows, columns, 2),
                columns % 2 == 0 ? normGainGradKernel<2, DY, X>
                                 : normGainGradKernel<1, DY, X>,
                dgamma, dbeta, dy, x, mean, rstd, rows, columns,
                static_cast<TwoSums *>(scratch), arrivalCounters);
}

template <typename DX, typename DY, typename X>
Status layerNormBackward(cudaStream_t stream, DX *dx, float *dgamma,
                         float *dbeta, const DY *dy, const X *x,
                         const float *gamma, const float *mean,
                         const float *rstd, int64_t rows, int64_t columns,
                         void *scratch, unsigned *arrivalCounters) {
  // This comes first because dx may be dy.
  AMP_RETURN_IF_ERROR(launchNormGainGrad("layer_norm_gain_grad", stream, dgamma,
                                         dbeta, dy, x, mean, rstd, rows,
                                         columns, scratch, arrivalCounters));
  return withRowPlan<kCommonWidth<DX, DY, X>>(columns, [&](auto plan) {
    using Plan = decltype(plan);
    return launch("layer_norm_input_grad", stream, planShape<Plan>(rows),
                  layerNormInputGradKernel<Plan, DX, DY, X>, dx, dy, x, gamma,
                  mean, rstd, rows, columns);
  });
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_NORM_H

//===- Norm.h - Layer and batch normalisation -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.layer_norm, train.batch_norm_training, train.batch_norm_inference and
// their gradients. Layer norm normalises rows; batch norm normalises columns,
// which are the channels. Statistics, gains and their gradients are f32. Layer
// norm sums squares of distances from the mean, batch norm from one pixel of
// the channel. Nothing cancels when the mean is large against the deviation.
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

/// y = (x - mean) · rstd · gamma + beta per channel, over `rows` pixels of
/// `channels`. The new running statistics are (1 - momentum) · running +
/// momentum · batch, where the variance takes the unbiased one.
/// `newRunningMean` and `newRunningVar` receive them and may be the old ones.
/// With `guard` false they keep their value. `scratch` has
/// `batchNormForwardScratchBytes`.
template <typename Y, typename X>
Status batchNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        float *newRunningMean, float *newRunningVar, const X *x,
                        const float *gamma, const float *beta,
                        const float *runningMean, const float *runningVar,
                        int64_t rows, int64_t channels, float momentum,
                        float epsilon, const uint8_t *guard, void *scratch,
                        unsigned *arrivalCounters);

/// dx = gamma · rstd · (dy - mean dy - x̂ · mean(dy · x̂)); dgamma = Σ dy · x̂,
/// dbeta = Σ dy. dx may be dy. `scratch` has `batchNormBackwardScratchBytes`.
template <typename DX, typename DY, typename X>
Status batchNormBackward(cudaStream_t stream, DX *dx, float *dgamma,
                         float *dbeta, const DY *dy, const X *x,
                         const float *gamma, const float *mean,
                         const float *rstd, int64_t rows, int64_t channels,
                         void *scratch, unsigned *arrivalCounters);

/// y = (x - mean) / √(var + epsilon) · gamma + beta.
template <typename Y, typename X>
Status batchNormInference(cudaStream_t stream, Y *y, const X *x,
                          const float *gamma, const float *beta,
                          const float *mean, const float *var, int64_t rows,
                          int64_t channels, float epsilon);

/// Two sums at once.
struct TwoSums {
  using type = TwoSums;
  float first, second;
  static AMP_DEVICE TwoSums identity() { return {0.0f, 0.0f}; }
  static AMP_DEVICE TwoSums combine(TwoSums a, TwoSums b) {
    return {a.first + b.first, a.second + b.second};
  }
};

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

/// Σ dy and Σ dy · x̂ over rows. The statistics belong to rows (layer norm) or
/// to columns (batch norm).
template <bool ByRow, int Width, typename DY, typename X>
__global__ void __launch_bounds__(kThreads, kBlocks)
    normGainGradKernel(float *dgamma, float *dbeta, const DY *dy, const X *x,
                       const float *means, const float *rstds, int64_t rows,
                       int64_t columns, TwoSums *partials,
                       unsigned *arrivalCounters) {
  reduceColumns<TwoSums, Width>(
      rows, columns, partials, arrivalCounters,
      [=](auto at, int64_t row, int64_t column) {
        const auto a = at.load(x);
        const auto b = at.load(dy);
        Pack<float, at.width> mean, rstd;
        if constexpr (ByRow) {
          mean = Pack<float, at.width>::of(loadOne(means + row));
          rstd = Pack<float, at.width>::of(loadOne(rstds + row));
        } else {
          mean = load<at.width>(means + column);
          rstd = load<at.width>(rstds + column);
        }
        Pack<TwoSums, at.width> result;
#pragma unroll
        for (int lane = 0; lane < at.width; ++lane)
          result[lane] = {b[lane],
                          b[lane] * ((a[lane] - mean[lane]) * rstd[lane])};
        return result;
      },
      [=](int64_t column, TwoSums sums) {
        storeOne(dbeta + column, sums.first);
        storeOne(dgamma + column, sums.second);
      });
}

template <bool ByRow, typename DY, typename X>
Status launchNormGainGrad(const char *name, cudaStream_t stream, float *dgamma,
                          float *dbeta, const DY *dy, const X *x,
                          const float *mean, const float *rstd, int64_t rows,
                          int64_t columns, void *scratch,
                          unsigned *arrivalCounters) {
  return launch(name, stream, columnShape(rows, columns, 2),
                columns % 2 == 0 ? normGainGradKernel<ByRow, 2, DY, X>
                                 : normGainGradKernel<ByRow, 1, DY, X>,
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
  AMP_RETURN_IF_ERROR(launchNormGainGrad<true>(
      "layer_norm_gain_grad", stream, dgamma, dbeta, dy, x, mean, rstd, rows,
      columns, scratch, arrivalCounters));
  return withRowPlan<kCommonWidth<DX, DY, X>>(columns, [&](auto plan) {
    using Plan = decltype(plan);
    return launch("layer_norm_input_grad", stream, planShape<Plan>(rows),
                  layerNormInputGradKernel<Plan, DX, DY, X>, dx, dy, x, gamma,
                  mean, rstd, rows, columns);
  });
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// The statistics that `batchNormForward` writes.
struct BatchNormStatistics {
  float *mean, *rstd, *newRunningMean, *newRunningVar;
  const float *runningMean, *runningVar;
  float momentum, epsilon;
};

template <int Width, typename X>
__global__ void __launch_bounds__(kThreads)
    batchNormStatisticsKernel(BatchNormStatistics s, const X *x, int64_t rows,
                              int64_t channels, const uint8_t *guard,
                              TwoSums *partials, unsigned *arrivalCounters) {
  const float count = float(rows);
  reduceColumns<TwoSums, Width>(
      rows, channels, partials, arrivalCounters,
      [=](auto at, int64_t, int64_t column) {
        // Subtract the first pixel, which all partial sums share.
        const auto origin = load<at.width>(x + column);
        const auto values = at.load(x);
        Pack<TwoSums, at.width> result;
#pragma unroll
        for (int lane = 0; lane < at.width; ++lane) {
          const float d = values[lane] - origin[lane];
          result[lane] = {d, d * d};
        }
        return result;
      },
      [=](int64_t column, TwoSums sums) {
        const float offset = sums.first / count;
        const float mean = loadOne(x + column) + offset;
        const float squares = maximum(sums.second - sums.first * offset, 0.0f);
        storeOne(s.mean + column, mean);
        storeOne(s.rstd + column, 1.0f / sqrtf(squares / count + s.epsilon));
        // The running variance takes the unbiased variance.
        const float unbiased = squares / (count - 1.0f);
        const bool moves = guarded(guard);
        auto move = [=](float running, float batch) {
          return moves ? running * (1.0f - s.momentum) + batch * s.momentum
                       : running;
        };
        storeOne(s.newRunningMean + column,
                 move(loadOne(s.runningMean + column), mean));
        storeOne(s.newRunningVar + column,
                 move(loadOne(s.runningVar + column), unbiased));
      });
}

/// y = (x - mean) · rstd · gamma + beta. For inference, the variance takes the
/// place of rstd.
template <bool Inference, typename Y, typename X>
__global__ void __launch_bounds__(kThreads, kBlocks)
    batchNormApplyKernel(Y *y, const X *x, const float *gamma,
                         const float *beta, const float *mean,
                         const float *rstd, int64_t rows, int64_t channels,
                         float epsilon) {
  elementwise<kCommonWidth<Y, X>>(rows * channels, [=](auto at) {
    const auto values = at.load(x);
    const auto center = at.column(mean, channels);
    const auto spread = at.column(rstd, channels);
    const auto gain = at.column(gamma, channels);
    const auto shift = at.column(beta, channels);
    Pack<float, at.width> out;
#pragma unroll
    for (int lane = 0; lane < at.width; ++lane) {
      const float factor =
          Inference ? 1.0f / sqrtf(spread[lane] + epsilon) : spread[lane];
      out[lane] =
          (values[lane] - center[lane]) * factor * gain[lane] + shift[lane];
    }
    at.store(y, out);
  });
}

template <typename Y, typename X>
Status batchNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        float *newRunningMean, float *newRunningVar, const X *x,
                        const float *gamma, const float *beta,
                        const float *runningMean, const float *runningVar,
                        int64_t rows, int64_t channels, float momentum,
                        float epsilon, const uint8_t *guard, void *scratch,
                        unsigned *arrivalCounters) {
  BatchNormStatistics statistics = {mean,          rstd,        newRunningMean,
                                    newRunningVar, runningMean, runningVar,
                                    momentum,      epsilon};
  AMP_RETURN_IF_ERROR(
      launch("batch_norm_statistics", stream, columnShape(rows, channels, 2),
             channels % 2 == 0 ? batchNormStatisticsKernel<2, X>
                               : batchNormStatisticsKernel<1, X>,
             statistics, x, rows, channels, guard,
             static_cast<TwoSums *>(scratch), arrivalCounters));
  return launch("batch_norm", stream,
                elementwiseShape(rows * channels, kCommonWidth<Y, X>),
                batchNormApplyKernel<false, Y, X>, y, x, gamma, beta, mean,
                rstd, rows, channels, epsilon);
}

template <typename Y, typename X>
Status batchNormInference(cudaStream_t stream, Y *y, const X *x,
                          const float *gamma, const float *beta,
                          const float *mean, const float *var, int64_t rows,
                          int64_t channels, float epsilon) {
  return launch("batch_norm_inference", stream,
                elementwiseShape(rows * channels, kCommonWidth<Y, X>),
                batchNormApplyKernel<true, Y, X>, y, x, gamma, beta, mean, var,
                rows, channels, epsilon);
}

template <typename DX, typename DY, typename X>
__global__ void __launch_bounds__(kThreads, kBlocks / 2)
    batchNormInputGradKernel(DX *dx, const float *dgamma, const float *dbeta,
                             const DY *dy, const X *x, const float *gamma,
                             const float *mean, const float *rstd, int64_t rows,
                             int64_t channels) {
  const float count = float(rows);
  elementwise<kCommonWidth<DX, DY, X>>(rows * channels, [=](auto at) {
    const auto a = at.load(x);
    const auto b = at.load(dy);
    const auto center = at.column(mean, channels);
    const auto factor = at.column(rstd, channels);
    const auto gain = at.column(gamma, channels);
    const auto sumDot = at.column(dgamma, channels);
    const auto sum = at.column(dbeta, channels);
    Pack<float, at.width> out;
#pragma unroll
    for (int lane = 0; lane < at.width; ++lane) {
      const float normal = (a[lane] - center[lane]) * factor[lane];
      out[lane] =
          (b[lane] - sum[lane] / count - normal * (sumDot[lane] / count)) *
          (gain[lane] * factor[lane]);
    }
    at.store(dx, out);
  });
}

template <typename DX, typename DY, typename X>
Status batchNormBackward(cudaStream_t stream, DX *dx, float *dgamma,
                         float *dbeta, const DY *dy, const X *x,
                         const float *gamma, const float *mean,
                         const float *rstd, int64_t rows, int64_t channels,
                         void *scratch, unsigned *arrivalCounters) {
  AMP_RETURN_IF_ERROR(launchNormGainGrad<false>(
      "batch_norm_gain_grad", stream, dgamma, dbeta, dy, x, mean, rstd, rows,
      channels, scratch, arrivalCounters));
  return launch("batch_norm_input_grad", stream,
                elementwiseShape(rows * channels, kCommonWidth<DX, DY, X>),
                batchNormInputGradKernel<DX, DY, X>, dx, dgamma, dbeta, dy, x,
                gamma, mean, rstd, rows, channels);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_NORM_H

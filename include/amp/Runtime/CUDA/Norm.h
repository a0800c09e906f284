//===- Norm.h - Layer and RMS normalisation ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.layer_norm, train.rms_norm and their gradients. Both normalise rows.
// Statistics, gains and their gradients are f32. A layer norm sums squares of
// distances from the mean. Nothing cancels when the mean is large against the
// deviation. An RMS norm is one whose mean and shift are 0.
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

/// The same, and y of `layerNormForward` again.
template <typename DX, typename Y, typename DY, typename X>
Status layerNormAndBackward(cudaStream_t stream, DX *dx, float *dgamma,
                            float *dbeta, Y *y, const DY *dy, const X *x,
                            const float *gamma, const float *mean,
                            const float *rstd, const float *beta, int64_t rows,
                            int64_t columns, void *scratch,
                            unsigned *arrivalCounters);

/// y = x · rstd · gamma for each of `rows` rows of `columns`. Saves rstd[rows]
/// = 1 / √(mean x² + epsilon).
template <typename Y, typename X>
Status rmsNormForward(cudaStream_t stream, Y *y, float *rstd, const X *x,
                      const float *gamma, int64_t rows, int64_t columns,
                      float epsilon);

/// With g = dy · gamma and x̂ = x · rstd: dx = rstd · (g - x̂ · mean(g · x̂));
/// dgamma = Σ dy · x̂ over rows. dx may be dy. `scratch` has
/// `layerNormScratchBytes`.
template <typename DX, typename DY, typename X>
Status rmsNormBackward(cudaStream_t stream, DX *dx, float *dgamma, const DY *dy,
                       const X *x, const float *gamma, const float *rstd,
                       int64_t rows, int64_t columns, void *scratch,
                       unsigned *arrivalCounters);

/// The same, and y of `rmsNormForward` again.
template <typename DX, typename Y, typename DY, typename X>
Status rmsNormAndBackward(cudaStream_t stream, DX *dx, float *dgamma, Y *y,
                          const DY *dy, const X *x, const float *gamma,
                          const float *rstd, int64_t rows, int64_t columns,
                          void *scratch, unsigned *arrivalCounters);

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The means, the shift and the gradient of the shift of an RMS norm.
struct NoMean {};
AMP_DEVICE float loadMean(const float *means, int64_t row) {
  return loadOne(means + row);
}
AMP_DEVICE float loadMean(NoMean, int64_t) { return 0.0f; }
template <int Width>
AMP_DEVICE Pack<float, Width> loadShift(const float *beta, int64_t column) {
  return load<Width>(beta + column);
}
template <int Width>
AMP_DEVICE Pack<float, Width> loadShift(NoMean, int64_t) {
  return Pack<float, Width>::of(0.0f);
}

/// Normalises row `number` of `x` and saves its statistics. Calls `sink(column,
/// values)` for each pack of the result.
template <typename Plan, typename X, typename Means, typename Beta,
          typename Sink>
AMP_DEVICE void normalizeRow(Means means, float *rstds, const X *x,
                             const float *gamma, Beta beta, int64_t number,
                             int64_t columns, float epsilon, Sink sink) {
  constexpr bool isCentered = std::is_pointer_v<Means>;
  const Row<Plan, X> row(x + number * columns, columns);
  float mean = 0.0f;
  if constexpr (isCentered) {
    float sum = 0.0f;
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      sum = combineLanes<Sum<float>>(sum, row.get(pack, column));
    });
    mean = reduceRow<Plan, Sum<float>>(sum) / float(columns);
  }
  float squares = 0.0f;
  forEachPack<Plan>(columns, [&](int pack, int64_t column) {
    const auto values = row.get(pack, column);
#pragma unroll
    for (int lane = 0; lane < Plan::width; ++lane)
      squares += (values[lane] - mean) * (values[lane] - mean);
  });
  const float variance = reduceRow<Plan, Sum<float>>(squares) / float(columns);
  const float rstd = 1.0f / sqrtf(variance + epsilon);
  if (Plan::thread() == 0) {
    if constexpr (isCentered)
      storeOne(means + number, mean);
    storeOne(rstds + number, rstd);
  }
  forEachPack<Plan>(columns, [&](int pack, int64_t column) {
    auto values = row.get(pack, column);
    const auto gain = load<Plan::width>(gamma + column);
    const auto shift = loadShift<Plan::width>(beta, column);
#pragma unroll
    for (int lane = 0; lane < Plan::width; ++lane)
      values[lane] = (values[lane] - mean) * rstd * gain[lane] + shift[lane];
    sink(column, values);
  });
}

template <typename Plan, typename Y, typename X, typename Means, typename Beta>
__global__ void __launch_bounds__(kThreads)
    normForwardKernel(Y *y, Means means, float *rstds, const X *x,
                      const float *gamma, Beta beta, int64_t rows,
                      int64_t columns, float epsilon) {
  forEachRow<Plan>(rows, [=](int64_t number) {
    normalizeRow<Plan>(means, rstds, x, gamma, beta, number, columns, epsilon,
                       [=](int64_t column, const auto &values) {
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
                  normForwardKernel<Plan, Y, X, float *, const float *>, y,
                  mean, rstd, x, gamma, beta, rows, columns, epsilon);
  });
}

template <typename Y, typename X>
Status rmsNormForward(cudaStream_t stream, Y *y, float *rstd, const X *x,
                      const float *gamma, int64_t rows, int64_t columns,
                      float epsilon) {
  return withRowPlan<kCommonWidth<Y, X>>(columns, [&](auto plan) {
    using Plan = decltype(plan);
    return launch("rms_norm", stream, planShape<Plan>(rows),
                  normForwardKernel<Plan, Y, X, NoMean, NoMean>, y, NoMean(),
                  rstd, x, gamma, NoMean(), rows, columns, epsilon);
  });
}

/// A norm that is not computed again.
struct NoNorm {};

/// dx of one row, and the norm again if `y` is a pointer.
template <typename Plan, typename DX, typename Y, typename DY, typename X,
          typename Means, typename Beta>
__global__ void __launch_bounds__(kThreads)
    normInputGradKernel(DX *dx, Y y, const DY *dy, const X *x,
                        const float *gamma, Beta beta, Means means,
                        const float *rstds, int64_t rows, int64_t columns) {
  forEachRow<Plan>(rows, [=](int64_t number) {
    const Row<Plan, X> input(x + number * columns, columns);
    const Row<Plan, DY> gradient(dy + number * columns, columns);
    const float mean = loadMean(means, number), rstd = loadOne(rstds + number);
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
    const float meanG =
        std::is_pointer_v<Means> ? sums.first / float(columns) : 0.0f;
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
      if constexpr (std::is_pointer_v<Y>) {
        const auto shift = loadShift<Plan::width>(beta, column);
        Pack<float, Plan::width> norm;
#pragma unroll
        for (int lane = 0; lane < Plan::width; ++lane)
          norm[lane] = (a[lane] - mean) * rstd * gain[lane] + shift[lane];
        store(y + number * columns + column, norm);
      }
    });
  });
}

/// Σ dy, if there is a shift, and Σ dy · x̂ over rows.
template <int Width, typename DY, typename X, typename DBeta, typename Means>
__global__ void __launch_bounds__(kThreads, kBlocks)
    normGainGradKernel(float *dgamma, DBeta dbeta, const DY *dy, const X *x,
                       Means means, const float *rstds, int64_t rows,
                       int64_t columns, TwoSums *partials,
                       unsigned *arrivalCounters) {
  reduceColumns<TwoSums, Width>(
      rows, columns, partials, arrivalCounters,
      [=](auto at, int64_t row, int64_t) {
        const auto a = at.load(x);
        const auto b = at.load(dy);
        const float mean = loadMean(means, row), rstd = loadOne(rstds + row);
        Pack<TwoSums, at.width> result;
#pragma unroll
        for (int lane = 0; lane < at.width; ++lane)
          result[lane] = {b[lane], b[lane] * ((a[lane] - mean) * rstd)};
        return result;
      },
      [=](int64_t column, TwoSums sums) {
        if constexpr (std::is_pointer_v<DBeta>)
          storeOne(dbeta + column, sums.first);
        storeOne(dgamma + column, sums.second);
      });
}

/// The gradients of a norm with the means `mean`, or NoMean, and the norm with
/// the shift `beta` again unless `y` is NoNorm.
template <typename DX, typename DBeta, typename Y, typename DY, typename X,
          typename Means, typename Beta>
Status launchNormGrad(const char *gainName, const char *inputName,
                      cudaStream_t stream, DX *dx, float *dgamma, DBeta dbeta,
                      Y y, const DY *dy, const X *x, const float *gamma,
                      Means mean, const float *rstd, Beta beta, int64_t rows,
                      int64_t columns, void *scratch,
                      unsigned *arrivalCounters) {
  // This comes first because dx may be dy.
  AMP_RETURN_IF_ERROR(launch(gainName, stream, columnShape(rows, columns, 2),
                             columns % 2 == 0
                                 ? normGainGradKernel<2, DY, X, DBeta, Means>
                                 : normGainGradKernel<1, DY, X, DBeta, Means>,
                             dgamma, dbeta, dy, x, mean, rstd, rows, columns,
                             static_cast<TwoSums *>(scratch), arrivalCounters));
  return withRowPlan<kCommonWidth<DX, DY, X>>(columns, [&](auto plan) {
    using Plan = decltype(plan);
    return launch(inputName, stream, planShape<Plan>(rows),
                  normInputGradKernel<Plan, DX, Y, DY, X, Means, Beta>, dx, y,
                  dy, x, gamma, beta, mean, rstd, rows, columns);
  });
}

template <typename DX, typename DY, typename X>
Status layerNormBackward(cudaStream_t stream, DX *dx, float *dgamma,
                         float *dbeta, const DY *dy, const X *x,
                         const float *gamma, const float *mean,
                         const float *rstd, int64_t rows, int64_t columns,
                         void *scratch, unsigned *arrivalCounters) {
  return launchNormGrad("layer_norm_gain_grad", "layer_norm_input_grad", stream,
                        dx, dgamma, dbeta, NoNorm(), dy, x, gamma, mean, rstd,
                        NoMean(), rows, columns, scratch, arrivalCounters);
}

template <typename DX, typename Y, typename DY, typename X>
Status layerNormAndBackward(cudaStream_t stream, DX *dx, float *dgamma,
                            float *dbeta, Y *y, const DY *dy, const X *x,
                            const float *gamma, const float *mean,
                            const float *rstd, const float *beta, int64_t rows,
                            int64_t columns, void *scratch,
                            unsigned *arrivalCounters) {
  return launchNormGrad("layer_norm_gain_grad", "layer_norm_input_grad", stream,
                        dx, dgamma, dbeta, y, dy, x, gamma, mean, rstd, beta,
                        rows, columns, scratch, arrivalCounters);
}

template <typename DX, typename DY, typename X>
Status rmsNormBackward(cudaStream_t stream, DX *dx, float *dgamma, const DY *dy,
                       const X *x, const float *gamma, const float *rstd,
                       int64_t rows, int64_t columns, void *scratch,
                       unsigned *arrivalCounters) {
  return launchNormGrad("rms_norm_gain_grad", "rms_norm_input_grad", stream, dx,
                        dgamma, NoMean(), NoNorm(), dy, x, gamma, NoMean(),
                        rstd, NoMean(), rows, columns, scratch,
                        arrivalCounters);
}

template <typename DX, typename Y, typename DY, typename X>
Status rmsNormAndBackward(cudaStream_t stream, DX *dx, float *dgamma, Y *y,
                          const DY *dy, const X *x, const float *gamma,
                          const float *rstd, int64_t rows, int64_t columns,
                          void *scratch, unsigned *arrivalCounters) {
  return launchNormGrad("rms_norm_gain_grad", "rms_norm_input_grad", stream, dx,
                        dgamma, NoMean(), y, dy, x, gamma, NoMean(), rstd,
                        NoMean(), rows, columns, scratch, arrivalCounters);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_NORM_H

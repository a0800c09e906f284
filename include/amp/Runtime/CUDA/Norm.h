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

// x and dx are pointers, or rows by strides.

/// y = (x - mean) · rstd · gamma + beta for each of `rows` rows of `columns`.
/// Saves mean[rows] and rstd[rows] = 1 / √(var + epsilon).
template <typename Y, typename X, typename Columns>
Status layerNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        X x, const float *gamma, const float *beta,
                        int64_t rows, Columns columns, float epsilon);

/// With g = dy · gamma: dx = rstd · (g - mean g - x̂ · mean(g · x̂)) + addend;
/// dgamma = Σ dy · x̂, dbeta = Σ dy over rows. dx may be dy or the addend, which
/// may be absent. `scratch` has `layerNormScratchBytes`.
template <typename DX, typename DY, typename X, typename Addend,
          typename Columns>
Status layerNormBackward(cudaStream_t stream, DX dx, float *dgamma,
                         float *dbeta, const DY *dy, X x, const float *gamma,
                         const float *mean, const float *rstd, Addend addend,
                         int64_t rows, Columns columns, void *scratch,
                         unsigned *arrivalCounters);

/// The same, and y of `layerNormForward` again.
template <typename DX, typename Y, typename DY, typename X, typename Addend,
          typename Columns>
Status layerNormAndBackward(cudaStream_t stream, DX dx, float *dgamma,
                            float *dbeta, Y *y, const DY *dy, X x,
                            const float *gamma, const float *mean,
                            const float *rstd, const float *beta, Addend addend,
                            int64_t rows, Columns columns, void *scratch,
                            unsigned *arrivalCounters);

/// y = x · rstd · gamma for each of `rows` rows of `columns`. Saves rstd[rows]
/// = 1 / √(mean x² + epsilon).
template <typename Y, typename X, typename Columns>
Status rmsNormForward(cudaStream_t stream, Y *y, float *rstd, X x,
                      const float *gamma, int64_t rows, Columns columns,
                      float epsilon);

/// With g = dy · gamma and x̂ = x · rstd: dx = rstd · (g - x̂ · mean(g · x̂)) +
/// addend; dgamma = Σ dy · x̂ over rows. dx may be dy or the addend, which may
/// be absent. `scratch` has `layerNormScratchBytes`.
template <typename DX, typename DY, typename X, typename Addend,
          typename Columns>
Status rmsNormBackward(cudaStream_t stream, DX dx, float *dgamma, const DY *dy,
                       X x, const float *gamma, const float *rstd,
                       Addend addend, int64_t rows, Columns columns,
                       void *scratch, unsigned *arrivalCounters);

/// The same, and y of `rmsNormForward` again.
template <typename DX, typename Y, typename DY, typename X, typename Addend,
          typename Columns>
Status rmsNormAndBackward(cudaStream_t stream, DX dx, float *dgamma, Y *y,
                          const DY *dy, X x, const float *gamma,
                          const float *rstd, Addend addend, int64_t rows,
                          Columns columns, void *scratch,
                          unsigned *arrivalCounters);

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Rows within a larger tensor, in the order [sample, head, position]. Strides
/// are in elements. Rows begin where a read of 16 bytes can begin.
template <typename T>
struct StridedRows {
  using Element = T;
  T *data;
  int64_t heads, positions;
  int64_t sample, head, position;
};

/// Row `number` of `rows`, which has `columns` elements.
template <typename T>
AMP_DEVICE T *rowAt(T *rows, int64_t number, int64_t columns) {
  return rows + number * columns;
}
template <typename T>
AMP_DEVICE T *rowAt(const StridedRows<T> &rows, int64_t number, int64_t) {
  const int64_t outer = number / rows.positions, sample = outer / rows.heads;
  return rows.data + sample * rows.sample +
         (outer - sample * rows.heads) * rows.head +
         (number - outer * rows.positions) * rows.position;
}

/// The type of the elements of rows: those of a tensor, or by strides.
template <typename Rows>
struct RowElementOf {
  using type = typename Rows::Element;
};
template <typename T>
struct RowElementOf<T *> {
  using type = T;
};
template <typename Rows>
using RowElement = std::remove_const_t<typename RowElementOf<Rows>::type>;

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
AMP_DEVICE void normalizeRow(Means means, float *rstds, X x, const float *gamma,
                             Beta beta, int64_t number, int64_t columns,
                             float epsilon, Sink sink) {
  constexpr bool isCentered = std::is_pointer_v<Means>;
  const Row<Plan, RowElement<X>> row(rowAt(x, number, columns), columns);
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
    normForwardKernel(Y *y, Means means, float *rstds, X x, const float *gamma,
                      Beta beta, int64_t rows, int64_t columns, float epsilon) {
  forEachRow<Plan>(rows, [=](int64_t number) {
    normalizeRow<Plan>(means, rstds, x, gamma, beta, number, columns, epsilon,
                       [=](int64_t column, const auto &values) {
                         store(y + number * columns + column, values);
                       });
  });
}

template <typename Y, typename X, typename Columns>
Status layerNormForward(cudaStream_t stream, Y *y, float *mean, float *rstd,
                        X x, const float *gamma, const float *beta,
                        int64_t rows, Columns columns, float epsilon) {
  return withRowPlan<kCommonWidth<Y, RowElement<X>>>(
      rows, columns, [&](auto plan) {
        using Plan = decltype(plan);
        return launch("layer_norm", stream, planShape<Plan>(rows),
                      normForwardKernel<Plan, Y, X, float *, const float *>, y,
                      mean, rstd, x, gamma, beta, rows, columns, epsilon);
      });
}

template <typename Y, typename X, typename Columns>
Status rmsNormForward(cudaStream_t stream, Y *y, float *rstd, X x,
                      const float *gamma, int64_t rows, Columns columns,
                      float epsilon) {
  return withRowPlan<kCommonWidth<Y, RowElement<X>>>(
      rows, columns, [&](auto plan) {
        using Plan = decltype(plan);
        return launch("rms_norm", stream, planShape<Plan>(rows),
                      normForwardKernel<Plan, Y, X, NoMean, NoMean>, y,
                      NoMean(), rstd, x, gamma, NoMean(), rows, columns,
                      epsilon);
      });
}

/// A norm that is not computed again.
struct NoNorm {};

/// dx of one row, added to `addend` if that is a pointer, and the norm again if
/// `y` is a pointer. ptxas would give 48 registers to the kernel for long rows,
/// and spill.
template <typename Plan, typename DX, typename Y, typename DY, typename X,
          typename Means, typename Beta, typename Addend>
__global__ void __launch_bounds__(kThreads, Plan::packs == 0 ? kBlocks : 0)
    normInputGradKernel(DX dx, Y y, const DY *dy, X x, const float *gamma,
                        Beta beta, Means means, const float *rstds,
                        Addend addend, int64_t rows, int64_t columns) {
  forEachRow<Plan>(rows, [=](int64_t number) {
    const Row<Plan, RowElement<X>> input(rowAt(x, number, columns), columns);
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
      addTo(out, Lanes<Plan::width>{number * columns + column}, addend);
      store(rowAt(dx, number, columns) + column, out);
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
    normGainGradKernel(float *dgamma, DBeta dbeta, const DY *dy, X x,
                       Means means, const float *rstds, int64_t rows,
                       int64_t columns, TwoSums *partials,
                       unsigned *arrivalCounters) {
  reduceColumns<TwoSums, Width>(
      rows, columns, partials, arrivalCounters,
      [=](auto at, int64_t row, int64_t column) {
        const auto a = load<at.width>(rowAt(x, row, columns) + column);
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
/// the shift `beta` again unless `y` is NoNorm. Adds `addend` to dx unless it
/// is NoAddend.
template <typename DX, typename DBeta, typename Y, typename DY, typename X,
          typename Means, typename Beta, typename Addend, typename Columns>
Status launchNormGrad(const char *gainName, const char *inputName,
                      cudaStream_t stream, DX dx, float *dgamma, DBeta dbeta,
                      Y y, const DY *dy, X x, const float *gamma, Means mean,
                      const float *rstd, Beta beta, Addend addend, int64_t rows,
                      Columns columns, void *scratch,
                      unsigned *arrivalCounters) {
  // This comes first because dx may be dy.
  AMP_RETURN_IF_ERROR(
      launch(gainName, stream, columnShape(rows, columns, 2),
             columns % 2 == 0 ? normGainGradKernel<2, DY, X, DBeta, Means>
                              : normGainGradKernel<1, DY, X, DBeta, Means>,
             dgamma, dbeta, dy, x, mean, rstd, rows, int64_t(columns),
             static_cast<TwoSums *>(scratch), arrivalCounters));
  constexpr int width = kCommonWidth<RowElement<DX>, DY, RowElement<X>>;
  return withRowPlan<width>(rows, columns, [&](auto plan) {
    using Plan = decltype(plan);
    return launch(inputName, stream, planShape<Plan>(rows),
                  normInputGradKernel<Plan, DX, Y, DY, X, Means, Beta, Addend>,
                  dx, y, dy, x, gamma, beta, mean, rstd, addend, rows,
                  int64_t(columns));
  });
}

template <typename DX, typename DY, typename X, typename Addend,
          typename Columns>
Status layerNormBackward(cudaStream_t stream, DX dx, float *dgamma,
                         float *dbeta, const DY *dy, X x, const float *gamma,
                         const float *mean, const float *rstd, Addend addend,
                         int64_t rows, Columns columns, void *scratch,
                         unsigned *arrivalCounters) {
  return launchNormGrad("layer_norm_gain_grad", "layer_norm_input_grad", stream,
                        dx, dgamma, dbeta, NoNorm(), dy, x, gamma, mean, rstd,
                        NoMean(), addend, rows, columns, scratch,
                        arrivalCounters);
}
template <typename DX, typename DY, typename X, typename Columns>
Status layerNormBackward(cudaStream_t stream, DX dx, float *dgamma,
                         float *dbeta, const DY *dy, X x, const float *gamma,
                         const float *mean, const float *rstd, int64_t rows,
                         Columns columns, void *scratch,
                         unsigned *arrivalCounters) {
  return layerNormBackward(stream, dx, dgamma, dbeta, dy, x, gamma, mean, rstd,
                           NoAddend(), rows, columns, scratch, arrivalCounters);
}

template <typename DX, typename Y, typename DY, typename X, typename Addend,
          typename Columns>
Status layerNormAndBackward(cudaStream_t stream, DX dx, float *dgamma,
                            float *dbeta, Y *y, const DY *dy, X x,
                            const float *gamma, const float *mean,
                            const float *rstd, const float *beta, Addend addend,
                            int64_t rows, Columns columns, void *scratch,
                            unsigned *arrivalCounters) {
  return launchNormGrad("layer_norm_gain_grad", "layer_norm_input_grad", stream,
                        dx, dgamma, dbeta, y, dy, x, gamma, mean, rstd, beta,
                        addend, rows, columns, scratch, arrivalCounters);
}
template <typename DX, typename Y, typename DY, typename X, typename Columns>
Status layerNormAndBackward(cudaStream_t stream, DX dx, float *dgamma,
                            float *dbeta, Y *y, const DY *dy, X x,
                            const float *gamma, const float *mean,
                            const float *rstd, const float *beta, int64_t rows,
                            Columns columns, void *scratch,
                            unsigned *arrivalCounters) {
  return layerNormAndBackward(stream, dx, dgamma, dbeta, y, dy, x, gamma, mean,
                              rstd, beta, NoAddend(), rows, columns, scratch,
                              arrivalCounters);
}

template <typename DX, typename DY, typename X, typename Addend,
          typename Columns>
Status rmsNormBackward(cudaStream_t stream, DX dx, float *dgamma, const DY *dy,
                       X x, const float *gamma, const float *rstd,
                       Addend addend, int64_t rows, Columns columns,
                       void *scratch, unsigned *arrivalCounters) {
  return launchNormGrad("rms_norm_gain_grad", "rms_norm_input_grad", stream, dx,
                        dgamma, NoMean(), NoNorm(), dy, x, gamma, NoMean(),
                        rstd, NoMean(), addend, rows, columns, scratch,
                        arrivalCounters);
}
template <typename DX, typename DY, typename X, typename Columns>
Status rmsNormBackward(cudaStream_t stream, DX dx, float *dgamma, const DY *dy,
                       X x, const float *gamma, const float *rstd, int64_t rows,
                       Columns columns, void *scratch,
                       unsigned *arrivalCounters) {
  return rmsNormBackward(stream, dx, dgamma, dy, x, gamma, rstd, NoAddend(),
                         rows, columns, scratch, arrivalCounters);
}

template <typename DX, typename Y, typename DY, typename X, typename Addend,
          typename Columns>
Status rmsNormAndBackward(cudaStream_t stream, DX dx, float *dgamma, Y *y,
                          const DY *dy, X x, const float *gamma,
                          const float *rstd, Addend addend, int64_t rows,
                          Columns columns, void *scratch,
                          unsigned *arrivalCounters) {
  return launchNormGrad("rms_norm_gain_grad", "rms_norm_input_grad", stream, dx,
                        dgamma, NoMean(), y, dy, x, gamma, NoMean(), rstd,
                        NoMean(), addend, rows, columns, scratch,
                        arrivalCounters);
}
template <typename DX, typename Y, typename DY, typename X, typename Columns>
Status rmsNormAndBackward(cudaStream_t stream, DX dx, float *dgamma, Y *y,
                          const DY *dy, X x, const float *gamma,
                          const float *rstd, int64_t rows, Columns columns,
                          void *scratch, unsigned *arrivalCounters) {
  return rmsNormAndBackward(stream, dx, dgamma, y, dy, x, gamma, rstd,
                            NoAddend(), rows, columns, scratch,
                            arrivalCounters);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_NORM_H

//===- Softmax.h - Softmax and its logarithm --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.softmax, train.log_softmax and their gradients along the middle of
// [outer, extent, inner]. For the last dimension, inner is 1.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_SOFTMAX_H
#define AMP_RUNTIME_CUDA_SOFTMAX_H

#include "amp/Runtime/CUDA/Rows.h"

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

//===----------------------------------------------------------------------===//
// Along rows
//===----------------------------------------------------------------------===//

template <typename Plan, bool Log, typename Y, typename X>
__global__ void __launch_bounds__(kThreads)
    softmaxForwardRows(Y *y, const X *x, int64_t rows, int64_t columns) {
  forEachRow<Plan>(rows, [=](int64_t number) {
    const Row<Plan, X> row(x + number * columns, columns);
    const SoftmaxTerms terms = softmaxTerms(row);
    const float logSum = logf(terms.sum), inverse = 1.0f / terms.sum;
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      auto values = row.get(pack, column);
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane) {
        const float shifted = values[lane] - terms.largest;
        values[lane] = Log ? shifted - logSum : expf(shifted) * inverse;
      }
      store(y + number * columns + column, values);
    });
  });
}

template <typename Plan, bool Log, typename DX, typename Y, typename DY>
__global__ void __launch_bounds__(kThreads)
    softmaxBackwardRows(DX *dx, const Y *y, const DY *dy, int64_t rows,
                        int64_t columns) {
  forEachRow<Plan>(rows, [=](int64_t number) {
    const Row<Plan, Y> result(y + number * columns, columns);
    const Row<Plan, DY> gradient(dy + number * columns, columns);
    float sum = 0.0f;
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      const auto a = result.get(pack, column), b = gradient.get(pack, column);
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane)
        sum += Log ? b[lane] : a[lane] * b[lane];
    });
    sum = reduceRow<Plan, Sum<float>>(sum);
    forEachPack<Plan>(columns, [&](int pack, int64_t column) {
      const auto a = result.get(pack, column), b = gradient.get(pack, column);
      Pack<float, Plan::width> out;
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane)
        out[lane] =
            Log ? b[lane] - expf(a[lane]) * sum : a[lane] * (b[lane] - sum);
      store(dx + number * columns + column, out);
    });
  });
}

//===----------------------------------------------------------------------===//
// Along any other dimension: one thread per line
//===----------------------------------------------------------------------===//

template <bool Log, typename Y, typename X>
__global__ void __launch_bounds__(kThreads)
    softmaxForwardLines(Y *y, const X *x, int64_t lines, int64_t extent,
                        int64_t inner) {
  elementwise<1>(lines, [=](auto at) {
    const int64_t base = at.index / inner * extent * inner + at.index % inner;
    float largest = -INFINITY, sum = 0.0f;
    for (int64_t i = 0; i < extent; ++i)
      largest = maximum(largest, loadOne(x + base + i * inner));
    for (int64_t i = 0; i < extent; ++i)
      sum += expf(loadOne(x + base + i * inner) - largest);
    const float logSum = logf(sum);
    for (int64_t i = 0; i < extent; ++i) {
      const float shifted = loadOne(x + base + i * inner) - largest;
      storeOne(y + base + i * inner,
               Log ? shifted - logSum : expf(shifted) / sum);
    }
  });
}

template <bool Log, typename DX, typename Y, typename DY>
__global__ void __launch_bounds__(kThreads)
    softmaxBackwardLines(DX *dx, const Y *y, const DY *dy, int64_t lines,
                         int64_t extent, int64_t inner) {
  elementwise<1>(lines, [=](auto at) {
    const int64_t base = at.index / inner * extent * inner + at.index % inner;
    float sum = 0.0f;
    for (int64_t i = 0; i < extent; ++i) {
      const float b = loadOne(dy + base + i * inner);
      sum += Log ? b : loadOne(y + base + i * inner) * b;
    }
    for (int64_t i = 0; i < extent; ++i) {
      const float a = loadOne(y + base + i * inner);
      const float b = loadOne(dy + base + i * inner);
      storeOne(dx + base + i * inner, Log ? b - expf(a) * sum : a * (b - sum));
    }
  });
}

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

template <bool Log, typename Y, typename X>
Status launchSoftmaxForward(cudaStream_t stream, Y *y, const X *x,
                            int64_t outer, int64_t extent, int64_t inner) {
  const char *name = Log ? "log_softmax" : "softmax";
  if (inner != 1)
    return launch(name, stream, elementwiseShape(outer * inner, 1),
                  softmaxForwardLines<Log, Y, X>, y, x, outer * inner, extent,
                  inner);
  return withRowPlan<kCommonWidth<X, Y>>(extent, [&](auto plan) {
    using Plan = decltype(plan);
    return launch(name, stream, planShape<Plan>(outer),
                  softmaxForwardRows<Plan, Log, Y, X>, y, x, outer, extent);
  });
}

template <bool Log, typename DX, typename Y, typename DY>
Status launchSoftmaxBackward(cudaStream_t stream, DX *dx, const Y *y,
                             const DY *dy, int64_t outer, int64_t extent,
                             int64_t inner) {
  const char *name = Log ? "log_softmax_grad" : "softmax_grad";
  if (inner != 1)
    return launch(name, stream, elementwiseShape(outer * inner, 1),
                  softmaxBackwardLines<Log, DX, Y, DY>, dx, y, dy,
                  outer * inner, extent, inner);
  return withRowPlan<kCommonWidth<DX, Y, DY>>(extent, [&](auto plan) {
    using Plan = decltype(plan);
    return launch(name, stream, planShape<Plan>(outer),
                  softmaxBackwardRows<Plan, Log, DX, Y, DY>, dx, y, dy, outer,
                  extent);
  });
}

template <typename Y, typename X>
Status softmaxForward(cudaStream_t stream, Y *y, const X *x, int64_t outer,
                      int64_t extent, int64_t inner) {
  return launchSoftmaxForward<false>(stream, y, x, outer, extent, inner);
}
template <typename DX, typename Y, typename DY>
Status softmaxBackward(cudaStream_t stream, DX *dx, const Y *y, const DY *dy,
                       int64_t outer, int64_t extent, int64_t inner) {
  return launchSoftmaxBackward<false>(stream, dx, y, dy, outer, extent, inner);
}
template <typename Y, typename X>
Status logSoftmaxForward(cudaStream_t stream, Y *y, const X *x, int64_t outer,
                         int64_t extent, int64_t inner) {
  return launchSoftmaxForward<true>(stream, y, x, outer, extent, inner);
}
template <typename DX, typename Y, typename DY>
Status logSoftmaxBackward(cudaStream_t stream, DX *dx, const Y *y, const DY *dy,
                          int64_t outer, int64_t extent, int64_t inner) {
  return launchSoftmaxBackward<true>(stream, dx, y, dy, outer, extent, inner);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_SOFTMAX_H

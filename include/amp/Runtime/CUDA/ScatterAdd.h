//===- ScatterAdd.h - Sums of slices by index -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.scatter_add, the gradient of an embedding, for few indices. The owner
// of an element of the result reads all indices and adds the updates of that
// element in their order. There are no atomics, and every run computes the same
// sum. SortedScatterAdd.h is for many indices.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_SCATTERADD_H
#define AMP_RUNTIME_CUDA_SCATTERADD_H

#include "amp/Runtime/CUDA/Reduce.h"

namespace amp::cuda {

/// result[o, s, i] = Σ updates[o, n, i] over the n with indices[n] = s. The
/// shapes are [outer, extent, inner] and [outer, count, inner]. Sums are f32
/// and round once. An index out of range adds nothing.
template <typename R, typename U, typename I>
Status scatterAdd(cudaStream_t stream, R *result, const U *updates,
                  const I *indices, int64_t outer, int64_t extent,
                  int64_t inner, int64_t count);

/// Indices that a thread reads between two barriers.
inline constexpr int kIndicesPerThread = 4;

/// One block per slice, or per part of a long slice.
template <int Width, typename R, typename U, typename I>
__global__ void __launch_bounds__(kThreads)
    scatterAddSlices(R *result, const U *updates, const I *indices,
                     int64_t outer, int64_t extent, int64_t count,
                     int64_t inner) {
  constexpr int warps = kThreads / 32;
  auto *masks = sharedMemory<uint32_t>();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int64_t parts = ceilDiv(inner, int64_t(kThreads) * Width);
  for (int64_t task = blockIdx.x; task < outer * extent * parts;
       task += gridDim.x) {
    const int64_t slice = task / parts, wanted = slice % extent;
    const int64_t column = (task % parts * kThreads + threadIdx.x) * Width;
    const U *source = updates + slice / extent * count * inner + column;
    auto sum = Pack<float, Width>::of(0.0f);
    for (int64_t begin = 0; begin < count;
         begin += kThreads * kIndicesPerThread) {
      __syncthreads(); // the last masks have been read
#pragma unroll
      for (int i = 0; i < kIndicesPerThread; ++i) {
        const int64_t n = begin + i * kThreads + threadIdx.x;
        const bool isHere =
            n < count && int64_t(loadOne(indices + n)) == wanted;
        const uint32_t mask = reduceWarp<Any>(uint32_t(isHere) << lane);
        if (lane == 0)
          masks[i * warps + warp] = mask;
      }
      __syncthreads();
      for (int word = 0; word < kIndicesPerThread * warps; ++word)
        for (uint32_t left = masks[word]; left != 0; left &= left - 1) {
          const int64_t n = begin + word * 32 + __ffs(int(left)) - 1;
          if (column >= inner)
            continue;
          const auto update = load<Width>(source + n * inner);
#pragma unroll
          for (int at = 0; at < Width; ++at)
            sum[at] += update[at];
        }
    }
    if (column < inner)
      store(result + slice * inner + column, sum);
  }
}

/// One thread per element, for short slices.
template <typename R, typename U, typename I>
__global__ void __launch_bounds__(kThreads)
    scatterAddElements(R *result, const U *updates, const I *indices,
                       int64_t outer, int64_t extent, int64_t count,
                       int64_t inner) {
  elementwise<1>(outer * extent * inner, [=](auto at) {
    const int64_t slice = at.index / inner, wanted = slice % extent;
    const U *source =
        updates + slice / extent * count * inner + at.index % inner;
    float sum = 0.0f;
    for (int64_t n = 0; n < count; ++n)
      if (int64_t(loadOne(indices + n)) == wanted)
        sum += loadOne(source + n * inner);
    storeOne(result + at.index, sum);
  });
}

template <typename R, typename U, typename I>
Status scatterAdd(cudaStream_t stream, R *result, const U *updates,
                  const I *indices, int64_t outer, int64_t extent,
                  int64_t inner, int64_t count) {
  if (inner < 32)
    return launch("scatter_add", stream,
                  elementwiseShape(outer * extent * inner, 1),
                  scatterAddElements<R, U, I>, result, updates, indices, outer,
                  extent, count, inner);
  constexpr int width = kCommonWidth<R, U>;
  const bool isWide = inner % width == 0;
  const int64_t parts =
      ceilDiv(inner, int64_t(kThreads) * (isWide ? width : 1));
  LaunchShape shape = rowShape<kThreads>(outer * extent * parts);
  shape.sharedBytes = kIndicesPerThread * kThreads / 32 * sizeof(uint32_t);
  return launch("scatter_add", stream, shape,
                isWide ? scatterAddSlices<width, R, U, I>
                       : scatterAddSlices<1, R, U, I>,
                result, updates, indices, outer, extent, count, inner);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_SCATTERADD_H

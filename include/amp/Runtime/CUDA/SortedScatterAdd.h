//===- SortedScatterAdd.h - Sums of many slices by index --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// train.scatter_add for many indices, such as the gradient of an embedding of
// words. A stable radix sort of CUB brings the updates of a slice together in
// the order of their indices. Each thread sums a chunk of kScatterChunk sorted
// updates. A slice within one chunk is complete then. The sums of the parts of
// a longer slice are added in the order of the chunks. So the order of each sum
// depends on the indices alone, and a word that fills half of a batch takes no
// longer than many rare ones.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_SORTEDSCATTERADD_H
#define AMP_RUNTIME_CUDA_SORTEDSCATTERADD_H

#include "amp/Runtime/CUDA/Elementwise.h"

#include <cub/device/device_radix_sort.cuh>

namespace amp::cuda {

/// result[o, s, i] = Σ updates[o, n, i] over the n with indices[n] = s. The
/// shapes are [outer, extent, inner] and [outer, count, inner]. Sums are f32
/// and round once. An index out of range adds nothing. `scratch` has
/// `ScatterAddScratch` bytes.
template <typename R, typename U, typename I>
Status scatterAddSorted(cudaStream_t stream, R *result, const U *updates,
                        const I *indices, int64_t outer, int64_t extent,
                        int64_t inner, int64_t count, void *scratch);

/// The extents and the scratch of a sum by sorted indices.
struct SortedUpdates {
  int64_t outer, extent, inner, count;
  /// The slice of each update, ascending. `extent` represents an index out of
  /// range.
  const uint32_t *slices;
  /// The place of each update before the sort.
  const uint32_t *positions;
  /// For each slice and for `extent`: the first sorted update that does not
  /// belong to an earlier slice.
  const uint32_t *begins;
  /// For each chunk, the sums of its part of the slice that began in an earlier
  /// chunk, and of its part of the slice that it begins and does not end.
  float *partials;

  AMP_PORTABLE int64_t chunks() const { return ceilDiv(count, kScatterChunk); }
  /// The partial sum of `chunk` at `column`, where `begins` tells whether the
  /// slice begins in the chunk.
  AMP_PORTABLE float *partial(int64_t o, int64_t chunk, bool begins,
                              int64_t column) const {
    return partials + ((o * chunks() + chunk) * 2 + begins) * inner + column;
  }
};

template <typename I>
__global__ void __launch_bounds__(kThreads)
    scatterAddKeys(uint32_t *slices, uint32_t *positions, const I *indices,
                   int64_t count, int64_t extent) {
  elementwise<1>(count, [=](auto at) {
    const int64_t index = int64_t(loadOne(indices + at.index));
    storeOne(slices + at.index,
             uint32_t(index >= 0 && index < extent ? index : extent));
    storeOne(positions + at.index, uint32_t(at.index));
  });
}

/// Finds the first update of each slice by bisection.
template <typename = void>
__global__ void __launch_bounds__(kThreads)
    scatterAddBegins(uint32_t *begins, const uint32_t *slices, int64_t count,
                     int64_t extent) {
  elementwise<1>(extent + 1, [=](auto at) {
    int64_t low = 0, high = count;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (int64_t(loadOne(slices + middle)) < at.index)
        low = middle + 1;
      else
        high = middle;
    }
    storeOne(begins + at.index, uint32_t(low));
  });
}

/// Sums a chunk of updates, `Width` columns per thread.
template <int Width, typename R, typename U>
__global__ void __launch_bounds__(kThreads, kBlocks)
    scatterAddChunks(R *result, const U *updates, SortedUpdates sorted) {
  constexpr int ahead = 2; // updates whose loads are in flight
  const int64_t groups = sorted.inner / Width, chunks = sorted.chunks();
  const int64_t tasks = sorted.outer * chunks * groups;
#pragma unroll 1
  for (int64_t task = int64_t(blockIdx.x) * kThreads + threadIdx.x;
       task < tasks; task += int64_t(gridDim.x) * kThreads) {
    const int64_t column = task % groups * Width;
    const int64_t chunk = task / groups % chunks;
    const int64_t o = task / groups / chunks;
    const int64_t begin = chunk * kScatterChunk;
    const int64_t end = begin + kScatterChunk < sorted.count
                            ? begin + kScatterChunk
                            : sorted.count;
    const U *source = updates + o * sorted.count * sorted.inner + column;
    uint32_t slice = loadOne(sorted.slices + begin);
    bool hasBegun = begin == 0 || loadOne(sorted.slices + begin - 1) != slice;
    auto sum = Pack<float, Width>::of(0.0f);
    auto finish = [&](bool hasEnded) {
      if (int64_t(slice) >= sorted.extent)
        return;
      if (hasBegun && hasEnded)
        store(result + (o * sorted.extent + slice) * sorted.inner + column,
              sum);
      else
        store(sorted.partial(o, chunk, hasBegun, column), sum);
    };
#pragma unroll 1
    for (int64_t n = begin; n < end; n += ahead) {
      Pack<float, Width> values[ahead];
#pragma unroll
      for (int i = 0; i < ahead; ++i)
        if (n + i < end)
          values[i] =
              load<Width>(source + int64_t(loadOne(sorted.positions + n + i)) *
                                       sorted.inner);
#pragma unroll
      for (int i = 0; i < ahead; ++i) {
        if (n + i >= end)
          break;
        const uint32_t next = loadOne(sorted.slices + n + i);
        if (next != slice) {
          finish(true);
          slice = next;
          hasBegun = true;
          sum = Pack<float, Width>::of(0.0f);
        }
#pragma unroll
        for (int lane = 0; lane < Width; ++lane)
          sum[lane] += values[i][lane];
      }
    }
    finish(end == sorted.count || loadOne(sorted.slices + end) != slice);
  }
}

/// Writes the slices that no chunk completes: without updates, or in several
/// chunks.
template <int Width, typename R>
__global__ void __launch_bounds__(kThreads)
    scatterAddPartials(R *result, SortedUpdates sorted) {
  const int64_t groups = sorted.inner / Width;
  elementwise<1>(sorted.outer * sorted.extent * groups, [=](auto at) {
    const int64_t column = at.index % groups * Width;
    const int64_t row = at.index / groups;
    const int64_t o = row / sorted.extent, slice = row % sorted.extent;
    const int64_t begin = loadOne(sorted.begins + slice);
    const int64_t end = loadOne(sorted.begins + slice + 1);
    auto sum = Pack<float, Width>::of(0.0f);
    if (begin < end) {
      const int64_t first = begin / kScatterChunk,
                    last = (end - 1) / kScatterChunk;
      if (first == last)
        return;
#pragma unroll 4
      for (int64_t chunk = first; chunk <= last; ++chunk) {
        const auto part =
            load<Width>(sorted.partial(o, chunk, chunk == first, column));
#pragma unroll
        for (int lane = 0; lane < Width; ++lane)
          sum[lane] += part[lane];
      }
    }
    store(result + row * sorted.inner + column, sum);
  });
}

template <typename R, typename U, typename I>
Status scatterAddSorted(cudaStream_t stream, R *result, const U *updates,
                        const I *indices, int64_t outer, int64_t extent,
                        int64_t inner, int64_t count, void *scratch) {
  const auto layout = ScatterAddScratch::get(outer, extent, inner, count);
  auto *bytes = static_cast<char *>(scratch);
  auto words = [&](int64_t offset) {
    return reinterpret_cast<uint32_t *>(bytes + offset);
  };
  cub::DoubleBuffer<uint32_t> slices(words(layout.slices[0]),
                                     words(layout.slices[1]));
  cub::DoubleBuffer<uint32_t> positions(words(layout.positions[0]),
                                        words(layout.positions[1]));
  AMP_RETURN_IF_ERROR(launch(
      "scatter_add_keys", stream, elementwiseShape(count, 1), scatterAddKeys<I>,
      slices.Current(), positions.Current(), indices, count, extent));
  int bits = 1;
  while (extent >> bits)
    ++bits;
  size_t sortBytes = size_t(layout.sortBytes);
  AMP_CUDA_CALL(cub::DeviceRadixSort::SortPairs(bytes + layout.sort, sortBytes,
                                                slices, positions, int(count),
                                                0, bits, stream));
  AMP_RETURN_IF_ERROR(launch("scatter_add_begins", stream,
                             elementwiseShape(extent + 1, 1),
                             scatterAddBegins<>, words(layout.begins),
                             slices.Current(), count, extent));
  const SortedUpdates sorted = {
      outer,
      extent,
      inner,
      count,
      slices.Current(),
      positions.Current(),
      words(layout.begins),
      reinterpret_cast<float *>(bytes + layout.partials)};
  constexpr int width = kCommonWidth<R, U>;
  const int used = inner % width == 0 ? width : 1;
  AMP_RETURN_IF_ERROR(launch(
      "scatter_add", stream,
      elementwiseShape(outer * sorted.chunks() * (inner / used), 1),
      used == width ? scatterAddChunks<width, R, U> : scatterAddChunks<1, R, U>,
      result, updates, sorted));
  return launch("scatter_add_partials", stream,
                elementwiseShape(outer * extent * (inner / used), 1),
                used == width ? scatterAddPartials<width, R>
                              : scatterAddPartials<1, R>,
                result, sorted);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_SORTEDSCATTERADD_H

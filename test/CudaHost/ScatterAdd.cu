//===- ScatterAdd.cu - Sums of slices by index ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/ScatterAdd.h"
#include "amp/Runtime/CUDA/SortedScatterAdd.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

/// Indices below `extent`. The first ones are out of range, and the last ones
/// are equal.
static Values makeIndices(int64_t count, int64_t extent) {
  Values indices(count);
  uint64_t state = 1;
  for (double &index : indices) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    index = double((state >> 33) % uint64_t(extent));
  }
  if (count > 4) {
    indices[0] = -1;
    indices[1] = double(extent);
    for (int64_t n = count - 3; n < count; ++n)
      indices[n] = double(extent - 1);
  }
  return indices;
}

/// The sums that the kernels specify, in f32, with the updates of a slice in
/// the order of their indices. With a sort, the sum over a slice of several
/// chunks of sorted updates is the sum of the sums over the chunks.
template <typename R>
static Values sumByIndex(const Values &updates, const Values &indices,
                         int64_t outer, int64_t extent, int64_t count,
                         int64_t inner, bool sorts) {
  std::vector<int64_t> order;
  for (int64_t slice = 0; slice < extent; ++slice)
    for (int64_t n = 0; n < count; ++n)
      if (int64_t(indices[n]) == slice)
        order.push_back(n);
  // Indices below 0 or out of range come last.
  const int64_t chunk = sorts ? kScatterChunk : count + 1;
  Values sums(outer * extent * inner);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      for (size_t at = 0; at < order.size();) {
        const int64_t slice = int64_t(indices[order[at]]);
        float total = 0.0f;
        while (at < order.size() && int64_t(indices[order[at]]) == slice) {
          float part = 0.0f;
          const int64_t end = (int64_t(at) / chunk + 1) * chunk;
          for (; at < order.size() && int64_t(at) < end &&
                 int64_t(indices[order[at]]) == slice;
               ++at)
            part += float(updates[(o * count + order[at]) * inner + i]);
          total += part;
        }
        sums[(o * extent + slice) * inner + i] = widen(roundTo<R>(total));
      }
  return sums;
}

template <typename R, typename U, typename I>
static void testScatterAdd(int64_t outer, int64_t extent, int64_t count,
                           int64_t inner) {
  inAllOrders("scatter_add", [&] {
    Values updates = randomValues<U>(outer * count * inner, 1);
    Values indices = makeIndices(count, extent);
    const bool sorts = scatterAddSorts(extent, count);
    const Values expected =
        sumByIndex<R>(updates, indices, outer, extent, count, inner, sorts);
    Buffer<U> from(updates);
    Buffer<I> at(indices);
    Buffer<R> result(outer * extent * inner);
    if (sorts) {
      Buffer<uint8_t> scratch(
          ScatterAddScratch::get(outer, extent, inner, count).bytes);
      CHECK_OK(scatterAddSorted(nullptr, result.get(), from.get(), at.get(),
                                outer, extent, inner, count, scratch.get()));
    } else {
      CHECK_OK(scatterAdd(nullptr, result.get(), from.get(), at.get(), outer,
                          extent, inner, count));
    }
    CHECK_NEAR(result.read(), expected, 0.0);
    return KernelResults{result.read()};
  });
}

int main() {
  // A table of embeddings; a part of a block; rows of more than a block.
  testScatterAdd<float, __half, int64_t>(1, 23, 70, 64);
  testScatterAdd<float, float, int32_t>(1, 5, 1100, 37);
  testScatterAdd<__nv_bfloat16, __nv_bfloat16, int64_t>(1, 3, 9, 2200);
  // Short slices, along any dimension.
  testScatterAdd<float, float, int64_t>(6, 10, 3, 1);
  testScatterAdd<__half, __half, int32_t>(3, 7, 12, 5);
  testScatterAdd<float, __half, int64_t>(2, 4, 6, 32);
  testScatterAdd<float, float, int64_t>(1, 1, 1, 40);
  // Sorted: many words, of which most do not occur; two token types; one slice;
  // slices along another dimension, of 1 and of 3 chunks; odd columns.
  testScatterAdd<float, __half, int64_t>(1, 5000, 300, 64);
  testScatterAdd<float, __nv_bfloat16, int32_t>(1, 2, 1500, 24);
  testScatterAdd<__nv_bfloat16, float, int64_t>(1, 1, 1030, 8);
  testScatterAdd<float, float, int32_t>(3, 40, 1281, 12);
  testScatterAdd<__half, __half, int64_t>(2, 4100, 130, 5);
  testScatterAdd<float, __half, int32_t>(2, 70, 1090, 1);
  return finish();
}

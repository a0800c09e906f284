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

template <typename R, typename U, typename I>
static void testScatterAdd(int64_t outer, int64_t extent, int64_t count,
                           int64_t inner) {
  inAllOrders("scatter_add", [&] {
    Values updates = randomValues<U>(outer * count * inner, 1);
    Values indices = makeIndices(count, extent);
    // In the order of the indices, in f32: what is added is exact.
    Values expected(outer * extent * inner);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t n = 0; n < count; ++n)
        for (int64_t i = 0; i < inner && indices[n] >= 0 && indices[n] < extent;
             ++i) {
          double &sum =
              expected[(o * extent + int64_t(indices[n])) * inner + i];
          sum = float(sum) + float(updates[(o * count + n) * inner + i]);
        }
    for (double &sum : expected)
      sum = widen(roundTo<R>(float(sum)));
    Buffer<U> from(updates);
    Buffer<I> at(indices);
    Buffer<R> result(outer * extent * inner);
    CHECK_OK(scatterAdd(nullptr, result.get(), from.get(), at.get(), outer,
                        extent, inner, count));
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
  return finish();
}

//===- Reduce.h - Deterministic reductions ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions of rows, of columns and of everything, as bodies of kernels. The
// order of every sum depends on the sizes alone: no float atomics. A reduction
// over several blocks leaves partial results in scratch, and the block that
// finishes last, by a ticket, combines them in order.
//
//   // %2 = reduce_sum(%1) over dim 1: f16[64x128] -> f32[64]
//   __global__ void __launch_bounds__(256) row_sum(float *out, const __half *x)
//   {
//     amp::cuda::reduceRows<amp::cuda::Sum<float>, 32, 8>(64, 128,
//         [=](auto at, int64_t row, int64_t column) { return at.load(x); },
//         [=](int64_t row, float sum) { amp::cuda::storeOne(out + row, sum);
//         });
//   }
//
// launched with `rowShape<32>(64)`; 32 threads a row up to 1024 columns, else
// kThreads.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_REDUCE_H
#define AMP_RUNTIME_CUDA_REDUCE_H

#include "amp/Runtime/CUDA/Elementwise.h"

namespace amp::cuda {

/// Combiners: a value type that is a whole number of 4-byte words, the identity
/// and an associative operation.
template <typename T>
struct Sum {
  using type = T;
  static AMP_DEVICE T identity() { return T(0); }
  static AMP_DEVICE T combine(T a, T b) { return a + b; }
};
template <typename T>
struct Product {
  using type = T;
  static AMP_DEVICE T identity() { return T(1); }
  static AMP_DEVICE T combine(T a, T b) { return a * b; }
};
/// NaN if any element is.
struct Maximum {
  using type = float;
  static AMP_DEVICE float identity() { return -INFINITY; }
  static AMP_DEVICE float combine(float a, float b) { return maximum(a, b); }
};
struct Minimum {
  using type = float;
  static AMP_DEVICE float identity() { return INFINITY; }
  static AMP_DEVICE float combine(float a, float b) { return minimum(a, b); }
};
/// Of bools, widened to words.
struct Any {
  using type = uint32_t;
  static AMP_DEVICE uint32_t identity() { return 0; }
  static AMP_DEVICE uint32_t combine(uint32_t a, uint32_t b) { return a | b; }
};
struct All {
  using type = uint32_t;
  static AMP_DEVICE uint32_t identity() { return 1; }
  static AMP_DEVICE uint32_t combine(uint32_t a, uint32_t b) { return a & b; }
};

/// Combines the values of a warp; every lane gets the result. Called by all 32
/// lanes.
template <typename Op>
AMP_DEVICE typename Op::type reduceWarp(typename Op::type value);

/// Combines the values of a block of kThreads threads; every thread gets the
/// result. `shared` holds a value for each warp; it may be reused after the
/// next barrier.
template <typename Op>
AMP_DEVICE typename Op::type reduceBlock(typename Op::type value,
                                         typename Op::type *shared);

/// For each of `rows` rows of `columns` elements, combines the lanes of
/// `value(at, row, column)`, where `at.index` is row · columns + column, and
/// calls `finish(row, result)` in one thread. Elements are taken `Width` at a
/// time if that divides `columns`, else one by one. Launch with `rowShape`.
template <typename Op, int ThreadsPerRow, int Width, typename Value,
          typename Finish>
AMP_DEVICE void reduceRows(int64_t rows, int64_t columns, Value value,
                           Finish finish);

/// Combines the lanes of `value(at)` over [0, count) and calls
/// `finish(result)` in one thread of the grid. `partials` holds
/// `reduceParts(count)` values, `ticket` is zero before and after. Launch with
/// `reduceShape(count)`.
template <typename Op, int Width, typename Value, typename Finish>
AMP_DEVICE void reduceAll(int64_t count, typename Op::type *partials,
                          unsigned *ticket, Value value, Finish finish);

/// For each of `columns` columns, combines the lanes of
/// `value(at, row, column)` over `rows` rows and calls `finish(column, result)`
/// in one thread. `Width` is 1, or 2 if `columns` is even. `partials` holds
/// `columnParts(rows, columns) * columns` values, `tickets` are `kTickets`
/// zeros before and after. Launch with `columnShape(rows, columns, words of a
/// value)`.
template <typename Op, int Width, typename Value, typename Finish>
AMP_DEVICE void reduceColumns(int64_t rows, int64_t columns,
                              typename Op::type *partials, unsigned *tickets,
                              Value value, Finish finish);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_REDUCE_H

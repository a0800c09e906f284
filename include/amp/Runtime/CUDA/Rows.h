//===- Rows.h - Rows in registers -------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Softmax, layer normalisation and cross-entropy pass over a row several times.
// A short row stays in the registers of the threads that own it. A longer row
// is read again in each pass.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_ROWS_H
#define AMP_RUNTIME_CUDA_ROWS_H

#include "amp/Runtime/CUDA/Reduce.h"

namespace amp::cuda {

/// How the threads of a block share rows: `Threads` per row (a power of two up
/// to 32, or kThreads), `Width` elements per access, and `Packs` accesses that
/// each thread keeps. `Packs` is 0 if the row stays in memory.
template <int ThreadsPerRow, int PackWidth, int PacksPerThread>
struct RowPlan {
  static constexpr int threads = ThreadsPerRow;
  static constexpr int width = PackWidth;
  static constexpr int packs = PacksPerThread;
  static constexpr int rowsPerBlock = kThreads / threads;

  /// The index of the thread in its row, and of the row in the block.
  static AMP_DEVICE int thread() { return threadIdx.x % threads; }
  static AMP_DEVICE int rowInBlock() { return threadIdx.x / threads; }
};

/// One row as its threads see it.
template <typename Plan, typename T>
struct Row {
  const T *data;
  int64_t columns;
  Pack<float, Plan::width> kept[Plan::packs > 0 ? Plan::packs : 1];

  AMP_DEVICE Row(const T *data, int64_t columns)
      : data(data), columns(columns) {
#pragma unroll
    for (int i = 0; i < Plan::packs; ++i) {
      const int64_t column = columnOf(i);
      if (column < columns)
        kept[i] = load<Plan::width>(data + column);
    }
  }

  static AMP_DEVICE int64_t columnOf(int64_t pack) {
    return (pack * Plan::threads + Plan::thread()) * Plan::width;
  }

  /// The pack that begins at `column`, the thread's pack number `pack`.
  AMP_DEVICE Pack<float, Plan::width> get(int pack, int64_t column) const {
    if constexpr (Plan::packs > 0)
      return kept[pack];
    else
      return load<Plan::width>(data + column);
  }
};

/// Calls `body(pack, column)` for each pack of a row that the thread owns.
template <typename Plan, typename Body>
AMP_DEVICE void forEachPack(int64_t columns, Body body) {
  if constexpr (Plan::packs > 0) {
#pragma unroll
    for (int i = 0; i < Plan::packs; ++i) {
      const int64_t column = (i * Plan::threads + Plan::thread()) * Plan::width;
      if (column < columns)
        body(i, column);
    }
  } else {
    for (int64_t column = Plan::thread() * Plan::width; column < columns;
         column += Plan::threads * Plan::width)
      body(0, column);
  }
}

/// Combines one value per thread of a row and returns the result in all of
/// them. All threads of the warp must call this, or, if a row takes the whole
/// block, all threads.
template <typename Plan, typename Op>
AMP_DEVICE typename Op::type reduceRow(typename Op::type value) {
  if constexpr (Plan::threads <= 32) {
    return reduceLanes<Plan::threads, Op>(value);
  } else {
    __syncthreads(); // the last result has been read
    return reduceBlock<Op>(value, sharedMemory<typename Op::type>());
  }
}

/// The largest of some elements and Σ exp(x - largest) of them. Terms of parts
/// of a row combine to those of the row. As Maximum, they are NaN if an element
/// is.
struct SoftmaxTerms {
  using type = SoftmaxTerms;
  float largest, sum;

  static AMP_DEVICE SoftmaxTerms identity() { return {-INFINITY, 0.0f}; }
  static AMP_DEVICE SoftmaxTerms combine(SoftmaxTerms a, SoftmaxTerms b) {
    const float largest = maximum(a.largest, b.largest);
    // exp(-inf - largest) is 0 even if all elements are -inf.
    const float shift = largest == -INFINITY ? 0.0f : largest;
    return {largest,
            a.sum * expf(a.largest - shift) + b.sum * expf(b.largest - shift)};
  }
  /// The terms of these elements and of those of `values`.
  template <int N>
  AMP_DEVICE SoftmaxTerms with(const Pack<float, N> &values) const {
    SoftmaxTerms terms;
    terms.largest = combineLanes<Maximum>(largest, values);
    const float shift = terms.largest == -INFINITY ? 0.0f : terms.largest;
    terms.sum = sum * expf(largest - shift);
#pragma unroll
    for (int lane = 0; lane < N; ++lane)
      terms.sum += expf(values[lane] - shift);
    return terms;
  }
};

/// The terms of a row. A row that stays in memory is read once.
template <typename Plan, typename T>
AMP_DEVICE SoftmaxTerms softmaxTerms(const Row<Plan, T> &row) {
  if constexpr (Plan::packs == 0) {
    SoftmaxTerms terms = SoftmaxTerms::identity();
    forEachPack<Plan>(row.columns, [&](int pack, int64_t column) {
      terms = terms.with(row.get(pack, column));
    });
    return reduceRow<Plan, SoftmaxTerms>(terms);
  } else {
    float largest = -INFINITY;
    forEachPack<Plan>(row.columns, [&](int pack, int64_t column) {
      largest = combineLanes<Maximum>(largest, row.get(pack, column));
    });
    largest = reduceRow<Plan, Maximum>(largest);
    float sum = 0.0f;
    forEachPack<Plan>(row.columns, [&](int pack, int64_t column) {
      const auto x = row.get(pack, column);
#pragma unroll
      for (int lane = 0; lane < Plan::width; ++lane)
        sum += expf(x[lane] - largest);
    });
    return {largest, reduceRow<Plan, Sum<float>>(sum)};
  }
}

/// The target of a row of logits: 1 at the label.
struct HardLabels {
  static constexpr bool isSmooth = false;
  AMP_DEVICE float atEach(int64_t) const { return 0.0f; }
  AMP_DEVICE float atLabel() const { return 1.0f; }
};

/// The target of a row of logits: `smoothing` divided by the number of classes
/// at each class, and 1 - `smoothing` more at the label.
struct SmoothLabels {
  static constexpr bool isSmooth = true;
  float smoothing;
  AMP_DEVICE float atEach(int64_t classes) const {
    return smoothing / float(classes);
  }
  AMP_DEVICE float atLabel() const { return 1.0f - smoothing; }
};

/// An extent that is known when the program is compiled. Kernels over rows then
/// have one plan, not one for each extent.
template <int64_t Value>
struct Extent {
  constexpr operator int64_t() const { return Value; }
};

/// Chooses a plan for rows of `columns` elements and calls `body(plan)`. Packs
/// have up to `Width` elements. A short row takes a warp, a long one a block.
template <int Width, typename Body>
Status withRowPlan(int64_t columns, Body body) {
  if (columns % Width == 0) {
    if (columns <= 32 * 4 * Width)
      return body(RowPlan<32, Width, 4>());
    if (columns <= kThreads * 4 * Width)
      return body(RowPlan<kThreads, Width, 4>());
    return body(RowPlan<kThreads, Width, 0>());
  }
  if (columns <= 32 * 8)
    return body(RowPlan<32, 1, 8>());
  if (columns <= kThreads * 8)
    return body(RowPlan<kThreads, 1, 8>());
  return body(RowPlan<kThreads, 1, 0>());
}
template <int Width, int64_t Columns, typename Body>
Status withRowPlan(Extent<Columns>, Body body) {
  constexpr int width = Columns % Width == 0 ? Width : 1;
  constexpr int packs = width == Width ? 4 : 8;
  constexpr int threads = Columns <= 32 * packs * width ? 32 : kThreads;
  constexpr bool isKept = Columns <= threads * packs * width;
  return body(RowPlan < threads, width, isKept ? packs : 0 > ());
}

/// The same for `rows` rows. Several rows of few elements share a warp, which
/// then has all of them or none, if the extent is known. Sums have the same
/// bits.
template <int Width, typename Body>
Status withRowPlan(int64_t, int64_t columns, Body body) {
  return withRowPlan<Width>(columns, body);
}
template <int Width, int64_t Columns, typename Body>
Status withRowPlan(int64_t rows, Extent<Columns> columns, Body body) {
  if constexpr (Columns % Width == 0 && Columns <= 16 * Width) {
    constexpr int threads = Columns <= 8 * Width ? 8 : 16;
    if (rows % (32 / threads) == 0)
      return body(RowPlan<threads, Width, 1>());
  }
  return withRowPlan<Width>(columns, body);
}

/// Shape for a kernel over rows with `Plan`.
template <typename Plan>
LaunchShape planShape(int64_t rows) {
  LaunchShape shape = rowShape<Plan::threads>(rows);
  shape.sharedBytes = kThreads / 32 * 16 + 16;
  return shape;
}

/// Calls `body(row)` for the rows of the block. All threads that share a row
/// make the same number of calls.
template <typename Plan, typename Body>
AMP_DEVICE void forEachRow(int64_t rows, Body body) {
  for (int64_t row =
           int64_t(blockIdx.x) * Plan::rowsPerBlock + Plan::rowInBlock();
       row < rows; row += int64_t(gridDim.x) * Plan::rowsPerBlock)
    body(row);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_ROWS_H

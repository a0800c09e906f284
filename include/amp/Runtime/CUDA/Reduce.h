//===- Reduce.h - Deterministic reductions ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reductions of rows, of columns and of whole arrays, as bodies of kernels. The
// order of every sum depends on the sizes alone; there are no float atomics. A
// reduction over several blocks leaves partial results in scratch. The block
// that finishes last, by an arrival counter, combines them in order.
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
// This kernel is launched with `rowShape<32>(64)`. Rows of up to 1024 columns
// take 32 threads each, longer ones kThreads.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_REDUCE_H
#define AMP_RUNTIME_CUDA_REDUCE_H

#include "amp/Runtime/CUDA/Elementwise.h"

namespace amp::cuda {

/// Combiners: a value type of whole 4-byte words, the identity and an
/// associative operation.
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
/// NaN if any element is NaN.
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
/// The disjunction of bools that are widened to words.
struct Any {
  using type = uint32_t;
  static AMP_DEVICE uint32_t identity() { return 0; }
  static AMP_DEVICE uint32_t combine(uint32_t a, uint32_t b) { return a | b; }
};
/// The sum in one bit: whether an odd number of values is true.
struct Odd {
  using type = uint32_t;
  static AMP_DEVICE uint32_t identity() { return 0; }
  static AMP_DEVICE uint32_t combine(uint32_t a, uint32_t b) { return a ^ b; }
};
struct All {
  using type = uint32_t;
  static AMP_DEVICE uint32_t identity() { return 1; }
  static AMP_DEVICE uint32_t combine(uint32_t a, uint32_t b) { return a & b; }
};

/// Two sums at once.
struct TwoSums {
  using type = TwoSums;
  float first, second;
  static AMP_DEVICE TwoSums identity() { return {0.0f, 0.0f}; }
  static AMP_DEVICE TwoSums combine(TwoSums a, TwoSums b) {
    return {a.first + b.first, a.second + b.second};
  }
};

/// Exchanges a value of whole words with the lane whose number differs in
/// `bits`.
template <typename T>
AMP_DEVICE T shuffleXor(const T &value, int bits) {
  static_assert(sizeof(T) % 4 == 0, "values are whole numbers of words");
  union Words {
    AMP_DEVICE Words() {}
    T value;
    uint32_t words[sizeof(T) / 4];
  } in, out;
  in.value = value;
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i)
    out.words[i] = __shfl_xor_sync(0xffffffffu, in.words[i], bits);
  return out.value;
}

/// Combines the values of each `Threads` lanes of a warp, a power of two, and
/// returns the result in each of them. All 32 lanes call this. The operation
/// must be commutative.
template <int Threads, typename Op>
AMP_DEVICE typename Op::type reduceLanes(typename Op::type value) {
#pragma unroll
  for (int bits = Threads / 2; bits > 0; bits /= 2)
    value = Op::combine(value, shuffleXor(value, bits));
  return value;
}

/// Combines the values of a warp and returns the same result in every lane.
template <typename Op>
AMP_DEVICE typename Op::type reduceWarp(typename Op::type value) {
  return reduceLanes<32, Op>(value);
}

/// Combines the values of a block of kThreads threads and returns the result in
/// every thread. `shared` holds a value for each warp. A barrier must separate
/// this call from the next use of `shared`.
template <typename Op>
AMP_DEVICE typename Op::type reduceBlock(typename Op::type value,
                                         typename Op::type *shared) {
  constexpr int warps = kThreads / 32;
  value = reduceWarp<Op>(value);
  if (threadIdx.x % 32 == 0)
    shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
#pragma unroll
  for (int warp = 1; warp < warps; ++warp)
    value = Op::combine(value, shared[warp]);
  return value;
}

/// Increments the arrival counter after the block has stored its partial
/// results. Returns in all threads whether this block is the last of `blocks`;
/// it can then read all partial results. Leaves `arrivalCounter` zero for the
/// next launch. `shared` is one word.
AMP_DEVICE bool isLastBlock(unsigned *arrivalCounter, unsigned blocks,
                            unsigned *shared) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    *shared = atomicInc(arrivalCounter, blocks - 1) == blocks - 1;
    __threadfence();
  }
  __syncthreads();
  return *shared != 0;
}

/// Reads a partial result that another block of the launch stored. Reads
/// memory, not a register or the first-level cache.
template <typename T>
AMP_DEVICE T loadPartial(const T *pointer) {
  AMP_ON_LOAD(pointer, sizeof(T));
  union Words {
    AMP_DEVICE Words() {}
    T value;
    uint32_t words[sizeof(T) / 4];
  } result;
  const auto *words = reinterpret_cast<const volatile uint32_t *>(pointer);
#pragma unroll
  for (int i = 0; i < int(sizeof(T) / 4); ++i)
    result.words[i] = words[i];
  return result.value;
}

/// Combines the lanes of a pack, in order.
template <typename Op, typename V, int N>
AMP_DEVICE typename Op::type combineLanes(typename Op::type total,
                                          const Pack<V, N> &values) {
#pragma unroll
  for (int lane = 0; lane < N; ++lane)
    total = Op::combine(total, values[lane]);
  return total;
}

/// For each of `rows` rows of `columns` elements, combines the lanes of
/// `value(at, row, column)`, where `at.index` is row · columns + column. Calls
/// `finish(row, result)` in one thread. Takes `Width` elements at a time if
/// `Width` divides `columns`, else one. Launch with
/// `rowShape<ThreadsPerRow>(rows)`.
template <typename Op, int ThreadsPerRow, int Width, typename Value,
          typename Finish>
AMP_DEVICE void reduceRows(int64_t rows, int64_t columns, Value value,
                           Finish finish) {
  constexpr int rowsPerBlock = kThreads / ThreadsPerRow;
  const int thread = threadIdx.x % ThreadsPerRow;
  const int64_t stride = int64_t(gridDim.x) * rowsPerBlock;
  for (int64_t row =
           int64_t(blockIdx.x) * rowsPerBlock + threadIdx.x / ThreadsPerRow;
       row < rows; row += stride) {
    typename Op::type total = Op::identity();
    const int64_t begin = row * columns;
    if (columns % Width == 0) {
#pragma unroll 4
      for (int64_t column = int64_t(thread) * Width; column < columns;
           column += ThreadsPerRow * Width)
        total = combineLanes<Op>(
            total, value(Lanes<Width>{begin + column}, row, column));
    } else {
#pragma unroll 4
      for (int64_t column = thread; column < columns; column += ThreadsPerRow)
        total = combineLanes<Op>(total,
                                 value(Lanes<1>{begin + column}, row, column));
    }
    if constexpr (ThreadsPerRow == 32) {
      total = reduceWarp<Op>(total);
    } else {
      auto *shared = sharedMemory<typename Op::type>();
      __syncthreads(); // the last row has been read
      total = reduceBlock<Op>(total, shared);
    }
    if (thread == 0)
      finish(row, total);
  }
}

/// Combines the lanes of `value(at)` over [0, count) and calls `finish(result)`
/// in one thread of the grid. `partials` holds `reduceParts(count)` values.
/// `arrivalCounter` is zero before and after. Launch with `reduceShape(count)`.
template <typename Op, int Width, typename Value, typename Finish>
AMP_DEVICE void reduceAll(int64_t count, typename Op::type *partials,
                          unsigned *arrivalCounter, Value value,
                          Finish finish) {
  using T = typename Op::type;
  T *shared = sharedMemory<T>();
  T total = Op::identity();
  elementwise<Width>(
      count, [&](auto at) { total = combineLanes<Op>(total, value(at)); });
  total = reduceBlock<Op>(total, shared);
  if (gridDim.x == 1) {
    if (threadIdx.x == 0)
      finish(total);
    return;
  }
  if (threadIdx.x == 0) {
    AMP_ON_STORE(partials + blockIdx.x, sizeof(T));
    partials[blockIdx.x] = total;
  }
  if (!isLastBlock(arrivalCounter, gridDim.x,
                   reinterpret_cast<unsigned *>(shared + kThreads / 32)))
    return;
  total = Op::identity();
  for (unsigned part = threadIdx.x; part < gridDim.x; part += kThreads)
    total = Op::combine(total, loadPartial(partials + part));
  total = reduceBlock<Op>(total, shared);
  if (threadIdx.x == 0)
    finish(total);
}

/// For each of `columns` columns, combines the lanes of `value(at, row,
/// column)` over `rows` rows and calls `finish(column, result)` in one thread.
/// `Width` is a power of two up to 8 that divides `columns`. `partials` holds
/// `columnParts(rows, columns) * columns` values. `arrivalCounters` are
/// `kArrivalCounters` zeros before and after. A grid with one row uses neither.
/// Launch with `columnShape(rows, columns, words of a value, Width)`.
template <typename Op, int Width, typename Value, typename Finish>
AMP_DEVICE void
reduceColumns(int64_t rows, int64_t columns, typename Op::type *partials,
              unsigned *arrivalCounters, Value value, Finish finish) {
  using T = typename Op::type;
  // A block covers kColumnTile columns, `Width` per thread, in `groups` rows at
  // a time.
  constexpr int across = kColumnTile / Width;
  constexpr int groups = kThreads / across;
  T *shared = sharedMemory<T>();
  auto *flag = reinterpret_cast<unsigned *>(shared + kThreads * Width);
  const int lane = threadIdx.x % across, group = threadIdx.x / across;
  const int64_t parts = gridDim.y, part = blockIdx.y;
  const int64_t rowsPerPart = ceilDiv(rows, parts);
  const int64_t begin = part * rowsPerPart;
  const int64_t end = begin + rowsPerPart < rows ? begin + rowsPerPart : rows;
  for (int64_t tile = blockIdx.x; tile * kColumnTile < columns;
       tile += gridDim.x) {
    const int64_t column = tile * kColumnTile + lane * Width;
    T totals[Width];
#pragma unroll
    for (int i = 0; i < Width; ++i)
      totals[i] = Op::identity();
    if (column < columns) {
#pragma unroll 4
      for (int64_t row = begin + group; row < end; row += groups) {
        const auto values =
            value(Lanes<Width>{row * columns + column}, row, column);
#pragma unroll
        for (int i = 0; i < Width; ++i)
          totals[i] = Op::combine(totals[i], values[i]);
      }
    }
    __syncthreads(); // the results of the last tile have been read
#pragma unroll
    for (int i = 0; i < Width; ++i)
      shared[group * kColumnTile + lane * Width + i] = totals[i];
    __syncthreads();
    // The first threads combine the groups, one column each.
    const int64_t mine = tile * kColumnTile + threadIdx.x;
    const bool owns = threadIdx.x < kColumnTile && mine < columns;
    T total = Op::identity();
    if (owns) {
#pragma unroll
      for (int i = 0; i < groups; ++i)
        total = Op::combine(total, shared[i * kColumnTile + threadIdx.x]);
    }
    if (parts == 1) {
      if (owns)
        finish(mine, total);
      continue;
    }
    if (owns) {
      AMP_ON_STORE(partials + part * columns + mine, sizeof(T));
      partials[part * columns + mine] = total;
    }
    auto combineParts = [=](int64_t first, int64_t last, int64_t step) {
      T sum = Op::identity();
#pragma unroll 8
      for (int64_t i = first; i < last; i += step)
        sum = Op::combine(sum, loadPartial(partials + i * columns + mine));
      return sum;
    };
    const int64_t teams = columnTeams(parts);
    unsigned *counters = arrivalCounters + blockIdx.x * (1 + teams);
    if (teams != 0) {
      // The sum of a team replaces its first partial sum.
      const int64_t team = part / kColumnTeam, first = team * kColumnTeam;
      const int64_t last =
          first + kColumnTeam < parts ? first + kColumnTeam : parts;
      if (!isLastBlock(counters + 1 + team, unsigned(last - first), flag))
        continue;
      if (owns) {
        AMP_ON_STORE(partials + first * columns + mine, sizeof(T));
        partials[first * columns + mine] = combineParts(first, last, 1);
      }
    }
    if (!isLastBlock(counters, unsigned(teams != 0 ? teams : parts), flag))
      continue;
    if (owns)
      finish(mine, combineParts(0, parts, teams != 0 ? kColumnTeam : 1));
  }
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_REDUCE_H

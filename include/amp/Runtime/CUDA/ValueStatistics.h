//===- ValueStatistics.h - Statistics of values -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the elements of values as `amp.statistics` does, in the body of a
// kernel over elements (see Runtime/Host/ValueStatistics.h for the counts):
//
//   // Counts the elements of x and the effects of a cast to f16.
//   __global__ void __launch_bounds__(256) watch(int64_t *out, const float *x)
//   {
//     amp::cuda::StatisticsCounter<1> counter;
//     amp::cuda::elementwise<4>(8192, [&](auto at) {
//       auto a = at.load(x);
//       counter.add(0, a, at.map([](float a) {
//         return amp::cuda::widen(amp::cuda::roundTo<__half>(a));
//       }, a));
//     });
//     counter.finish(0, out);
//   }
//
// All counts are integers, so the order of their sums does not matter. The
// kernel counts exponents in shared memory and everything else in registers.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_VALUESTATISTICS_H
#define AMP_RUNTIME_CUDA_VALUESTATISTICS_H

#include "amp/Runtime/CUDA/Reduce.h"
#include "amp/Runtime/Host/ValueStatistics.h"

#include <initializer_list>

namespace amp::cuda {

/// The number of copies of each exponent count. Neighbouring lanes of a warp
/// use different copies.
inline constexpr int kExponentCopies = 4;
/// The number of words in shared memory for each value.
inline constexpr int kStatisticsWords =
    kFirstBin + kNumExponents * kExponentCopies;

struct LargestWord {
  using type = uint32_t;
  static AMP_DEVICE uint32_t combine(uint32_t a, uint32_t b) {
    return a > b ? a : b;
  }
};

/// Counts the elements of `Values` values. Each thread of a block creates a
/// counter. All of them use the shared memory of the block.
template <int Values>
class StatisticsCounter {
public:
  AMP_DEVICE StatisticsCounter() : tables(sharedMemory<uint32_t>()) {
    for (int i = threadIdx.x; i < Values * kStatisticsWords; i += kThreads)
      tables[i] = 0;
    __syncthreads();
  }

  /// Counts the lanes of `elements`. A cast rounds each lane to the same lane
  /// of `rounded`.
  template <int N>
  AMP_DEVICE void add(int value, const Pack<float, N> &elements,
                      const Pack<float, N> &rounded) {
    uint32_t *bins = tables + value * kStatisticsWords + kFirstBin;
#pragma unroll
    for (int lane = 0; lane < N; ++lane)
      addOne(fields[value], bins, magnitude(elements[lane]),
             magnitude(rounded[lane]));
  }

  /// Adds the counts of the block to `out`, which has `kNumStatistics`
  /// elements. All threads call this function after the last `add`.
  AMP_DEVICE void finish(int value, int64_t *out);

private:
  static constexpr uint32_t kInfinity = 0x7f800000u;
  static AMP_DEVICE uint32_t magnitude(float x) {
    return __float_as_uint(x) & 0x7fffffffu;
  }
  static AMP_DEVICE void addOne(uint32_t *fields, uint32_t *bins, uint32_t bits,
                                uint32_t rounded) {
    const bool isFinite = bits < kInfinity;
    fields[kNaNs] += bits > kInfinity;
    fields[kInfinities] += bits == kInfinity;
    fields[kOverflows] += isFinite && rounded >= kInfinity;
    fields[kUnderflows] += bits != 0 && rounded == 0;
    if (isFinite && bits > fields[kLargest])
      fields[kLargest] = bits;
    // Zeros are frequent, for example after a relu. `finish` adds them to their
    // bin.
    if (bits == 0) {
      ++fields[kZeros];
      return;
    }
    // Stores the complement, so that 0 means no element.
    if (isFinite && ~bits > fields[kSmallest])
      fields[kSmallest] = ~bits;
    atomicAdd(bins + (bits >> 23) * kExponentCopies +
                  threadIdx.x % kExponentCopies,
              1u);
  }

  uint32_t *tables;
  uint32_t fields[Values][kFirstBin] = {};
};

template <int Values>
AMP_DEVICE void StatisticsCounter<Values>::finish(int value, int64_t *out) {
  using Word = unsigned long long;
  uint32_t *table = tables + value * kStatisticsWords;
#pragma unroll
  for (int field = 0; field < kFirstBin; ++field) {
    const bool isExtreme = field == kLargest || field == kSmallest;
    const uint32_t word = isExtreme
                              ? reduceWarp<LargestWord>(fields[value][field])
                              : reduceWarp<Sum<uint32_t>>(fields[value][field]);
    if (threadIdx.x % 32 != 0 || word == 0)
      continue;
    if (isExtreme)
      atomicMax(table + field, word);
    else
      atomicAdd(table + field, word);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kNumStatistics; i += kThreads) {
    auto *to = reinterpret_cast<Word *>(out + i);
    Word count = 0;
    if (i < kFirstBin)
      count = table[i];
    else
      for (int copy = 0; copy < kExponentCopies; ++copy)
        count += table[kFirstBin + (i - kFirstBin) * kExponentCopies + copy];
    if (i == kFirstBin)
      count += table[kZeros];
    if (count == 0)
      continue;
    if (i == kLargest) {
      atomicMax(to, count);
    } else if (i == kSmallest) {
      const Word smallest = ~uint32_t(count);
      // 0 means that no block has found an element yet.
      for (Word old = atomicCAS(to, Word(0), smallest);
           old != 0 && old > smallest;) {
        const Word seen = atomicCAS(to, old, smallest);
        if (seen == old)
          break;
        old = seen;
      }
    } else {
      atomicAdd(to, count);
    }
  }
}

/// Returns the shape of a kernel that counts `count` elements of `values`
/// values, `width` at a time.
inline LaunchShape statisticsShape(int64_t count, int width, int values) {
  LaunchShape shape = elementwiseShape(count, width);
  if (shape.grid.x > kStatisticsBlocks)
    shape.grid.x = unsigned(kStatisticsBlocks);
  shape.sharedBytes = size_t(values) * kStatisticsWords * sizeof(uint32_t);
  return shape;
}

/// Clears `outputs` and launches a kernel that counts values into them.
template <typename... Parameters, typename... Arguments>
Status launchStatistics(const char *name, cudaStream_t stream,
                        const LaunchShape &shape,
                        std::initializer_list<int64_t *> outputs,
                        void (*kernel)(Parameters...),
                        Arguments &&...arguments) {
  for (int64_t *output : outputs)
    AMP_RETURN_IF_ERROR(check(
        cudaMemsetAsync(output, 0, kNumStatistics * sizeof(int64_t), stream),
        name));
  return launch(name, stream, shape, kernel,
                std::forward<Arguments>(arguments)...);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_VALUESTATISTICS_H

//===- ValueStatistics.h - Statistics of values -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the elements of values as `amp.statistics` does (see
// Runtime/Host/ValueStatistics.h for the counts). A program has a function for
// each kind of value, and one kernel that calls them:
//
//   // Counts the elements of x and the effects of a cast to f16.
//   AMP_COUNT_FUNCTION void watch(CountedPart part, int64_t *out,
//                                 const float *x) {
//     StatisticsCounter<1> counter;
//     part.elementwise<4>([&](auto at) {
//       auto a = at.load(x);
//       counter.add(0, a, at.map([](float a) {
//         return widen(roundTo<__half>(a));
//       }, a));
//     });
//     counter.finish(part, 0, out);
//   }
//   __global__ void __launch_bounds__(256) countValues(const CountBatch batch)
//   {
//     const int entry = batch.find(blockIdx.x);
//     switch (batch.entries[entry].function) {
//     case 0:
//       return watch(batch.getPart(entry), batch.get<int64_t *>(entry, 0),
//                    batch.get<const float *>(entry, 1));
//     }
//   }
//
// One launch of the kernel counts many values. The parameter of the kernel is a
// table of these values, and each block counts elements of one of them. The
// only block of a value stores its counts. Several blocks add theirs, so the
// counts are cleared before.
//
// All counts are integers, so the order of their sums does not matter. The
// functions count exponents in shared memory and everything else in registers.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_VALUESTATISTICS_H
#define AMP_RUNTIME_CUDA_VALUESTATISTICS_H

#include "amp/Runtime/CUDA/Reduce.h"
#include "amp/Runtime/Host/ValueStatistics.h"

#include <algorithm>
#include <initializer_list>
#include <type_traits>
#include <vector>

/// A function that counts values. It is not inlined, so that the kernel has its
/// code and its registers once.
#ifdef AMP_CUDA_HOST
#define AMP_COUNT_FUNCTION inline
#else
#define AMP_COUNT_FUNCTION __device__ __noinline__
#endif

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

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// The number of blocks that count `count` elements, `width` at a time.
inline unsigned countBlocks(int64_t count, int width) {
  return count <= kMostCountedByBlock
             ? 1
             : unsigned(std::min<int64_t>(elementwiseShape(count, width).grid.x,
                                          kStatisticsBlocks));
}

/// The share of a block in an entry of a table.
struct CountedPart {
  int64_t count; ///< the elements of the entry
  /// The number of the block, and of all blocks of the entry.
  unsigned block, blocks;

  /// Calls `body` for the elements, as `amp::cuda::elementwise` does.
  template <int Width, typename Body>
  AMP_DEVICE void elementwise(Body body) const {
    amp::cuda::elementwise<Width>(count,
                                  int64_t(block) * kThreads + threadIdx.x,
                                  int64_t(blocks) * kThreads, body);
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
  /// elements. The only block of a part stores them. All threads call this
  /// function after the last `add`.
  AMP_DEVICE void finish(const CountedPart &part, int value, int64_t *out);

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
AMP_DEVICE void StatisticsCounter<Values>::finish(const CountedPart &part,
                                                  int value, int64_t *out) {
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
    if (part.blocks == 1) {
      *to = i == kSmallest && count != 0 ? ~uint32_t(count) : count;
      continue;
    }
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

//===----------------------------------------------------------------------===//
// Launches that count many values
//===----------------------------------------------------------------------===//

/// The bits of a parameter in a table.
template <typename T>
AMP_HOST_DEVICE uint64_t toWord(T value) {
  static_assert(sizeof(T) == 8, "pointers, int64_t and double");
  union Bits {
    T value;
    uint64_t word;
  } bits;
  bits.value = value;
  return bits.word;
}

/// The table of the values that one launch counts.
struct CountBatch {
  struct Entry {
    uint32_t firstBlock; ///< of the launch
    uint16_t function;   ///< the number in the `switch` of the kernel
    uint16_t firstWord;  ///< the number of elements. The parameters follow.
  };
  int32_t size = 0;
  uint32_t blocks = 0;
  Entry entries[kMostCounted];
  uint64_t words[kMostCountedWords];

  /// The entry of a block.
  AMP_DEVICE int find(uint32_t block) const {
    int first = 0, end = size;
    while (end - first > 1) {
      const int middle = (first + end) / 2;
      if (entries[middle].firstBlock <= block)
        first = middle;
      else
        end = middle;
    }
    return first;
  }
  AMP_DEVICE CountedPart getPart(int entry) const {
    const uint32_t first = entries[entry].firstBlock;
    const uint32_t next =
        entry + 1 < size ? entries[entry + 1].firstBlock : blocks;
    return {int64_t(words[entries[entry].firstWord]), blockIdx.x - first,
            next - first};
  }
  /// Parameter `index` of the function of an entry.
  template <typename T>
  AMP_DEVICE T get(int entry, int index) const {
    union Bits {
      uint64_t word;
      std::conditional_t<std::is_same_v<T, float>, double, T> value;
    } bits;
    bits.word = words[entries[entry].firstWord + 1 + index];
    return T(bits.value);
  }
};
static_assert(sizeof(CountBatch) <= 4096, "a parameter of a kernel");

/// Counts values with as few launches as possible.
class CountLauncher {
public:
  CountLauncher(const char *name, cudaStream_t stream,
                void (*kernel)(CountBatch))
      : name(name), stream(stream), kernel(kernel) {}

  /// Adds `count` elements of `values` values, which the kernel counts by
  /// function `function`, `width` elements at a time. `parameters` follow the
  /// first parameter of the function.
  CountLauncher &add(int function, int width, int values, int64_t count,
                     std::initializer_list<uint64_t> parameters) {
    if (batch.size == kMostCounted ||
        numWords + 1 + int(parameters.size()) > kMostCountedWords)
      launchBatch();
    if (1 + int(parameters.size()) > kMostCountedWords) {
      (void)(status = makeError(
                 kInvalidArgument,
                 "%s: a value has %zu parameters, expected at most %d", name,
                 parameters.size(), kMostCountedWords - 1));
      return *this;
    }
    batch.entries[batch.size++] = {batch.blocks, uint16_t(function),
                                   uint16_t(numWords)};
    batch.blocks += countBlocks(count, width);
    batch.words[numWords++] = uint64_t(count);
    for (uint64_t word : parameters)
      batch.words[numWords++] = word;
    mostValues = std::max(mostValues, values);
    return *this;
  }

  /// Launches the kernel for the added values that have not been counted.
  /// Returns the first error of all launches.
  Status finish() {
    launchBatch();
    return status;
  }

private:
  void launchBatch() {
    if (batch.size == 0 || !status.isOk())
      return;
    LaunchShape shape;
    shape.grid.x = batch.blocks;
    shape.sharedBytes =
        size_t(mostValues) * kStatisticsWords * sizeof(uint32_t);
    (void)(status = launch(name, stream, shape, kernel, batch));
    batch.size = numWords = mostValues = 0;
    batch.blocks = 0;
  }

  const char *name;
  cudaStream_t stream;
  void (*kernel)(CountBatch);
  CountBatch batch = {};
  int numWords = 0, mostValues = 0;
  Status status;
};

/// Counts to clear, of a value with this number of elements.
struct ClearedCounts {
  int64_t *output, elements;
};

/// Sets the counts of the `values` that several blocks count to 0. Adjacent
/// buffers are cleared together.
inline Status clearCounts(const char *name, cudaStream_t stream,
                          std::initializer_list<ClearedCounts> values) {
  constexpr int64_t bytes = kNumStatistics * sizeof(int64_t);
  constexpr int64_t stride = alignTo(bytes, kBufferAlignment);
  std::vector<int64_t *> outputs;
  for (const ClearedCounts &value : values)
    if (value.elements > kMostCountedByBlock)
      outputs.push_back(value.output);
  std::sort(outputs.begin(), outputs.end());
  for (size_t i = 0, next; i < outputs.size(); i = next) {
    auto *begin = reinterpret_cast<char *>(outputs[i]);
    for (next = i + 1; next < outputs.size(); ++next)
      if (reinterpret_cast<char *>(outputs[next]) !=
          begin + int64_t(next - i) * stride)
        break;
    AMP_RETURN_IF_ERROR(check(
        cudaMemsetAsync(begin, 0,
                        size_t(int64_t(next - i - 1) * stride + bytes), stream),
        name));
  }
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_VALUESTATISTICS_H

//===- Random.h - Counter-based random numbers and dropout ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox with the counters and keys of the CPU lowering.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_RANDOM_H
#define AMP_RUNTIME_CUDA_RANDOM_H

#include "amp/Runtime/CUDA/Elementwise.h"
#include "amp/Runtime/Host/Philox.h"

namespace amp::cuda {

/// Block `index` of stream `key` with state rng = (seed, step). The key is the
/// number of a dropout or rounding.
AMP_DEVICE PhiloxBlock randomBlock(int64_t index, int64_t seed, int64_t step,
                                   uint32_t key) {
  return philoxBlock(uint64_t(seed) ^ key, uint64_t(step), uint64_t(index));
}

/// The random words of the lanes: word (i mod 4) of block i / 4. The state rng
/// = (seed, step) is on the device.
template <int Width>
AMP_DEVICE Pack<uint32_t, Width> randomWords(Lanes<Width> at,
                                             const int64_t *rng, uint32_t key) {
  const int64_t seed = loadOne(rng), step = loadOne(rng + 1);
  Pack<uint32_t, Width> random;
  if constexpr (Width % 4 == 0) {
#pragma unroll
    for (int base = 0; base < Width; base += 4) {
      const auto words = randomBlock((at.index + base) / 4, seed, step, key);
#pragma unroll
      for (int lane = 0; lane < 4; ++lane)
        random[base + lane] = words[lane];
    }
  } else {
#pragma unroll
    for (int lane = 0; lane < Width; ++lane) {
      const int64_t index = at.index + lane;
      const auto words = randomBlock(index / 4, seed, step, key);
      const int which = int(index % 4);
      random[lane] = which == 0   ? words[0]
                     : which == 1 ? words[1]
                     : which == 2 ? words[2]
                                  : words[3];
    }
  }
  return random;
}

/// floor(rate · 2³²), for a rate in [0, 1).
inline uint32_t dropoutThreshold(double rate) {
  return uint32_t(std::floor(rate * 0x1p32));
}

template <typename Y, typename X, typename Addend>
__global__ void __launch_bounds__(kThreads)
    dropoutKernel(Y *y, const X *x, const int64_t *rng, Addend addend,
                  uint32_t key, uint32_t threshold, float factor,
                  int64_t count) {
  elementwise<kVectorWidth<X>>(count, [=](auto at) {
    auto values = at.load(x);
    const auto words = randomWords(at, rng, key);
#pragma unroll
    for (int lane = 0; lane < at.width; ++lane)
      values[lane] = words[lane] >= threshold ? values[lane] * factor : 0.0f;
    addTo(values, at, addend);
    at.store(y, values);
  });
}

/// train.dropout: y = keep ? x · 1 / (1 - rate) : 0, with the factor in f32,
/// plus `addend`, which may be absent. y may be x or the addend. The backward
/// pass applies the same function to the gradient.
template <typename Y, typename X, typename Addend>
Status dropout(cudaStream_t stream, Y *y, const X *x, const int64_t *rng,
               Addend addend, uint32_t key, double rate, int64_t count) {
  if (!(rate >= 0.0 && rate < 1.0))
    return makeError(kInvalidArgument,
                     "dropout rate %g, expected one in [0, 1)", rate);
  return launch("dropout", stream, elementwiseShape(count, kVectorWidth<X>),
                dropoutKernel<Y, X, Addend>, y, x, rng, addend, key,
                dropoutThreshold(rate), float(1.0 / (1.0 - rate)), count);
}
template <typename Y, typename X>
Status dropout(cudaStream_t stream, Y *y, const X *x, const int64_t *rng,
               uint32_t key, double rate, int64_t count) {
  return dropout(stream, y, x, rng, NoAddend(), key, rate, count);
}

/// The part of a tensor that a rank has: `length` contiguous elements of every
/// `length` · `numRanks`.
struct RankPart {
  int64_t length;
  int rank, numRanks;

  /// The place in the whole tensor of element `index` of the part.
  AMP_DEVICE int64_t getPlace(int64_t index) const {
    return (index / length * numRanks + rank) * length + index % length;
  }
};

template <typename Y, typename X, typename Addend>
__global__ void __launch_bounds__(kThreads)
    dropoutOfRankKernel(Y *y, const X *x, const int64_t *rng, Addend addend,
                        uint32_t key, uint32_t threshold, float factor,
                        int64_t count, RankPart part) {
  elementwise<kVectorWidth<X>>(count, [=](auto at) {
    auto values = at.load(x);
#pragma unroll
    for (int lane = 0; lane < at.width; ++lane) {
      const Lanes<1> place{part.getPlace(at.index + lane)};
      values[lane] = randomWords(place, rng, key)[0] >= threshold
                         ? values[lane] * factor
                         : 0.0f;
    }
    addTo(values, at, addend);
    at.store(y, values);
  });
}

/// As `dropout`, for the part of one rank: an element has the random number of
/// its place in the whole tensor.
template <typename Y, typename X, typename Addend>
Status dropoutOfRank(cudaStream_t stream, Y *y, const X *x, const int64_t *rng,
                     Addend addend, uint32_t key, double rate, int64_t count,
                     RankPart part) {
  if (!(rate >= 0.0 && rate < 1.0))
    return makeError(kInvalidArgument,
                     "dropout rate %g, expected one in [0, 1)", rate);
  return launch("dropout", stream, elementwiseShape(count, kVectorWidth<X>),
                dropoutOfRankKernel<Y, X, Addend>, y, x, rng, addend, key,
                dropoutThreshold(rate), float(1.0 / (1.0 - rate)), count, part);
}
template <typename Y, typename X>
Status dropoutOfRank(cudaStream_t stream, Y *y, const X *x, const int64_t *rng,
                     uint32_t key, double rate, int64_t count, RankPart part) {
  return dropoutOfRank(stream, y, x, rng, NoAddend(), key, rate, count, part);
}

/// The numbers of the dropouts of a step.
template <int Count>
struct DropoutKeys {
  uint32_t values[Count];
};

template <int Count>
__global__ void dropoutSeedsKernel(int64_t *seeds, const int64_t *rng,
                                   DropoutKeys<Count> keys, int rank) {
  for (int i = int(threadIdx.x); i < Count; i += int(blockDim.x)) {
    const PhiloxBlock words =
        randomBlock(rank, loadOne(rng), loadOne(rng + 1), keys.values[i]);
    storeOne(seeds + 2 * i, int64_t(words[0] | uint64_t(words[1]) << 32));
    // Offsets count random numbers, of which a block has four.
    storeOne(seeds + 2 * i + 1, int64_t(words[2] >> 1 & ~3u));
  }
}

/// A seed and an offset for each of the dropouts that cuDNN computes. They
/// depend on the state rng = (seed, step), the key and the rank.
template <int Count>
Status dropoutSeeds(cudaStream_t stream, int64_t *seeds, const int64_t *rng,
                    DropoutKeys<Count> keys, int rank) {
  LaunchShape shape;
  shape.block.x = 128;
  return launch("dropout_seeds", stream, shape, dropoutSeedsKernel<Count>,
                seeds, rng, keys, rank);
}

/// Rounds `value` to bf16, up or down by the upper half of `word`. bf16 is the
/// upper half of f32. The random bits are added to the lower half, which is
/// then cut off. NaN stays NaN.
AMP_DEVICE float roundStochastically(float value, uint32_t word) {
  const uint32_t sum = uint32_t(__float_as_int(value)) + (word >> 16);
  return value == value ? __int_as_float(int32_t(sum & 0xFFFF0000u)) : value;
}

template <typename = void>
__global__ void __launch_bounds__(kThreads)
    stochasticRoundKernel(__nv_bfloat16 *y, const float *x, const int64_t *rng,
                          uint32_t key, int64_t count) {
  elementwise<8>(count, [=](auto at) {
    auto values = at.load(x);
    const auto words = randomWords(at, rng, key);
#pragma unroll
    for (int lane = 0; lane < at.width; ++lane)
      values[lane] = roundStochastically(values[lane], words[lane]);
    at.store(y, values);
  });
}

/// amp.master_copy with a random state: y = x rounded to bf16, up or down such
/// that the expected value is exact.
template <typename = void>
Status stochasticRound(cudaStream_t stream, __nv_bfloat16 *y, const float *x,
                       const int64_t *rng, uint32_t key, int64_t count) {
  return launch("stochastic_round", stream, elementwiseShape(count, 8),
                stochasticRoundKernel<>, y, x, rng, key, count);
}

template <typename = void>
__global__ void advanceRngKernel(int64_t *next, const int64_t *rng) {
  const int64_t seed = loadOne(rng), step = loadOne(rng + 1);
  storeOne(next, seed);
  storeOne(next + 1, step + 1);
}

/// train.advance_rng: next = (seed, step + 1); `next` may be `rng`.
template <typename = void>
Status advanceRng(cudaStream_t stream, int64_t *next, const int64_t *rng) {
  LaunchShape shape;
  shape.block.x = 1;
  return launch("advance_rng", stream, shape, advanceRngKernel<>, next, rng);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_RANDOM_H

//===- Random.h - Counter-based random numbers and dropout ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011), with the counters and keys of the CPU lowering.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_RANDOM_H
#define AMP_RUNTIME_CUDA_RANDOM_H

#include "amp/Runtime/CUDA/Elementwise.h"

namespace amp::cuda {

/// Four words, a function of counter and key alone.
AMP_HOST_DEVICE Pack<uint32_t, 4> philox4x32(Pack<uint32_t, 4> counter,
                                             uint32_t key0, uint32_t key1);

/// Which of the lanes dropout keeps: word (i mod 4) of block i / 4, with the
/// state rng = (seed, step) on the device, is at least `threshold`. For use in
/// generated kernels: `keep[lane] ? x * factor : 0`.
template <int Width>
AMP_DEVICE Pack<bool, Width> dropoutKeeps(Lanes<Width> at, const int64_t *rng,
                                          uint32_t key, uint32_t threshold);

/// floor(rate · 2³²).
inline uint32_t dropoutThreshold(double rate);

/// train.dropout: y = keep ? x · 1 / (1 - rate) : 0, the factor in f32. y may
/// be x. The backward pass is the same function of the gradient.
template <typename Y, typename X>
Status dropout(cudaStream_t stream, Y *y, const X *x, const int64_t *rng,
               uint32_t key, double rate, int64_t count);

/// train.advance_rng: next = (seed, step + 1); `next` may be `rng`.
inline Status advanceRng(cudaStream_t stream, int64_t *next,
                         const int64_t *rng);

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_RANDOM_H

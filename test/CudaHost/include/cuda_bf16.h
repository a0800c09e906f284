//===- cuda_bf16.h - CUDA on the CPU: bfloat16 ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_TEST_CUDAHOST_CUDA_BF16_H
#define AMP_TEST_CUDAHOST_CUDA_BF16_H

#include "cuda_runtime.h"

/// The upper half of a float. Storage only: arithmetic is in float.
struct __nv_bfloat16 {
  uint16_t bits;
};

/// Rounds to nearest even and keeps subnormals.
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  uint32_t f = __float_as_uint(value);
  if ((f & 0x7fffffff) > 0x7f800000)
    return {uint16_t(f >> 16 | 0x40)};
  return {uint16_t((f + 0x7fff + (f >> 16 & 1)) >> 16)};
}

inline float __bfloat162float(__nv_bfloat16 value) {
  return __uint_as_float(uint32_t(value.bits) << 16);
}

#endif // AMP_TEST_CUDAHOST_CUDA_BF16_H

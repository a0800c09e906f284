//===- cuda_fp16.h - CUDA on the CPU: half precision ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_TEST_CUDAHOST_CUDA_FP16_H
#define AMP_TEST_CUDAHOST_CUDA_FP16_H

#include "cuda_runtime.h"

/// IEEE binary16. Storage only: arithmetic is in float.
struct __half {
  uint16_t bits;
};

/// Rounds to nearest even, with subnormals, infinities and NaN.
inline __half __float2half_rn(float value) {
  uint32_t f = __float_as_uint(value);
  auto sign = uint16_t(f >> 16 & 0x8000);
  uint32_t magnitude = f & 0x7fffffff;
  if (magnitude > 0x7f800000) // NaN: quiet, with the leading payload bits
    return {uint16_t(sign | 0x7e00 | (magnitude >> 13 & 0x1ff))};
  if (magnitude >= 0x47800000) // 65536 and more
    return {uint16_t(sign | 0x7c00)};
  if (magnitude < 0x38800000) { // below 2^-14: a multiple of 2^-24
    float scaled = std::fabs(value) * 0x1p24f;
    return {uint16_t(sign | uint16_t(std::nearbyint(scaled)))};
  }
  // Rebias the exponent and round off 13 bits. A carry reaches infinity.
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000;
  return {uint16_t(sign | rounded >> 13)};
}

inline float __half2float(__half value) {
  uint32_t sign = uint32_t(value.bits & 0x8000) << 16;
  uint32_t exponent = value.bits >> 10 & 0x1f, mantissa = value.bits & 0x3ff;
  if (exponent == 0x1f)
    return __uint_as_float(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0)
    return __uint_as_float(sign | __float_as_uint(float(mantissa) * 0x1p-24f));
  return __uint_as_float(sign | (exponent + 112) << 23 | mantissa << 13);
}

#endif // AMP_TEST_CUDAHOST_CUDA_FP16_H

//===- cuda_fp8.h - CUDA on the CPU: 8-bit floats ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the header that amp/Runtime/CUDA/Quantize.h uses. A test of the
// host runtime compares these codes with those of the real header.
//
//===----------------------------------------------------------------------===//
#ifndef AMP_TEST_CUDAHOST_CUDA_FP8_H
#define AMP_TEST_CUDAHOST_CUDA_FP8_H

#include "amp/Runtime/Host/Float8.h"
#include "cuda_runtime.h"

using __nv_fp8_storage_t = uint8_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

/// Rounds to nearest even.
inline __nv_fp8_storage_t
__nv_cvt_float_to_fp8(float value, __nv_saturation_t saturation,
                      __nv_fp8_interpretation_t format) {
  return amphost::floatToFloat8(format == __NV_E4M3 ? amphost::kE4M3
                                                    : amphost::kE5M2,
                                value, saturation == __NV_SATFINITE);
}

#endif // AMP_TEST_CUDAHOST_CUDA_FP8_H

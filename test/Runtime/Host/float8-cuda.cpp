//===- float8-cuda.cpp - Codes of 8-bit floats against cuda_fp8.h ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the codes of floats and the values of codes with the conversions of
// CUDA's header, which compute on the host here. All bits are sampled, and all
// ties with the floats next to them are part of the sample: ties of these
// formats have 16 low bits that are 0.
//
// clang-format off
// REQUIRES: nvcc
// RUN: rm -rf %t && mkdir %t
// RUN: %nvcc -x cu %s -o %t/float8
// RUN: %t/float8 | FileCheck %s
// CHECK: {{^}}0 of {{[0-9]+}} wrong
// clang-format on
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/Host/Float8.h"

#include <cmath>
#include <cstdio>
#include <cuda_fp8.h>

using namespace amphost;

static long wrong = 0, total = 0;

static void checkFormat(const Float8Format &format,
                        __nv_fp8_interpretation_t theirs) {
  for (int code = 0; code != 256; ++code) {
    float value = float8ToFloat(format, uint8_t(code));
    float wanted = __half2float(
        __half(__nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t(code), theirs)));
    bool same = std::isnan(value) ? std::isnan(wanted)
                                  : floatToBits(value) == floatToBits(wanted);
    wrong += !same;
    ++total;
  }
  for (uint64_t bits = 0; bits < 1ull << 32;) {
    float value = bitsToFloat(uint32_t(bits));
    for (bool saturate : {true, false}) {
      auto wanted = __nv_cvt_float_to_fp8(
          value, saturate ? __NV_SATFINITE : __NV_NOSAT, theirs);
      wrong += floatToFloat8(format, value, saturate) != wanted;
      ++total;
    }
    // Both sides of each multiple of 2^16, and one float between two of them.
    uint64_t low = bits & 0xffff;
    bits += low < 2 ? 1 : low == 2 ? 0x7ffd : low == 0x7fff ? 0x8000 - 1 : 1;
  }
}

/// E8M0 is in the header from CUDA 12.8 on.
static void checkE8M0() {
#if CUDART_VERSION >= 12080
  for (int code = 0; code != 256; ++code) {
    float value = e8m0ToFloat(uint8_t(code));
    float wanted = __bfloat162float(
        __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t(code))));
    wrong += std::isnan(value) ? !std::isnan(wanted)
                               : floatToBits(value) != floatToBits(wanted);
    ++total;
  }
  for (uint64_t bits = 0; bits < 1ull << 32; bits += bits % 3 ? 32767 : 1)
    for (bool up : {true, false})
      for (bool saturate : {true, false}) {
        float value = bitsToFloat(uint32_t(bits));
        // The header rounds only magnitudes up.
        auto wanted = __nv_cvt_float_to_e8m0(
            value, saturate ? __NV_SATFINITE : __NV_NOSAT,
            up ? cudaRoundPosInf : cudaRoundZero);
        wrong += floatToE8M0(value, up, saturate) != wanted;
        ++total;
      }
#endif
}

int main() {
  checkE8M0();
  checkFormat(kE4M3, __NV_E4M3);
  checkFormat(kE5M2, __NV_E5M2);
  std::printf("%ld of %ld wrong\n", wrong, total);
}

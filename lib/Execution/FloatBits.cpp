//===- FloatBits.cpp - Exact f16 and bf16 conversions ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/FloatBits.h"

#include "llvm/ADT/bit.h"

using namespace mlir::amp;

uint16_t mlir::amp::floatToHalfBits(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) // NaN: quiet it and keep the high payload bits.
    return sign | 0x7e00 | ((magnitude >> 13) & 0x3ff);
  if (magnitude >= 0x477ff000) // 65520 and up round to infinity.
    return sign | 0x7c00;
  if (magnitude >= 0x38800000) { // At least 2^-14: a normal number.
    uint32_t rebased = magnitude - ((127 - 15) << 23);
    return sign | ((rebased + 0xfff + ((rebased >> 13) & 1)) >> 13);
  }
  if (magnitude <= 0x33000000) // Up to 2^-25, a tie that goes to even: zero.
    return sign;
  // A subnormal: count units of 2^-24, rounding what is shifted out.
  uint32_t shift = 126 - (magnitude >> 23);
  uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  uint32_t units = significand >> shift;
  uint32_t remainder = significand & ((1u << shift) - 1);
  uint32_t half = 1u << (shift - 1);
  if (remainder > half || (remainder == half && (units & 1)))
    ++units;
  return sign | units;
}

float mlir::amp::halfBitsToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f;
  uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f)
    return llvm::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
  if (exponent == 0) {
    float magnitude = float(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return llvm::bit_cast<float>(sign | ((exponent + 127 - 15) << 23) |
                               (fraction << 13));
}

uint16_t mlir::amp::floatToBFloatBits(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return (bits >> 16) | 0x40;
  return (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

float mlir::amp::bfloatBitsToFloat(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

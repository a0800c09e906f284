//===- ElementType.h - Element types and their bits -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_HOST_ELEMENTTYPE_H
#define AMP_RUNTIME_HOST_ELEMENTTYPE_H

#include "amp/Runtime/Host/Portable.h"

#include <cstdint>
#include <cstring>

namespace amphost {

/// The element types of arrays, buffers and files. A Bool takes one byte.
enum class ElementType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  F16,
  BF16,
  F32,
  F64
};

inline constexpr int kNumElementTypes = int(ElementType::F64) + 1;

/// Bytes of an element.
AMP_PORTABLE int64_t byteWidth(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::I8:
  case ElementType::U8:
    return 1;
  case ElementType::I16:
  case ElementType::U16:
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  case ElementType::I32:
  case ElementType::F32:
    return 4;
  default:
    return 8;
  }
}

/// The MLIR spelling: `i1`, `ui8`, `bf16`, ...
AMP_PORTABLE const char *typeName(ElementType type) {
  constexpr const char *names[] = {"i1",   "i8",  "i16",  "i32", "i64", "ui8",
                                   "ui16", "f16", "bf16", "f32", "f64"};
  return names[int(type)];
}

AMP_PORTABLE bool isFloat(ElementType type) { return type >= ElementType::F16; }

//===----------------------------------------------------------------------===//
// f16 and bf16, with every NaN, infinity and subnormal
//===----------------------------------------------------------------------===//

inline uint32_t floatToBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Rounds to nearest even. NaN stays NaN.
inline uint16_t floatToHalfBits(float value) {
  const uint32_t bits = floatToBits(value);
  const auto sign = uint16_t((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) // NaN: quiet it and keep the high payload bits.
    return uint16_t(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  if (magnitude >= 0x477ff000) // 65520 and up round to infinity.
    return uint16_t(sign | 0x7c00);
  if (magnitude >= 0x38800000) { // At least 2^-14: a normal number.
    const uint32_t rebased = magnitude - ((127 - 15) << 23);
    return uint16_t(sign | ((rebased + 0xfff + ((rebased >> 13) & 1)) >> 13));
  }
  if (magnitude <= 0x33000000) // Up to 2^-25, a tie that goes to even: zero.
    return sign;
  // A subnormal: counts units of 2^-24 and rounds the discarded bits.
  const uint32_t shift = 126 - (magnitude >> 23);
  const uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  uint32_t units = significand >> shift;
  const uint32_t remainder = significand & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  if (remainder > half || (remainder == half && (units & 1)))
    ++units;
  return uint16_t(sign | units);
}

/// Widens without rounding.
inline float halfBitsToFloat(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1f;
  const uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f)
    return bitsToFloat(sign | 0x7f800000 | (fraction << 13));
  if (exponent == 0) {
    const float magnitude = float(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return bitsToFloat(sign | ((exponent + 127 - 15) << 23) | (fraction << 13));
}

/// Rounds to nearest even. NaN stays NaN.
inline uint16_t floatToBFloatBits(float value) {
  const uint32_t bits = floatToBits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// Widens without rounding.
inline float bfloatBitsToFloat(uint16_t bits) {
  return bitsToFloat(uint32_t(bits) << 16);
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_ELEMENTTYPE_H

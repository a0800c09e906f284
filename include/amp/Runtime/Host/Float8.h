//===- Float8.h - Floats of eight bits --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// E4M3, E5M2 and E8M0 by integer arithmetic. The formulas are templates over
// the integers, because the compiler builds the same arithmetic for tensors.
//
//===----------------------------------------------------------------------===//
#ifndef AMP_RUNTIME_HOST_FLOAT8_H
#define AMP_RUNTIME_HOST_FLOAT8_H

#include "amp/Runtime/Host/ElementType.h"

namespace amphost {

/// A format of one sign bit, an exponent and `mantissaBits`. A code without its
/// sign bit orders magnitudes.
struct Float8Format {
  int mantissaBits;
  int bias;
  /// The code of the largest finite magnitude.
  uint32_t largest;
  /// The code of larger magnitudes: infinity, or NaN if there is no infinity.
  uint32_t overflow;

  /// The largest finite number.
  constexpr float getLargest() const {
    // Subnormals aside, a code is exponent and mantissa.
    float value =
        float((1u << mantissaBits) | (largest & ((1u << mantissaBits) - 1)));
    for (int e = int(largest >> mantissaBits) - bias - mantissaBits; e > 0; --e)
      value *= 2;
    return value;
  }
};

/// f8E4M3FN: up to 448, without infinities.
inline constexpr Float8Format kE4M3{3, 7, 0x7e, 0x7f};
/// f8E5M2: up to 57344.
inline constexpr Float8Format kE5M2{2, 15, 0x7b, 0x7c};
/// The code that rounding gives a NaN.
inline constexpr uint32_t kFloat8NaN = 0x7f;

/// Rounds the f32 with the bits `bits` to nearest even, and returns its code.
/// Magnitudes that round beyond the range, infinities included, become the
/// largest finite number if `saturate` is set, and `overflow` otherwise. NaN
/// becomes positive.
///
/// `b` computes on unsigned integers of 32 bits of its own type: `integer`
/// gives a constant, and `add`, `subtract`, `both`, `either`, `shiftLeft`,
/// `shiftRight`, `isLess` and `select` compute.
template <typename BuilderT, typename IntegerT>
IntegerT encodeFloat8(BuilderT &b, const Float8Format &format, IntegerT bits,
                      bool saturate) {
  const uint32_t dropped = 23 - format.mantissaBits;
  const uint32_t leastExponent = 128 - format.bias;
  IntegerT one = b.integer(1);
  // Rounds `value` · 2^-`count` to nearest even.
  auto round = [&](IntegerT value, IntegerT count) {
    IntegerT half = b.shiftLeft(one, b.subtract(count, one));
    IntegerT odd = b.both(b.shiftRight(value, count), one);
    IntegerT biased = b.add(value, b.add(b.subtract(half, one), odd));
    return b.shiftRight(biased, count);
  };
  IntegerT sign = b.both(b.shiftRight(bits, b.integer(24)), b.integer(0x80));
  IntegerT magnitude = b.both(bits, b.integer(0x7fffffff));
  auto isSmall = b.isLess(magnitude, b.integer(leastExponent << 23));

  IntegerT normal =
      round(b.subtract(magnitude, b.integer((leastExponent - 1) << 23)),
            b.integer(dropped));

  // A subnormal counts units. 25 dropped bits and more leave nothing.
  IntegerT exponent =
      b.select(isSmall, b.shiftRight(magnitude, b.integer(23)), b.integer(0));
  IntegerT wanted = b.subtract(b.integer(dropped + leastExponent), exponent);
  IntegerT most = b.integer(25);
  IntegerT count = b.select(b.isLess(wanted, most), wanted, most);
  IntegerT significand =
      b.either(b.both(magnitude, b.integer(0x7fffff)), b.integer(0x800000));
  IntegerT code = b.select(isSmall, round(significand, count), normal);

  IntegerT largest = b.integer(format.largest);
  IntegerT limit = b.integer(saturate ? format.largest : format.overflow);
  code = b.either(b.select(b.isLess(largest, code), limit, code), sign);
  return b.select(b.isLess(b.integer(0x7f800000), magnitude),
                  b.integer(kFloat8NaN), code);
}

/// Returns the bits of the f32 that has the value of `code`, an integer below
/// 256. `b` is as for `encodeFloat8`, and `toFloatBits` gives the bits of an
/// integer as an f32.
template <typename BuilderT, typename IntegerT>
IntegerT decodeFloat8(BuilderT &b, const Float8Format &format, IntegerT code) {
  const uint32_t mantissaBits = format.mantissaBits;
  const uint32_t units = mantissaBits + format.bias - 1;
  IntegerT zero = b.integer(0);
  IntegerT sign = b.shiftLeft(b.both(code, b.integer(0x80)), b.integer(24));
  IntegerT magnitude = b.both(code, b.integer(0x7f));

  IntegerT normal = b.add(b.shiftLeft(magnitude, b.integer(23 - mantissaBits)),
                          b.integer(uint32_t(127 - format.bias) << 23));
  // A subnormal is a number of units of 2^-`units`.
  IntegerT small = b.select(
      b.isLess(zero, magnitude),
      b.subtract(b.toFloatBits(magnitude), b.integer(units << 23)), zero);
  IntegerT value = b.select(b.isLess(magnitude, b.integer(1u << mantissaBits)),
                            small, normal);

  IntegerT infinity = b.integer(0x7f800000), nan = b.integer(0x7fc00000);
  IntegerT special =
      format.overflow == kFloat8NaN
          ? nan
          : b.select(b.isLess(b.integer(format.overflow), magnitude), nan,
                     infinity);
  value =
      b.select(b.isLess(b.integer(format.largest), magnitude), special, value);
  return b.either(value, sign);
}

/// The integers of the host, for `encodeFloat8` and `decodeFloat8`.
struct HostIntegers {
  uint32_t integer(uint32_t value) { return value; }
  uint32_t add(uint32_t x, uint32_t y) { return x + y; }
  uint32_t subtract(uint32_t x, uint32_t y) { return x - y; }
  uint32_t both(uint32_t x, uint32_t y) { return x & y; }
  uint32_t either(uint32_t x, uint32_t y) { return x | y; }
  uint32_t shiftLeft(uint32_t x, uint32_t y) { return x << y; }
  uint32_t shiftRight(uint32_t x, uint32_t y) { return x >> y; }
  bool isLess(uint32_t x, uint32_t y) { return x < y; }
  uint32_t select(bool condition, uint32_t yes, uint32_t no) {
    return condition ? yes : no;
  }
  uint32_t toFloatBits(uint32_t value) { return floatToBits(float(value)); }
};

/// Returns the code of `value`, rounded once to nearest even.
inline uint8_t floatToFloat8(const Float8Format &format, float value,
                             bool saturate) {
  HostIntegers integers;
  return uint8_t(encodeFloat8(integers, format, floatToBits(value), saturate));
}

/// Widens without rounding.
inline float float8ToFloat(const Float8Format &format, uint8_t code) {
  HostIntegers integers;
  return bitsToFloat(decodeFloat8(integers, format, uint32_t(code)));
}

/// The code of NaN in E8M0.
inline constexpr uint8_t kE8M0NaN = 0xff;

/// Rounds the magnitude of `value` to a power of two from 2^-127 to 2^127, and
/// returns its code in E8M0, the format of shared scales: the exponent, biased
/// by 127. With `roundUp` the power is at least the magnitude, and otherwise at
/// most. Zero becomes the least power. Larger magnitudes, infinities included,
/// become the largest power if `saturate` is set, and NaN otherwise.
inline uint8_t floatToE8M0(float value, bool roundUp, bool saturate) {
  const uint32_t magnitude = floatToBits(value) & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return kE8M0NaN;
  uint32_t code = magnitude >> 23;
  // The least power is a subnormal f32.
  const uint32_t exact = code == 0 ? 0x00400000 : code << 23;
  if (roundUp && magnitude > exact)
    ++code;
  return uint8_t(code < kE8M0NaN ? code : saturate ? 254u : kE8M0NaN);
}

/// Returns the power of two of a code in E8M0, or NaN.
inline float e8m0ToFloat(uint8_t code) {
  return bitsToFloat(code == kE8M0NaN ? 0x7fc00000
                     : code == 0      ? 0x00400000
                                      : uint32_t(code) << 23);
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_FLOAT8_H

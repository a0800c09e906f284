//===- float8.cpp - Codes of 8-bit floats ---------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes all codes and rounds values around all numbers, ties and limits. The
// reference computes in f64 from the definition of the formats. float8-cuda.cpp
// compares with NVIDIA's conversions.
//
// clang-format off
// RUN: rm -rf %t && mkdir %t
// RUN: %host_cxx %s -o %t/float8
// RUN: %t/float8 | FileCheck %s
// CHECK: 448 57344
// CHECK-NEXT: 0 wrong
// clang-format on
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/Host/Float8.h"

#include <cmath>
#include <cstdio>
#include <vector>

using namespace amphost;

static int wrong = 0;

static void expect(bool holds, const char *what, double value, unsigned code) {
  if (!holds && ++wrong < 20)
    std::printf("%s: %a has the code %02x\n", what, value, code);
}

/// The value of a code by the definition: (-1)^sign · 2^(e - bias) · 1.m, or
/// 2^(1 - bias) · 0.m for e = 0.
static double define(const Float8Format &format, unsigned code, int topNaN) {
  int m = code & ((1 << format.mantissaBits) - 1);
  int e = (code & 0x7f) >> format.mantissaBits;
  double sign = code & 0x80 ? -1 : 1;
  if (int(code & 0x7f) >= topNaN)
    return NAN;
  if (format.mantissaBits == 2 && e == 31)
    return sign * INFINITY;
  double fraction = m / double(1 << format.mantissaBits);
  return sign * std::ldexp(fraction + (e != 0), (e ? e : 1) - format.bias);
}

/// Checks the code of `value` against its two neighbours among the numbers.
static void check(const Float8Format &format,
                  const std::vector<double> &numbers, double value) {
  for (bool saturate : {true, false}) {
    uint8_t code = floatToFloat8(format, float(value), saturate);
    double magnitude = std::fabs(value);
    // The first number that is larger, or one more step beyond the last.
    unsigned above = 0;
    while (above < numbers.size() && numbers[above] <= magnitude)
      ++above;
    double last = numbers.back(), step = last - numbers[numbers.size() - 2];
    double next = above < numbers.size() ? numbers[above] : last + step;
    double low = numbers[above - 1], middle = low + (next - low) / 2;
    bool up =
        magnitude > middle || (magnitude == middle && (above - 1) % 2 == 1);
    unsigned wanted = above - 1 + up;
    if (wanted >= numbers.size())
      wanted = saturate ? format.largest : format.overflow;
    if (std::signbit(value))
      wanted |= 0x80;
    expect(code == wanted, saturate ? "saturated" : "rounded", value, code);
  }
}

static void checkFormat(const Float8Format &format, int topNaN) {
  std::vector<double> numbers;
  for (unsigned code = 0; code != 256; ++code) {
    double value = define(format, code, topNaN);
    float decoded = float8ToFloat(format, uint8_t(code));
    bool same =
        std::isnan(value)
            ? std::isnan(decoded)
            : value == decoded && std::signbit(value) == std::signbit(decoded);
    expect(same, "decoded", decoded, code);
    if (std::isfinite(value)) {
      uint8_t again = floatToFloat8(format, decoded, true);
      expect(again == code, "encoded again", decoded, again);
      if (code < 0x80)
        numbers.push_back(value);
    }
  }
  // Numbers, ties, and the floats next to both.
  for (unsigned i = 0; i != numbers.size(); ++i) {
    double next = i + 1 < numbers.size() ? numbers[i + 1]
                                         : 2 * numbers[i] - numbers[i - 1];
    for (double at : {numbers[i], (numbers[i] + next) / 2, next})
      for (float value : {float(at), std::nextafter(float(at), 1e30f),
                          std::nextafter(float(at), -1e30f)}) {
        check(format, numbers, value);
        check(format, numbers, -value);
      }
  }
  // Every exponent of f32, with some mantissas.
  for (uint32_t exponent = 0; exponent != 255; ++exponent)
    for (uint32_t mantissa = 0; mantissa < 1 << 23; mantissa += 65537)
      check(format, numbers, bitsToFloat((exponent << 23) | mantissa));
  check(format, numbers, INFINITY);
  check(format, numbers, -INFINITY);
  for (float nan : {NAN, -NAN})
    for (bool saturate : {true, false})
      expect(floatToFloat8(format, nan, saturate) == 0x7f, "rounded", nan, 0);
}

/// Checks E8M0 against the definition, and against the cases that torchao
/// tests.
static void checkE8M0() {
  for (unsigned code = 0; code != 256; ++code) {
    float value = e8m0ToFloat(uint8_t(code));
    bool same = code == 255 ? std::isnan(value)
                            : double(value) == std::ldexp(1.0, int(code) - 127);
    expect(same, "decoded as E8M0", value, code);
    for (bool up : {true, false})
      expect(floatToE8M0(value, up, true) == code, "encoded again as E8M0",
             value, code);
  }
  for (uint32_t exponent = 0; exponent != 256; ++exponent)
    for (uint32_t mantissa :
         {0u, 1u, 0x3fffffu, 0x400000u, 0x400001u, 0x7fffffu}) {
      float value = bitsToFloat((exponent << 23) | mantissa);
      double power = std::isfinite(value) ? std::fabs(double(value)) : INFINITY;
      for (bool up : {true, false})
        for (bool saturate : {true, false}) {
          // The first power that is at least, or the last that is at most.
          int wanted = up ? 0 : 254;
          while (up && wanted < 255 && std::ldexp(1.0, wanted - 127) < power)
            ++wanted;
          while (!up && wanted > 0 && std::ldexp(1.0, wanted - 127) > power)
            --wanted;
          if (std::isnan(value) || (std::isinf(value) && !saturate))
            wanted = 255;
          else if (wanted == 255 && saturate)
            wanted = 254;
          for (float signedValue : {value, -value}) {
            unsigned code = floatToE8M0(signedValue, up, saturate);
            expect(int(code) == wanted, up ? "rounded up" : "rounded down",
                   signedValue, code);
          }
        }
    }
  const uint32_t bits[] = {0,          0x00400000, 0x00400001, 0x00800000,
                           0x3f7fffff, 0x3f800000, 0x3f800001, 0x7f000000,
                           0x7f000001, 0x7f800000};
  const unsigned codes[] = {0, 0, 1, 1, 127, 127, 128, 254, 255, 255};
  for (int i = 0; i != 10; ++i)
    expect(floatToE8M0(bitsToFloat(bits[i]), true, false) == codes[i],
           "as in torchao", bitsToFloat(bits[i]), codes[i]);
}

int main() {
  checkE8M0();
  std::printf("%g %g\n", kE4M3.getLargest(), kE5M2.getLargest());
  checkFormat(kE4M3, 0x7f);
  checkFormat(kE5M2, 0x7d);
  std::printf("%d wrong\n", wrong);
}

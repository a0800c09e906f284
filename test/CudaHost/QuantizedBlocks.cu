//===- QuantizedBlocks.cu - 8-bit floats with scales of blocks --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// REQUIRES: full
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/QuantizedBlocks.h"
#include "amp/Runtime/Host/Float8.h"

#include <algorithm>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

static constexpr auto kNone = Float8Scale::Tensor;

/// The codes and factors of an operand.
struct Operand {
  Values codes, factors;
};

static float getScale(const ScaleRule &rule, double amax) {
  const double magnitude =
      std::isnan(amax) ? amax : std::max(amax, double(rule.epsilon));
  if (!std::isfinite(magnitude))
    return rule.ignoreNonFinite ? 1.0f : NAN;
  if (magnitude == 0)
    return 1.0f;
  float scale = rule.room / float(magnitude);
  scale = std::min(std::max(scale, 0x1p-126f), 3.40282347e+38f);
  return rule.powerOfTwo ? std::exp2(float(std::ilogb(scale))) : scale;
}

/// The operand of a matrix with the elements `at(i, j)`.
template <typename At>
static Operand getOperand(const QuantizeConfig &c, const ScaleRule &rule,
                          Float8Scale kind, int64_t rows, int64_t columns,
                          At at) {
  const auto &format =
      c.format == Float8::E4M3 ? amphost::kE4M3 : amphost::kE5M2;
  const int64_t outer = padFloat8(rows), inner = padFloat8Inner(columns, kind);
  const int64_t height = kind == Float8Scale::Block128 ? 128 : 1,
                width = kind == Float8Scale::Outer      ? columns
                        : kind == Float8Scale::Vector32 ? 32
                                                        : 128;
  const int64_t factorRows = float8ScaleRows(kind, outer),
                factorColumns = float8ScaleColumns(kind, inner);
  Operand operand{Values(outer * inner, 0.0),
                  Values(factorRows * factorColumns, 0.0)};
  for (int64_t top = 0; top < rows; top += height)
    for (int64_t left = 0; left < columns; left += width) {
      const int64_t bottom = std::min(top + height, rows),
                    right = std::min(left + width, columns);
      double most = 0;
      for (int64_t i = top; i < bottom; ++i)
        for (int64_t j = left; j < right; ++j)
          most = std::isnan(most) || std::isnan(at(i, j))
                     ? NAN
                     : std::max(most, std::fabs(at(i, j)));
      const float scale = getScale(rule, most);
      for (int64_t i = top; i < bottom; ++i)
        for (int64_t j = left; j < right; ++j) {
          const auto value = float(at(i, j));
          const bool isKept = c.keepNonFinite && !std::isfinite(value);
          operand.codes[i * inner + j] = amphost::floatToFloat8(
              format, isKept ? value : value * scale, c.saturate && !isKept);
        }
      operand.factors[float8ScaleIndex(kind, factorRows, factorColumns,
                                       top / height, left / width)] =
          kind != Float8Scale::Vector32 ? 1.0f / scale
          : std::isnan(scale)           ? 255
                                        : 127 - std::ilogb(scale);
    }
  return operand;
}

static bool areEqual(const Values &a, const Values &b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return x == y || (std::isnan(x) && std::isnan(y));
         });
}

/// Values of many magnitudes, a block of zeros, and one special value.
template <typename T>
static Values getMatrix(const QuantizeConfig &c, double special) {
  Values x = randomValues<T>(c.rows * c.columns, 1, 100.0);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j) {
      double &value = x[i * c.columns + j];
      value = std::ldexp(value, -int((i / 8 + j / 16) % 9));
      if (i < 128 && j < 128 && c.rows > 128 && c.columns > 128)
        value = 0;
    }
  for (double &value : x)
    value = widen(roundTo<T>(float(value)));
  x[x.size() / 2] = widen(roundTo<T>(float(special)));
  return x;
}

/// One or two operands in one launch.
template <Float8Scale Plain, Float8Scale Turned, typename T>
static void testBlocks(const QuantizeConfig &c, const ScaleRule &rule,
                       double special) {
  const Values x = getMatrix<T>(c, special);
  Operand plain, turned;
  if (Plain != kNone)
    plain =
        getOperand(c, rule, Plain, c.rows, c.columns,
                   [&](int64_t i, int64_t j) { return x[i * c.columns + j]; });
  if (Turned != kNone)
    turned =
        getOperand(c, rule, Turned, c.columns, c.rows,
                   [&](int64_t i, int64_t j) { return x[j * c.columns + i]; });
  using PlainFactor =
      std::conditional_t<Plain == Float8Scale::Vector32, uint8_t, float>;
  using TurnedFactor =
      std::conditional_t<Turned == Float8Scale::Vector32, uint8_t, float>;
  inAllOrders("quantize_blocks", [&] {
    Buffer<T> in(x);
    Buffer<uint8_t> codes(std::max<size_t>(plain.codes.size(), 1)),
        others(std::max<size_t>(turned.codes.size(), 1));
    Buffer<PlainFactor> factors(std::max<size_t>(plain.factors.size(), 1));
    Buffer<TurnedFactor> otherFactors(
        std::max<size_t>(turned.factors.size(), 1));
    const BlockResults out{Plain == kNone ? nullptr : codes.get(),
                           Turned == kNone ? nullptr : others.get(),
                           Plain == kNone ? nullptr : factors.get(),
                           Turned == kNone ? nullptr : otherFactors.get()};
    CHECK_OK((quantizeOwnBlocks(nullptr, BlockKinds<Plain, Turned>(), c, rule,
                                out, in.get())));
    KernelResults results;
    if (Plain != kNone) {
      CHECK(codes.read() == plain.codes);
      CHECK(areEqual(factors.read(), plain.factors));
      results.push_back(codes.read());
    }
    if (Turned != kNone) {
      CHECK(others.read() == turned.codes);
      CHECK(areEqual(otherFactors.read(), turned.factors));
      results.push_back(others.read());
    }
    return results;
  });
}

template <typename T>
static void testRows(const QuantizeConfig &c, const ScaleRule &rule,
                     double special) {
  const Values x = getMatrix<T>(c, special);
  const Operand expected =
      getOperand(c, rule, Float8Scale::Outer, c.rows, c.columns,
                 [&](int64_t i, int64_t j) { return x[i * c.columns + j]; });
  inAllOrders("quantize_rows", [&] {
    Buffer<T> in(x);
    Buffer<uint8_t> codes(expected.codes.size());
    Buffer<float> factors(expected.factors.size());
    CHECK_OK(quantizeOwnRows(nullptr, c, rule, codes.get(), factors.get(),
                             in.get()));
    CHECK(codes.read() == expected.codes);
    CHECK(areEqual(factors.read(), expected.factors));
    return KernelResults{codes.read()};
  });
}

int main() {
  using S = Float8Scale;
  const ScaleRule powers{448.0f, 0.0f, true, false},
      exact{224.0f, 1.0f, false, true};
  // A part of a tile, tiles with an edge, and extents that are not multiples of
  // sixteen.
  for (const auto &[rows, columns] :
       {std::pair{30, 64}, std::pair{300, 140}, std::pair{129, 261}}) {
    const QuantizeConfig c{rows, columns, Float8::E4M3, true, false};
    testBlocks<S::Vector128, S::Vector128, __nv_bfloat16>(c, powers, 3.0);
    testBlocks<S::Vector128, kNone, __half>(c, powers, INFINITY);
    testBlocks<kNone, S::Vector128, float>(c, exact, NAN);
    testBlocks<S::Block128, S::Block128, float>(c, powers, 1e9);
    testBlocks<S::Block128, kNone, float>(c, exact, 5.0);
    testBlocks<kNone, S::Block128, __nv_bfloat16>(c, powers, NAN);
    testBlocks<S::Vector32, S::Vector32, __nv_bfloat16>(c, powers, 1e-30);
    testBlocks<S::Vector32, S::Block128, __half>(c, powers, NAN);
    testRows<__nv_bfloat16>(c, powers, 1e9);
    testRows<float>(c, exact, -INFINITY);
  }
  const QuantizeConfig wide{70, 256, Float8::E5M2, true, true};
  testBlocks<S::Vector128, S::Vector32, __half>(wide, powers, INFINITY);
  testRows<__half>(wide, powers, NAN);
  // More tiles than blocks of threads, and rows that no registers hold.
  testBlocks<S::Vector128, S::Vector128, __nv_bfloat16>(
      {16, 2100 * 128, Float8::E4M3, true, false}, powers, 7.0);
  testRows<__nv_bfloat16>({3, 9000, Float8::E4M3, true, false}, powers, 2.0);
  return finish();
}

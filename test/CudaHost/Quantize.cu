//===- Quantize.cu - Rounding to eight bits ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Quantize.h"
#include "amp/Runtime/Host/Float8.h"

#include <algorithm>
#include <utility>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

/// The codes that the transposed matrix must have, and those of the matrix.
static void getCodes(const QuantizeConfig &c, const Values &x, float scale,
                     Values &payload, Values &transposed) {
  const auto &format =
      c.format == Float8::E4M3 ? amphost::kE4M3 : amphost::kE5M2;
  const int64_t rows = padFloat8(c.rows), columns = padFloat8(c.columns);
  payload.assign(rows * columns, 0.0);
  transposed.assign(rows * columns, 0.0);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j) {
      const auto value = float(x[i * c.columns + j]);
      const bool isKept = c.keepNonFinite && !std::isfinite(value);
      payload[i * columns + j] = transposed[j * rows + i] =
          amphost::floatToFloat8(format, isKept ? value : value * scale,
                                 c.saturate && !isKept);
    }
}

/// The largest magnitude, NaN if an element is NaN.
static double getMagnitude(const Values &x) {
  double most = 0;
  for (double value : x)
    most = std::isnan(value) || std::isnan(most)
               ? NAN
               : std::max(most, std::fabs(value));
  return most;
}

/// Both copies, one, and each with and without a magnitude.
template <typename T>
static void testQuantize(const QuantizeConfig &config, float scale,
                         double special) {
  inAllOrders("quantize", [&] {
    Values x = randomValues<T>(config.rows * config.columns, 1, 100.0);
    x[x.size() / 2] = widen(roundTo<T>(float(special)));
    Values payload, transposed;
    getCodes(config, x, scale, payload, transposed);
    const double most = getMagnitude(x);
    Buffer<T> in(x);
    Buffer<float> scales(Values{scale});
    const int64_t parts = quantizeParts(config.rows, config.columns);
    CHECK((parts > 1) ==
          (quantizeScratchBytes(config.rows, config.columns) > 0));
    Buffer<float> partials(parts);
    ArrivalCounters counters;
    KernelResults results;
    for (int outputs = 1; outputs < 8; ++outputs) {
      const bool hasPayload = outputs & 1, hasTransposed = outputs & 2,
                 hasMagnitude = outputs & 4;
      if (!hasPayload && !hasTransposed)
        continue;
      Buffer<uint8_t> plain(payload.size()), turned(payload.size());
      Buffer<float> inverse(1), amax(1);
      CHECK_OK(quantize(
          nullptr, config,
          QuantizeResults{hasPayload ? plain.get() : nullptr,
                          hasTransposed ? turned.get() : nullptr, inverse.get(),
                          hasMagnitude ? amax.get() : nullptr},
          in.get(), scales.get(), partials.get(), counters.get()));
      if (hasPayload)
        CHECK(plain.read() == payload);
      if (hasTransposed)
        CHECK(turned.read() == transposed);
      CHECK(inverse.read()[0] == 1.0f / scale);
      CHECK(counters.areZero());
      if (!hasMagnitude)
        continue;
      const double found = amax.read()[0];
      CHECK(std::isnan(most) ? std::isnan(found) : found == most);
      results.push_back({std::isnan(found) ? -1.0 : found});
    }
    return results;
  });
}

/// Tests an operand with a scale for each block of `rows` x `columns` elements.
/// 0 means all rows or columns. The scales are powers of two, and one is NaN.
template <typename T, typename Factor>
static void testBlocks(const QuantizeConfig &c, int64_t rows, int64_t columns,
                       Float8Scale scale, bool transposed) {
  const int64_t down = rows ? ceilDiv(c.rows, rows) : 1,
                across = columns ? ceilDiv(c.columns, columns) : 1;
  const Values x = randomValues<T>(c.rows * c.columns, 1, 100.0);
  Values scales(down * across);
  for (size_t i = 0; i < scales.size(); ++i)
    scales[i] = std::ldexp(1.0, int(i * 7 % 12) - 5);
  scales.back() = NAN;
  // The largest scale, whose inverse has the exponent bits 0.
  scales.front() = std::ldexp(1.0, 127);
  const int64_t outer = padFloat8(transposed ? c.columns : c.rows),
                inner = padFloat8Inner(transposed ? c.rows : c.columns, scale);
  const int64_t factorRows = float8ScaleRows(scale, outer),
                factorColumns = float8ScaleColumns(scale, inner);
  const bool hasExponents = scale == Float8Scale::Vector32;
  Values codes(outer * inner, 0.0), factors(factorRows * factorColumns, 0.0);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t j = 0; j < c.columns; ++j) {
      const int64_t blockRow = rows ? i / rows : 0,
                    blockColumn = columns ? j / columns : 0;
      const auto value = float(scales[blockRow * across + blockColumn]);
      codes[transposed ? j * inner + i : i * inner + j] =
          amphost::floatToFloat8(
              amphost::kE4M3, float(x[i * c.columns + j]) * value, c.saturate);
      const int64_t at = float8ScaleIndex(scale, factorRows, factorColumns,
                                          transposed ? blockColumn : blockRow,
                                          transposed ? blockRow : blockColumn);
      factors[at] = !hasExponents       ? 1.0f / value
                    : std::isnan(value) ? 255
                                        : 127 - std::log2(value);
    }
  inAllOrders("quantize", [&] {
    Buffer<T> in(x);
    Buffer<float> given(scales);
    Buffer<uint8_t> out(codes.size());
    Buffer<Factor> inverse(factors.size());
    CHECK(int64_t(factors.size() * sizeof(Factor)) ==
          float8ScaleBytes(scale, outer, inner));
    CHECK_OK(quantizeBlocks(nullptr, c,
                            QuantizeBlocks{rows, columns, scale, transposed},
                            out.get(), inverse.get(), in.get(), given.get()));
    CHECK(out.read() == codes);
    const Values found = inverse.read();
    for (size_t i = 0; i < factors.size(); ++i)
      CHECK(found[i] == factors[i] ||
            (std::isnan(found[i]) && std::isnan(factors[i])));
    return KernelResults{out.read()};
  });
}

/// Histories that fill a part of a block, one and several blocks.
static void testUpdate(int64_t length, bool mostRecent) {
  inAllOrders("update_quantizer", [&] {
    Values history(length, 0.0);
    double scale = 1.0;
    Buffer<float> h(history), s(Values{scale});
    for (double amax :
         {3.0, 7.0, 0.0, double(INFINITY), 2.0, double(NAN), 5.0}) {
      Buffer<float> a(Values{amax});
      CHECK_OK(updateQuantizer(nullptr, s.get(), h.get(), a.get(), length,
                               448.0f, mostRecent));
      if (amax > 0 && std::isfinite(amax)) {
        history.insert(history.begin(), amax);
        history.pop_back();
        const double most = *std::max_element(history.begin(), history.end());
        scale = 448.0f / float(mostRecent ? amax : most);
      }
      CHECK(h.read() == history);
      CHECK(s.read()[0] == scale);
    }
    return KernelResults{h.read(), s.read()};
  });
}

int main() {
  for (Float8 format : {Float8::E4M3, Float8::E5M2}) {
    // One tile, tiles with an edge, rows that are not whole vectors, and more
    // tiles than blocks.
    testQuantize<__nv_bfloat16>({32, 48, format, true, false}, 2.5f, 1e9);
    testQuantize<__half>({70, 130, format, true, true}, 0.37f, INFINITY);
    testQuantize<float>({129, 65, format, true, true}, 3.0f, NAN);
    testQuantize<float>({1, 1, format, false, false}, 1.0f, -600.0);
    testQuantize<__half>({64, 200, format, false, false}, 1000.0f, 3.0);
  }
  testQuantize<__nv_bfloat16>({1, 2100 * 64, Float8::E4M3, true, false}, 4.0f,
                              -INFINITY);
  // Rows, columns, vectors and squares, with and without partial blocks.
  for (const auto &[rows, columns] : {std::pair{30, 64}, std::pair{300, 140}}) {
    const QuantizeConfig c{rows, columns, Float8::E4M3, true, false};
    testBlocks<__half, float>(c, 1, 0, Float8Scale::Outer, false);
    testBlocks<float, float>(c, 0, 1, Float8Scale::Outer, true);
    testBlocks<__nv_bfloat16, float>(c, 1, 128, Float8Scale::Vector128, false);
    testBlocks<__nv_bfloat16, float>(c, 128, 1, Float8Scale::Vector128, true);
    testBlocks<float, float>(c, 128, 128, Float8Scale::Block128, false);
    testBlocks<float, float>(c, 128, 128, Float8Scale::Block128, true);
    testBlocks<__half, uint8_t>(c, 1, 32, Float8Scale::Vector32, false);
    testBlocks<__half, uint8_t>(c, 32, 1, Float8Scale::Vector32, true);
  }
  for (int64_t length : {1, 5, 256, 1024})
    for (bool mostRecent : {false, true})
      testUpdate(length, mostRecent);
  return finish();
}

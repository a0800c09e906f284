//===- GemmEpilogue.cu - Kernels for epilogues ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that process eight elements at a time give the same bits as those
// that process one. GELU and its slope are within 0.51 and 0.56 ulp for every
// number.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/GemmEpilogue.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

/// Runs `activation` on `rows` x `columns` elements, `stride` apart, and
/// returns D and aux.
template <typename T>
static std::pair<Values, Values> apply(Epilogue activation, int64_t rows,
                                       int64_t columns, int64_t stride,
                                       bool hasBias, bool wide) {
  Values values = randomValues<T>(rows * stride, 1);
  values[0] = NAN;
  values[1] = -0.0;
  Buffer<T> d(values), bias(randomValues<T>(columns, 2));
  const bool masked = usesMask(activation);
  const int64_t strideAux =
      masked ? reluMaskStride(columns) : alignTo(columns, 8);
  Values saved = randomValues<T>(rows * strideAux, 3), bytes;
  for (int64_t i = 0; i < rows * strideAux / 8; ++i)
    bytes.push_back(double(i * 37 % 256));
  Buffer<T> dSaved(saved);
  Buffer<uint8_t> dMask(bytes);
  void *aux = masked ? static_cast<void *>(dMask.get()) : dSaved.get();
  const T *b = hasBias ? bias.get() : nullptr;
  host::clearLaunches();
  if (wide)
    CHECK_OK(applyEpilogue("epilogue", nullptr, d.get(), rows, columns, stride,
                           b, aux, strideAux, activation));
  else
    CHECK_OK(launch("epilogue", nullptr, elementwiseShape(rows * columns, 8),
                    applyOnes<T>, d.get(), rows, columns, stride, b, aux,
                    strideAux, activation));
  return {d.read(), masked ? dMask.read() : dSaved.read()};
}

static bool same(const Values &x, const Values &y) {
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i])))
      return false;
  return x.size() == y.size();
}

template <typename T>
static void testActivations() {
  for (Epilogue activation :
       {Epilogue::None, Epilogue::Relu, Epilogue::ReluAux, Epilogue::Gelu,
        Epilogue::GeluAux, Epilogue::DRelu, Epilogue::DGelu})
    for (bool hasBias : {false, true})
      for (auto [columns, stride] : {std::pair<int64_t, int64_t>{24, 24},
                                     {24, 32},
                                     {136, 136},
                                     {21, 21},
                                     {24, 27},
                                     {1, 1}}) {
        auto one = apply<T>(activation, 7, columns, stride, hasBias, false);
        auto other = apply<T>(activation, 7, columns, stride, hasBias, true);
        CHECK(same(one.first, other.first));
        CHECK(same(one.second, other.second));
      }
}

/// Column sums by kernels of each width, with and without scratch, after a
/// gradient.
template <typename R, typename T>
static void testSums(Epilogue gradient, int64_t rows, int64_t columns,
                     int64_t stride) {
  inAllOrders("sums", [&] {
    Values in = randomValues<std::remove_const_t<T>>(rows * stride, 1);
    const bool masked = usesMask(gradient);
    const int64_t strideAux =
        masked ? reluMaskStride(columns) : alignTo(columns, 8);
    Buffer<__half> saved(randomValues<__half>(rows * strideAux, 3));
    Values bytes;
    for (int64_t i = 0; i < rows * strideAux / 8; ++i)
      bytes.push_back(double(i * 37 % 256));
    Buffer<uint8_t> mask(bytes);
    void *aux = masked ? static_cast<void *>(mask.get()) : saved.get();
    Buffer<std::remove_const_t<T>> d(in);
    // The terms of the sums.
    if constexpr (std::is_same_v<R, T>)
      if (gradient != Epilogue::None) {
        Buffer<T> copy(in);
        CHECK_OK(
            launch("epilogue", nullptr, elementwiseShape(rows * columns, 8),
                   applyOnes<T>, copy.get(), rows, columns, stride,
                   static_cast<const T *>(nullptr), aux, strideAux, gradient));
        in = copy.read();
      }
    Values sums(columns, 0.0);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        sums[j] += in[i * stride + j];
    Buffer<R> out(columns);
    Buffer<uint8_t> scratch(size_t(kArrivalCounterBytes) +
                            size_t(columnScratchBytes(rows, columns)));
    Values results;
    for (bool hasScratch : {true, false}) {
      if (!hasScratch && gradient != Epilogue::None)
        continue; // it is in place
      CHECK_OK(sumColumns("sum", nullptr, out.get(), static_cast<T *>(d.get()),
                          rows, columns, stride, gradient, aux, strideAux,
                          scratch.get(),
                          hasScratch ? int64_t(scratch.size()) : 0));
      CHECK_NEAR(out.read(), sums, std::max(epsilonOf<R>(), 2e-6));
      CHECK(same(d.read(), in));
    }
    return std::vector<Values>{out.read(), d.read()};
  });
}

/// The largest distance of `got` from `exact` in units in the last place of T.
template <typename T>
static double largestError(const Values &got, const Values &exact) {
  constexpr bool isHalf = std::is_same_v<T, __half>;
  const double border = isHalf ? 0x1p16 : 0x1p128;
  double largest = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(exact[i]))
      continue;
    const double x = std::clamp(got[i], -border, border),
                 y = std::clamp(exact[i], -border, border);
    const int exponent =
        y == 0 ? -200 : std::ilogb(std::min(std::fabs(y), border / 2));
    const double unit = std::max(std::ldexp(1.0, exponent - (isHalf ? 10 : 7)),
                                 isHalf ? 0x1p-24 : 0x1p-133);
    largest = std::max(largest, std::fabs(x - y) / unit);
    if (std::isnan(got[i]) != std::isnan(exact[i]))
      largest = INFINITY;
  }
  return largest;
}

/// GELU and its slope of every number of T.
template <typename T>
static void testEveryNumber() {
  constexpr int64_t count = 65536;
  Values all(count);
  for (int64_t bits = 0; bits < count; ++bits) {
    const uint16_t pattern = uint16_t(bits);
    T number;
    static_assert(sizeof(number) == sizeof(pattern));
    std::memcpy(&number, &pattern, sizeof(number));
    all[bits] = widen(number);
  }
  Values gelu(count), slope(count);
  for (int64_t i = 0; i < count; ++i) {
    const double root = std::sqrt(2 / M_PI), x = all[i];
    auto gate = [&](double at) {
      const double e = std::exp(-2 * root * (at + 0.044715 * at * at * at));
      return 1 / (1 + e);
    };
    gelu[i] = x * gate(x);
    // Beyond, the factors of the slope are 0 and infinite.
    const double near = x < -64 ? -64 : x > 64 ? 64 : x;
    slope[i] = gate(near) * (1 + near * 2 * root * gate(-near) *
                                     (1 + 3 * 0.044715 * near * near));
  }
  Buffer<T> d(all), ones(Values(count, 1.0)), saved(all);
  const T *noBias = nullptr;
  CHECK_OK(applyEpilogue("gelu", nullptr, d.get(), count / 8, 8, 8, noBias,
                         nullptr, 8, Epilogue::Gelu));
  CHECK_OK(applyEpilogue("slope", nullptr, ones.get(), count / 8, 8, 8, noBias,
                         saved.get(), 8, Epilogue::DGelu));
  CHECK(largestError<T>(d.read(), gelu) <= 0.51);
  // Two terms cancel at the zero of the slope.
  CHECK(largestError<T>(ones.read(), slope) <= 0.56);
}

int main() {
  testEveryNumber<__half>();
  testEveryNumber<__nv_bfloat16>();
  testActivations<float>();
  testActivations<__half>();
  testActivations<__nv_bfloat16>();
  for (auto [columns, stride] :
       {std::pair<int64_t, int64_t>{136, 136}, {72, 80}, {21, 21}, {1, 3}})
    for (int64_t rows : {1, 300}) {
      testSums<float, const __half>(Epilogue::None, rows, columns, stride);
      testSums<__nv_bfloat16, const __nv_bfloat16>(Epilogue::None, rows,
                                                   columns, stride);
      testSums<float, float>(Epilogue::None, rows, columns, stride);
      testSums<__half, __half>(Epilogue::DRelu, rows, columns, stride);
      testSums<__half, __half>(Epilogue::DGelu, rows, columns, stride);
      testSums<float, float>(Epilogue::DRelu, rows, columns, stride);
    }
  return finish();
}

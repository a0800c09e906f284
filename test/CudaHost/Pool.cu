//===- Pool.cu - Pooling, dropout and random numbers ------------*- C++ -*-===//
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
#include "amp/Runtime/CUDA/Pool.h"
#include "amp/Runtime/CUDA/Random.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

template <typename X, typename Y>
static void testPool(const PoolShape &s, bool withNaN) {
  inAllOrders("pool", [&] {
    int64_t inCount = s.batch * s.height * s.width * s.channels;
    int64_t outCount = s.batch * s.outHeight() * s.outWidth() * s.channels;
    // Few values, so that maxima are tied.
    Values x = randomValues<X>(inCount, 1), dy = randomValues<Y>(outCount, 2);
    for (double &value : x)
      value = std::round(value);
    if (withNaN)
      x[inCount / 2] = NAN;
    Values most(outCount, -INFINITY), mean(outCount, 0.0);
    Values dMost(inCount, 0.0), dMean(inCount, 0.0);
    double size = double(s.windowHeight * s.windowWidth);
    // The reference iterates over windows. The kernels iterate over elements.
    for (int64_t out = 0; out < outCount; ++out) {
      int64_t c = out % s.channels, ow = out / s.channels % s.outWidth();
      int64_t oh = out / s.channels / s.outWidth() % s.outHeight();
      int64_t n = out / s.channels / s.outWidth() / s.outHeight();
      int64_t best = -1;
      for (int64_t i = 0; i < s.windowHeight; ++i)
        for (int64_t j = 0; j < s.windowWidth; ++j) {
          int64_t h = oh * s.strideHeight - s.padTop + i;
          int64_t w = ow * s.strideWidth - s.padLeft + j;
          if (h < 0 || w < 0 || h >= s.height || w >= s.width)
            continue;
          int64_t in = ((n * s.height + h) * s.width + w) * s.channels + c;
          mean[out] += x[in] / size;
          dMean[in] += dy[out] / size;
          if (best < 0 || x[in] > x[best] ||
              (std::isnan(x[in]) && !std::isnan(x[best])))
            best = in;
        }
      if (best >= 0) {
        most[out] = x[best];
        dMost[best] += dy[out];
      }
    }
    Buffer<X> dX(x), dIn(inCount), dInMean(inCount);
    Buffer<Y> out(outCount), outMean(outCount), g(dy);
    CHECK_OK(maxPoolForward(nullptr, out.get(), dX.get(), s));
    CHECK_OK(avgPoolForward(nullptr, outMean.get(), dX.get(), s));
    CHECK_OK(
        maxPoolBackward(nullptr, dIn.get(), dX.get(), out.get(), g.get(), s));
    CHECK_OK(avgPoolBackward(nullptr, dInMean.get(), g.get(), s));
    CHECK_NEAR(out.read(), most, 0.0);
    CHECK_NEAR(outMean.read(), mean, epsilonOf<Y>());
    CHECK_NEAR(dInMean.read(), dMean, epsilonOf<X>());
    CHECK_NEAR(dIn.read(), dMost, epsilonOf<X>());
    return KernelResults{dIn.read(), outMean.read()};
  });
}

template <typename T>
static void testDropout(int64_t count, double rate) {
  inAllOrders("dropout", [&] {
    Values x = randomValues<T>(count, 1);
    x[0] = INFINITY; // dropped, it is 0 and not NaN
    Buffer<T> dX(x), y(count);
    Buffer<int64_t> rng(2);
    int64_t state[2] = {0x123456789abcdef0, 0x10000000f};
    cudaMemcpy(rng.get(), state, sizeof(state), cudaMemcpyHostToDevice);
    CHECK_OK(dropout(nullptr, y.get(), dX.get(), rng, 77, rate, count));
    Values expected(count), result = y.read();
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
      auto words = philox4x32({{uint32_t(i / 4), 0, 0xf, 1}}, 0x9abcdef0u ^ 77u,
                              0x12345678u);
      bool keep = words[int(i % 4)] >= uint32_t(std::floor(rate * 0x1p32));
      expected[i] = keep ? x[i] * (1 / (1 - rate)) : 0.0;
      kept += keep;
    }
    CHECK_NEAR(result, expected, epsilonOf<T>());
    // The sum with an addend, over the addend.
    Values more = randomValues<T>(count, 3), sums(count);
    Buffer<T> addend(more);
    CHECK_OK(dropout(nullptr, addend.get(), dX.get(), rng, addend.get(), 77,
                     rate, count));
    for (int64_t i = 0; i < count; ++i)
      sums[i] = expected[i] + more[i];
    CHECK_NEAR(addend.read(), sums, 2 * epsilonOf<T>());
    if (count > 1000)
      CHECK(std::fabs(double(kept) / count - (1 - rate)) < 0.05);
    CHECK_OK(advanceRng(nullptr, rng, rng));
    cudaDeviceSynchronize();
    cudaMemcpy(state, rng.get(), sizeof(state), cudaMemcpyDeviceToHost);
    CHECK(state[0] == 0x123456789abcdef0 && state[1] == 0x100000010);
    return KernelResults{result};
  });
}

/// Rounding to bf16 by the upper half of the words of dropout.
static void testStochasticRound(int64_t count) {
  inAllOrders("stochastic_round", [&] {
    Values x = randomValues<float>(count, 2);
    x[0] = INFINITY;
    x[1] = 1.5;           // exact, so left alone
    x[2] = 0x1.008p0;     // up in one of two
    x[3] = -0x1.fffffep0; // almost always away from zero
    x[4] = NAN;
    Buffer<float> dX(x);
    Buffer<__nv_bfloat16> y(count);
    Buffer<int64_t> rng(2);
    int64_t state[2] = {0x123456789abcdef0, 0x10000000f};
    cudaMemcpy(rng.get(), state, sizeof(state), cudaMemcpyHostToDevice);
    CHECK_OK(stochasticRound(nullptr, y, dX, rng, 77, count));
    Values result = y.read();
    double error = 0;
    for (int64_t i = 0; i < count; ++i) {
      auto words = philox4x32({{uint32_t(i / 4), 0, 0xf, 1}}, 0x9abcdef0u ^ 77u,
                              0x12345678u);
      float value = float(x[i]);
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      bits = (bits + (words[int(i % 4)] >> 16)) & 0xFFFF0000u;
      std::memcpy(&value, &bits, 4);
      if (i == 4)
        CHECK(std::isnan(result[i]));
      else
        CHECK(result[i] == value);
      if (std::isfinite(x[i]))
        error += (result[i] - x[i]) / std::fabs(x[i]);
    }
    CHECK(result[0] == INFINITY && result[1] == 1.5);
    // Exact on average: to nearest, a thousandth would be the size of each.
    if (count > 1000)
      CHECK(std::fabs(error / count) < 1e-4);
    result[4] = 0;
    return KernelResults{result};
  });
}

int main() {
  testPool<float, float>({2, 8, 8, 16, 2, 2, 2, 2}, false);
  testPool<__half, __half>({1, 7, 9, 5, 3, 2, 2, 1, 1, 1, 1, 0}, false);
  testPool<float, __half>({1, 5, 5, 8, 3, 3, 1, 1, 1, 1, 1, 1}, true);
  testPool<__nv_bfloat16, float>({3, 4, 6, 3, 2, 3, 3, 3}, true);
  testPool<float, float>({1, 1, 1, 1, 1, 1}, false);
  Buffer<float> x(4);
  CHECK_ERROR(maxPoolForward(nullptr, x.get(), x.get(), {1, 2, 2, 1, 3, 3}),
              "window of 3 x 3 does not fit");
  testDropout<float>(4099, 0.1);
  testDropout<__half>(2051, 0.5);
  testDropout<__nv_bfloat16>(7, 0.0);
  testStochasticRound(4099);
  testStochasticRound(7);
  CHECK_ERROR(dropout(nullptr, x.get(), x.get(), nullptr, 1, 1.0, 4),
              "dropout rate 1");
  return finish();
}

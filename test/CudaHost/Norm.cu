//===- Norm.cu - Layer and batch normalisation ------------------*- C++ -*-===//
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
#include "amp/Runtime/CUDA/BatchNorm.h"
#include "amp/Runtime/CUDA/Norm.h"

#include <algorithm>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

/// A normalisation in f64. `group(i)` is the group of element i, and
/// `channel(i)` the index of its gain. Without `isCentered` the means are 0.
struct NormReference {
  Values y, mean, rstd, var, dx, dgamma, dbeta;

  template <typename Group, typename Channel>
  NormReference(const Values &x, const Values &dy, const Values &gamma,
                const Values &beta, int64_t groups, Group group,
                Channel channel, double epsilon, bool isCentered = true)
      : y(x.size()), mean(groups), rstd(groups), var(groups), dx(x.size()),
        dgamma(gamma.size()), dbeta(gamma.size()) {
    double n = double(x.size()) / groups;
    Values meanG(groups), meanDot(groups);
    for (size_t i = 0; i < x.size(); ++i)
      mean[group(i)] += isCentered ? x[i] / n : 0.0;
    for (size_t i = 0; i < x.size(); ++i)
      var[group(i)] += std::pow(x[i] - mean[group(i)], 2) / n;
    for (int64_t g = 0; g < groups; ++g)
      rstd[g] = 1 / std::sqrt(var[g] + epsilon);
    auto normal = [&](size_t i) {
      return (x[i] - mean[group(i)]) * rstd[group(i)];
    };
    for (size_t i = 0; i < x.size(); ++i) {
      size_t c = channel(i);
      y[i] = normal(i) * gamma[c] + beta[c];
      dgamma[c] += dy[i] * normal(i);
      dbeta[c] += dy[i];
      meanG[group(i)] += isCentered ? dy[i] * gamma[c] / n : 0.0;
      meanDot[group(i)] += dy[i] * gamma[c] * normal(i) / n;
    }
    for (size_t i = 0; i < x.size(); ++i)
      dx[i] = rstd[group(i)] * (dy[i] * gamma[channel(i)] - meanG[group(i)] -
                                normal(i) * meanDot[group(i)]);
  }
};

static Values sumOf(const Values &a, const Values &b) {
  Values sum(a);
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] += b[i];
  return sum;
}

template <typename X, typename Y>
static void testLayerNorm(int64_t rows, int64_t columns, double offset,
                          bool inPlace) {
  ArrivalCounters arrivalCounters;
  inAllOrders("layer norm", [&] {
    Values x = randomValues<X>(rows * columns, 1);
    for (double &value : x)
      value = widen(roundTo<X>(float(value + offset)));
    Values dy = randomValues<Y>(rows * columns, 2);
    Values gamma = randomValues<float>(columns, 3),
           beta = randomValues<float>(columns, 4);
    NormReference expected(
        x, dy, gamma, beta, rows, [&](size_t i) { return i / columns; },
        [&](size_t i) { return i % columns; }, 1e-5);
    Buffer<X> dX(x);
    Buffer<Y> out(rows * columns), g(dy), dInput(rows * columns);
    Buffer<float> dGamma(gamma), dBeta(beta), mean(rows), rstd(rows),
        gammaGrad(columns), betaGrad(columns);
    Buffer<unsigned char> scratch(size_t(layerNormScratchBytes(rows, columns)));
    CHECK_OK(layerNormForward(nullptr, out.get(), mean, rstd, dX.get(), dGamma,
                              dBeta, rows, columns, 1e-5f));
    Y *to = inPlace ? g.get() : dInput.get();
    CHECK_OK(layerNormBackward(nullptr, to, gammaGrad, betaGrad, g.get(),
                               dX.get(), dGamma, mean, rstd, rows, columns,
                               scratch.get(), arrivalCounters));
    Values y = out.read(), dx = (inPlace ? g : dInput).read();
    double extra = std::fabs(offset) * 1e-5;
    // The same gradients, and the norm with the same bits.
    Buffer<Y> again(rows * columns), other(rows * columns), g2(dy);
    CHECK_OK(layerNormAndBackward(nullptr, other.get(), gammaGrad, betaGrad,
                                  again.get(), g2.get(), dX.get(), dGamma, mean,
                                  rstd, dBeta, rows, columns, scratch.get(),
                                  arrivalCounters));
    CHECK(again.read() == y && other.read() == dx);
    // The sum with an addend, over the addend, rounds once.
    Buffer<Y> addend(dy), g3(dy);
    CHECK_OK(layerNormBackward(nullptr, addend.get(), gammaGrad, betaGrad,
                               g3.get(), dX.get(), dGamma, mean, rstd,
                               addend.get(), rows, columns, scratch.get(),
                               arrivalCounters));
    if (columns > 1)
      CHECK_NEAR(addend.read(), sumOf(expected.dx, dy),
                 4 * epsilonOf<Y>() + extra);
    CHECK_NEAR(y, expected.y, 2 * epsilonOf<Y>() + extra);
    CHECK_NEAR(mean.read(), expected.mean, 1e-5);
    CHECK_NEAR(rstd.read(), expected.rstd, 1e-5 + extra);
    if (columns > 1) // of a single column it is zero
      CHECK_NEAR(dx, expected.dx, 4 * epsilonOf<Y>() + extra);
    CHECK_NEAR(gammaGrad.read(), expected.dgamma, 2e-5 + extra);
    CHECK_NEAR(betaGrad.read(), expected.dbeta, 2e-5);
    CHECK(arrivalCounters.areZero());
    return KernelResults{y, dx, gammaGrad.read(), betaGrad.read()};
  });
}

template <typename X, typename Y>
static void testRMSNorm(int64_t rows, int64_t columns, bool inPlace) {
  ArrivalCounters arrivalCounters;
  inAllOrders("rms norm", [&] {
    Values x = randomValues<X>(rows * columns, 1);
    Values dy = randomValues<Y>(rows * columns, 2);
    Values gamma = randomValues<float>(columns, 3);
    NormReference expected(
        x, dy, gamma, Values(columns), rows,
        [&](size_t i) { return i / columns; },
        [&](size_t i) { return i % columns; }, 1e-6, /*isCentered=*/false);
    Buffer<X> dX(x);
    Buffer<Y> out(rows * columns), g(dy), dInput(rows * columns);
    Buffer<float> dGamma(gamma), rstd(rows), gammaGrad(columns);
    Buffer<unsigned char> scratch(size_t(layerNormScratchBytes(rows, columns)));
    CHECK_OK(rmsNormForward(nullptr, out.get(), rstd, dX.get(), dGamma, rows,
                            columns, 1e-6f));
    Y *to = inPlace ? g.get() : dInput.get();
    CHECK_OK(rmsNormBackward(nullptr, to, gammaGrad, g.get(), dX.get(), dGamma,
                             rstd, rows, columns, scratch.get(),
                             arrivalCounters));
    Values y = out.read(), dx = (inPlace ? g : dInput).read();
    Buffer<Y> again(rows * columns), other(rows * columns), g2(dy);
    CHECK_OK(rmsNormAndBackward(nullptr, other.get(), gammaGrad, again.get(),
                                g2.get(), dX.get(), dGamma, rstd, rows, columns,
                                scratch.get(), arrivalCounters));
    CHECK(again.read() == y && other.read() == dx);
    Buffer<Y> addend(dy), g3(dy);
    CHECK_OK(rmsNormAndBackward(nullptr, addend.get(), gammaGrad, again.get(),
                                g3.get(), dX.get(), dGamma, rstd, addend.get(),
                                rows, columns, scratch.get(), arrivalCounters));
    if (columns > 1)
      CHECK_NEAR(addend.read(), sumOf(expected.dx, dy), 4 * epsilonOf<Y>());
    CHECK_NEAR(y, expected.y, 2 * epsilonOf<Y>());
    CHECK_NEAR(rstd.read(), expected.rstd, 1e-5);
    if (columns > 1) // of a single column it is nearly zero
      CHECK_NEAR(dx, expected.dx, 4 * epsilonOf<Y>());
    CHECK_NEAR(gammaGrad.read(), expected.dgamma, 2e-5);
    CHECK(arrivalCounters.areZero());
    return KernelResults{y, dx, gammaGrad.read()};
  });
}

/// Norms read the rows of the keys, [sample, head, position, element], in a
/// product [sample, position, queries, keys, values], and write their gradient
/// as [sample, position, head, element]. Copies of the rows give the same bits.
template <typename T>
static void testStridedRows(int64_t samples, int64_t heads, int64_t positions,
                            int64_t columns) {
  const int64_t rows = samples * heads * positions, width = heads * columns;
  const int64_t before = 2 * width, line = 4 * width;
  Values packed = randomValues<T>(samples * positions * line, 1),
         dy = randomValues<T>(rows * columns, 2),
         gamma = randomValues<float>(columns, 3), x(rows * columns);
  auto place = [&](int64_t row, int64_t position, int64_t offset) {
    const int64_t head = row / positions % heads,
                  sample = row / positions / heads;
    return offset + (sample * positions + row % positions) * position +
           head * columns;
  };
  for (int64_t i = 0; i < rows * columns; ++i)
    x[i] = packed[place(i / columns, line, before) + i % columns];
  ArrivalCounters arrivalCounters;
  Buffer<T> source(packed), copy(x), y(x.size()), other(x.size()), g(dy),
      dx(x.size()), moved(x.size());
  Buffer<float> dGamma(gamma), dBeta(gamma), mean(rows), rstd(rows),
      gammaGrad(columns), betaGrad(columns), gammaGrad2(columns);
  Buffer<unsigned char> scratch(size_t(layerNormScratchBytes(rows, columns)));
  const StridedRows<const T> in{source.get() + before, heads,  positions,
                                positions * line,      columns, line};
  const StridedRows<T> out{moved.get(),       heads,   positions,
                           positions * width, columns, width};
  auto check = [&] {
    CHECK(other.read() == y.read());
    Values wanted = dx.read(), found = moved.read();
    for (int64_t i = 0; i < rows * columns; ++i)
      CHECK(found[place(i / columns, width, 0) + i % columns] == wanted[i]);
    CHECK(gammaGrad.read() == gammaGrad2.read());
  };
  CHECK_OK(rmsNormForward(nullptr, y.get(), rstd, copy.get(), dGamma, rows,
                          columns, 1e-6f));
  CHECK_OK(rmsNormForward(nullptr, other.get(), rstd, in, dGamma, rows, columns,
                          1e-6f));
  CHECK_OK(rmsNormBackward(nullptr, dx.get(), gammaGrad, g.get(), copy.get(),
                           dGamma, rstd, rows, columns, scratch.get(),
                           arrivalCounters));
  CHECK_OK(rmsNormBackward(nullptr, out, gammaGrad2, g.get(), in, dGamma, rstd,
                           rows, columns, scratch.get(), arrivalCounters));
  check();
  CHECK_OK(layerNormForward(nullptr, y.get(), mean, rstd, copy.get(), dGamma,
                            dBeta, rows, columns, 1e-6f));
  CHECK_OK(layerNormForward(nullptr, other.get(), mean, rstd, in, dGamma, dBeta,
                            rows, columns, 1e-6f));
  CHECK_OK(layerNormBackward(nullptr, dx.get(), gammaGrad, betaGrad, g.get(),
                             copy.get(), dGamma, mean, rstd, rows, columns,
                             scratch.get(), arrivalCounters));
  CHECK_OK(layerNormBackward(nullptr, out, gammaGrad2, betaGrad, g.get(), in,
                             dGamma, mean, rstd, rows, columns, scratch.get(),
                             arrivalCounters));
  check();
}

/// An extent that is known selects one plan. Rows of few elements share a warp.
/// The plan that is chosen at run time gives the same bits.
template <int64_t Columns>
static void testExtent(int64_t rows) {
  ArrivalCounters arrivalCounters;
  inAllOrders("norm of a known extent", [&] {
    const size_t count = size_t(rows * Columns);
    Buffer<__half> x(randomValues<__half>(count, 1)), y(count), other(count),
        g(randomValues<__half>(count, 2)), dx(count), moved(count);
    Buffer<float> gamma(randomValues<float>(Columns, 3)), rstd(rows),
        rstd2(rows), dgamma(Columns);
    Buffer<unsigned char> scratch(size_t(layerNormScratchBytes(rows, Columns)));
    CHECK_OK(rmsNormForward(nullptr, y.get(), rstd, x.get(), gamma, rows,
                            Columns, 1e-6f));
    CHECK_OK(rmsNormForward(nullptr, other.get(), rstd2, x.get(), gamma, rows,
                            Extent<Columns>(), 1e-6f));
    CHECK_OK(rmsNormBackward(nullptr, dx.get(), dgamma, g.get(), x.get(), gamma,
                             rstd, rows, Columns, scratch.get(),
                             arrivalCounters));
    CHECK_OK(rmsNormBackward(nullptr, moved.get(), dgamma, g.get(), x.get(),
                             gamma, rstd2, rows, Extent<Columns>(),
                             scratch.get(), arrivalCounters));
    CHECK(y.read() == other.read() && rstd.read() == rstd2.read());
    CHECK(dx.read() == moved.read());
    return KernelResults{other.read(), moved.read()};
  });
}

template <typename X, typename Y>
static void testBatchNorm(int64_t rows, int64_t channels, double offset,
                          bool guard) {
  ArrivalCounters arrivalCounters;
  inAllOrders("batch norm", [&] {
    Values x = randomValues<X>(rows * channels, 1);
    for (double &value : x)
      value = widen(roundTo<X>(float(value + offset)));
    Values dy = randomValues<Y>(rows * channels, 2);
    Values gamma = randomValues<float>(channels, 3),
           beta = randomValues<float>(channels, 4),
           runningMean = randomValues<float>(channels, 5),
           runningVar = randomValues<float>(channels, 6);
    for (double &value : runningVar)
      value = std::fabs(value);
    auto channel = [&](size_t i) { return i % channels; };
    NormReference expected(x, dy, gamma, beta, channels, channel, channel,
                           1e-5);
    Buffer<X> dX(x);
    Buffer<Y> out(rows * channels), g(dy), dInput(rows * channels),
        inference(rows * channels);
    Buffer<float> dGamma(gamma), dBeta(beta), mean(channels), rstd(channels),
        gammaGrad(channels), betaGrad(channels), rMean(runningMean),
        rVar(runningVar);
    Buffer<uint8_t> flag(Values{guard ? 1.0 : 0.0});
    Buffer<unsigned char> scratch(
        size_t(batchNormBackwardScratchBytes(rows, channels)));
    CHECK_OK(batchNormInference(nullptr, inference.get(), dX.get(), dGamma,
                                dBeta, rMean, rVar, rows, channels, 1e-5f));
    CHECK_OK(batchNormForward(nullptr, out.get(), mean, rstd, rMean, rVar,
                              dX.get(), dGamma, dBeta, rMean, rVar, rows,
                              channels, 0.1f, 1e-5f, flag, scratch.get(),
                              arrivalCounters));
    CHECK_OK(batchNormBackward(nullptr, dInput.get(), gammaGrad, betaGrad,
                               g.get(), dX.get(), dGamma, mean, rstd, rows,
                               channels, scratch.get(), arrivalCounters));
    double extra = std::fabs(offset) * 1e-5;
    Values y = out.read(), dx = dInput.read();
    CHECK_OK(batchNormApply(nullptr, out.get(), dX.get(), dGamma, dBeta, mean,
                            rstd, rows, channels));
    CHECK(out.read() == y);
    CHECK_NEAR(y, expected.y, 2 * epsilonOf<Y>() + extra);
    CHECK_NEAR(mean.read(), expected.mean, 1e-5);
    CHECK_NEAR(rstd.read(), expected.rstd, 1e-5 + extra);
    CHECK_NEAR(dx, expected.dx, 4 * epsilonOf<Y>() + extra);
    CHECK_NEAR(gammaGrad.read(), expected.dgamma, 2e-5 + extra);
    CHECK_NEAR(betaGrad.read(), expected.dbeta, 2e-5);
    Values plain(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      size_t c = channel(i);
      plain[i] =
          (x[i] - runningMean[c]) / std::sqrt(runningVar[c] + 1e-5) * gamma[c] +
          beta[c];
    }
    CHECK_NEAR(inference.read(), plain, 2 * epsilonOf<Y>() + extra);
    for (int64_t c = 0; guard && c < channels; ++c) {
      runningMean[c] = 0.9 * runningMean[c] + 0.1 * expected.mean[c];
      runningVar[c] =
          0.9 * runningVar[c] + 0.1 * expected.var[c] * rows / (rows - 1);
    }
    CHECK_NEAR(rMean.read(), runningMean, guard ? 1e-5 : 0.0);
    CHECK_NEAR(rVar.read(), runningVar, guard ? 1e-5 + extra : 0.0);
    CHECK(arrivalCounters.areZero());
    return KernelResults{y, dx, gammaGrad.read(), rVar.read()};
  });
}

__global__ void writeChannels(float *out, const float *numbers, int64_t rows,
                              int64_t channels) {
  forEachChannel<8>(
      rows, channels,
      [=](int64_t channel) { return load<8>(numbers + channel); },
      [=](auto at, const Pack<float, 8> &s) { at.store(out, s); });
}

/// Threads that stay in their channels, and threads that do not.
static void testChannels(int64_t rows, int64_t channels) {
  Values numbers = randomValues<float>(channels, 1), expected(rows * channels);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = numbers[i % channels];
  Buffer<float> out(rows * channels), in(numbers);
  LaunchShape shape;
  shape.grid.x = 2;
  CHECK_OK(launch("write_channels", nullptr, shape, writeChannels, out.get(),
                  static_cast<const float *>(in.get()), rows, channels));
  CHECK(out.read() == expected);
}

/// A batch norm with a relu, and with a residual before it, against the same in
/// f64. Both gradients read the mask of the kernel, because signs near zero
/// depend on rounding.
template <typename X, typename Y>
static void testBatchNormRelu(int64_t rows, int64_t channels, double offset) {
  ArrivalCounters arrivalCounters;
  inAllOrders("batch norm and relu", [&] {
    Values x = randomValues<X>(rows * channels, 1);
    for (double &value : x)
      value = widen(roundTo<X>(float(value + offset)));
    Values dy = randomValues<Y>(rows * channels, 2);
    Values residual = randomValues<Y>(rows * channels, 7);
    Values gamma = randomValues<float>(channels, 3),
           beta = randomValues<float>(channels, 4),
           running = randomValues<float>(channels, 5);
    auto channel = [&](size_t i) { return i % channels; };
    Buffer<X> dX(x), dInput(rows * channels);
    Buffer<Y> g(dy), out(rows * channels), dResidual(rows * channels),
        added(residual);
    Buffer<float> dGamma(gamma), dBeta(beta), mean(channels), rstd(channels),
        gammaGrad(channels), betaGrad(channels), rMean(running), rVar(running),
        newMean(channels), newVar(channels);
    Buffer<int8_t> mask(rows * channels / 8);
    Buffer<unsigned char> scratch(
        size_t(batchNormBackwardScratchBytes(rows, channels)));
    const double extra = std::fabs(offset) * 1e-5;
    KernelResults results;
    for (bool hasResidual : {false, true}) {
      if (hasResidual)
        CHECK_OK(batchNormAddReluForward(
            nullptr, out.get(), mean, rstd, newMean, newVar, mask.get(),
            dX.get(), dGamma, dBeta, rMean, rVar, added.get(), rows, channels,
            0.1f, 1e-5f, nullptr, scratch.get(), arrivalCounters));
      else
        CHECK_OK(batchNormReluForward(
            nullptr, out.get(), mean, rstd, newMean, newVar, mask.get(),
            dX.get(), dGamma, dBeta, rMean, rVar, rows, channels, 0.1f, 1e-5f,
            nullptr, scratch.get(), arrivalCounters));
      Values y = out.read(), bits = mask.read(), selected = dy;
      // The same again, over the residual.
      if (hasResidual)
        CHECK_OK(batchNormAddReluApply(nullptr, added.get(), dX.get(), dGamma,
                                       dBeta, mean, rstd, added.get(), rows,
                                       channels));
      else
        CHECK_OK(batchNormReluApply(nullptr, out.get(), dX.get(), dGamma, dBeta,
                                    mean, rstd, rows, channels));
      CHECK((hasResidual ? added : out).read() == y);
      for (size_t i = 0; i < y.size(); ++i) {
        const bool isPositive = int(bits[i / 8]) >> (i % 8) & 1;
        CHECK(isPositive == (y[i] > 0));
        if (!isPositive)
          selected[i] = 0;
      }
      NormReference expected(x, selected, gamma, beta, channels, channel,
                             channel, 1e-5);
      Values relu = expected.y;
      for (size_t i = 0; i < relu.size(); ++i)
        relu[i] = std::max(relu[i] + (hasResidual ? residual[i] : 0.0), 0.0);
      CHECK_NEAR(y, relu, 2 * epsilonOf<Y>() + extra);
      if (hasResidual) {
        CHECK_OK(batchNormAddReluBackward(
            nullptr, dInput.get(), gammaGrad, betaGrad, dResidual.get(),
            g.get(), mask.get(), dX.get(), dGamma, mean, rstd, rows, channels,
            scratch.get(), arrivalCounters));
        CHECK(dResidual.read() == selected);
      } else {
        CHECK_OK(batchNormReluBackward(nullptr, dInput.get(), gammaGrad,
                                       betaGrad, g.get(), mask.get(), dX.get(),
                                       dGamma, mean, rstd, rows, channels,
                                       scratch.get(), arrivalCounters));
      }
      CHECK_NEAR(dInput.read(), expected.dx, 4 * epsilonOf<X>() + extra);
      CHECK_NEAR(gammaGrad.read(), expected.dgamma, 2e-5 + extra);
      CHECK_NEAR(betaGrad.read(), expected.dbeta, 2e-5);
      for (auto *buffer : {&gammaGrad, &betaGrad})
        results.push_back(buffer->read());
      results.push_back(y);
      results.push_back(dInput.read());
    }
    CHECK(arrivalCounters.areZero());
    return results;
  });
}

int main() {
  // A warp, a block, and a row too long for registers; whole packs and odd.
  testLayerNorm<float, float>(7, 33, 0, false);
  testLayerNorm<__half, __half>(130, 64, 0, true);
  testLayerNorm<float, __half>(3, 768, 100, false);
  testLayerNorm<__nv_bfloat16, __nv_bfloat16>(2, 2056, 0, true);
  testLayerNorm<float, float>(2, 8200, 0, true);
  testLayerNorm<float, float>(4, 1, 0, false);

  testRMSNorm<float, float>(7, 33, false);
  testRMSNorm<__half, __half>(130, 64, true);
  testRMSNorm<__nv_bfloat16, __nv_bfloat16>(2, 2056, true);
  testRMSNorm<float, __half>(2, 8200, false);
  testRMSNorm<float, float>(4, 1, false);

  testStridedRows<__nv_bfloat16>(2, 3, 5, 64);
  testStridedRows<float>(3, 2, 4, 12);
  testExtent<64>(36);
  testExtent<64>(34);
  testExtent<128>(6);
  testExtent<129>(3);
  testExtent<2056>(2);
  testExtent<8200>(2);

  testBatchNorm<float, float>(128, 16, 0, true);
  testBatchNorm<__half, __half>(75, 3, 0, true);
  testBatchNorm<__half, float>(200, 65, 10, true);
  testBatchNorm<float, __nv_bfloat16>(31, 130, 100, false);
  testBatchNorm<__half, __half>(2600, 8, 0, true);
  testChannels(300, 64);
  testChannels(700, 24);
  testChannels(3, 5000);
  testBatchNormRelu<float, float>(70, 24, 0);
  testBatchNormRelu<__half, __half>(200, 64, 10);
  testBatchNormRelu<__nv_bfloat16, __nv_bfloat16>(33, 136, 0);
  testBatchNormRelu<__nv_bfloat16, float>(2500, 8, 0);
  return finish();
}

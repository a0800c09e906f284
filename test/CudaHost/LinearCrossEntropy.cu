//===- LinearCrossEntropy.cu - Classifiers with their loss ------*- C++ -*-===//
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
#include "amp/Runtime/CUDA/Gemm.h"
#include "amp/Runtime/CUDA/LinearCrossEntropy.h"

#include <algorithm>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

constexpr double kSeed = 64;

/// The loss, both gradients and the predictions, in f64. The logits and their
/// gradient are rounded as they are in memory.
struct Reference {
  double loss = 0;
  Values dx, dw, predicted;

  template <typename T>
  static double round(double value) {
    return widen(roundTo<T>(float(value)));
  }

  template <typename T>
  static Reference get(const LinearLossShape &s, const Values &x,
                       const Values &w, const Values &labels,
                       double smoothing) {
    Reference result;
    result.dx.resize(x.size());
    result.dw.resize(w.size());
    auto at = [&](int64_t k, int64_t j) {
      return s.transposed ? j * s.columns + k : k * s.classes + j;
    };
    for (int64_t i = 0; i < s.rows; ++i) {
      Values row(s.classes);
      for (int64_t j = 0; j < s.classes; ++j) {
        for (int64_t k = 0; k < s.columns; ++k)
          row[j] += x[i * s.columns + k] * w[at(k, j)];
        row[j] = round<T>(row[j]);
      }
      auto best = std::max_element(row.begin(), row.end());
      result.predicted.push_back(double(best - row.begin()));
      const double largest = *best;
      double sum = 0;
      for (double value : row)
        sum += std::exp(value - largest);
      const bool selects = labels[i] >= 0 && labels[i] < double(s.classes);
      result.loss += std::log(sum);
      if (selects)
        result.loss += (1 - smoothing) * (largest - row[int64_t(labels[i])]);
      for (int64_t j = 0; j < s.classes; ++j) {
        const double each = smoothing / double(s.classes);
        const double target = (j == labels[i]) * (1 - smoothing) + each;
        result.loss += each * (largest - row[j]);
        const double g = round<T>((std::exp(row[j] - largest) / sum - target) *
                                  kSeed / double(s.rows));
        for (int64_t k = 0; k < s.columns; ++k) {
          result.dx[i * s.columns + k] += g * w[at(k, j)];
          result.dw[at(k, j)] += g * x[i * s.columns + k];
        }
      }
    }
    result.loss /= double(s.rows);
    return result;
  }
};

template <typename T>
constexpr Type typeOf() {
  return std::is_same_v<T, __half>          ? Type::F16
         : std::is_same_v<T, __nv_bfloat16> ? Type::BF16
                                            : Type::F32;
}

template <typename T, typename R, typename Label, typename Targets = HardLabels>
static void test(const LinearLossShape &s, int64_t strangeLabel = 0,
                 Targets targets = {}, double smoothing = 0) {
  inAllOrders("linear cross-entropy", [&] {
    Values x = randomValues<T>(s.rows * s.columns, 1),
           w = randomValues<T>(s.columns * s.classes, 2), labels(s.rows);
    for (int64_t i = 0; i < s.rows; ++i)
      labels[i] = double(i * 7919 % s.classes);
    if (strangeLabel != 0)
      labels[s.rows / 2] = double(strangeLabel);
    Reference expected = Reference::get<T>(s, x, w, labels, smoothing);
    GemmConfig configs[4];
    for (int part = 0; part < 4; ++part)
      configs[part] = linearLossGemm("test", s, typeOf<T>(), typeOf<R>(),
                                     LinearLossPart(part));
    GemmPlans plans;
    CHECK_OK(plans.create(configs, 4, nullptr, 0));
    Buffer<T> dX(x), dW(w);
    Buffer<Label> dLabels(labels);
    Buffer<float> seed(Values{kSeed}), loss(1), wGrad(w.size());
    Buffer<R> xGrad(x.size());
    Buffer<int64_t> predicted(s.rows);
    Buffer<unsigned char> scratch(size_t(linearLossScratchBytes(s, sizeof(T))));
    CHECK_OK(linearCrossEntropy(
        nullptr, plans, 0, s, loss.get(), xGrad.get(), wGrad.get(),
        predicted.get(), static_cast<const T *>(dX.get()),
        static_cast<const T *>(dW.get()),
        static_cast<const Label *>(dLabels.get()),
        static_cast<const float *>(seed.get()), scratch.get(), targets));
    // A sum may round a logit the other way than the reference.
    const double low = 4 * epsilonOf<T>();
    CHECK_NEAR(loss.read(), Values{expected.loss}, 1e-5 + low);
    CHECK_NEAR(xGrad.read(), expected.dx, 1e-5 + low);
    CHECK_NEAR(wGrad.read(), expected.dw, 1e-5 + low);
    if (std::is_same_v<T, float>)
      CHECK_NEAR(predicted.read(), expected.predicted, 0.0);
    Values losses = loss.read();
    CHECK_OK(linearCrossEntropy(
        nullptr, plans, 0, s, loss.get(), xGrad.get(), wGrad.get(),
        static_cast<int32_t *>(nullptr), static_cast<const T *>(dX.get()),
        static_cast<const T *>(dW.get()),
        static_cast<const Label *>(dLabels.get()),
        static_cast<const float *>(seed.get()), scratch.get(), targets));
    CHECK_NEAR(loss.read(), losses, 0.0);
    return KernelResults{losses, xGrad.read(), wGrad.read()};
  });
}

/// NaN is the prediction of its row, and reaches the loss and the gradients.
static void testNaN() {
  LinearLossShape s{4, 1, 20, 4, true};
  Values x{1, 1, 1, 1}, w(20, 0.5), labels(4, 3.0);
  w[7] = NAN;
  w[9] = NAN;
  w[2] = 4;
  GemmConfig configs[4];
  for (int part = 0; part < 4; ++part)
    configs[part] =
        linearLossGemm("test", s, Type::F32, Type::F32, LinearLossPart(part));
  GemmPlans plans;
  CHECK_OK(plans.create(configs, 4, nullptr, 0));
  Buffer<float> dX(x), dW(w), seed(Values{1}), loss(1), xGrad(4), wGrad(20);
  Buffer<int64_t> dLabels(labels);
  Buffer<int32_t> predicted(4);
  Buffer<unsigned char> scratch(size_t(linearLossScratchBytes(s, 4)));
  CHECK_OK(linearCrossEntropy(
      nullptr, plans, 0, s, loss.get(), xGrad.get(), wGrad.get(),
      predicted.get(), static_cast<const float *>(dX.get()),
      static_cast<const float *>(dW.get()),
      static_cast<const int64_t *>(dLabels.get()),
      static_cast<const float *>(seed.get()), scratch.get()));
  CHECK(std::isnan(loss.read()[0]) && std::isnan(xGrad.read()[0]) &&
        std::isnan(wGrad.read()[0]));
  CHECK_NEAR(predicted.read(), Values(4, 7.0), 0.0);
}

int main() {
  // Whole and odd rows of logits, one chunk and several, both layouts of w.
  test<float, float, int64_t>({12, 5, 24, 12, false});
  test<float, float, int32_t>({12, 16, 31, 4, true});
  test<__half, __half, int64_t>({24, 16, 2500, 8, true});
  test<__nv_bfloat16, float, int64_t>({24, 16, 37, 8, false});
  // Labels that select no class, also one within the padding of a row.
  test<float, float, int64_t>({8, 32, 9, 2, true}, 9);
  test<float, float, int64_t>({8, 32, 9, 2, true}, -1);
  const SmoothLabels smooth{0.1f};
  test<float, float, int64_t>({12, 5, 24, 12, false}, 0, smooth, 0.1);
  test<float, float, int32_t>({12, 16, 31, 4, true}, 0, smooth, 0.1);
  test<__half, __half, int64_t>({24, 16, 2500, 8, true}, 0, smooth, 0.1);
  test<float, float, int64_t>({8, 32, 9, 2, true}, 9, smooth, 0.1);
  testNaN();
  return finish();
}

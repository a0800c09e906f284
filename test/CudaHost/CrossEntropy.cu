//===- CrossEntropy.cu - Cross-entropy with integer labels ------*- C++ -*-===//
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
#include "amp/Runtime/CUDA/CrossEntropy.h"

#include <algorithm>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

template <typename X, typename D, typename Label, typename Targets = HardLabels>
static void testCrossEntropy(int64_t rows, int64_t classes, bool inPlace,
                             Targets targets = {}, double smoothing = 0) {
  ArrivalCounters arrivalCounters;
  inAllOrders("cross-entropy", [&] {
    Values x = randomValues<X>(rows * classes, 1, 4.0), labels(rows);
    for (int64_t i = 0; i < rows; ++i)
      labels[i] = double(i * 7919 % classes);
    // A smooth target of -inf would make the loss infinite.
    if (classes > 2 && smoothing == 0)
      x[classes - 1 - int64_t(labels[0] == classes - 1)] = -INFINITY;
    double loss = 0;
    Values grad(rows * classes);
    constexpr double seed = 1024;
    for (int64_t i = 0; i < rows; ++i) {
      const double *row = &x[i * classes];
      double largest = *std::max_element(row, row + classes), sum = 0;
      for (int64_t j = 0; j < classes; ++j)
        sum += std::exp(row[j] - largest);
      loss += std::log(sum) + largest;
      for (int64_t j = 0; j < classes; ++j) {
        const double target =
            (j == labels[i]) * (1 - smoothing) + smoothing / double(classes);
        loss -= target == 0 ? 0 : target * row[j];
        grad[i * classes + j] =
            (std::exp(row[j] - largest) / sum - target) * seed / rows;
      }
    }
    loss /= rows;

    Buffer<X> logits(x);
    Buffer<Label> dLabels(labels);
    Buffer<float> dLoss(1), lossAlone(1), dSeed(Values{seed});
    Buffer<D> dGrad(rows * classes), gradAlone(rows * classes);
    Buffer<unsigned char> scratch(size_t(crossEntropyScratchBytes(rows)));
    CHECK_OK(crossEntropy(nullptr, lossAlone.get(), static_cast<D *>(nullptr),
                          logits.get(), dLabels.get(), nullptr, rows, classes,
                          scratch.get(), arrivalCounters, targets));
    CHECK_OK(crossEntropy(nullptr, nullptr, gradAlone.get(), logits.get(),
                          dLabels.get(), dSeed.get(), rows, classes, nullptr,
                          nullptr, targets));
    D *to = dGrad.get();
    if constexpr (std::is_same_v<X, D>)
      to = inPlace ? logits.get() : to;
    CHECK_OK(crossEntropy(nullptr, dLoss.get(), to, logits.get(), dLabels.get(),
                          dSeed.get(), rows, classes, scratch.get(),
                          arrivalCounters, targets));
    Values result;
    if constexpr (std::is_same_v<X, D>)
      result = (inPlace ? logits : dGrad).read();
    else
      result = dGrad.read();
    CHECK_NEAR(dLoss.read(), Values{loss}, 1e-5);
    CHECK_NEAR(lossAlone.read(), dLoss.read(), 0.0);
    CHECK_NEAR(result, grad, epsilonOf<D>());
    CHECK_NEAR(gradAlone.read(), result, 0.0);
    CHECK(arrivalCounters.areZero());
    return KernelResults{result, dLoss.read()};
  });
}

int main() {
  // A warp, a block, and a row too long for registers; whole packs and odd.
  testCrossEntropy<float, float, int64_t>(64, 10, false);
  testCrossEntropy<__half, __half, int64_t>(13, 10, true);
  testCrossEntropy<__half, float, int32_t>(9, 1000, false);
  testCrossEntropy<float, float, int32_t>(3, 8200, true);
  testCrossEntropy<__nv_bfloat16, __nv_bfloat16, int64_t>(300, 3, true);
  testCrossEntropy<float, float, int64_t>(1, 1, false);
  const SmoothLabels smooth{0.1f};
  testCrossEntropy<float, float, int64_t>(64, 10, false, smooth, 0.1);
  testCrossEntropy<__half, __half, int64_t>(13, 10, true, smooth, 0.1);
  testCrossEntropy<__half, float, int32_t>(9, 1000, false, smooth, 0.1);
  testCrossEntropy<float, float, int32_t>(3, 8200, true, smooth, 0.1);
  return finish();
}

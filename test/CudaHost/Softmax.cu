//===- Softmax.cu - Softmax and its logarithm -------------------*- C++ -*-===//
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
#include "amp/Runtime/CUDA/Softmax.h"

#include <algorithm>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

template <typename T>
static void testSoftmax(int64_t outer, int64_t extent, int64_t inner,
                        bool inPlace) {
  inAllOrders("softmax", [&] {
    int64_t count = outer * extent * inner;
    Values x = randomValues<T>(count, 1, 3.0), dy = randomValues<T>(count, 2);
    if (extent > 2)
      x[inner] = -INFINITY; // takes no part
    Values y(count), logY(count);
    for (int64_t line = 0; line < outer * inner; ++line) {
      int64_t base = line / inner * extent * inner + line % inner;
      double largest = -INFINITY, sum = 0;
      for (int64_t i = 0; i < extent; ++i)
        largest = std::max(largest, x[base + i * inner]);
      for (int64_t i = 0; i < extent; ++i)
        sum += std::exp(x[base + i * inner] - largest);
      for (int64_t i = 0; i < extent; ++i) {
        int64_t at = base + i * inner;
        logY[at] = x[at] - largest - std::log(sum);
        y[at] = std::exp(logY[at]);
      }
    }
    Buffer<T> dX(x), out(count), logOut(count), g(dy), dG(count), dLogG(count);
    T *to = inPlace ? dX.get() : out.get();
    CHECK_OK(logSoftmaxForward(nullptr, logOut.get(), dX.get(), outer, extent,
                               inner));
    CHECK_OK(softmaxForward(nullptr, to, dX.get(), outer, extent, inner));
    Values resultY = (inPlace ? dX : out).read(), resultLog = logOut.read();
    CHECK_NEAR(resultY, y, epsilonOf<T>());
    CHECK_NEAR(resultLog, logY, epsilonOf<T>());

    // The gradients belong to the rounded results.
    Values dx(count), dLogX(count);
    for (int64_t line = 0; line < outer * inner; ++line) {
      int64_t base = line / inner * extent * inner + line % inner;
      double dot = 0, sum = 0;
      for (int64_t i = 0; i < extent; ++i) {
        dot += resultY[base + i * inner] * dy[base + i * inner];
        sum += dy[base + i * inner];
      }
      for (int64_t i = 0; i < extent; ++i) {
        int64_t at = base + i * inner;
        dx[at] = resultY[at] * (dy[at] - dot);
        dLogX[at] = dy[at] - std::exp(resultLog[at]) * sum;
      }
    }
    CHECK_OK(
        softmaxBackward(nullptr, dG.get(), to, g.get(), outer, extent, inner));
    T *toLog = inPlace ? g.get() : dLogG.get();
    CHECK_OK(logSoftmaxBackward(nullptr, toLog, logOut.get(), g.get(), outer,
                                extent, inner));
    Values resultDx = dG.read(), resultDLog = (inPlace ? g : dLogG).read();
    CHECK_NEAR(resultDx, dx, 2 * epsilonOf<T>());
    CHECK_NEAR(resultDLog, dLogX, 2 * epsilonOf<T>());
    return KernelResults{resultY, resultLog, resultDx, resultDLog};
  });
}

int main() {
  // A warp, a block, and a row too long for registers; whole packs and odd.
  testSoftmax<float>(5, 10, 1, false);
  testSoftmax<__half>(9, 64, 1, true);
  testSoftmax<__half>(2, 4099, 1, true);
  testSoftmax<float>(2, 1500, 1, true);
  testSoftmax<__nv_bfloat16>(2, 8200, 1, false);
  testSoftmax<float>(3, 7, 5, true);
  testSoftmax<__half>(1, 1, 1, false);
  return finish();
}

//===- Conv.cu - Convolution as matrix products -----------------*- C++ -*-===//
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
#include "amp/Runtime/CUDA/Conv.h"
#include "amp/Runtime/CUDA/Gemm.h"

#include <algorithm>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;
using KernelResults = std::vector<Values>;

template <typename T>
constexpr Type typeOf() {
  return std::is_same_v<T, __half>          ? Type::F16
         : std::is_same_v<T, __nv_bfloat16> ? Type::BF16
                                            : Type::F32;
}

template <typename T, typename R>
static void testConv(const ConvShape &s) {
  inAllOrders("conv", [&] {
    int64_t inCount = s.batch * s.height * s.width * s.channels;
    int64_t outCount = s.rows() * s.features;
    int64_t group = s.channels / s.groups, perGroup = s.features / s.groups;
    int64_t filterCount = s.depth() * s.features;
    Values x = randomValues<T>(inCount, 1), f = randomValues<T>(filterCount, 2);
    Values dy = randomValues<T>(outCount, 3),
           bias = randomValues<R>(s.features, 4);
    bool hasBias = s.groups == 1;
    Values y(outCount, 0.0), dx(inCount, 0.0), df(filterCount, 0.0);
    Values db(s.features, 0.0);
    for (int64_t i = 0; i < outCount; ++i)
      db[i % s.features] += dy[i];
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t oh = 0; oh < s.outHeight(); ++oh)
        for (int64_t ow = 0; ow < s.outWidth(); ++ow)
          for (int64_t o = 0; o < s.features; ++o) {
            int64_t out =
                ((n * s.outHeight() + oh) * s.outWidth() + ow) * s.features + o;
            y[out] = hasBias ? bias[o] : 0.0;
            for (int64_t i = 0; i < s.kernelHeight; ++i)
              for (int64_t j = 0; j < s.kernelWidth; ++j)
                for (int64_t c = 0; c < group; ++c) {
                  int64_t h =
                      oh * s.strideHeight + i * s.dilationHeight - s.padTop;
                  int64_t w =
                      ow * s.strideWidth + j * s.dilationWidth - s.padLeft;
                  if (h < 0 || w < 0 || h >= s.height || w >= s.width)
                    continue;
                  int64_t in = ((n * s.height + h) * s.width + w) * s.channels +
                               o / perGroup * group + c;
                  int64_t at =
                      ((i * s.kernelWidth + j) * group + c) * s.features + o;
                  y[out] += x[in] * f[at];
                  dx[in] += dy[out] * f[at];
                  df[at] += dy[out] * x[in];
                }
          }

    GemmConfig configs[] = {
        convForwardGemm("conv", s, typeOf<T>(), typeOf<R>()),
        convFilterGradGemm("conv_filter_grad", s, typeOf<T>(), Type::F32),
        convInputGradGemm("conv_input_grad", s, typeOf<T>(), typeOf<T>())};
    if (hasBias) {
      configs[0].epilogue = Epilogue::Bias;
      configs[1].epilogue = Epilogue::BiasGradB;
    }
    GemmPlans plans;
    CHECK_OK(plans.create(configs, 3, nullptr, 0));
    Buffer<T> dX(x), dF(f), dDy(dy), dDx(inCount);
    Buffer<R> dY(outCount), dBias(bias);
    Buffer<float> dDf(filterCount), dDb(s.features);
    Buffer<unsigned char> scratch(size_t(convScratchBytes(s, sizeof(T)))),
        gradScratch(size_t(convInputGradScratchBytes(s)));
    GemmBuffers buffers;
    buffers.b = dF.get();
    buffers.d = dY.get();
    buffers.bias = dBias.get();
    CHECK_OK(
        convForward(nullptr, plans, 0, s, buffers, dX.get(), scratch.get()));
    CHECK_OK(convFilterGrad(nullptr, plans, 1, s, dDf.get(), dDy.get(),
                            dX.get(), scratch.get(),
                            hasBias ? dDb.get() : nullptr));
    CHECK_OK(convInputGrad(nullptr, plans, 2, s, dDx.get(), dDy.get(), dF.get(),
                           gradScratch.get()));
    CHECK_NEAR(dY.read(), y, std::max(epsilonOf<R>(), 2e-6));
    CHECK_NEAR(dDf.read(), df, 2e-6);
    if (hasBias)
      CHECK_NEAR(dDb.read(), db, 2e-6);
    CHECK_NEAR(dDx.read(), dx, std::max(epsilonOf<T>(), 2e-6));
    return KernelResults{dY.read(), dDf.read(), dDx.read()};
  });
}

int main() {
  // batch, image, channels; filter, features; stride, padding, dilation, groups
  testConv<float, float>({2, 8, 8, 1, 3, 3, 4, 1, 1, 1, 1, 1, 1});
  testConv<__half, __half>({1, 7, 5, 8, 3, 3, 6, 2, 1, 1, 0, 2, 1});
  testConv<__half, float>({2, 6, 6, 16, 2, 3, 8, 1, 2, 0, 1, 1, 0, 2, 1, 2});
  testConv<__nv_bfloat16, __nv_bfloat16>(
      {1, 9, 9, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 2, 3});
  testConv<__half, __half>({3, 4, 4, 8, 1, 1, 16});
  testConv<float, float>({1, 5, 5, 4, 1, 1, 2, 2, 2});
  // As a first convolution: rows of patches of no whole vectors.
  testConv<__half, __half>({2, 11, 9, 3, 7, 7, 8, 2, 2, 3, 3, 3, 3});
  testConv<float, float>({1, 6, 6, 6, 3, 3, 4, 1, 1, 1, 1, 1, 1, 1, 1, 2});
  testConv<float, float>({1, 1, 1, 1, 1, 1, 1});
  ConvShape bad = {1, 2, 2, 3, 3, 3, 3};
  const void *patches = nullptr;
  Buffer<float> x(12);
  CHECK_ERROR(gatherPatches(nullptr, bad, x.get(), nullptr, &patches),
              "filter of 3 x 3 does not fit");
  bad.groups = 2;
  CHECK_ERROR(gatherPatches(nullptr, bad, x.get(), nullptr, &patches),
              "2 groups do not divide 3 channels");
  return finish();
}

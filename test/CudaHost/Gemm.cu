//===- Gemm.cu - Matrix products --------------------------------*- C++ -*-===//
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

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

/// The type of `T`.
template <typename T>
constexpr Type typeOf() {
  return std::is_same_v<T, __half>          ? Type::F16
         : std::is_same_v<T, __nv_bfloat16> ? Type::BF16
                                            : Type::F32;
}

static double gelu(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
/// Finite differences, which share no code with the implementation.
static double geluSlope(double x) {
  return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5;
}

/// A buffer of rows that are `stride` apart, the gaps filled with `gap`.
static Values spread(const Values &dense, int64_t rows, int64_t columns,
                     int64_t stride, double gap = 99) {
  Values result(rows * stride, gap);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[i * stride + j] = dense[i * columns + j];
  return result;
}

struct Case {
  int64_t m, n, k;
  bool transposeA = false, transposeB = false;
  Epilogue epilogue = Epilogue::None;
  float alpha = 1, beta = 0;
  int64_t gap = 0; ///< elements between the rows of every operand
};

/// Runs one product on T operands with an R result against a plain reference.
template <typename T, typename R>
static void test(const Case &test) {
  int64_t m = test.m, n = test.n, k = test.k, gap = test.gap;
  Epilogue e = test.epilogue;
  Values a = randomValues<T>(m * k, 1), b = randomValues<T>(k * n, 2);
  Values c = randomValues<R>(m * n, 3), bias = randomValues<R>(n, 4);
  Values pre = randomValues<R>(m * n, 5);

  // The reference.
  Values d(m * n), saved(m * n), maskOut(m * n), columnSum(n, 0.0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += a[i * k + l] * b[l * n + j];
      double x = test.alpha * sum + test.beta * c[i * n + j];
      if (addsBias(e))
        x += bias[j];
      saved[i * n + j] = x;
      maskOut[i * n + j] = x > 0;
      if (isRelu(e))
        x = std::max(x, 0.0);
      if (isGelu(e))
        x = gelu(x);
      if (isReluGrad(e))
        x = pre[i * n + j] > 0 ? x : 0;
      if (isGeluGrad(e))
        x *= geluSlope(pre[i * n + j]);
      d[i * n + j] = x;
      columnSum[j] += x;
    }
  Values biasGrad = columnSum;
  if (e == Epilogue::BiasGradA) {
    biasGrad.assign(m, 0.0);
    for (int64_t i = 0; i < m * k; ++i)
      biasGrad[i / k] += a[i];
  }
  if (e == Epilogue::BiasGradB) {
    biasGrad.assign(n, 0.0);
    for (int64_t i = 0; i < k * n; ++i)
      biasGrad[i % n] += b[i];
  }

  auto transposed = [](const Values &x, int64_t rows, int64_t columns) {
    Values y(x.size());
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        y[j * rows + i] = x[i * columns + j];
    return y;
  };
  GemmConfig config;
  config.name = "test";
  config.m = m;
  config.n = n;
  config.k = k;
  config.typeA = config.typeB = typeOf<T>();
  config.typeD = typeOf<R>();
  config.transposeA = test.transposeA;
  config.transposeB = test.transposeB;
  config.alpha = test.alpha;
  config.beta = test.beta;
  config.epilogue = e;
  int64_t rowA = test.transposeA ? m : k, rowB = test.transposeB ? k : n;
  if (gap) {
    config.strideA = rowA + gap;
    config.strideB = rowB + gap;
    config.strideD = n + gap;
    config.strideC = n + 2 * gap;
  }
  if (usesAux(e))
    config.strideAux = usesMask(e) ? reluMaskStride(n) : alignTo(n, 8);
  Buffer<T> dA(spread(test.transposeA ? transposed(a, m, k) : a, m * k / rowA,
                      rowA, rowA + gap));
  Buffer<T> dB(spread(test.transposeB ? transposed(b, k, n) : b, k * n / rowB,
                      rowB, rowB + gap));
  Buffer<R> dC(spread(c, m, n, n + 2 * gap));
  Buffer<R> dD(Values(m * (n + gap), 77.0)), dBias(bias);
  Buffer<R> dBiasGrad(biasGrad.size());
  Values auxIn = spread(pre, m, n, alignTo(n, 8));
  Buffer<R> dSaved(auxIn);
  std::vector<double> maskBytes(reluMaskBytes(m, n), 0.0);
  for (int64_t i = 0; i < m * n; ++i) {
    int64_t bit = i / n * reluMaskStride(n) + i % n;
    if (pre[i] > 0)
      maskBytes[bit / 8] += 1 << bit % 8;
  }
  Buffer<uint8_t> dMask(maskBytes);
  Buffer<unsigned char> workspace(size_t(1) << 20);

  GemmPlans plans;
  CHECK_OK(plans.create(&config, 1, workspace.get(), workspace.size()));
  GemmBuffers buffers;
  buffers.a = dA.get();
  buffers.b = dB.get();
  buffers.c = dC.get();
  buffers.d = dD.get();
  buffers.bias = dBias.get();
  buffers.biasGrad = dBiasGrad.get();
  buffers.aux = usesMask(e) ? static_cast<void *>(dMask.get()) : dSaved.get();
  if (plans.size() != 1)
    return;
  CHECK_OK(plans.run(0, buffers, nullptr));

  // A fallback rounds twice.
  double tolerance = epsilonOf<R>() * (plans.hasKernelEpilogue(0) ? 2.5 : 1.0);
  if (typeOf<T>() == Type::F32)
    tolerance = std::max(tolerance, 2e-6);
  CHECK_NEAR(dD.read(), spread(d, m, n, n + gap, 77.0), tolerance);
  if (writesBiasGrad(e))
    CHECK_NEAR(dBiasGrad.read(), biasGrad, std::max(tolerance, 1e-5));
  if (e == Epilogue::GeluAux || e == Epilogue::GeluAuxBias) {
    Values out = dSaved.read(), dense(m * n);
    for (int64_t i = 0; i < m * n; ++i)
      dense[i] = out[i / n * config.strideAux + i % n];
    CHECK_NEAR(dense, saved, tolerance);
  }
  if (writesAux(e) && usesMask(e)) {
    Values out = dMask.read();
    int64_t wrong = 0;
    for (int64_t i = 0; i < m * n; ++i) {
      int64_t bit = i / n * config.strideAux + i % n;
      bool set = int(out[bit / 8]) >> bit % 8 & 1;
      wrong += set != (maskOut[i] != 0) && std::fabs(saved[i]) > 1e-2;
    }
    CHECK(wrong == 0);
  }
}

template <typename T, typename R>
static void testShapes() {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true}) {
      test<T, R>({5, 7, 9, transposeA, transposeB});
      test<T, R>(
          {16, 24, 8, transposeA, transposeB, Epilogue::None, 0.5f, 1.0f, 3});
      test<T, R>(
          {3, 10, 33, transposeA, transposeB, Epilogue::Bias, 1.0f, 0.0f, 1});
    }
}

/// All epilogues, by the library or by kernels.
template <typename T, typename R>
static void testEpilogues() {
  for (int code = 0; code <= int(Epilogue::BiasGradB); ++code) {
    auto epilogue = Epilogue(code);
    // Bias gradients of operands determine the layouts of these.
    bool ofA = epilogue == Epilogue::BiasGradA;
    bool ofB = epilogue == Epilogue::BiasGradB;
    for (int flags = 0; flags < (ofA || ofB ? 4 : 2); ++flags)
      if ((!ofA || flags & 2) && (!ofB || !(flags & 1)))
        test<T, R>({9, 21, 13, bool(flags & 2), bool(flags & 1), epilogue});
    test<T, R>({1, 1, 1, ofA, false, epilogue});
  }
}

static void testBatch() {
  // Products that share B, with D in the columns of one matrix.
  constexpr int64_t batch = 3, m = 4, n = 5, k = 6;
  Values a = randomValues<__half>(batch * m * k, 1);
  Values b = randomValues<__half>(k * n, 2);
  GemmConfig config;
  config.m = m;
  config.n = n;
  config.k = k;
  config.typeA = config.typeB = Type::F16;
  config.batch = batch;
  config.batchStrideB = -1;
  config.strideD = batch * n;
  config.batchStrideD = n;
  Values d(m * batch * n);
  for (int64_t g = 0; g < batch; ++g)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t l = 0; l < k; ++l)
          d[i * batch * n + g * n + j] += a[(g * m + i) * k + l] * b[l * n + j];
  Buffer<__half> dA(a), dB(b);
  Buffer<float> dD(m * batch * n);
  GemmPlans plans;
  CHECK_OK(plans.create(&config, 1, nullptr, 0));
  GemmBuffers buffers;
  buffers.a = dA.get();
  buffers.b = dB.get();
  buffers.d = dD.get();
  CHECK_OK(plans.run(0, buffers, nullptr));
  CHECK_NEAR(dD.read(), d, 1e-6);
}

static void testFaults() {
  GemmConfig good;
  good.m = good.n = good.k = 16;
  CHECK_OK(verifyGemm(good));
  auto check = [&](auto change, const char *text) {
    GemmConfig config = good;
    change(config);
    CHECK_ERROR(verifyGemm(config), text);
    GemmPlans plans;
    config.name = "bad";
    CHECK_ERROR(plans.create(&config, 1, nullptr, 0), "product 'bad': ");
  };
  check([](GemmConfig &g) { g.k = 0; }, "16 x 16 x 0, expected positive");
  check([](GemmConfig &g) { g.typeB = Type::F16; }, "operands are f32 and f16");
  check([](GemmConfig &g) { g.typeA = g.typeB = Type::F64; }, "f64 and f64");
  check([](GemmConfig &g) { g.typeD = Type::BF16; }, "the result is bf16");
  check(
      [](GemmConfig &g) {
        g.typeA = g.typeB = Type::F16;
        g.compute = GemmCompute::TF32;
      },
      "tf32 products have f32 operands");
  check([](GemmConfig &g) { g.strideA = 15; }, "rows of A are 15 apart");
  check(
      [](GemmConfig &g) {
        g.epilogue = Epilogue::ReluAux;
        g.strideAux = 64;
      },
      "multiple of 128");
  check(
      [](GemmConfig &g) {
        g.epilogue = Epilogue::DGelu;
        g.strideAux = 8;
      },
      "at least 16");
  check([](GemmConfig &g) { g.strideAux = 128; }, "no aux");
  check(
      [](GemmConfig &g) {
        g.batch = 2;
        g.epilogue = Epilogue::Bias;
      },
      "single product");
  check(
      [](GemmConfig &g) {
        g.beta = 1;
        g.epilogue = Epilogue::Gelu;
      },
      "no epilogue but a bias");
  check([](GemmConfig &g) { g.epilogue = Epilogue::BiasGradA; },
        "expected a transposed A");
  check(
      [](GemmConfig &g) {
        g.epilogue = Epilogue::BiasGradB;
        g.transposeB = true;
      },
      "expected a B that is not transposed");
  GemmPlans plans;
  CHECK_OK(plans.create(&good, 1, nullptr, 0));
  Buffer<float> a(256), d(256);
  GemmBuffers buffers;
  buffers.a = a.get();
  buffers.d = d.get();
  CHECK_ERROR(plans.run(0, buffers, nullptr), "lacks a buffer");
  CHECK_ERROR(plans.run(1, buffers, nullptr), "product 1 of 1");
  // The emulator rejects arguments that the library accepts with wrong results.
  buffers.b = a.get();
  buffers.d = a.get() + 8;
  CHECK_ERROR(plans.run(0, buffers, nullptr), "failed");
  CHECK(host::violations().size() == 1);
  host::clearViolations();
  buffers.d = d.get() + 1;
  CHECK_ERROR(plans.run(0, buffers, nullptr), "failed");
  host::clearViolations();
  host::options().devices = 0;
  CHECK_ERROR(plans.create(&good, 1, nullptr, 0), "no CUDA-capable device");
  host::options().devices = 1;
  cudaGetLastError();
}

/// Parts of a sum are never rounded to a 16-bit result: f16 cannot represent
/// 2049.
static void testParts() {
  GemmConfig config;
  config.m = config.n = 1;
  config.k = 4;
  config.typeA = config.typeB = config.typeD = Type::F16;
  Buffer<__half> a(Values{2048, 1, -2048, 0}), b(Values(4, 1.0)), d(1);
  Buffer<uint8_t> workspace(1 << 16);
  GemmPlans plans;
  CHECK_OK(plans.create(&config, 1, workspace.get(), workspace.size()));
  GemmBuffers buffers;
  buffers.a = a.get();
  buffers.b = b.get();
  buffers.d = d.get();
  CHECK_OK(plans.run(0, buffers, nullptr));
  CHECK(d.read()[0] == 1);
}

int main() {
  testShapes<float, float>();
  testShapes<__half, __half>();
  testShapes<__half, float>();
  testShapes<__nv_bfloat16, __nv_bfloat16>();
  for (bool fallback : {false, true}) {
    if (fallback)
      for (int code = 1; code <= int(Epilogue::BiasGradB); ++code)
        if (Epilogue(code) != Epilogue::Bias)
          host::options().unsupportedEpilogues.push_back(
              toCublas(Epilogue(code)));
    testEpilogues<float, float>();
    testEpilogues<__half, __half>();
    testEpilogues<__nv_bfloat16, float>();
  }
  // Not even a bias.
  host::options().unsupportedEpilogues.push_back(toCublas(Epilogue::Bias));
  test<__half, __half>({9, 21, 13, false, false, Epilogue::GeluAuxBias});
  test<float, float>({9, 21, 13, false, false, Epilogue::Bias});
  // Our bias gradient after an activation of the library.
  host::options().unsupportedEpilogues = {toCublas(Epilogue::DReluBiasGrad),
                                          toCublas(Epilogue::DGeluBiasGrad)};
  for (Epilogue each : {Epilogue::DReluBiasGrad, Epilogue::DGeluBiasGrad})
    for (int64_t n : {21, 24})
      test<__half, __half>({9, n, 13, false, true, each});
  host::options().unsupportedEpilogues.clear();
  testBatch();
  testFaults();
  testParts();
  return finish();
}

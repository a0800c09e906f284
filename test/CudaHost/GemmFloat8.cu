//===- GemmFloat8.cu - Products of 8-bit floats -----------------*- C++ -*-===//
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
#include "amp/Runtime/CUDA/Gemm.h"
#include "amp/Runtime/Host/Float8.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

static GemmConfig makeConfig() {
  GemmConfig g;
  g.name = "product";
  g.m = 7, g.n = 32, g.k = 48;
  g.typeA = g.typeB = Type::U8, g.typeD = Type::BF16;
  g.float8A = Float8::E5M2, g.float8B = Float8::E4M3;
  g.transposeB = true;
  return g;
}

static float decode(Float8 format, double code) {
  return amphost::float8ToFloat(
      format == Float8::E4M3 ? amphost::kE4M3 : amphost::kE5M2, uint8_t(code));
}

/// Codes of magnitudes below 2.
static Values makeCodes(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Values codes(count);
  for (double &code : codes)
    code = double(random() & 0xbf);
  return codes;
}

/// A product, with a bias, with each type of result and tuned, against f64.
template <typename T>
static void testProduct(Type type, bool addsBias, bool tune) {
  GemmConfig g = makeConfig();
  g.typeD = type;
  g.epilogue = addsBias ? Epilogue::Bias : Epilogue::None;
  g.fastAccumulation = addsBias;
  const Values a = makeCodes(g.m * g.k, 1), b = makeCodes(g.n * g.k, 2),
               bias = randomValues<T>(g.n, 3);
  const float scaleA = 0.3f, scaleB = 5.0f;
  Values expected(g.m * g.n);
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < g.k; ++l)
        sum += double(decode(g.float8A, a[i * g.k + l])) *
               decode(g.float8B, b[j * g.k + l]);
      expected[i * g.n + j] =
          sum * scaleA * scaleB + (addsBias ? bias[j] : 0.0);
    }
  Buffer<uint8_t> dataA(a), dataB(b);
  Buffer<T> d(expected.size()), dataBias(bias);
  Buffer<float> factorA(Values{scaleA}), factorB(Values{scaleB});
  GemmPlans plans;
  GemmOptions options;
  options.tune = tune;
  CHECK_OK(plans.create(&g, 1, nullptr, 0, options));
  GemmBuffers buffers;
  buffers.a = dataA.get();
  buffers.b = dataB.get();
  buffers.d = d.get();
  buffers.bias = addsBias ? dataBias.get() : nullptr;
  buffers.scaleA = factorA.get();
  CHECK_ERROR(plans.run(0, buffers, nullptr), "lacks a buffer");
  buffers.scaleB = factorB.get();
  CHECK_OK(plans.run(0, buffers, nullptr));
  CHECK_NEAR(d.read(), expected, epsilonOf<T>());
}

/// Returns random powers of two as the factors of an operand of `outer` rows,
/// in the layout of the library. `ofElements` receives the factor of each
/// element.
static Values makeFactors(Float8Scale scale, int64_t outer, int64_t inner,
                          unsigned seed, Values &ofElements) {
  const int64_t rows = float8ScaleRows(scale, outer),
                columns = float8ScaleColumns(scale, inner);
  const bool isSquare = scale == Float8Scale::Block128,
             hasExponents = scale == Float8Scale::Vector32;
  std::mt19937 random(seed);
  Values exponents(rows * columns), factors(rows * columns);
  for (size_t i = 0; i < factors.size(); ++i) {
    exponents[i] = double(int(random() % 9) - 4);
    factors[i] = hasExponents ? exponents[i] + 127 : std::exp2(exponents[i]);
  }
  ofElements.resize(outer * inner);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t vector = float8ScaleInner(scale);
      ofElements[o * inner + i] = std::exp2(exponents[float8ScaleIndex(
          scale, rows, columns, isSquare ? o / 128 : o,
          vector ? i / vector : 0)]);
    }
  return factors;
}

/// Compares a product whose operands have factors of rows or blocks with f64.
/// The emulator has separate code for the layouts of factors.
template <typename FactorT>
static void testFactors(Float8Scale scaleA, Float8Scale scaleB, bool tune) {
  GemmConfig g = makeConfig();
  g.typeD = Type::F32;
  g.m = 144, g.n = 272, g.k = 256 + 128;
  g.scalesA = scaleA, g.scalesB = scaleB;
  const Values a = makeCodes(g.m * g.k, 1), b = makeCodes(g.n * g.k, 2);
  Values ofA, ofB;
  const Values factorsA = makeFactors(scaleA, g.m, g.k, 3, ofA),
               factorsB = makeFactors(scaleB, g.n, g.k, 4, ofB);
  Values expected(g.m * g.n, 0.0);
  for (int64_t i = 0; i < g.m; ++i)
    for (int64_t j = 0; j < g.n; ++j)
      for (int64_t l = 0; l < g.k; ++l)
        expected[i * g.n + j] +=
            double(decode(g.float8A, a[i * g.k + l])) * ofA[i * g.k + l] *
            decode(g.float8B, b[j * g.k + l]) * ofB[j * g.k + l];
  Buffer<uint8_t> dataA(a), dataB(b);
  Buffer<float> d(expected.size());
  Buffer<FactorT> dataFactorsA(factorsA), dataFactorsB(factorsB);
  GemmPlans plans;
  GemmOptions options;
  options.tune = tune;
  CHECK_OK(plans.create(&g, 1, nullptr, 0, options));
  GemmBuffers buffers;
  buffers.a = dataA.get();
  buffers.b = dataB.get();
  buffers.d = d.get();
  buffers.scaleA = dataFactorsA.get();
  buffers.scaleB = dataFactorsB.get();
  CHECK_OK(plans.run(0, buffers, nullptr));
  CHECK_NEAR(d.read(), expected, epsilonOf<float>());
}

/// Tests each kind of factors on GPUs that support it, and errors on others.
static void testKinds() {
  using S = Float8Scale;
  for (bool tune : {false, true}) {
    testFactors<float>(S::Outer, S::Outer, tune);
    testFactors<float>(S::Vector128, S::Vector128, false);
    testFactors<float>(S::Vector128, S::Block128, tune);
    testFactors<float>(S::Block128, S::Vector128, false);
    host::options().capability = 100;
    testFactors<uint8_t>(S::Vector32, S::Vector32, tune);
    host::options().capability = 90;
  }
  auto expect = [](S scaleA, S scaleB, int capability, const char *fault,
                   auto change) {
    GemmConfig g = makeConfig();
    g.m = 16, g.k = 256;
    g.scalesA = scaleA, g.scalesB = scaleB;
    change(g);
    host::options().capability = capability;
    GemmPlans plans;
    CHECK_ERROR(plans.create(&g, 1, nullptr, 0), fault);
    host::options().capability = 90;
  };
  auto nothing = [](GemmConfig &) {};
  expect(S::Outer, S::Outer, 100,
         "with factors of rows need a GPU of compute "
         "capability 9.0, such as an H100",
         nothing);
  expect(S::Vector128, S::Block128, 100, "with factors of blocks need",
         nothing);
  expect(S::Vector32, S::Vector32, 90, "10.0 or later, such as a B200",
         nothing);
  expect(S::Outer, S::Tensor, 90, "cannot be combined", nothing);
  expect(S::Block128, S::Block128, 90, "cannot be combined", nothing);
  expect(S::Vector32, S::Vector128, 90, "cannot be combined", nothing);
  expect(S::Vector128, S::Vector128, 90, "expected multiples of 16 and 128",
         [](GemmConfig &g) { g.k = 144; });
  expect(S::Vector128, S::Vector128, 90, "expected multiples of 16 and 128",
         [](GemmConfig &g) { g.m = 7; });
  expect(S::Vector128, S::Vector128, 90, "are not packed",
         [](GemmConfig &g) { g.strideA = 512; });
  expect(S::Vector128, S::Vector128, 90, "fast accumulation goes with factors",
         [](GemmConfig &g) { g.fastAccumulation = true; });
  expect(S::Outer, S::Outer, 90, "factors go with 8-bit operands",
         [](GemmConfig &g) {
           g = GemmConfig();
           g.m = g.n = g.k = 16;
           g.scalesA = S::Outer;
         });
}

/// The faults of a product, before any call of the library.
static void testFaults() {
  auto expect = [](auto change, const char *fault) {
    GemmConfig g = makeConfig();
    change(g);
    GemmPlans plans;
    CHECK_ERROR(plans.create(&g, 1, nullptr, 0), fault);
  };
  using G = GemmConfig;
  expect([](G &g) { g.float8A = Float8::None; }, "expected both");
  expect([](G &g) { g.typeA = Type::F16; }, "expected both");
  expect([](G &g) { g.float8B = Float8::E5M2; }, "at most one");
  expect([](G &g) { g.typeD = Type::U8; }, "the result of 8-bit operands is");
  expect([](G &g) { g.transposeB = false; }, "along the contracted dimension");
  expect([](G &g) { g.transposeA = true; }, "along the contracted dimension");
  expect([](G &g) { g.n = 24; }, "expected multiples of 16");
  expect([](G &g) { g.k = 40; }, "expected multiples of 16");
  expect([](G &g) { g.strideA = 56; }, "apart, expected a multiple of 16");
  expect([](G &g) { g.beta = 1.0f; }, "without a C operand");
  expect([](G &g) { g.batch = 2; }, "a single product");
  expect([](G &g) { g.epilogue = Epilogue::Relu; }, "no epilogue but a bias");
  expect(
      [](G &g) {
        g.epilogue = Epilogue::Bias;
        g.typeD = Type::F32;
      },
      "a bias of f32");
  expect(
      [](G &g) {
        g = G();
        g.m = g.n = g.k = 16;
        g.fastAccumulation = true;
      },
      "fast accumulation goes with 8-bit operands");
  host::options().capability = 80;
  expect([](G &) {}, "need a GPU of compute capability 8.9 or later, such as "
                     "an H100, but this one has 8.0");
  host::options().capability = 89;
  GemmConfig g = makeConfig();
  GemmPlans plans;
  CHECK_OK(plans.create(&g, 1, nullptr, 0));
  host::options().capability = 90;
}

/// The descriptors of a product, as the library gets them.
struct Descriptors {
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  int32_t transA = CUBLAS_OP_T, transB = CUBLAS_OP_N;
  cudaDataType_t typeA = CUDA_R_8F_E4M3, typeB = CUDA_R_8F_E5M2,
                 typeD = CUDA_R_32F;
  bool hasScales = true;
  Float8Scale scalesA = Float8Scale::Tensor, scalesB = Float8Scale::Tensor;
  int8_t isFast = 0;
  int64_t k = 32, n = 16;

  /// What the heuristic of the library returns.
  cublasStatus_t ask() {
    cublasLtHandle_t handle = nullptr;
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;
    const void *scale = &found;
    cublasLtCreate(&handle);
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transA,
                                   sizeof(transA));
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &transB,
                                   sizeof(transB));
    if (hasScales)
      CHECK_OK(setScales(desc, scale, scale));
    CHECK_OK(setScaleModes(desc, scalesA, scalesB));
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM,
                                   &isFast, sizeof(isFast));
    const bool turnsA = transA == CUBLAS_OP_T, turnsB = transB == CUBLAS_OP_T;
    cublasLtMatrixLayoutCreate(&a, typeA, turnsA ? k : n, turnsA ? n : k,
                               turnsA ? k : n);
    cublasLtMatrixLayoutCreate(&b, typeB, turnsB ? 16 : k, turnsB ? k : 16,
                               turnsB ? 16 : k);
    cublasLtMatrixLayoutCreate(&d, typeD, n, 16, n);
    cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle, desc, a, b, d, d, preference, 1, &result, &found);
    for (cublasLtMatrixLayout_t layout : {a, b, d})
      cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(desc);
    cublasLtMatmulPreferenceDestroy(preference);
    cublasLtDestroy(handle);
    return status;
  }
};

/// The emulator refuses what the library refuses, which is a violation.
static void testRefusals() {
  CHECK(Descriptors().ask() == CUBLAS_STATUS_SUCCESS);
  auto expect = [](auto change, const char *text) {
    Descriptors descriptors;
    change(descriptors);
    CHECK(descriptors.ask() == CUBLAS_STATUS_INVALID_VALUE);
    bool isSaid = false;
    for (const std::string &violation : host::violations())
      isSaid |= violation.find(text) != std::string::npos;
    if (!isSaid)
      fail(__FILE__, __LINE__, std::string("no violation has: ") + text);
    host::clearViolations();
  };
  using D = Descriptors;
  expect([](D &d) { d.transA = CUBLAS_OP_N; }, "(TN)");
  expect([](D &d) { d.transB = CUBLAS_OP_T; }, "(TN)");
  expect([](D &d) { d.hasScales = false; }, "the pointer to a scale");
  expect([](D &d) { d.typeA = CUDA_R_8F_E5M2; }, "both operands are E5M2");
  expect([](D &d) { d.typeB = CUDA_R_16F; }, "one operand alone has 8 bits");
  expect([](D &d) { d.typeD = CUDA_R_8F_E4M3; }, "D of 8-bit operands");
  expect([](D &d) { d.k = 24; }, "multiples of 16 bytes");
  expect([](D &d) { d.n = 18; }, "multiples of 16 bytes");
  expect([](D &d) { d.typeA = d.typeB = CUDA_R_32F; }, "more than 8 bits");
  using S = Float8Scale;
  expect([](D &d) { d.scalesA = S::Outer; }, "cannot be combined");
  expect([](D &d) { d.scalesA = d.scalesB = S::Block128; }, "of squares");
  expect([](D &d) { d.scalesA = d.scalesB = S::Vector32; },
         "need compute capability 10.0");
  expect([](D &d) { d.scalesA = d.scalesB = S::Vector128; }, "whole vectors");
  expect(
      [](D &d) {
        d.scalesA = d.scalesB = S::Vector128;
        d.k = 128;
        d.isFast = 1;
      },
      "fast accumulation with scales of blocks");
  host::options().capability = 100;
  expect([](D &d) { d.scalesA = d.scalesB = S::Outer; },
         "need compute capability 9.0");
  host::options().capability = 90;
}

int main() {
  for (bool addsBias : {false, true})
    for (bool tune : {false, true}) {
      testProduct<__nv_bfloat16>(Type::BF16, addsBias, tune);
      testProduct<__half>(Type::F16, addsBias, tune);
    }
  testProduct<float>(Type::F32, false, false);
  testKinds();
  testFaults();
  testRefusals();
  return finish();
}

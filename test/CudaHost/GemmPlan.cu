//===- GemmPlan.cu - What a product's epilogue becomes ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t %t.cache
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Gemm.h"

#include <fstream>
#include <sstream>

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

static GemmConfig configOf(Epilogue epilogue) {
  GemmConfig config;
  config.m = 6;
  config.n = 16;
  config.k = 8;
  config.typeA = config.typeB = config.typeD = Type::F16;
  config.epilogue = epilogue;
  config.transposeA = epilogue == Epilogue::BiasGradA;
  if (usesAux(epilogue))
    config.strideAux = usesMask(epilogue) ? 128 : 16;
  return config;
}

/// The epilogue that the library computes if it refuses `refused` in some way.
static void testSteps() {
  auto expect = [](Epilogue wanted, std::vector<Epilogue> refused,
                   Epilogue expected) {
    for (auto *list : {&host::options().unsupportedEpilogues,
                       &host::options().invalidEpilogues,
                       &host::options().failingEpilogues}) {
      for (Epilogue each : refused)
        list->push_back(toCublas(each));
      GemmConfig config = configOf(wanted);
      GemmPlans plans;
      CHECK_OK(plans.create(&config, 1, nullptr, 0));
      CHECK(plans.size() == 1 && plans.getLibraryEpilogue(0) == expected);
      list->clear();
    }
  };
  using E = Epilogue;
  for (int code = 1; code <= int(E::BiasGradB); ++code) {
    expect(E(code), {}, E(code));
    expect(E(code), {E(code), E::Bias, E::DRelu, E::DGelu}, E::None);
  }
  expect(E::DReluBiasGrad, {E::DReluBiasGrad}, E::DRelu);
  expect(E::DGeluBiasGrad, {E::DGeluBiasGrad}, E::DGelu);
  for (E wanted : {E::ReluBias, E::ReluAuxBias, E::GeluBias, E::GeluAuxBias})
    expect(wanted, {wanted}, E::Bias);
  // If no product is possible, the library's error is returned.
  host::options().invalidEpilogues.push_back(toCublas(E::None));
  GemmConfig config = configOf(E::None);
  GemmPlans plans;
  CHECK_ERROR(plans.create(&config, 1, nullptr, 0), "INVALID_VALUE");
  host::options().invalidEpilogues.clear();
  host::options().failingEpilogues.push_back(toCublas(E::None));
  CHECK_ERROR(plans.create(&config, 1, nullptr, 0),
              "no algorithm for 6x16x8-f16-f16-e0");
  host::options().failingEpilogues.clear();
}

/// A DRELU of the library with our sums.
static void testOwnBiasGrad() {
  host::options().invalidEpilogues = {toCublas(Epilogue::DReluBiasGrad)};
  constexpr int64_t m = 200, n = 72;
  GemmConfig config = configOf(Epilogue::DReluBiasGrad);
  config.m = m;
  config.n = n;
  config.k = 1;
  Values b(n), d(m * n), sums(n, 0.0), bits(reluMaskBytes(m, n), 0.0);
  for (int64_t j = 0; j < n; ++j)
    b[j] = double(j % 7) - 2;
  for (int64_t i = 0; i < m * n; ++i) {
    bool passes = i % 3 != 0;
    d[i] = passes ? b[i % n] : 0;
    sums[i % n] += d[i];
    int64_t bit = i / n * 128 + i % n;
    bits[bit / 8] += passes ? 1 << bit % 8 : 0;
  }
  Buffer<__half> dA(Values(m, 1.0)), dB(b), dD(m * n), dSums(n);
  Buffer<uint8_t> mask(bits), workspace(1 << 16);
  GemmPlans plans;
  CHECK_OK(plans.create(&config, 1, workspace.get(), workspace.size()));
  GemmBuffers buffers;
  buffers.a = dA.get();
  buffers.b = dB.get();
  buffers.d = dD.get();
  buffers.biasGrad = dSums.get();
  buffers.aux = mask.get();
  CHECK_OK(plans.run(0, buffers, nullptr));
  CHECK_NEAR(dD.read(), d, 0.0);
  CHECK_NEAR(dSums.read(), sums, 0.0);
  host::options().invalidEpilogues.clear();
}

/// Only a relu of the library that hides NaN is replaced.
static void testNaN() {
  for (bool drops : {false, true}) {
    if (drops)
      host::options().epiloguesDroppingNaN = {
          {CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLAS_COMPUTE_32F}};
    GemmConfig configs[3];
    configs[0].m = 3;
    configs[0].n = 8;
    configs[0].k = 2;
    configs[0].typeA = configs[0].typeB = configs[0].typeD = Type::F16;
    configs[0].epilogue = Epilogue::ReluAuxBias;
    configs[0].strideAux = 128;
    configs[1] = configs[0];
    configs[1].epilogue = Epilogue::Relu;
    configs[1].strideAux = 0;
    configs[2] = configs[0];
    configs[2].typeA = configs[2].typeB = configs[2].typeD = Type::F32;
    configs[2].compute = GemmCompute::TF32;
    Buffer<__half> a(Values{1, 2, NAN, 1, -1, -1});
    Buffer<__half> b(Values(16, 1.0)), bias(Values(8, 0.0)), d(24);
    Buffer<uint8_t> aux(reluMaskBytes(3, 8)), workspace(1 << 16);
    // Without a workspace memory is allocated for a while.
    size_t before = host::allocatedBytes(), count = host::allocationCount();
    GemmPlans plans;
    CHECK_OK(plans.create(configs, 3, nullptr, 0));
    CHECK(host::allocatedBytes() == before);
    CHECK(plans.hasKernelEpilogue(0) == drops);
    CHECK(host::allocationCount() == count + 3);
    CHECK_OK(plans.create(configs, 3, workspace.get(), workspace.size()));
    CHECK(host::allocationCount() == count + 3);
    CHECK(plans.hasKernelEpilogue(0) == drops);
    CHECK(!plans.hasKernelEpilogue(1) && !plans.hasKernelEpilogue(2));
    GemmBuffers buffers;
    buffers.a = a.get();
    buffers.b = b.get();
    buffers.d = d.get();
    buffers.bias = bias.get();
    buffers.aux = aux.get();
    CHECK_OK(plans.run(0, buffers, nullptr));
    Values expected(24, 0.0);
    for (int j = 0; j < 8; ++j) {
      expected[j] = 3;
      expected[8 + j] = NAN;
    }
    CHECK_NEAR(d.read(), expected, 0.0);
    // The gradient of NaN passes, as on the CPU.
    CHECK(aux.read()[0] == 255 && aux.read()[16] == 255 && aux.read()[32] == 0);
  }
  // Only f32 products keep NaN.
  GemmConfig config = configOf(Epilogue::ReluAuxBias);
  config.typeA = config.typeB = config.typeD = Type::F32;
  for (auto compute : {GemmCompute::F32, GemmCompute::TF32}) {
    config.compute = compute;
    GemmPlans plans;
    CHECK_OK(plans.create(&config, 1, nullptr, 0));
    CHECK(plans.hasKernelEpilogue(0) == (compute == GemmCompute::F32));
  }
  // A failed query is an error.
  host::options().epiloguesDroppingNaN.clear();
  host::options().deviceMemory = host::allocatedBytes() + 256;
  GemmPlans plans;
  CHECK_OK(plans.create(&config, 1, nullptr, 0));
  CHECK(plans.hasKernelEpilogue(0));
  host::options().deviceMemory = size_t(4) << 30;
}

static std::string contents(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

static void testTuning(const std::string &cache) {
  std::remove(cache.c_str());
  GemmConfig configs[2];
  configs[0].m = configs[0].n = configs[0].k = 24;
  configs[1] = configs[0];
  configs[1].epilogue = Epilogue::DReluBiasGrad;
  configs[1].strideAux = 128;
  configs[1].typeA = configs[1].typeB = configs[1].typeD = Type::BF16;
  Buffer<uint8_t> workspace(1 << 16);
  GemmOptions options;
  options.tune = true;
  options.cachePath = cache;
  // The epilogue of the library is slower than our kernels.
  host::options().slowEpilogues = {toCublas(Epilogue::DReluBiasGrad),
                                   toCublas(Epilogue::DRelu)};
  size_t before = host::allocationCount(), bytes = host::allocatedBytes();
  GemmPlans plans;
  CHECK_OK(
      plans.create(configs, 2, workspace.get(), workspace.size(), options));
  CHECK(host::allocationCount() > before && host::allocatedBytes() == bytes);
  CHECK(plans.getLibraryEpilogue(1) == Epilogue::None);
  host::options().slowEpilogues.clear();
  // The second run tunes nothing and changes nothing.
  before = host::allocationCount();
  std::string text = contents(cache);
  CHECK(text.find(" e0 ") != std::string::npos);
  CHECK_OK(
      plans.create(configs, 2, workspace.get(), workspace.size(), options));
  CHECK(host::allocationCount() == before);
  CHECK(contents(cache) == text);
  CHECK(plans.getLibraryEpilogue(1) == Epilogue::None);
  // The same without the option: the stored choice is used.
  options.tune = false;
  CHECK_OK(
      plans.create(configs, 2, workspace.get(), workspace.size(), options));
  CHECK(plans.getLibraryEpilogue(1) == Epilogue::None);
  // An epilogue that the product does not have, or an algorithm that the
  // library does not take, is not used.
  for (size_t at; (at = text.find(" e0 ")) != std::string::npos;)
    text.replace(at, 4, " e9 ");
  std::ofstream(cache) << text;
  CHECK_OK(
      plans.create(configs, 2, workspace.get(), workspace.size(), options));
  CHECK(plans.getLibraryEpilogue(1) == Epilogue::DReluBiasGrad);
  // The other way round.
  std::remove(cache.c_str());
  options.tune = true;
  host::options().slowEpilogues = {toCublas(Epilogue::None),
                                   toCublas(Epilogue::DRelu)};
  CHECK_OK(
      plans.create(configs, 2, workspace.get(), workspace.size(), options));
  CHECK(plans.getLibraryEpilogue(1) == Epilogue::DReluBiasGrad);
  host::options().slowEpilogues.clear();
  // An algorithm that the library no longer accepts is chosen again.
  host::options().invalidEpilogues = {toCublas(Epilogue::DReluBiasGrad)};
  options.tune = false;
  CHECK_OK(
      plans.create(configs, 2, workspace.get(), workspace.size(), options));
  CHECK(plans.getLibraryEpilogue(1) == Epilogue::DRelu);
  host::options().invalidEpilogues.clear();
  options.tune = true;
  // A relu that is fast and drops NaN is not chosen.
  GemmConfig relu = configOf(Epilogue::ReluBias);
  host::options().slowEpilogues = {toCublas(Epilogue::None),
                                   toCublas(Epilogue::Bias)};
  for (bool drops : {false, true}) {
    std::remove(cache.c_str());
    if (drops)
      host::options().epiloguesDroppingNaN = {
          {CUBLASLT_EPILOGUE_RELU_BIAS, CUBLAS_COMPUTE_32F}};
    CHECK_OK(
        plans.create(&relu, 1, workspace.get(), workspace.size(), options));
    CHECK(plans.hasKernelEpilogue(0) == drops);
  }
  host::options().slowEpilogues.clear();
  host::options().epiloguesDroppingNaN.clear();
  // A damaged file is an error, and so is one of an older version.
  options.tune = false;
  std::ofstream(cache) << "device 1 product e0 00ff\n";
  CHECK_ERROR(
      plans.create(configs, 2, workspace.get(), workspace.size(), options),
      "line 1: not an algorithm");
  std::ofstream(cache) << "# old\ndevice 1 24x24x24-f32-f32-e0-b1-n-s0 "
                       << std::string(128, '0') << "\n";
  CHECK_ERROR(
      plans.create(configs, 2, workspace.get(), workspace.size(), options),
      "line 2: an algorithm without the epilogue that it is for, from an older "
      "version; tune to another file");
  for (const char *epilogue : {"eX", "e", "e16", "e256"}) {
    std::ofstream(cache) << "device 1 product " << epilogue << " "
                         << std::string(128, '0') << "\n";
    CHECK_ERROR(
        plans.create(configs, 2, workspace.get(), workspace.size(), options),
        "line 1: not an epilogue");
  }
  options.tune = true;
  options.cachePath = cache + ".absent/cache";
  CHECK_ERROR(
      plans.create(configs, 2, workspace.get(), workspace.size(), options),
      "absent/cache': No such file or directory");
}

/// The memory and the clock of tuning.
static void testTuningKernels() {
  constexpr int64_t count = 20000;
  Buffer<float> x(count), y(count);
  CHECK_OK(launch("fill", nullptr, elementwiseShape(count, 4),
                  fillRandomKernel<float>, x.get(), count, int64_t(3)));
  double sum = 0, squares = 0;
  Values values = x.read();
  for (double value : values) {
    sum += value;
    squares += value * value;
  }
  CHECK(std::fabs(sum / count) < 0.03);
  CHECK(std::fabs(squares / count - 1) < 0.03);
  Buffer<float> partials(2 * 512), result(2);
  Buffer<uint8_t> arrivalCounter(Values(4, 0.0));
  auto deviation = [&] {
    CHECK_OK(
        launch("deviation", nullptr, reduceShape(count), deviationKernel<float>,
               reinterpret_cast<Deviation *>(result.get()), x.get(), y.get(),
               count, reinterpret_cast<Deviation *>(partials.get()),
               reinterpret_cast<unsigned *>(arrivalCounter.get())));
    return result.read();
  };
  cudaMemcpy(y.get(), x.get(), count * 4, cudaMemcpyDeviceToDevice);
  CHECK(deviation()[0] == 0 && std::fabs(deviation()[1] / squares - 1) < 1e-4);
  float two = 2, infinite = INFINITY;
  cudaMemcpy(y.get() + 7, &two, 4, cudaMemcpyHostToDevice);
  CHECK(std::fabs(deviation()[0] - std::pow(values[7] - 2, 2)) < 1e-5);
  cudaMemcpy(y.get() + 7, &infinite, 4, cudaMemcpyHostToDevice);
  CHECK(std::isinf(deviation()[0]));
  cudaMemcpy(x.get() + 7, &infinite, 4, cudaMemcpyHostToDevice);
  CHECK(deviation()[0] == 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  testSteps();
  testOwnBiasGrad();
  testNaN();
  testTuningKernels();
  testTuning(argv[1]);
  return finish();
}

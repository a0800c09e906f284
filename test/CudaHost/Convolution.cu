//===- Convolution.cu - Plans of convolutions -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of plans on the CPU: results against the patches of the
// runtime, which are tested on their own, and refusals.
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t && %t
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Conv.h"
#include "amp/Runtime/CUDA/CuDNN.h"
#include "amp/Runtime/CUDA/Gemm.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

using Values = std::vector<double>;

static amp_cudnn_convolution describe(const ConvShape &s, int32_t kind) {
  amp_cudnn_convolution c = {};
  c.batch = s.batch;
  c.height = s.height;
  c.width = s.width;
  c.channels = s.channels;
  c.kernel_height = s.kernelHeight;
  c.kernel_width = s.kernelWidth;
  c.features = s.features;
  c.strides[0] = s.strideHeight;
  c.strides[1] = s.strideWidth;
  c.padding[0] = s.padTop;
  c.padding[1] = s.padBottom;
  c.padding[2] = s.padLeft;
  c.padding[3] = s.padRight;
  c.dilations[0] = s.dilationHeight;
  c.dilations[1] = s.dilationWidth;
  c.groups = s.groups;
  c.type = c.result_type = AMP_CUDNN_F16;
  c.kind = kind;
  return c;
}

/// Moves the features of a filter [KH, KW, C, F] to the front, or back.
static Values permuteFilter(const Values &values, int64_t features,
                            bool toFront) {
  const int64_t depth = int64_t(values.size()) / features;
  Values result(values.size());
  for (int64_t i = 0; i < depth; ++i)
    for (int64_t k = 0; k < features; ++k) {
      const size_t step = size_t(i * features + k),
                   plan = size_t(k * depth + i);
      result[toFront ? plan : step] = values[toFront ? step : plan];
    }
  return result;
}

static void runPlan(const amp_cudnn_convolution &c, void *image, void *filter,
                    void *result, void *bias = nullptr) {
  amp_cudnn_plan *plan = nullptr;
  CHECK(amp_cudnn_create_convolution(&c, &plan) == AMP_CUDNN_OK);
  Buffer<char> workspace(size_t(amp_cudnn_workspace_bytes(plan)));
  void *pointers[AMP_CUDNN_CONVOLUTION_POINTERS] = {image, filter, result,
                                                    bias};
  CHECK(amp_cudnn_run(plan, pointers, workspace.get(), nullptr) ==
        AMP_CUDNN_OK);
  cudaDeviceSynchronize();
  amp_cudnn_destroy(plan);
}

/// The three kinds of one convolution.
static void testCase(const ConvShape &s) {
  const Values x = randomValues<__half>(s.batch * s.imageElements(), 1),
               f = randomValues<__half>(s.depth() * s.features, 2),
               dy = randomValues<__half>(s.rows() * s.features, 3);
  const GemmConfig configs[] = {
      convForwardGemm("conv", s, Type::F16, Type::F16),
      convFilterGradGemm("conv_filter_grad", s, Type::F16, Type::F16),
      convInputGradGemm("conv_input_grad", s, Type::F16, Type::F16)};
  GemmPlans plans;
  CHECK_OK(plans.create(configs, 3, nullptr, 0));
  Buffer<__half> dX(x), dF(f), dDy(dy), y(dy.size()), dx(x.size()),
      df(f.size());
  Buffer<unsigned char> scratch(size_t(convScratchBytes(s, sizeof(__half)))),
      gradScratch(size_t(convInputGradScratchBytes(s)));
  GemmBuffers buffers;
  buffers.b = dF.get();
  buffers.d = y.get();
  CHECK_OK(convForward(nullptr, plans, 0, s, buffers, dX.get(), scratch.get()));
  CHECK_OK(convFilterGrad(nullptr, plans, 1, s, df.get(), dDy.get(), dX.get(),
                          scratch.get()));
  CHECK_OK(convInputGrad(nullptr, plans, 2, s, dx.get(), dDy.get(), dF.get(),
                         gradScratch.get()));

  Buffer<__half> filter(permuteFilter(f, s.features, true)), planY(dy.size()),
      planDx(x.size()), planDf(f.size());
  runPlan(describe(s, AMP_CUDNN_CONVOLUTION_FORWARD), dX, filter, planY);
  runPlan(describe(s, AMP_CUDNN_CONVOLUTION_INPUT_GRAD), planDx, filter, dDy);
  runPlan(describe(s, AMP_CUDNN_CONVOLUTION_FILTER_GRAD), dX, planDf, dDy);
  CHECK_NEAR(planY.read(), y.read(), epsilonOf<__half>());
  CHECK_NEAR(planDx.read(), dx.read(), epsilonOf<__half>());
  CHECK_NEAR(permuteFilter(planDf.read(), s.features, false), df.read(),
             epsilonOf<__half>());
}

/// A bias and a relu before the one rounding.
static void testEpilogue() {
  const ConvShape s = {2, 5, 5, 8, 3, 3, 16};
  Buffer<__half> x(randomValues<__half>(s.batch * s.imageElements(), 1)),
      filter(randomValues<__half>(s.depth() * s.features, 2)),
      y(size_t(s.rows() * s.features)), z(size_t(s.rows() * s.features));
  const Values bias = randomValues<__half>(s.features, 3);
  Buffer<__half> dBias(bias);
  amp_cudnn_convolution c = describe(s, AMP_CUDNN_CONVOLUTION_FORWARD);
  runPlan(c, x, filter, y);
  c.has_bias = c.relu = 1;
  runPlan(c, x, filter, z, dBias);
  Values expected = y.read();
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] = std::max(0.0, expected[i] + bias[i % bias.size()]);
  CHECK_NEAR(z.read(), expected, 2 * epsilonOf<__half>());
}

static void testRefusals() {
  const ConvShape shape = {2, 6, 6, 8, 3, 3, 16};
  auto refuses = [](const amp_cudnn_convolution &c, int32_t code) {
    amp_cudnn_plan *plan = nullptr;
    CHECK(amp_cudnn_create_convolution(&c, &plan) == code);
    CHECK(amp_cudnn_check_convolution(&c, 90) == code);
    CHECK(!plan && amp_cudnn_last_error()[0]);
  };
  const amp_cudnn_convolution fine =
      describe(shape, AMP_CUDNN_CONVOLUTION_FORWARD);
  amp_cudnn_convolution c = fine;
  c.result_type = AMP_CUDNN_F32;
  refuses(c, AMP_CUDNN_UNSUPPORTED);
  c = fine;
  c.has_bias = 1;
  c.channels = 3;
  refuses(c, AMP_CUDNN_UNSUPPORTED);
  c = fine;
  c.relu = 1;
  c.groups = 2;
  refuses(c, AMP_CUDNN_UNSUPPORTED);
  c = fine;
  c.relu = 1;
  c.kind = AMP_CUDNN_CONVOLUTION_INPUT_GRAD;
  refuses(c, AMP_CUDNN_INVALID);
  c = fine;
  c.groups = 3;
  refuses(c, AMP_CUDNN_INVALID);
  c = fine;
  c.type = AMP_CUDNN_F32;
  refuses(c, AMP_CUDNN_INVALID);
  c = fine;
  c.padding[2] = -1;
  refuses(c, AMP_CUDNN_INVALID);
  c = fine;
  c.kernel_width = 9;
  refuses(c, AMP_CUDNN_INVALID);
  c = fine;
  c.kind = 3;
  refuses(c, AMP_CUDNN_INVALID);
}

/// Arguments of a run that the library would not notice.
static void testMisuse() {
  const ConvShape s = {2, 10, 10, 8, 3, 3, 16};
  const amp_cudnn_convolution c =
      describe(s, AMP_CUDNN_CONVOLUTION_FILTER_GRAD);
  amp_cudnn_plan *plan = nullptr;
  CHECK(amp_cudnn_create_convolution(&c, &plan) == AMP_CUDNN_OK);
  Buffer<__half> image(Values(size_t(s.batch * s.imageElements()))),
      filter(size_t(s.depth() * s.features)),
      grad(Values(size_t(s.rows() * s.features)));
  Buffer<char> workspace(size_t(amp_cudnn_workspace_bytes(plan)));
  auto misuses = [&](int index, void *pointer, void *scratch,
                     const char *text) {
    void *pointers[AMP_CUDNN_CONVOLUTION_POINTERS] = {image, filter, grad};
    pointers[index] = pointer;
    CHECK(amp_cudnn_run(plan, pointers, scratch, nullptr) == AMP_CUDNN_FAILED);
    CHECK(std::string(amp_cudnn_last_error()) == text);
    CHECK(host::violations().size() == 1);
    host::clearViolations();
  };
  misuses(AMP_CUDNN_CONVOLUTION_IMAGE, image.get() + 1, workspace,
          "pointer 0 is not aligned");
  misuses(AMP_CUDNN_CONVOLUTION_FILTER, filter.get() + 8, workspace,
          "pointer 1 leaves its allocation");
  misuses(AMP_CUDNN_CONVOLUTION_FILTER, image, workspace,
          "an output overlaps an input");
  misuses(AMP_CUDNN_CONVOLUTION_RESULT, grad, nullptr,
          "the workspace leaves its allocation or is not aligned");
  amp_cudnn_destroy(plan);
}

int main() {
  // batch, image, channels; filter, features; stride, padding, dilation, groups
  testCase({2, 8, 8, 1, 3, 3, 4, 1, 1, 1, 1, 1, 1});
  testCase({1, 7, 5, 8, 3, 3, 6, 2, 1, 1, 0, 2, 1});
  testCase({2, 6, 6, 16, 2, 3, 8, 1, 2, 0, 1, 1, 0, 2, 1, 2});
  testCase({1, 9, 9, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 2, 3});
  testCase({1, 5, 5, 4, 1, 1, 2, 2, 2});
  testEpilogue();
  testRefusals();
  testMisuse();
  return finish();
}

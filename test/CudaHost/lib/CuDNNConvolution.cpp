//===- CuDNNConvolution.cpp - CUDA on the CPU: convolutions -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions in f64, one rounding at the end. Their refusals follow the
// answers of cuDNN 9.19 without a GPU.
//
//===----------------------------------------------------------------------===//

#include "CuDNN.h"
#include "amp/Runtime/CuDNN/Convolution.h"

#include <algorithm>

using namespace amp::cuda::host;

namespace {
using Convolution = amp_cudnn_convolution;

int64_t getExtent(const Convolution &c, int i, int64_t image, int64_t kernel) {
  return (image + c.padding[2 * i] + c.padding[2 * i + 1] -
          c.dilations[i] * (kernel - 1) - 1) /
             c.strides[i] +
         1;
}

/// The sizes of the three tensors, of which one is the result of the plan.
struct Shapes {
  explicit Shapes(const Convolution &c)
      : outHeight(getExtent(c, 0, c.height, c.kernel_height)),
        outWidth(getExtent(c, 1, c.width, c.kernel_width)),
        perGroup(c.channels / c.groups),
        image(c.batch * c.height * c.width * c.channels),
        filter(c.features * c.kernel_height * c.kernel_width * perGroup),
        result(c.batch * outHeight * outWidth * c.features) {}

  int64_t outHeight, outWidth, perGroup;
  /// Numbers of elements.
  int64_t image, filter, result;
};

int getOutput(const Convolution &c) {
  switch (c.kind) {
  case AMP_CUDNN_CONVOLUTION_FORWARD:
    return AMP_CUDNN_CONVOLUTION_RESULT;
  case AMP_CUDNN_CONVOLUTION_INPUT_GRAD:
    return AMP_CUDNN_CONVOLUTION_IMAGE;
  default:
    return AMP_CUDNN_CONVOLUTION_FILTER;
  }
}

/// A convolution as a sum over pairs of an element of the image and one of the
/// filter.
class ConvolutionReference {
public:
  ConvolutionReference(const Convolution &c, void *const *given)
      : c(c), shapes(c),
        pointers(given, given + AMP_CUDNN_CONVOLUTION_POINTERS) {}

  void run() const {
    std::vector<double> sums(
        size_t(c.kind == AMP_CUDNN_CONVOLUTION_FORWARD      ? shapes.result
               : c.kind == AMP_CUDNN_CONVOLUTION_INPUT_GRAD ? shapes.image
                                                            : shapes.filter));
    const std::vector<double> image = read(AMP_CUDNN_CONVOLUTION_IMAGE,
                                           shapes.image),
                              filter = read(AMP_CUDNN_CONVOLUTION_FILTER,
                                            shapes.filter),
                              result = read(AMP_CUDNN_CONVOLUTION_RESULT,
                                            shapes.result);
    forEachPair([&](int64_t i, int64_t f, int64_t r) {
      switch (c.kind) {
      case AMP_CUDNN_CONVOLUTION_FORWARD:
        sums[size_t(r)] += image[size_t(i)] * filter[size_t(f)];
        break;
      case AMP_CUDNN_CONVOLUTION_INPUT_GRAD:
        sums[size_t(i)] += result[size_t(r)] * filter[size_t(f)];
        break;
      default:
        sums[size_t(f)] += result[size_t(r)] * image[size_t(i)];
      }
    });
    if (c.has_bias) {
      const std::vector<double> bias =
          read(AMP_CUDNN_CONVOLUTION_BIAS, c.features);
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] += bias[i % bias.size()];
    }
    // A NaN stays one.
    for (double &sum : sums)
      if (c.relu && sum < 0)
        sum = 0;
    write(sums);
  }

private:
  /// The elements of an input, or nothing for the output.
  std::vector<double> read(int index, int64_t count) const {
    if (index == getOutput(c))
      return {};
    std::vector<double> values(static_cast<size_t>(count));
    const int64_t width = getPlanTypeBytes(c.type);
    for (int64_t i = 0; i < count; ++i)
      values[size_t(i)] = loadPlanElement(
          static_cast<const char *>(pointers[size_t(index)]) + i * width,
          c.type);
    return values;
  }
  void write(const std::vector<double> &values) const {
    const int64_t width = getPlanTypeBytes(c.result_type);
    char *to = static_cast<char *>(pointers[size_t(getOutput(c))]);
    for (size_t i = 0; i < values.size(); ++i)
      storePlanElement(to + int64_t(i) * width, c.result_type, values[i]);
  }

  /// Calls `body` with the indices of an element of the image, of the filter
  /// and of the result, for each product of the convolution.
  template <typename Body>
  void forEachPair(const Body &body) const {
    for (int64_t n = 0; n < c.batch; ++n)
      for (int64_t oh = 0; oh < shapes.outHeight; ++oh)
        for (int64_t ow = 0; ow < shapes.outWidth; ++ow)
          for (int64_t kh = 0; kh < c.kernel_height; ++kh)
            for (int64_t kw = 0; kw < c.kernel_width; ++kw) {
              const int64_t h =
                  oh * c.strides[0] + kh * c.dilations[0] - c.padding[0];
              const int64_t w =
                  ow * c.strides[1] + kw * c.dilations[1] - c.padding[2];
              if (h >= 0 && h < c.height && w >= 0 && w < c.width)
                forEachChannel(
                    ((n * c.height + h) * c.width + w) * c.channels,
                    kh * c.kernel_width + kw,
                    ((n * shapes.outHeight + oh) * shapes.outWidth + ow) *
                        c.features,
                    body);
            }
  }
  /// The same for the pixels at `image` and `result` and the place `at` in each
  /// filter.
  template <typename Body>
  void forEachChannel(int64_t image, int64_t at, int64_t result,
                      const Body &body) const {
    const int64_t places = c.kernel_height * c.kernel_width;
    for (int64_t k = 0; k < c.features; ++k) {
      const int64_t first = k / (c.features / c.groups) * shapes.perGroup;
      for (int64_t channel = 0; channel < shapes.perGroup; ++channel)
        body(image + first + channel,
             (k * places + at) * shapes.perGroup + channel, result + k);
    }
  }

  const Convolution c;
  const Shapes shapes;
  std::vector<void *> pointers;
};

class ConvolutionPlan : public amp_cudnn_plan {
public:
  explicit ConvolutionPlan(const Convolution &c)
      : amp_cudnn_plan("convolution"), c(c) {}

  std::vector<PlanMemory> getMemory(void *const *pointers) const override {
    const Shapes shapes(c);
    std::vector<PlanMemory> memory;
    auto add = [&](int index, int64_t count) {
      const bool isOutput = index == getOutput(c);
      const int64_t bytes =
          count * getPlanTypeBytes(isOutput ? c.result_type : c.type);
      memory.push_back({index, pointers[index], bytes, bytes, isOutput});
    };
    add(AMP_CUDNN_CONVOLUTION_IMAGE, shapes.image);
    add(AMP_CUDNN_CONVOLUTION_FILTER, shapes.filter);
    add(AMP_CUDNN_CONVOLUTION_RESULT, shapes.result);
    if (c.has_bias)
      add(AMP_CUDNN_CONVOLUTION_BIAS, c.features);
    return memory;
  }
  std::function<void()> getWork(void *const *pointers) const override {
    return [reference = ConvolutionReference(c, pointers)] { reference.run(); };
  }

private:
  Convolution c;
};
} // namespace

//===----------------------------------------------------------------------===//
// Support
//===----------------------------------------------------------------------===//

/// Whether the description has sense. cuDNN judges the rest.
static bool isSensible(const Convolution &c) {
  auto arePositive = [](std::initializer_list<int64_t> values) {
    return std::all_of(values.begin(), values.end(),
                       [](int64_t value) { return value > 0; });
  };
  if (!arePositive({c.batch, c.height, c.width, c.channels, c.kernel_height,
                    c.kernel_width, c.features, c.strides[0], c.strides[1],
                    c.dilations[0], c.dilations[1], c.groups}) ||
      std::any_of(c.padding, c.padding + 4,
                  [](int64_t value) { return value < 0; }) ||
      c.channels % c.groups != 0 || c.features % c.groups != 0)
    return false;
  const Shapes shapes(c);
  return shapes.outHeight > 0 && shapes.outWidth > 0 &&
         (c.type == AMP_CUDNN_F16 || c.type == AMP_CUDNN_BF16) &&
         (c.result_type == c.type || c.result_type == AMP_CUDNN_F32) &&
         c.kind >= AMP_CUDNN_CONVOLUTION_FORWARD &&
         c.kind <= AMP_CUDNN_CONVOLUTION_FILTER_GRAD &&
         ((!c.has_bias && !c.relu) || c.kind == AMP_CUDNN_CONVOLUTION_FORWARD);
}

/// Why cuDNN refuses the convolution, or an empty text.
static std::string findRefusal(const Convolution &c) {
  if (c.result_type != c.type)
    return "a result that is wider than the operands";
  if ((c.has_bias || c.relu) &&
      (c.groups != 1 || c.channels % 8 != 0 || c.features % 8 != 0))
    return "a bias or a relu with channels that are not multiples of 8";
  return "";
}

static int64_t getWorkspace(const Convolution &c) {
  const Shapes shapes(c);
  auto getPadded = [](int64_t count, int64_t channels) {
    return channels % 8 == 0 ? 0
                             : count / channels * ((channels + 7) / 8 * 8) * 2;
  };
  return 4096 + getPadded(shapes.image, c.channels) +
         getPadded(shapes.result, c.features);
}

int32_t amp_cudnn_create_convolution(const Convolution *convolution,
                                     amp_cudnn_plan **plan) {
  if (!convolution || !plan)
    return failPlan(AMP_CUDNN_INVALID,
                    "there is no description of a convolution");
  const Convolution &c = *convolution;
  if (!isSensible(c))
    return failPlan(AMP_CUDNN_INVALID, "the description has no sense");
  return finishPlan(ConvolutionPlan(c), findRefusal(c), getWorkspace(c), plan);
}

int32_t amp_cudnn_check_convolution(const Convolution *convolution, int32_t) {
  amp_cudnn_plan *plan = nullptr;
  const int32_t code = amp_cudnn_create_convolution(convolution, &plan);
  amp_cudnn_destroy(plan);
  return code;
}

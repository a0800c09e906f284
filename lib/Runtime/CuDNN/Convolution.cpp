//===- Convolution.cpp - Plans of convolutions ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/CuDNN/Convolution.h"

#include "GraphPlan.h"

using namespace amp::cudnn;

namespace {

/// Adds the nodes of one convolution. cuDNN names the dimensions of a tensor in
/// the order NCHW and takes the layout from the strides.
class ConvolutionBuilder {
public:
  ConvolutionBuilder(const amp_cudnn_convolution &convolution,
                     GraphBuilder &builder)
      : convolution(convolution), builder(builder) {}

  void verify() const;
  void build();

private:
  void buildForward();
  /// The images, features or filters of a tensor, its channels, height and
  /// width.
  std::vector<int64_t> getSizes(int index) const;
  static std::vector<int64_t> getStrides(const std::vector<int64_t> &sizes) {
    return {sizes[1] * sizes[2] * sizes[3], 1, sizes[3] * sizes[1], sizes[1]};
  }
  /// The extent of the result along dimension `i` of an image.
  int64_t getExtent(int i, int64_t image, int64_t kernel) const {
    const amp_cudnn_convolution &c = convolution;
    const int64_t covered = c.dilations[i] * (kernel - 1) + 1;
    return (image + c.padding[2 * i] + c.padding[2 * i + 1] - covered) /
               c.strides[i] +
           1;
  }
  Tensor input(int index) {
    const std::vector<int64_t> sizes = getSizes(index);
    return builder.input(index, sizes, getStrides(sizes), convolution.type);
  }
  void output(const Tensor &tensor, int index) {
    const std::vector<int64_t> sizes = getSizes(index);
    builder.output(tensor, index, sizes, getStrides(sizes),
                   convolution.result_type);
  }
  template <typename Attributes>
  Attributes getAttributes(const char *name) const {
    const amp_cudnn_convolution &c = convolution;
    Attributes attributes;
    attributes.set_name(name)
        .set_pre_padding({c.padding[0], c.padding[2]})
        .set_post_padding({c.padding[1], c.padding[3]})
        .set_stride({c.strides[0], c.strides[1]})
        .set_dilation({c.dilations[0], c.dilations[1]});
    return attributes;
  }

  const amp_cudnn_convolution &convolution;
  GraphBuilder &builder;
};

} // namespace

std::vector<int64_t> ConvolutionBuilder::getSizes(int index) const {
  const amp_cudnn_convolution &c = convolution;
  switch (index) {
  case AMP_CUDNN_CONVOLUTION_IMAGE:
    return {c.batch, c.channels, c.height, c.width};
  case AMP_CUDNN_CONVOLUTION_FILTER:
    return {c.features, c.channels / c.groups, c.kernel_height, c.kernel_width};
  case AMP_CUDNN_CONVOLUTION_BIAS:
    return {1, c.features, 1, 1};
  default:
    return {c.batch, c.features, getExtent(0, c.height, c.kernel_height),
            getExtent(1, c.width, c.kernel_width)};
  }
}

void ConvolutionBuilder::verify() const {
  auto require = [](bool condition, const char *message) {
    if (!condition)
      throw Error{AMP_CUDNN_INVALID, message};
  };
  const amp_cudnn_convolution &c = convolution;
  require(c.batch > 0 && c.height > 0 && c.width > 0 && c.channels > 0 &&
              c.kernel_height > 0 && c.kernel_width > 0 && c.features > 0,
          "the sizes of a convolution must be positive");
  require(c.strides[0] > 0 && c.strides[1] > 0 && c.dilations[0] > 0 &&
              c.dilations[1] > 0 && c.groups > 0,
          "the strides, dilations and groups of a convolution must be "
          "positive");
  require(c.padding[0] >= 0 && c.padding[1] >= 0 && c.padding[2] >= 0 &&
              c.padding[3] >= 0,
          "the padding of a convolution must not be negative");
  require(c.channels % c.groups == 0 && c.features % c.groups == 0,
          "the groups of a convolution must divide its channels and features");
  const std::vector<int64_t> result = getSizes(AMP_CUDNN_CONVOLUTION_RESULT);
  require(result[2] > 0 && result[3] > 0,
          "the filter of a convolution must fit the image");
  require(c.type == AMP_CUDNN_F16 || c.type == AMP_CUDNN_BF16,
          "a convolution takes f16 or bf16");
  require(c.result_type == c.type || c.result_type == AMP_CUDNN_F32,
          "the result of a convolution must have the type of its operands or "
          "f32");
  require((!c.has_bias && !c.relu) || c.kind == AMP_CUDNN_CONVOLUTION_FORWARD,
          "only a forward convolution takes a bias and a relu");
}

void ConvolutionBuilder::buildForward() {
  fe::graph::Graph &graph = builder.get();
  auto getPointwise = [](fe::PointwiseMode_t mode) {
    return fe::graph::Pointwise_attributes().set_mode(mode);
  };
  Tensor result = graph.conv_fprop(
      input(AMP_CUDNN_CONVOLUTION_IMAGE), input(AMP_CUDNN_CONVOLUTION_FILTER),
      getAttributes<fe::graph::Conv_fprop_attributes>("convolution"));
  if (convolution.has_bias)
    result = graph.pointwise(result, input(AMP_CUDNN_CONVOLUTION_BIAS),
                             getPointwise(fe::PointwiseMode_t::ADD));
  if (convolution.relu)
    result =
        graph.pointwise(result, getPointwise(fe::PointwiseMode_t::RELU_FWD));
  output(result, AMP_CUDNN_CONVOLUTION_RESULT);
}

void ConvolutionBuilder::build() {
  fe::graph::Graph &graph = builder.get();
  if (convolution.deterministic)
    builder.requireDeterministic();
  switch (convolution.kind) {
  case AMP_CUDNN_CONVOLUTION_FORWARD:
    return buildForward();
  case AMP_CUDNN_CONVOLUTION_INPUT_GRAD:
    return output(
        graph.conv_dgrad(
            input(AMP_CUDNN_CONVOLUTION_RESULT),
            input(AMP_CUDNN_CONVOLUTION_FILTER),
            getAttributes<fe::graph::Conv_dgrad_attributes>("input_grad")),
        AMP_CUDNN_CONVOLUTION_IMAGE);
  case AMP_CUDNN_CONVOLUTION_FILTER_GRAD:
    return output(
        graph.conv_wgrad(
            input(AMP_CUDNN_CONVOLUTION_RESULT),
            input(AMP_CUDNN_CONVOLUTION_IMAGE),
            getAttributes<fe::graph::Conv_wgrad_attributes>("filter_grad")),
        AMP_CUDNN_CONVOLUTION_FILTER);
  default:
    throw Error{AMP_CUDNN_INVALID, "unknown kind " +
                                       std::to_string(convolution.kind) +
                                       " of a convolution"};
  }
}

static BuildGraph getBuild(const amp_cudnn_convolution *convolution) {
  return [convolution](GraphBuilder &builder) {
    if (!convolution)
      throw Error{AMP_CUDNN_INVALID,
                  "there is no description of a convolution"};
    ConvolutionBuilder graph(*convolution, builder);
    graph.verify();
    graph.build();
  };
}

int32_t amp_cudnn_create_convolution(const amp_cudnn_convolution *convolution,
                                     amp_cudnn_plan **plan) {
  return createPlan(getBuild(convolution), plan);
}

int32_t amp_cudnn_check_convolution(const amp_cudnn_convolution *convolution,
                                    int32_t capability) {
  return checkGraph(getBuild(convolution), capability);
}

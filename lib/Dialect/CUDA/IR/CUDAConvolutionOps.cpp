//===- CUDAConvolutionOps.cpp - Convolutions by cuDNN ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvSupport.h"

using namespace mlir;
using namespace mlir::cuda;

/// Channels that the kernels of cuDNN read at once: 16 bytes.
static constexpr int64_t kChannelUnit = 8;

ConvPlanOp::Types ConvPlanOp::getForwardTypes() { return getConvTypes(*this); }

/// The extents of a filter [F, KH, KW, C / groups].
static FilterExtents getFilterExtents(ConvPlanOp op) {
  ArrayRef<int64_t> filter = op.getForwardTypes().filter.getShape();
  return {filter[1], filter[2], filter[3], filter[0]};
}

static ::amp::cuda::ConvShape getShape(ConvPlanOp op) {
  return getConvShape(op, op.getForwardTypes().image.getShape(),
                      getFilterExtents(op));
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Verifies the bias and the activation.
static LogicalResult verifyEpilogue(ConvPlanOp op) {
  Activation activation = op.getActivation();
  if (activation != Activation::None && activation != Activation::Relu)
    return op.emitOpError("has the activation ")
           << stringifyActivation(activation) << ", expected none or relu";
  if (!op.getBias() && activation == Activation::None)
    return success();
  if (op.getKind() != ConvKind::Forward)
    return op.emitOpError("has a bias or an activation, which only a forward "
                          "convolution takes");
  FilterExtents filter = getFilterExtents(op);
  if (int64_t(op.getGroups()) != 1 || filter.channels % kChannelUnit != 0 ||
      filter.features % kChannelUnit != 0)
    return op.emitOpError("has a bias or an activation with ")
           << filter.channels << " channels and " << filter.features
           << " features in " << int64_t(op.getGroups())
           << " groups, expected multiples of " << kChannelUnit
           << " and one group";
  return success();
}

LogicalResult ConvPlanOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (getPredicate())
    return emitOpError("has an 'if', but a plan always writes");
  if (failed(verifyCounts(launch, 2 + getBias(), 1)))
    return failure();
  Types types = getForwardTypes();
  Type element = launch.getInputType(0).getElementType();
  if (!element.isF16() && !element.isBF16())
    return emitOpError("has operands of ")
           << element << ", expected f16 or bf16";
  for (ShapedType type : {types.image, types.filter, types.output}) {
    if (type.getRank() != 4)
      return emitOpError("has an operand or result of rank ")
             << type.getRank() << ", expected 4";
    if (type.getElementType() != element)
      return emitOpError("has operands and results of ")
             << element << " and " << type.getElementType()
             << ", expected one type";
    if (type.getNumElements() == 0)
      return emitOpError("has an operand or result without elements");
  }
  FilterExtents filter = getFilterExtents(*this);
  if (failed(verifyWindow(*this, types.image.getDimSize(3), filter)))
    return failure();
  if (llvm::any_of(getPadding(), [](int64_t value) { return value < 0; }))
    return emitOpError("has a negative padding, expected at least 0");
  if (failed(verifyType(*this, "the output of the convolution", types.output,
                        getOutputShape(getShape(*this)), element)) ||
      failed(verifyWork(*this, getShape(*this))) ||
      failed(verifyEpilogue(*this)))
    return failure();
  if (getBias() && failed(verifyType(*this, "the bias", launch.getInputType(2),
                                     {filter.features}, element)))
    return failure();
  return verifyLaunch(launch);
}

//===----------------------------------------------------------------------===//
// Costs and memory
//===----------------------------------------------------------------------===//

int64_t ConvPlanOp::getFlops() {
  ::amp::cuda::ConvShape shape = getShape(*this);
  return 2 * shape.rows() * shape.depth() * shape.features;
}

int64_t ConvPlanOp::getPaddedFlops() {
  ::amp::cuda::ConvShape shape = getShape(*this);
  const int64_t perGroup = shape.channels / shape.groups,
                features = shape.features / shape.groups;
  return 2 * shape.rows() * (shape.depth() / perGroup) *
         alignTo(perGroup, kChannelUnit) * alignTo(features, kChannelUnit) *
         shape.groups;
}

// A kernel pads each image whose channels are not a multiple of the unit.
int64_t ConvPlanOp::getNumKernels() {
  Types types = getForwardTypes();
  return 1 + (types.image.getShape().back() % kChannelUnit != 0) +
         (types.output.getShape().back() % kChannelUnit != 0);
}

/// The bytes of the copies of images whose channels cuDNN first pads to a
/// multiple of `kChannelUnit`.
static int64_t getPaddedBytes(ConvPlanOp op) {
  ConvPlanOp::Types types = op.getForwardTypes();
  int64_t bytes = 0;
  for (ShapedType type : {types.image, types.output}) {
    int64_t channels = type.getShape().back();
    if (channels % kChannelUnit != 0)
      bytes += getBytes(type) / channels * alignTo(channels, kChannelUnit);
  }
  return bytes;
}

// cuDNN 9.19 asks for up to 1.2 MB, and for copies with padded channels. A
// program allocates the rest by itself if a plan needs more.
int64_t ConvPlanOp::getScratchBytes() {
  return getPaddedBytes(*this) + (int64_t(2) << 20);
}

int64_t ConvPlanOp::getReadBytes() {
  int64_t bytes = getPaddedBytes(*this);
  for (Value input : getInputs())
    bytes += getBytes(cast<ShapedType>(input.getType()));
  return bytes;
}

int64_t ConvPlanOp::getWrittenBytes() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  return getPaddedBytes(*this) + getBytes(launch.getTargetType(0));
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

amp_cudnn_convolution ConvPlanOp::getDescription() {
  ::amp::cuda::ConvShape s = getShape(*this);
  amp_cudnn_convolution result = {};
  result.batch = s.batch;
  result.height = s.height;
  result.width = s.width;
  result.channels = s.channels;
  result.kernel_height = s.kernelHeight;
  result.kernel_width = s.kernelWidth;
  result.features = s.features;
  llvm::copy(getStrides(), result.strides);
  llvm::copy(getPadding(), result.padding);
  llvm::copy(getDilations(), result.dilations);
  result.groups = s.groups;
  auto launch = cast<LaunchOpInterface>(getOperation());
  result.type = result.result_type =
      launch.getInputType(0).getElementType().isF16() ? AMP_CUDNN_F16
                                                      : AMP_CUDNN_BF16;
  result.kind = getKind() == ConvKind::Forward ? AMP_CUDNN_CONVOLUTION_FORWARD
                : getKind() == ConvKind::InputGrad
                    ? AMP_CUDNN_CONVOLUTION_INPUT_GRAD
                    : AMP_CUDNN_CONVOLUTION_FILTER_GRAD;
  result.has_bias = getBias();
  result.relu = getActivation() == Activation::Relu;
  result.deterministic = getDeterministic();
  return result;
}

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAConvolutionOps.cpp.inc"

void CUDADialect::registerConvolutionOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDAConvolutionOps.cpp.inc"
      >();
}

//===- CUDANormalizationOps.cpp - Softmaxes and norms ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Runtime/CUDA/Sizes.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Verifies a softmax, its logarithm or a gradient. All operands have the shape
/// of the first, which has dimension `axis`.
template <typename OpTy>
static LogicalResult verifySoftmax(OpTy op) {
  ArrayRef<int64_t> shape = op.getInputType(0).getShape();
  if (failed(verifyAxis(op, op.getAxis(), shape)))
    return failure();
  SmallVector<OperandSpec> inputs(op.getInputs().size(), {shape});
  return verifyOperands(op, inputs, {{shape}});
}

LogicalResult SoftmaxOp::verify() { return verifySoftmax(*this); }
LogicalResult LogSoftmaxOp::verify() { return verifySoftmax(*this); }
LogicalResult SoftmaxGradOp::verify() { return verifySoftmax(*this); }
LogicalResult LogSoftmaxGradOp::verify() { return verifySoftmax(*this); }

// The kernel reads a row, or an element, into registers before it writes it.
bool SoftmaxOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwrite(*this, target, input);
}
bool LogSoftmaxOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwrite(*this, target, input);
}
bool SoftmaxGradOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwrite(*this, target, input);
}
bool LogSoftmaxGradOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwrite(*this, target, input);
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

/// Verifies that the last dimensions of `x` equal the dimensions of `gamma`.
static LogicalResult verifyGain(Operation *op, ArrayRef<int64_t> x,
                                ArrayRef<int64_t> gamma) {
  if (gamma.size() <= x.size() && x.take_back(gamma.size()) == gamma)
    return success();
  return op->emitOpError("has gamma of shape ")
         << formatList(gamma) << " for x of shape " << formatList(x)
         << ", expected the last dimensions of x";
}

LogicalResult LayerNormOp::verify() {
  ArrayRef<int64_t> x = getInputType(0).getShape(),
                    gamma = getInputType(1).getShape();
  if (failed(verifyGain(*this, x, gamma)))
    return failure();
  Type f32 = Float32Type::get(getContext());
  ArrayRef<int64_t> rows = x.drop_back(gamma.size());
  return verifyOperands(*this, {{x}, {gamma, f32}, {gamma, f32}},
                        {{x}, {rows, f32}, {rows, f32}});
}

/// Verifies the gradients of a norm over rows. The inputs are dy, x, gamma and
/// `numStatistics` values per row. With `isAgain`, the last target is the norm,
/// and a norm with two statistics also reads beta.
template <typename OpTy>
static LogicalResult verifyRowNormGrad(OpTy op, unsigned numStatistics,
                                       bool isAgain) {
  ArrayRef<int64_t> x = op.getInputType(1).getShape(),
                    gamma = op.getInputType(2).getShape();
  if (failed(verifyGain(op, x, gamma)))
    return failure();
  Type f32 = Float32Type::get(op.getContext());
  const OperandSpec gain{gamma, f32};
  SmallVector<OperandSpec> inputs{{x}, {x}, gain}, targets{{x}};
  inputs.append(numStatistics, {x.drop_back(gamma.size()), f32});
  targets.append(numStatistics, gain);
  if (isAgain) {
    targets.push_back({x});
    if (numStatistics == 2)
      inputs.push_back(gain);
  }
  return verifyOperands(op, inputs, targets);
}

LogicalResult LayerNormGradOp::verify() {
  return verifyRowNormGrad(*this, 2, /*isAgain=*/false);
}
LogicalResult LayerNormAndGradOp::verify() {
  return verifyRowNormGrad(*this, 2, /*isAgain=*/true);
}

/// Whether the gradient of a norm of rows may write `target` over `input`.
static bool mayOverwriteGrad(LaunchOpInterface op, unsigned target,
                             unsigned input) {
  return target == 0 && input == 0 && mayOverwrite(op, target, input);
}
bool LayerNormGradOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwriteGrad(*this, target, input);
}
bool LayerNormAndGradOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwriteGrad(*this, target, input);
}

/// The scratch memory of the gradient of a norm of rows.
static int64_t getRowNormScratch(LaunchOpInterface op) {
  int64_t columns = op.getInputType(2).getNumElements();
  return ::amp::cuda::layerNormScratchBytes(
      op.getInputType(0).getNumElements() / columns, columns);
}
int64_t LayerNormGradOp::getScratchBytes() { return getRowNormScratch(*this); }
int64_t LayerNormAndGradOp::getScratchBytes() {
  return getRowNormScratch(*this);
}

int64_t LayerNormGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1));
}
int64_t LayerNormAndGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1));
}

// One kernel for the gains, one for the input.
int64_t LayerNormGradOp::getNumKernels() { return 2; }
int64_t LayerNormAndGradOp::getNumKernels() { return 2; }

//===----------------------------------------------------------------------===//
// RMS norm
//===----------------------------------------------------------------------===//

LogicalResult RMSNormOp::verify() {
  ArrayRef<int64_t> x = getInputType(0).getShape(),
                    gamma = getInputType(1).getShape();
  if (failed(verifyGain(*this, x, gamma)))
    return failure();
  Type f32 = Float32Type::get(getContext());
  return verifyOperands(*this, {{x}, {gamma, f32}},
                        {{x}, {x.drop_back(gamma.size()), f32}});
}

LogicalResult RMSNormGradOp::verify() {
  return verifyRowNormGrad(*this, 1, /*isAgain=*/false);
}
LogicalResult RMSNormAndGradOp::verify() {
  return verifyRowNormGrad(*this, 1, /*isAgain=*/true);
}

bool RMSNormGradOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwriteGrad(*this, target, input);
}
bool RMSNormAndGradOp::mayAlias(unsigned target, unsigned input) {
  return mayOverwriteGrad(*this, target, input);
}

int64_t RMSNormGradOp::getScratchBytes() { return getRowNormScratch(*this); }
int64_t RMSNormAndGradOp::getScratchBytes() { return getRowNormScratch(*this); }

int64_t RMSNormGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1));
}
int64_t RMSNormAndGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1));
}

int64_t RMSNormGradOp::getNumKernels() { return 2; }
int64_t RMSNormAndGradOp::getNumKernels() { return 2; }

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// Verifies that `x` has a dimension for channels.
static LogicalResult verifyChannels(Operation *op, ArrayRef<int64_t> x) {
  if (!x.empty())
    return success();
  return op->emitOpError(
      "normalises a scalar, expected channels as the last dimension");
}

/// The number of pixels of a tensor. Its last dimension holds channels.
static int64_t countPixels(ShapedType type) {
  return type.getNumElements() / type.getShape().back();
}

LogicalResult BatchNormTrainingOp::verify() {
  ArrayRef<int64_t> x = getInputType(0).getShape();
  if (failed(verifyChannels(*this, x)))
    return failure();
  OperandSpec wide{x.take_back(), Float32Type::get(getContext())};
  return verifyOperands(*this, {{x}, wide, wide, wide, wide},
                        {{x}, wide, wide, wide, wide});
}

LogicalResult BatchNormInferenceOp::verify() {
  ArrayRef<int64_t> x = getInputType(0).getShape();
  if (failed(verifyChannels(*this, x)))
    return failure();
  OperandSpec wide{x.take_back(), Float32Type::get(getContext())};
  return verifyOperands(*this, {{x}, wide, wide, wide, wide}, {{x}});
}

LogicalResult BatchNormGradOp::verify() {
  ArrayRef<int64_t> x = getInputType(1).getShape();
  if (failed(verifyChannels(*this, x)))
    return failure();
  OperandSpec wide{x.take_back(), Float32Type::get(getContext())};
  return verifyOperands(*this, {{x}, {x}, wide, wide, wide}, {{x}, wide, wide});
}

bool BatchNormTrainingOp::mayAlias(unsigned target, unsigned input) {
  // The running statistics have the same positions in inputs and outputs.
  return target == input && input >= 3 && mayOverwrite(*this, target, input);
}
bool BatchNormGradOp::mayAlias(unsigned target, unsigned input) {
  return target == 0 && input == 0 && mayOverwrite(*this, target, input);
}

static int64_t getForwardScratch(ShapedType x) {
  return ::amp::cuda::batchNormForwardScratchBytes(countPixels(x),
                                                   x.getShape().back());
}
static int64_t getBackwardScratch(ShapedType dy) {
  return ::amp::cuda::batchNormBackwardScratchBytes(countPixels(dy),
                                                    dy.getShape().back());
}
int64_t BatchNormTrainingOp::getScratchBytes() {
  return getForwardScratch(getInputType(0));
}
int64_t BatchNormGradOp::getScratchBytes() {
  return getBackwardScratch(getInputType(0));
}

int64_t BatchNormTrainingOp::getRereadBytes() {
  return getBytes(getInputType(0));
}
int64_t BatchNormGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1));
}

//===----------------------------------------------------------------------===//
// Batch norm with a relu
//===----------------------------------------------------------------------===//

/// The shape of the mask for a relu of shape `x`, or failure with a message.
static FailureOr<SmallVector<int64_t>> getMaskShape(Operation *op,
                                                    ArrayRef<int64_t> x) {
  if (failed(verifyChannels(op, x)))
    return failure();
  if (x.back() % 8 != 0)
    return op->emitOpError("has a mask for ")
           << x.back() << " channels, expected a multiple of 8";
  SmallVector<int64_t> shape(x);
  shape.back() /= 8;
  return shape;
}

template <typename OpTy>
static LogicalResult verifyBatchNormRelu(OpTy op, bool hasResidual) {
  ArrayRef<int64_t> x = op.getInputType(0).getShape();
  auto mask = getMaskShape(op, x);
  if (failed(mask))
    return failure();
  OperandSpec wide{x.take_back(), Float32Type::get(op.getContext())};
  SmallVector<OperandSpec> inputs{{x}, wide, wide, wide, wide};
  if (hasResidual)
    inputs.push_back({x});
  OperandSpec bits{*mask, IntegerType::get(op.getContext(), 8)};
  return verifyOperands(op, inputs, {{x}, wide, wide, wide, wide, bits});
}

LogicalResult BatchNormReluOp::verify() {
  return verifyBatchNormRelu(*this, /*hasResidual=*/false);
}
LogicalResult BatchNormAddReluOp::verify() {
  return verifyBatchNormRelu(*this, /*hasResidual=*/true);
}

template <typename OpTy>
static LogicalResult verifyBatchNormReluGrad(OpTy op, bool hasResidual) {
  ArrayRef<int64_t> x = op.getInputType(2).getShape();
  auto mask = getMaskShape(op, x);
  if (failed(mask))
    return failure();
  OperandSpec wide{x.take_back(), Float32Type::get(op.getContext())};
  OperandSpec bits{*mask, IntegerType::get(op.getContext(), 8)};
  SmallVector<OperandSpec> targets{{x}, wide, wide};
  if (hasResidual)
    targets.push_back({x});
  return verifyOperands(op, {{x}, bits, {x}, wide, wide, wide}, targets);
}

LogicalResult BatchNormReluGradOp::verify() {
  return verifyBatchNormReluGrad(*this, /*hasResidual=*/false);
}
LogicalResult BatchNormAddReluGradOp::verify() {
  return verifyBatchNormReluGrad(*this, /*hasResidual=*/true);
}

bool BatchNormReluOp::mayAlias(unsigned target, unsigned input) {
  return (target == 3 || target == 4) && target == input &&
         mayOverwrite(*this, target, input);
}
bool BatchNormAddReluOp::mayAlias(unsigned target, unsigned input) {
  bool isState = (target == 3 || target == 4) && target == input;
  return (isState || (target == 0 && input == 5)) &&
         mayOverwrite(*this, target, input);
}
bool BatchNormReluGradOp::mayAlias(unsigned target, unsigned input) {
  return target == 0 && input == 0 && mayOverwrite(*this, target, input);
}
bool BatchNormAddReluGradOp::mayAlias(unsigned target, unsigned input) {
  return ((target == 0 && input == 2) || (target == 3 && input == 0)) &&
         mayOverwrite(*this, target, input);
}

int64_t BatchNormReluOp::getScratchBytes() {
  return getForwardScratch(getInputType(0));
}
int64_t BatchNormAddReluOp::getScratchBytes() {
  return getForwardScratch(getInputType(0));
}
int64_t BatchNormReluGradOp::getScratchBytes() {
  return getBackwardScratch(getInputType(0));
}
int64_t BatchNormAddReluGradOp::getScratchBytes() {
  return getBackwardScratch(getInputType(0));
}

/// Verifies that x, y and the residual have one shape, and that the other
/// operands have one element for each channel.
template <typename OpTy>
static LogicalResult verifyApply(OpTy op, bool hasResidual) {
  ArrayRef<int64_t> x = op.getInputType(0).getShape();
  if (failed(verifyChannels(op, x)))
    return failure();
  OperandSpec wide{x.take_back(), Float32Type::get(op.getContext())};
  SmallVector<OperandSpec> inputs{{x}, wide, wide, wide, wide};
  if (hasResidual)
    inputs.push_back({x});
  return verifyOperands(op, inputs, {{x}});
}

LogicalResult BatchNormApplyOp::verify() {
  return verifyApply(*this, /*hasResidual=*/false);
}
LogicalResult BatchNormAddReluApplyOp::verify() {
  return verifyApply(*this, /*hasResidual=*/true);
}
bool BatchNormAddReluApplyOp::mayAlias(unsigned target, unsigned input) {
  return input == 5 && mayOverwrite(*this, target, input);
}

// One kernel for the sums, one for the elements.
int64_t BatchNormTrainingOp::getNumKernels() { return 2; }
int64_t BatchNormGradOp::getNumKernels() { return 2; }
int64_t BatchNormReluOp::getNumKernels() { return 2; }
int64_t BatchNormAddReluOp::getNumKernels() { return 2; }
int64_t BatchNormReluGradOp::getNumKernels() { return 2; }
int64_t BatchNormAddReluGradOp::getNumKernels() { return 2; }

int64_t BatchNormReluOp::getRereadBytes() { return getBytes(getInputType(0)); }
int64_t BatchNormAddReluOp::getRereadBytes() {
  return getBytes(getInputType(0));
}
// The gradient, its mask and x.
int64_t BatchNormReluGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1)) +
         getBytes(getInputType(2));
}
int64_t BatchNormAddReluGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1)) +
         getBytes(getInputType(2));
}

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDANormalizationOps.cpp.inc"

void CUDADialect::registerNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDANormalizationOps.cpp.inc"
      >();
}

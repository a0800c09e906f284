//===- Normalizations.cpp - Softmaxes and norms ---------------------------===//
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

/// Verifies that the last dimensions of `x` are those of `gamma`.
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

LogicalResult LayerNormGradOp::verify() {
  ArrayRef<int64_t> x = getInputType(1).getShape(),
                    gamma = getInputType(2).getShape();
  if (failed(verifyGain(*this, x, gamma)))
    return failure();
  Type f32 = Float32Type::get(getContext());
  ArrayRef<int64_t> rows = x.drop_back(gamma.size());
  return verifyOperands(*this,
                        {{x}, {x}, {gamma, f32}, {rows, f32}, {rows, f32}},
                        {{x}, {gamma, f32}, {gamma, f32}});
}

bool LayerNormGradOp::mayAlias(unsigned target, unsigned input) {
  return target == 0 && input == 0 && mayOverwrite(*this, target, input);
}

int64_t LayerNormGradOp::getScratchBytes() {
  int64_t columns = getInputType(2).getNumElements();
  return ::amp::cuda::layerNormScratchBytes(
      getInputType(0).getNumElements() / columns, columns);
}

int64_t LayerNormGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1));
}

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

int64_t BatchNormTrainingOp::getScratchBytes() {
  ShapedType x = getInputType(0);
  return ::amp::cuda::batchNormForwardScratchBytes(countPixels(x),
                                                   x.getShape().back());
}
int64_t BatchNormGradOp::getScratchBytes() {
  ShapedType dy = getInputType(0);
  return ::amp::cuda::batchNormBackwardScratchBytes(countPixels(dy),
                                                    dy.getShape().back());
}

int64_t BatchNormTrainingOp::getRereadBytes() {
  return getBytes(getInputType(0));
}
int64_t BatchNormGradOp::getRereadBytes() {
  return getBytes(getInputType(0)) + getBytes(getInputType(1));
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

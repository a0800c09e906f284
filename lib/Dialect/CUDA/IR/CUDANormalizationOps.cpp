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

/// The rows `heads` of a tensor of type `type`, in the order of a tensor of
/// shape `shape`.
static HeadsSpec getRowsSpec(StringRef name, HeadsAttr heads,
                             ArrayRef<int64_t> shape, ShapedType type) {
  auto extent = [&](size_t fromEnd) {
    return fromEnd <= shape.size() ? shape[shape.size() - fromEnd] : 1;
  };
  return {name, heads, extent(3), extent(2), extent(1), type};
}

/// Verifies the rows `heads`, in the order of a tensor of shape `shape`, of a
/// tensor of type `type`.
static LogicalResult verifyRows(Operation *op, StringRef name, HeadsAttr heads,
                                ArrayRef<int64_t> shape,
                                ArrayRef<int64_t> gamma, ShapedType type) {
  if (gamma.size() != 1 || shape.size() > 4)
    return op->emitOpError("has rows by strides, ")
           << gamma.size() << " normalised dimensions and results of shape "
           << formatList(shape)
           << ", expected one normalised dimension and at most four in all";
  if (!isWide(type.getElementType()))
    return success();
  return verifyHeads(op, getRowsSpec(name, heads, shape, type),
                     shape.size() == 4 ? shape[0] : 1, type.getElementType());
}

/// Verifies a norm of rows with `numStatistics` values per row.
template <typename OpTy>
static LogicalResult verifyRowNorm(OpTy op, unsigned numStatistics) {
  ArrayRef<int64_t> y = op.getTargetType(0).getShape(),
                    x = op.getInputType(0).getShape(),
                    gamma = op.getInputType(1).getShape();
  std::optional<HeadsAttr> rows = op.getXRows();
  if (!rows)
    y = x;
  if (failed(verifyGain(op, y, gamma)))
    return failure();
  Type f32 = Float32Type::get(op.getContext());
  SmallVector<OperandSpec> inputs{{x}}, targets{{y}};
  inputs.append(numStatistics, {gamma, f32});
  targets.append(numStatistics, {y.drop_back(gamma.size()), f32});
  if (failed(verifyOperands(op, inputs, targets)))
    return failure();
  return rows ? verifyRows(op, "x", *rows, y, gamma, op.getInputType(0))
              : success();
}

/// The bytes that a norm of rows reads, where input `index` holds the rows of a
/// tensor of type `whole` if `isPart`.
static int64_t getRowNormReads(LaunchOpInterface op, bool isPart,
                               unsigned index, ShapedType whole) {
  int64_t bytes = getReadBytes(op);
  if (!isPart || llvm::count(op.getInputs(), op.getInputs()[index]) > 1)
    return bytes;
  ShapedType type = op.getInputType(index);
  return bytes - getBytes(type) + getBytes(whole.clone(type.getElementType()));
}

LogicalResult LayerNormOp::verify() { return verifyRowNorm(*this, 2); }
int64_t LayerNormOp::getReadBytes() {
  return getRowNormReads(*this, getXRows().has_value(), 0, getTargetType(0));
}

/// Verifies the gradients of a norm over rows. The inputs are dy, x, gamma and
/// `numStatistics` values per row. With `isAgain`, the last target is the norm,
/// and a norm with two statistics also reads beta.
template <typename OpTy>
static LogicalResult verifyRowNormGrad(OpTy op, unsigned numStatistics,
                                       bool isAgain) {
  ArrayRef<int64_t> x = op.getInputType(1).getShape(),
                    dx = op.getTargetType(0).getShape(),
                    gamma = op.getInputType(2).getShape();
  std::optional<HeadsAttr> xRows = op.getXRows(), dxRows = op.getDxRows();
  ArrayRef<int64_t> dy = xRows ? op.getInputType(0).getShape() : x;
  if (failed(verifyGain(op, dy, gamma)))
    return failure();
  Type f32 = Float32Type::get(op.getContext());
  const OperandSpec gain{gamma, f32};
  SmallVector<OperandSpec> inputs{{dy}, {x}, gain}, targets{{dxRows ? dx : dy}};
  inputs.append(numStatistics, {dy.drop_back(gamma.size()), f32});
  targets.append(numStatistics, gain);
  if (isAgain) {
    targets.push_back({dy});
    if (numStatistics == 2)
      inputs.push_back(gain);
  }
  if (op.getAccumulate())
    inputs.push_back({dy});
  if (op.getAccumulate() && dxRows)
    return op.emitOpError("has 'accumulate' and 'dx_rows', expected one");
  if (failed(verifyOperands(op, inputs, targets)) ||
      (xRows &&
       failed(verifyRows(op, "x", *xRows, dy, gamma, op.getInputType(1)))))
    return failure();
  if (!dxRows)
    return success();
  if (failed(verifyRows(op, "dx", *dxRows, dy, gamma, op.getTargetType(0))))
    return failure();
  return verifyFilled(op, getRowsSpec("dx", *dxRows, dy, op.getTargetType(0)),
                      dy.size() == 4 ? dy[0] : 1);
}

LogicalResult LayerNormGradOp::verify() {
  return verifyRowNormGrad(*this, 2, /*isAgain=*/false);
}
LogicalResult LayerNormAndGradOp::verify() {
  return verifyRowNormGrad(*this, 2, /*isAgain=*/true);
}

/// Whether the gradient of a norm of rows may write `target` over `input`: dx
/// over dy or the addend. Rows by strides are at other places.
template <typename OpTy>
static bool mayOverwriteGrad(OpTy op, unsigned target, unsigned input) {
  const bool isAddend =
      op.getAccumulate() && input + 1 == op.getInputs().size();
  return target == 0 && (input == 0 || isAddend) && !op.getDxRows() &&
         mayOverwrite(op, target, input);
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

/// dy and the rows of x, which the second kernel reads.
static int64_t getRowNormRereads(LaunchOpInterface op) {
  ShapedType dy = op.getInputType(0);
  return getBytes(dy) + getBytes(dy.clone(op.getInputType(1).getElementType()));
}
int64_t LayerNormGradOp::getRereadBytes() { return getRowNormRereads(*this); }
int64_t LayerNormGradOp::getReadBytes() {
  return getRowNormReads(*this, getXRows().has_value(), 1, getInputType(0));
}
int64_t LayerNormAndGradOp::getRereadBytes() {
  return getRowNormRereads(*this);
}
int64_t LayerNormAndGradOp::getReadBytes() {
  return getRowNormReads(*this, getXRows().has_value(), 1, getInputType(0));
}

// One kernel for the gains, one for the input.
int64_t LayerNormGradOp::getNumKernels() { return 2; }
int64_t LayerNormAndGradOp::getNumKernels() { return 2; }

//===----------------------------------------------------------------------===//
// RMS norm
//===----------------------------------------------------------------------===//

LogicalResult RMSNormOp::verify() { return verifyRowNorm(*this, 1); }
int64_t RMSNormOp::getReadBytes() {
  return getRowNormReads(*this, getXRows().has_value(), 0, getTargetType(0));
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

int64_t RMSNormGradOp::getRereadBytes() { return getRowNormRereads(*this); }
int64_t RMSNormGradOp::getReadBytes() {
  return getRowNormReads(*this, getXRows().has_value(), 1, getInputType(0));
}
int64_t RMSNormAndGradOp::getRereadBytes() { return getRowNormRereads(*this); }
int64_t RMSNormAndGradOp::getReadBytes() {
  return getRowNormReads(*this, getXRows().has_value(), 1, getInputType(0));
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

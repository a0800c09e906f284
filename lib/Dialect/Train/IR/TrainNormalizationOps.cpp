//===- TrainNormalizationOps.cpp - Softmax and norms ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Train.h"

#include "ShapeVerifiers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::train;

/// Verifies that the parameters of a norm have the type in which it computes.
static LogicalResult verifyComputeType(Operation *op, Value input,
                                       Value parameter) {
  Type need = getComputeType(input.getType());
  Type have = getElementTypeOrSelf(parameter);
  if (need == have)
    return success();
  return op->emitOpError("parameters and statistics must be ")
         << need << " for " << getElementTypeOrSelf(input) << " inputs, got "
         << have;
}

/// Verifies that `epsilon` is finite and not negative.
static LogicalResult verifyEpsilon(Operation *op, const APFloat &epsilon) {
  double number = epsilon.convertToDouble();
  if (!(number >= 0) || std::isinf(number))
    return op->emitOpError("'epsilon' must be finite and not negative, got ")
           << number;
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), typeOf(getOperation()->getOperand(0)));
}
LogicalResult LogSoftmaxOp::verify() {
  return verifyAxis(*this, getAxis(), typeOf(getOperation()->getOperand(0)));
}
LogicalResult SoftmaxGradOp::verify() {
  return verifyAxis(*this, getAxis(), typeOf(getOperation()->getOperand(0)));
}
LogicalResult LogSoftmaxGradOp::verify() {
  return verifyAxis(*this, getAxis(), typeOf(getOperation()->getOperand(0)));
}

LogicalResult LogsumexpOp::verify() {
  Type from = getElementTypeOrSelf(getInput());
  Type to = getElementTypeOrSelf(getResult());
  if (to != from && to != getComputeType(from))
    return emitOpError("expected a result of ")
           << from << " or " << getComputeType(from) << " elements, got " << to;
  return success();
}
LogicalResult LogsumexpOp::inferResultShapes(Shapes &shapes) {
  if (failed(
          verifyAxis(*this, getAxis(), typeOf(getOperation()->getOperand(0)))))
    return failure();
  SmallVector<int64_t> shape(typeOf(getInput()).getShape());
  shape.erase(shape.begin() + getAxis());
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult SoftmaxOp::inferResultShapes(Shapes &shapes) {
  return inferSameShape(*this, shapes);
}
LogicalResult LogSoftmaxOp::inferResultShapes(Shapes &shapes) {
  return inferSameShape(*this, shapes);
}
LogicalResult SoftmaxGradOp::inferResultShapes(Shapes &shapes) {
  return inferSameShape(*this, shapes);
}
LogicalResult LogSoftmaxGradOp::inferResultShapes(Shapes &shapes) {
  return inferSameShape(*this, shapes);
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

/// Verifies that `gamma` has the trailing dimensions of `input`. Returns the
/// leading dimensions, which are the shape of the statistics.
static FailureOr<SmallVector<int64_t>>
inferStatisticsShape(Operation *op, RankedTensorType input,
                     RankedTensorType gamma) {
  int64_t leading = input.getRank() - gamma.getRank();
  if (gamma.getRank() < 1 || leading < 0 || !gamma.hasStaticShape() ||
      input.getShape().drop_front(leading) != gamma.getShape())
    return op->emitOpError("'gamma' must have the trailing dimensions of the "
                           "input, at least one and all static, got ")
           << gamma << " for " << input;
  return SmallVector<int64_t>(input.getShape().take_front(leading));
}

LogicalResult RMSNormOp::verify() {
  if (failed(verifyEpsilon(*this, getEpsilon())))
    return failure();
  return verifyComputeType(*this, getInput(), getGamma());
}

LogicalResult RMSNormOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  auto statistics = inferStatisticsShape(*this, input, typeOf(getGamma()));
  if (failed(statistics))
    return failure();
  shapes.emplace_back(input.getShape());
  shapes.push_back(std::move(*statistics));
  return success();
}

LogicalResult RMSNormGradOp::verify() {
  return verifyComputeType(*this, getInput(), getGamma());
}

LogicalResult RMSNormGradOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput()), gamma = typeOf(getGamma());
  auto statistics = inferStatisticsShape(*this, input, gamma);
  if (failed(statistics) ||
      failed(verifyShape(*this, "grad", getGrad(), input.getShape())) ||
      failed(verifyShape(*this, "rstd", getRstd(), *statistics)))
    return failure();
  shapes.emplace_back(input.getShape());
  shapes.emplace_back(gamma.getShape());
  return success();
}

LogicalResult LayerNormOp::verify() {
  if (failed(verifyEpsilon(*this, getEpsilon())))
    return failure();
  return verifyComputeType(*this, getInput(), getGamma());
}

LogicalResult LayerNormOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput()), gamma = typeOf(getGamma());
  auto statistics = inferStatisticsShape(*this, input, gamma);
  if (failed(statistics) ||
      failed(verifyShape(*this, "beta", getBeta(), gamma.getShape())))
    return failure();
  shapes.emplace_back(input.getShape());
  shapes.push_back(*statistics);
  shapes.push_back(*statistics);
  return success();
}

LogicalResult LayerNormGradOp::verify() {
  return verifyComputeType(*this, getInput(), getGamma());
}

LogicalResult LayerNormGradOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput()), gamma = typeOf(getGamma());
  auto statistics = inferStatisticsShape(*this, input, gamma);
  if (failed(statistics) ||
      failed(verifyShape(*this, "grad", getGrad(), input.getShape())) ||
      failed(verifyShape(*this, "mean", getMean(), *statistics)) ||
      failed(verifyShape(*this, "rstd", getRstd(), *statistics)))
    return failure();
  shapes.emplace_back(input.getShape());
  shapes.emplace_back(gamma.getShape());
  shapes.emplace_back(gamma.getShape());
  return success();
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// Verifies that `input` has channels and that all of `values`, named `names`,
/// have one element per channel.
static LogicalResult verifyChannels(Operation *op, RankedTensorType input,
                                    ArrayRef<StringRef> names,
                                    ArrayRef<Value> values) {
  if (input.getRank() < 2 || ShapedType::isDynamic(input.getShape().back()))
    return op->emitOpError("expected an input of rank at least 2 with a "
                           "static last dimension, got ")
           << input;
  for (auto [name, value] : llvm::zip(names, values))
    if (failed(verifyShape(op, name, value, input.getShape().take_back())))
      return failure();
  return success();
}

LogicalResult BatchNormTrainingOp::verify() {
  double momentum = getMomentum().convertToDouble();
  if (!(momentum >= 0 && momentum <= 1))
    return emitOpError("'momentum' must be in [0, 1], got ") << momentum;
  if (failed(verifyEpsilon(*this, getEpsilon())))
    return failure();
  return verifyComputeType(*this, getInput(), getGamma());
}

LogicalResult BatchNormTrainingOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  if (failed(verifyChannels(
          *this, input, {"gamma", "beta", "running_mean", "running_var"},
          {getGamma(), getBeta(), getRunningMean(), getRunningVar()})))
    return failure();
  if (llvm::all_of(input.getShape().drop_back(),
                   [](int64_t extent) { return extent == 1; }))
    return emitOpError("the variance of a batch needs more than one value per "
                       "channel, got ")
           << input;
  shapes.emplace_back(input.getShape());
  for (int i = 0; i < 4; ++i)
    shapes.emplace_back(input.getShape().take_back());
  return success();
}

LogicalResult BatchNormInferenceOp::verify() {
  if (failed(verifyEpsilon(*this, getEpsilon())))
    return failure();
  return verifyComputeType(*this, getInput(), getGamma());
}

LogicalResult BatchNormInferenceOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  if (failed(verifyChannels(*this, input, {"gamma", "beta", "mean", "var"},
                            {getGamma(), getBeta(), getMean(), getVar()})))
    return failure();
  shapes.emplace_back(input.getShape());
  return success();
}

LogicalResult BatchNormGradOp::verify() {
  return verifyComputeType(*this, getInput(), getGamma());
}

LogicalResult BatchNormGradOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  if (failed(verifyChannels(*this, input, {"gamma", "mean", "rstd"},
                            {getGamma(), getMean(), getRstd()})) ||
      failed(verifyShape(*this, "grad", getGrad(), input.getShape())))
    return failure();
  shapes.emplace_back(input.getShape());
  shapes.emplace_back(input.getShape().take_back());
  shapes.emplace_back(input.getShape().take_back());
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainNormalizationOps.cpp.inc"

void TrainDialect::registerNormalizationOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/Train/IR/TrainNormalizationOps.cpp.inc"
      >();
}

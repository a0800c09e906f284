//===- TrainLossOps.cpp - Losses, gradients and optimizers ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AttributeNames.h"
#include "amp/Dialect/Train/IR/Train.h"

#include "ShapeVerifiers.h"

using namespace mlir;
using namespace mlir::train;

/// Verifies that `scalar`, the loss or its gradient, has the type in which an
/// operation on `input` computes.
static LogicalResult verifyLossType(Operation *op, Value input, Value scalar) {
  Type need = getComputeType(input.getType());
  Type have = getElementTypeOrSelf(scalar);
  if (need == have)
    return success();
  return op->emitOpError("the loss and its gradient must be ")
         << need << " for " << getElementTypeOrSelf(input) << " inputs, got "
         << have;
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Verifies that `labels` has the shape of `logits` without the last dimension.
static LogicalResult verifyLabels(Operation *op, RankedTensorType logits,
                                  RankedTensorType labels) {
  if (logits.getRank() < 2 || ShapedType::isDynamic(logits.getShape().back()))
    return op->emitOpError("expected logits of rank at least 2 with a static "
                           "number of classes, got ")
           << logits;
  if (labels.getShape() != logits.getShape().drop_back())
    return op->emitOpError("'labels' must have type ")
           << labels.clone(logits.getShape().drop_back())
           << ", one label per row of logits, got " << labels;
  return success();
}

static LogicalResult verifyRange(Operation *op, StringRef name,
                                 const APFloat &value, double limit);

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyRange(*this, "label_smoothing", getLabelSmoothing(), 1)))
    return failure();
  return verifyLossType(*this, getLogits(), getLoss());
}
LogicalResult CrossEntropyOp::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back();
  return verifyLabels(*this, typeOf(getLogits()), typeOf(getLabels()));
}

LogicalResult CrossEntropyGradOp::verify() {
  if (failed(verifyRange(*this, "label_smoothing", getLabelSmoothing(), 1)))
    return failure();
  return verifyLossType(*this, getLogits(), getGrad());
}
LogicalResult CrossEntropyGradOp::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back(typeOf(getLogits()).getShape());
  return verifyLabels(*this, typeOf(getLogits()), typeOf(getLabels()));
}

LogicalResult MSEOp::verify() {
  return verifyLossType(*this, getInput(), getLoss());
}
LogicalResult L1Op::verify() {
  return verifyLossType(*this, getInput(), getLoss());
}
LogicalResult MSEOp::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back();
  return success();
}
LogicalResult L1Op::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back();
  return success();
}

LogicalResult MSEGradOp::verify() {
  return verifyLossType(*this, getInput(), getGrad());
}
LogicalResult L1GradOp::verify() {
  return verifyLossType(*this, getInput(), getGrad());
}
LogicalResult MSEGradOp::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back(typeOf(getInput()).getShape());
  return success();
}
LogicalResult L1GradOp::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back(typeOf(getInput()).getShape());
  return success();
}

//===----------------------------------------------------------------------===//
// GradientsOp
//===----------------------------------------------------------------------===//

LogicalResult GradientsOp::verify() {
  if (failed(amp::verifyAttributeNames(*this)) ||
      failed(verifyTensorTypes(*this)))
    return failure();
  if (getWrt().empty())
    return emitOpError("expected at least one value to differentiate by");
  if (getWrt().getTypes() != getGradients().getTypes())
    return emitOpError("results must have the types of 'wrt', expected ")
           << getWrt().getTypes() << ", got " << getGradients().getTypes();
  return success();
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// Verifies the operands and results of an optimizer. `states`, named `names`,
/// and all results must have the parameter's type. `scalars` must have its
/// element type. The gradient must have its shape and no wider element type.
static LogicalResult verifyOptimizer(Operation *op, Value parameter,
                                     Value gradient, ValueRange scalars,
                                     ArrayRef<StringRef> names,
                                     ValueRange states) {
  auto type = typeOf(parameter);
  Type element = type.getElementType();
  if (typeOf(gradient).getShape() != type.getShape() ||
      getElementTypeOrSelf(gradient).getIntOrFloatBitWidth() >
          element.getIntOrFloatBitWidth())
    return op->emitOpError("'grad' must have the parameter's shape and no "
                           "wider an element type, expected ")
           << type << ", got " << gradient.getType();
  for (Value scalar : scalars)
    if (getElementTypeOrSelf(scalar) != element)
      return op->emitOpError("scalars must have the parameter's element type ")
             << element << ", got " << scalar.getType();
  for (auto [name, state] : llvm::zip(names, states))
    if (state.getType() != type)
      return op->emitOpError("'") << name << "' must have the parameter's type "
                                  << type << ", got " << state.getType();
  for (Value result : op->getResults())
    if (result.getType() != type)
      return op->emitOpError("results must have the parameter's type ")
             << type << ", got " << result.getType();
  return success();
}

/// Verifies that `value` is in [0, limit).
static LogicalResult verifyRange(Operation *op, StringRef name,
                                 const APFloat &value, double limit) {
  double number = value.convertToDouble();
  if (number >= 0 && number < limit)
    return success();
  auto diag = op->emitOpError("'") << name << "' must ";
  if (std::isinf(limit))
    return diag << "be finite and not negative, got " << number;
  return diag << "be in [0, " << static_cast<int>(limit) << "), got " << number;
}

static constexpr double kNoLimit = std::numeric_limits<double>::infinity();

LogicalResult SGDOp::verify() {
  SmallVector<Value> states;
  if (getVelocity())
    states.push_back(getVelocity());
  if (failed(verifyOptimizer(*this, getParameter(), getGrad(),
                             getLearningRate(), {"velocity"}, states)) ||
      failed(verifyRange(*this, "momentum", getMomentum(), kNoLimit)) ||
      failed(verifyRange(*this, "weight_decay", getWeightDecay(), kNoLimit)))
    return failure();
  if (static_cast<bool>(getVelocity()) != static_cast<bool>(getNewVelocity()))
    return emitOpError("expected a momentum buffer both as operand and as "
                       "result, or neither");
  if (!getVelocity() && (!getMomentum().isZero() || getNesterov()))
    return emitOpError("momentum needs a buffer as the last operand");
  return success();
}

LogicalResult SGDOp::inferResultShapes(Shapes &shapes) {
  for (unsigned i = 0; i < (*this)->getNumResults(); ++i)
    shapes.emplace_back(typeOf(getParameter()).getShape());
  return success();
}

OperandRange SGDOp::getGradientOperands() {
  return (*this)->getOperands().slice(1, 1);
}

template <typename AdamOpTy>
static LogicalResult verifyAdam(AdamOpTy op) {
  if (failed(verifyOptimizer(op, op.getParameter(), op.getGrad(),
                             {op.getLearningRate(), op.getStep()},
                             {"exp_avg", "exp_avg_sq"},
                             {op.getExpAvg(), op.getExpAvgSq()})) ||
      failed(verifyRange(op, "beta1", op.getBeta1(), 1)) ||
      failed(verifyRange(op, "beta2", op.getBeta2(), 1)) ||
      failed(verifyRange(op, "epsilon", op.getEpsilon(), kNoLimit)) ||
      failed(verifyRange(op, "weight_decay", op.getWeightDecay(), kNoLimit)))
    return failure();
  return success();
}

LogicalResult AdamOp::verify() { return verifyAdam(*this); }
LogicalResult AdamWOp::verify() { return verifyAdam(*this); }

LogicalResult AdamOp::inferResultShapes(Shapes &shapes) {
  shapes.resize(3, SmallVector<int64_t>(typeOf(getParameter()).getShape()));
  return success();
}
LogicalResult AdamWOp::inferResultShapes(Shapes &shapes) {
  shapes.resize(3, SmallVector<int64_t>(typeOf(getParameter()).getShape()));
  return success();
}

OperandRange AdamOp::getGradientOperands() {
  return (*this)->getOperands().slice(1, 1);
}
OperandRange AdamWOp::getGradientOperands() {
  return (*this)->getOperands().slice(1, 1);
}

//===----------------------------------------------------------------------===//
// ClipByGlobalNormOp
//===----------------------------------------------------------------------===//

LogicalResult ClipByGlobalNormOp::verify() {
  if (getGradients().empty())
    return emitOpError("expected at least one gradient");
  double maxNorm = getMaxNorm().convertToDouble();
  if (!(maxNorm > 0))
    return emitOpError("'max_norm' must be positive, got ") << maxNorm;
  if (getGradients().getTypes() != getClipped().getTypes())
    return emitOpError("expected clipped gradients of types ")
           << getGradients().getTypes() << ", got " << getClipped().getTypes();
  for (Value gradient : getGradients())
    if (getComputeType(gradient.getType()) != getElementTypeOrSelf(getNorm()))
      return emitOpError("'norm' must be ")
             << getComputeType(gradient.getType()) << " for gradients of type "
             << gradient.getType() << ", got " << getNorm().getType();
  return success();
}

LogicalResult ClipByGlobalNormOp::inferResultShapes(Shapes &shapes) {
  for (Value gradient : getGradients())
    shapes.emplace_back(typeOf(gradient).getShape());
  shapes.emplace_back();
  return success();
}

OperandRange ClipByGlobalNormOp::getGradientOperands() {
  return getGradients();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainLossOps.cpp.inc"

void TrainDialect::registerLossOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/Train/IR/TrainLossOps.cpp.inc"
      >();
}

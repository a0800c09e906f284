//===- TrainGradients.cpp - Reverse-mode rules ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/TrainBuilder.h"

using namespace mlir;
using namespace mlir::train;

LogicalResult AbsOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult AddOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ClipGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ClipOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult CosOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult DivOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ErfOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ExpOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult Expm1Op::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult GeluGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult GeluOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult Log1pOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult LogOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult MaximumOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult MinimumOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult MulOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult NegOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult PowOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ReciprocalOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ReluGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ReluOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult RsqrtOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SelectOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SigmoidGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SigmoidOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SignOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SinOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SqrtOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SquareOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SubOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult TanhGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult TanhOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult CrossEntropyGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult CrossEntropyOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult L1GradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult L1Op::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult MSEGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult MSEOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult BatchNormGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult BatchNormInferenceOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult BatchNormTrainingOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult LayerNormGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult LayerNormOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult LogSoftmaxGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult LogSoftmaxOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SoftmaxGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SoftmaxOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult AvgPool2DGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult AvgPool2DOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult Conv2DFilterGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult Conv2DInputGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult Conv2DOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult LinearOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult MatmulOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult MaxPool2DGradOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult MaxPool2DOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult BroadcastOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ConcatOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult DropoutOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult PadOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ReduceMaxOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ReduceMeanOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ReduceSumOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult ReshapeOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult SliceOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}
LogicalResult TransposeOp::buildOperandGradients(OpBuilder &, ArrayRef<Value>, const BitVector &, MutableArrayRef<Value>) {
  return emitOpError("has no derivative");
}

//===- TrainDecompositions.cpp - Definitions of composite operations ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/TrainBuilder.h"

using namespace mlir;
using namespace mlir::train;

LogicalResult ClipGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult ClipOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult GeluGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult GeluOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult ReluGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult SigmoidGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult SigmoidOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult TanhGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult AdamOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult AdamWOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult ClipByGlobalNormOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult CrossEntropyGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult CrossEntropyOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult L1GradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult L1Op::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult MSEGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult MSEOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult SGDOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult BatchNormGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult BatchNormInferenceOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult BatchNormTrainingOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult LayerNormGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult LayerNormOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult LogSoftmaxGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult LogSoftmaxOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult SoftmaxGradOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult SoftmaxOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}
LogicalResult LinearOp::decompose(OpBuilder &, SmallVectorImpl<Value> &) {
  return emitOpError("has no decomposition");
}

//===- TrainOps.td - All operations of the train dialect -*- tablegen -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAINOPS_TD
#define AMP_DIALECT_TRAIN_IR_TRAINOPS_TD

include "amp/Dialect/Train/IR/TrainElementwiseOps.td"
include "amp/Dialect/Train/IR/TrainLossOps.td"
include "amp/Dialect/Train/IR/TrainNormalizationOps.td"
include "amp/Dialect/Train/IR/TrainProductOps.td"
include "amp/Dialect/Train/IR/TrainSequenceOps.td"
include "amp/Dialect/Train/IR/TrainShapeOps.td"

#endif // AMP_DIALECT_TRAIN_IR_TRAINOPS_TD

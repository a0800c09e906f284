//===- Train.h - The train dialect ------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_TRAIN_H
#define AMP_DIALECT_TRAIN_IR_TRAIN_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Interfaces/DecomposableOpInterface.h"
#include "amp/Interfaces/DifferentiableOpInterface.h"
#include "amp/Interfaces/FloatRangeOpInterface.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Interfaces/PrecisionOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::train {

/// Verifies that every later stage can handle the tensors of `op`: they have no
/// encoding, no empty dimensions and fewer than 2^48 elements. Numbers of
/// elements and of operations then fit in 64 bits.
LogicalResult verifyTensorTypes(Operation *op);

/// Verifies that the result types of `op`, a `ShapeInferenceOpInterface`, agree
/// with the shapes that it infers.
LogicalResult verifyResultShapes(Operation *op);

/// Computes the shape of NumPy broadcasting, aligned at the last dimension. Two
/// dynamic dimensions are assumed to be equal. Returns failure, without a
/// diagnostic, if the shapes do not fit.
FailureOr<SmallVector<int64_t>> broadcastShapes(ArrayRef<int64_t> lhs,
                                                ArrayRef<int64_t> rhs);

/// The type in which operations on `type` compute: f64 for f64, else f32.
FloatType getComputeType(Type type);

/// The mask of an attention among its last operands, or null.
Value findAttentionMask(OperandRange extras);
/// The state of the random generator of an attention among its last operands,
/// or null.
Value findAttentionRng(OperandRange extras);

} // namespace mlir::train

#include "amp/Dialect/Train/IR/TrainDialect.h.inc"
#include "amp/Dialect/Train/IR/TrainEnums.h.inc"
#include "amp/Dialect/Train/IR/TrainInterfaces.h.inc"

#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainLossOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainNormalizationOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainProductOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainSequenceOps.h.inc"
#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainShapeOps.h.inc"

#endif // AMP_DIALECT_TRAIN_IR_TRAIN_H

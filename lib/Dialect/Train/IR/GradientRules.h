//===- GradientRules.h - What reverse-mode rules share ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to the files TrainGradients*.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_TRAIN_IR_GRADIENTRULES_H
#define AMP_LIB_DIALECT_TRAIN_IR_GRADIENTRULES_H

#include "amp/Dialect/Train/IR/TrainBuilder.h"

/// The head of the rule of one operation.
#define AMP_GRADIENT_RULE(OP)                                                  \
  LogicalResult OP::buildOperandGradients(                                     \
      [[maybe_unused]] OpBuilder &builder,                                     \
      [[maybe_unused]] ArrayRef<Value> resultGradients,                        \
      [[maybe_unused]] const BitVector &wanted,                                \
      [[maybe_unused]] MutableArrayRef<Value> operandGradients)

namespace mlir::train {

/// Sums `gradient` over the dimensions along which a value of type `type` was
/// repeated by NumPy broadcasting; the result is of `type`.
Value sumToType(TrainBuilder &t, Value gradient, Type type);

/// Differentiates the decomposition of a composite operation: emits its
/// primitives and propagates `resultGradients` through them to the operands in
/// `wanted`. For derivatives that have no operation of their own.
LogicalResult differentiateDecomposition(
    Operation *op, OpBuilder &builder, ArrayRef<Value> resultGradients,
    const BitVector &wanted, MutableArrayRef<Value> operandGradients);

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_IR_GRADIENTRULES_H

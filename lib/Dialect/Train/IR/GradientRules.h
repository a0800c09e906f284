//===- GradientRules.h - What reverse-mode rules share ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers of the files TrainGradients*.cpp.
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

/// The gradient rule of an operation that has no backward operation, such as
/// the backward operation of a composite, or a norm with given statistics.
#define AMP_DECOMPOSED_RULE(OP)                                                \
  AMP_GRADIENT_RULE(OP) {                                                      \
    return differentiateDecomposition(*this, builder, resultGradients, wanted, \
                                      operandGradients);                       \
  }

namespace mlir::train {

/// Sums `gradient` over the dimensions along which NumPy broadcasting repeated
/// a value of type `type`. The result has this type.
Value sumToType(TrainBuilder &t, Value gradient, Type type);

/// Differentiates the decomposition of a composite operation: emits its
/// primitives and propagates `resultGradients` through them to the operands in
/// `wanted`. Used for derivatives without a backward operation.
LogicalResult differentiateDecomposition(
    Operation *op, OpBuilder &builder, ArrayRef<Value> resultGradients,
    const BitVector &wanted, MutableArrayRef<Value> operandGradients);

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_IR_GRADIENTRULES_H

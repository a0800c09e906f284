//===- LoopGradients.h - Derivatives of loops and slices --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of upstream operations that the reverse sweep enters: loops, and
// the slices through which iterations read and write tensors.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_TRAIN_IR_LOOPGRADIENTS_H
#define AMP_LIB_DIALECT_TRAIN_IR_LOOPGRADIENTS_H

#include "amp/Dialect/Train/IR/Backpropagation.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::train {

/// Emits the loop that runs through the iterations of `loop` backward, and
/// replaces `loop` by a loop that also returns stacks of the values which the
/// backward loop reads. Emits a diagnostic at `loop` and returns failure if the
/// trip count is not a constant.
LogicalResult differentiateLoop(scf::ForOp loop,
                                ArrayRef<Value> resultGradients,
                                Backpropagation &sweep, OpBuilder &builder,
                                LoopValues values);

/// Emits the gradients of the operands of a `tensor.extract_slice` or
/// `tensor.insert_slice`. Returns failure, without a diagnostic, for other
/// operations.
LogicalResult differentiatePart(Operation *op, ArrayRef<Value> resultGradients,
                                Backpropagation &sweep, OpBuilder &builder);

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_IR_LOOPGRADIENTS_H

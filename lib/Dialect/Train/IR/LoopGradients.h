//===- LoopGradients.h - Derivatives of regions and slices ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of upstream operations that the reverse sweep enters: loops,
// branches, and the slices through which iterations read and write tensors.
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

/// Emits an `scf.if` that computes the branch of `op` that was taken again, and
/// the gradients of the values that it reads from outside.
LogicalResult differentiateBranches(scf::IfOp op,
                                    ArrayRef<Value> resultGradients,
                                    Backpropagation &sweep, OpBuilder &builder,
                                    LoopValues values);

/// A tensor of zeros like `like`.
Value makeZeros(OpBuilder &builder, Location loc, Value like);

/// Emits the gradients of the operands of a `tensor.extract_slice`, a
/// `tensor.insert_slice` or an `arith.select` of tensors. Returns failure,
/// without a diagnostic, for other operations.
LogicalResult differentiatePart(Operation *op, ArrayRef<Value> resultGradients,
                                Backpropagation &sweep, OpBuilder &builder);

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_IR_LOOPGRADIENTS_H

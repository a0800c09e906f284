//===- Decompositions.h - Shared by the decompositions ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_TRAIN_IR_DECOMPOSITIONS_H
#define AMP_LIB_DIALECT_TRAIN_IR_DECOMPOSITIONS_H

#include "amp/Dialect/Train/IR/TrainBuilder.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::train {

/// Rounds `values`, computed in the compute type, to the types of the results
/// of `op`, and appends them to `results`.
inline LogicalResult finish(Operation *op, TrainBuilder &t,
                            ArrayRef<Value> values,
                            SmallVectorImpl<Value> &results) {
  for (auto [value, result] : llvm::zip_equal(values, op->getResults()))
    results.push_back(t.castTo(value, getElementTypeOrSelf(result)));
  return success();
}

/// Appends the results of a batch norm, or of its gradient, with the statistics
/// of the batches of all ranks (`ReplicationOpInterface::synchronize`).
LogicalResult synchronizeBatchNorm(BatchNormTrainingOp op, OpBuilder &builder,
                                   SmallVectorImpl<Value> &results);
LogicalResult synchronizeBatchNorm(BatchNormGradOp op, OpBuilder &builder,
                                   SmallVectorImpl<Value> &results);

/// Appends the results of a clip of `gradients`, some of which are parts of the
/// gradients of `op` (`ReplicationOpInterface::combineParts`).
void clipParts(ClipByGlobalNormOp op, OpBuilder &builder, ValueRange gradients,
               ArrayRef<bool> isPart, SmallVectorImpl<Value> &results);

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_IR_DECOMPOSITIONS_H

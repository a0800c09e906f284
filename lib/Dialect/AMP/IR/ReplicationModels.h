//===- ReplicationModels.h - ReplicationOpInterface, attached ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_REPLICATIONMODELS_H
#define AMP_DIALECT_AMP_IR_REPLICATIONMODELS_H

namespace mlir {
class MLIRContext;
}

namespace mlir::amp {

/// Attaches ReplicationOpInterface to the operations of the dialect. They must
/// be registered.
void attachReplicationModels(MLIRContext *context);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_REPLICATIONMODELS_H

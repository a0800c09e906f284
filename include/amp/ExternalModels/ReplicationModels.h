//===- ReplicationModels.h - Ranks in upstream dialects ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXTERNALMODELS_REPLICATIONMODELS_H
#define AMP_EXTERNALMODELS_REPLICATIONMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::amp {

/// Registers `ReplicationOpInterface` for the operations of arith, tensor and
/// linalg whose effect differs from that of an unknown operation, and for
/// `amp.global_norm`.
void registerReplicationExternalModels(DialectRegistry &registry);

} // namespace mlir::amp

#endif // AMP_EXTERNALMODELS_REPLICATIONMODELS_H

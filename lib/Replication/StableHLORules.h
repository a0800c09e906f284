//===- StableHLORules.h - Ranks in StableHLO --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_REPLICATION_STABLEHLORULES_H
#define AMP_LIB_REPLICATION_STABLEHLORULES_H

#include "amp/Interfaces/ReplicationOpInterface.h"

namespace mlir::amp {

/// Sets the results of an operation of StableHLO. Returns false if no rule is
/// more precise than that of an unknown operation.
bool inferStableHLOReplication(ReplicationInference &inference);

/// Whether all ranks must execute `op`, of any dialect, together.
bool isStableHLOCollective(Operation *op);

} // namespace mlir::amp

#endif // AMP_LIB_REPLICATION_STABLEHLORULES_H

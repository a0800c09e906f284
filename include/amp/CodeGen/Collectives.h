//===- Collectives.h - Collectives on buffers -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CODEGEN_COLLECTIVES_H
#define AMP_CODEGEN_COLLECTIVES_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::amp {

/// Lets bufferization turn the collectives of the amp dialect into calls of
/// functions of the process:
///
///   - `amp_collective_add_<type>(buffer)` adds a buffer to the bucket;
///   - `amp_collective_all_reduce_<reduction>()` replaces each buffer of the
///     bucket by the reduction over all ranks, and empties the bucket;
///   - `amp_collective_reduce_scatter_<type>(from, to, dimension)`,
///     `amp_collective_all_gather_<type>(from, to, dimension)` and
///     `amp_collective_rank_part_<type>(from, to, dimension)` fill `to`. The
///     dimension is negative for parts in row-major order.
///
/// A buffer is an unranked memref: its rank, and a pointer to the descriptor.
/// Results are in the order of ranks (`AMPCollectiveOps.td`).
void registerCollectiveBufferization(DialectRegistry &registry);

} // namespace mlir::amp

#endif // AMP_CODEGEN_COLLECTIVES_H

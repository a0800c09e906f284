//===- ProcessFunctions.h - Functions that a step calls ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lowered step of the CPU calls functions of the process that runs it. They
// take buffers as unranked memrefs: the rank, and a pointer to the descriptor.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CODEGEN_PROCESSFUNCTIONS_H
#define AMP_CODEGEN_PROCESSFUNCTIONS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::amp {

/// Lets bufferization turn `amp.call` into calls of these functions:
///
///   - `amp_call_add_<type>(buffer)` adds an operand or, after all operands, a
///     result. The buffer is in row-major order.
///   - `amp_call_run(name, numbers)` calls the operation `name` on the added
///     buffers. `name` is an i8 buffer of letters. `numbers` is an i64 buffer:
///     the number of operands, the number of `seeds`, `seeds`, and `wrt`.
///   - `amp_call_release_<type>(buffer)` ends the use of a buffer.
void registerCallBufferization(DialectRegistry &registry);

/// Lets bufferization turn the collectives of the amp dialect into calls of
/// these functions:
///
///   - `amp_collective_add_<type>(buffer)` adds a buffer to the bucket.
///   - `amp_collective_all_reduce_<reduction>()` replaces each buffer of the
///     bucket by the reduction over all ranks, and empties the bucket.
///   - `amp_collective_release_<type>(buffer)` ends the use of a buffer.
///   - `amp_collective_reduce_scatter_<type>(from, to, dimension)`,
///     `amp_collective_all_gather_<type>(from, to, dimension)` and
///     `amp_collective_rank_part_<type>(from, to, dimension)` fill `to`. The
///     dimension is negative for parts in row-major order.
///
/// Results are in the order of ranks (`AMPCollectiveOps.td`).
void registerCollectiveBufferization(DialectRegistry &registry);

} // namespace mlir::amp

#endif // AMP_CODEGEN_PROCESSFUNCTIONS_H

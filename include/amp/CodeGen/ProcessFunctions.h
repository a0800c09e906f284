//===- ProcessFunctions.h - Functions that a step calls ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step that is lowered for the CPU calls functions of the process that runs
// it. The functions take buffers as unranked memrefs: a rank and a pointer to a
// descriptor.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CODEGEN_PROCESSFUNCTIONS_H
#define AMP_CODEGEN_PROCESSFUNCTIONS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::amp {

/// Lets bufferization turn `amp.call` into calls of these functions:
///
///   - `amp_call_add_<type>(buffer)` adds an operand or, after all operands, a
///     result. Results are contiguous. Operands may have any strides.
///   - `amp_call_run(name, numbers)` calls the operation `name` on the added
///     buffers. `name` is an i8 buffer with the characters of the name.
///     `numbers` is an i64 buffer with the number of operands, the number of
///     `seeds`, the elements of `seeds` and the elements of `wrt`.
///   - `amp_call_release_<type>(buffer)` does nothing. The call keeps a buffer
///     allocated until the operation returns.
void registerCallBufferization(DialectRegistry &registry);

/// Lets bufferization turn the collectives of the amp dialect into calls of
/// these functions:
///
///   - `amp_collective_add_<type>(buffer)` adds a buffer to the bucket.
///   - `amp_collective_all_reduce_<reduction>()` replaces each buffer of the
///     bucket by the reduction over all ranks, and empties the bucket.
///   - `amp_collective_release_<type>(buffer)` does nothing. The call keeps a
///     buffer allocated until the reduction returns.
///   - `amp_collective_reduce_scatter_<type>(from, to, dimension)`,
///     `amp_collective_all_gather_<type>(from, to, dimension)` and
///     `amp_collective_rank_part_<type>(from, to, dimension)` fill `to`. A
///     negative dimension selects flat parts in row-major order.
///
/// Sums and gathered parts follow the order of the ranks
/// (`AMPCollectiveOps.td`).
void registerCollectiveBufferization(DialectRegistry &registry);

} // namespace mlir::amp

#endif // AMP_CODEGEN_PROCESSFUNCTIONS_H

//===- Calls.h - Operations of the caller on buffers ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CODEGEN_CALLS_H
#define AMP_CODEGEN_CALLS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::amp {

/// Lets bufferization turn `amp.call` into calls of functions of the process:
///
///   - `amp_call_add_<type>(buffer)` adds an operand, or after all operands a
///     result, which is in row-major order;
///   - `amp_call_run(name, numbers)` calls the operation with the letters of
///     `name`, an i8 buffer, on the buffers since the last call. `numbers`, an
///     i64 buffer, has the number of operands, the number of `seeds`, these,
///     and the numbers of `wrt`;
///   - `amp_call_release_<type>(buffer)` ends the use of each buffer.
///
/// A buffer is an unranked memref: its rank, and a pointer to the descriptor.
void registerCallBufferization(DialectRegistry &registry);

} // namespace mlir::amp

#endif // AMP_CODEGEN_CALLS_H

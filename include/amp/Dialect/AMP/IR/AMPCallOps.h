//===- AMPCallOps.h - Operations of the caller ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of operations that the caller of a step implements. Few files need
// them, so `AMP.h` does not include this header.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPCALLOPS_H
#define AMP_DIALECT_AMP_IR_AMPCALLOPS_H

#include "amp/Dialect/AMP/IR/AMP.h"

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPCallOps.h.inc"

namespace mlir::amp {

/// Verifies the operand and result numbers of a call that computes a
/// derivative. A call without both lists does not compute a derivative.
LogicalResult verifyDerivative(Operation *call, ArrayRef<ShapedType> inputs,
                               ArrayRef<ShapedType> outputs,
                               std::optional<ArrayRef<int64_t>> seeds,
                               std::optional<ArrayRef<int64_t>> wrt);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_AMPCALLOPS_H

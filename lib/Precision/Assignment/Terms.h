//===- Terms.h - What an elementwise operation combines ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operands whose elements an operation combines. A structured operation of
// linalg has destinations and a body in addition to them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_TERMS_H
#define AMP_LIB_PRECISION_ASSIGNMENT_TERMS_H

#include "mlir/IR/Operation.h"

namespace mlir::amp {

/// Returns the operands of `op` without the destinations of a structured
/// operation.
SmallVector<OpOperand *, 4> getInputs(Operation *op);

/// Returns the inputs of `op` that are floats. One of `tosa.mul` is a shift.
SmallVector<OpOperand *, 4> getTerms(Operation *op);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_TERMS_H

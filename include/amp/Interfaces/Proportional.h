//===- Proportional.h - Results proportional to an operand ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_PROPORTIONAL_H
#define AMP_INTERFACES_PROPORTIONAL_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::amp {

/// Returns whether the only result of `op` is multiplied by a factor if operand
/// `operand` is, while all other operands stay the same. The rule of the
/// operation for loss scales (LossScaleOpInterface) decides. Returns false for
/// an operation without a rule.
bool isProportionalTo(Operation *op, unsigned operand);

/// As `isProportionalTo`, but the result is divided by the factor.
bool isInverselyProportionalTo(Operation *op, unsigned operand);

} // namespace mlir::amp

#endif // AMP_INTERFACES_PROPORTIONAL_H

//===- FloatRangeOpInterface.h - Value ranges of operations -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_FLOATRANGEOPINTERFACE_H
#define AMP_INTERFACES_FLOATRANGEOPINTERFACE_H

#include "amp/Interfaces/FloatRange.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::amp {

/// How an operation uses single elements of its float operands.
enum class ElementFlow : uint8_t {
  /// It computes with them.
  Computes,
  /// Each element of each result is an element of some float operand, chosen by
  /// its position or by a condition, and unchanged.
  Moves,
  /// It compares them within groups: elements far below the largest of their
  /// group have no influence, as under softmax.
  IgnoresFarBelow,
};

} // namespace mlir::amp

#include "amp/Interfaces/FloatRangeOpInterface.h.inc"

#endif // AMP_INTERFACES_FLOATRANGEOPINTERFACE_H

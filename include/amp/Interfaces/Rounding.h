//===- Rounding.h - Attributes in another precision -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounding of attributes: constants, limits and types that change with the
// types of the values around them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_ROUNDING_H
#define AMP_INTERFACES_ROUNDING_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::amp {

/// Returns whether `roundAttribute` can give `attribute` another type:
/// numbers and dense elements of f32, f16 or bf16, and types that are or hold
/// one of them.
bool canRoundAttribute(Attribute attribute);

/// Returns `attribute` with its float type replaced by `type`. Numbers are
/// rounded to nearest even. Any other attribute is returned unchanged.
Attribute roundAttribute(Attribute attribute, FloatType type);

/// Returns whether rounding `attribute` to f16 turns no finite number into an
/// infinity, and none but zero into zero.
bool fitsHalf(Attribute attribute);

} // namespace mlir::amp

#endif // AMP_INTERFACES_ROUNDING_H

//===- InputAttributes.h - What adapters changed ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The record of an operation whose attributes changed with its type, as an
// adapter of a policy describes it. The record restores the operation without
// the policy.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_INPUTATTRIBUTES_H
#define AMP_DIALECT_AMP_IR_INPUTATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::amp {

/// A discardable attribute: a dictionary of the attributes that changed, with
/// their values in the input. On an operation with regions it states that these
/// changed too.
inline constexpr llvm::StringLiteral kInputAttributesAttr =
    "amp.input_attributes";

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_INPUTATTRIBUTES_H

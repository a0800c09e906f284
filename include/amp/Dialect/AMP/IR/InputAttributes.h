//===- InputAttributes.h - What adapters changed ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The record of an operation that followed a change of type by what a policy
// says of it, so that it can become what it was without the policy.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_INPUTATTRIBUTES_H
#define AMP_DIALECT_AMP_IR_INPUTATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::amp {

/// A discardable attribute: a dictionary of the attributes that followed, with
/// their values in the input. On an operation with regions it says that these
/// followed too.
inline constexpr llvm::StringLiteral kInputAttributesAttr =
    "amp.input_attributes";

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_INPUTATTRIBUTES_H

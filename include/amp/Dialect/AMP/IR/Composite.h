//===- Composite.h - Several operations that are one ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_COMPOSITE_H
#define AMP_DIALECT_AMP_IR_COMPOSITE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::amp {

/// On operations of one block: the number of the operation of the source that
/// they are together, an i64. The strategy `autocast` gives them one type, and
/// rounds the results of that operation once.
inline constexpr llvm::StringLiteral kCompositeAttr = "amp.composite";

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_COMPOSITE_H

//===- Passes.h - Passes that generate code from linalg ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CODEGEN_PASSES_H
#define AMP_CODEGEN_PASSES_H

#include "amp/Support/CheckedPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::amp {

/// The suffix of a step function's name after `amp-lower-step`.
inline constexpr llvm::StringLiteral kLoweredSuffix = "_cpu";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "amp/CodeGen/Passes.h.inc"

} // namespace mlir::amp

#endif // AMP_CODEGEN_PASSES_H

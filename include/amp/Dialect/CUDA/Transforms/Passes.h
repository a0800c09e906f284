//===- Passes.h - Passes of the cuda dialect --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_CUDA_TRANSFORMS_PASSES_H
#define AMP_DIALECT_CUDA_TRANSFORMS_PASSES_H

#include "amp/Support/CheckedPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::amp {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "amp/Dialect/CUDA/Transforms/Passes.h.inc"

} // namespace mlir::amp

#endif // AMP_DIALECT_CUDA_TRANSFORMS_PASSES_H

//===- ParameterGradients.h - The gradients of a step -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_PARAMETERGRADIENTS_H
#define AMP_DIALECT_AMP_IR_PARAMETERGRADIENTS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

namespace mlir::amp {

/// Returns the gradients of parameters that operations of `block` compute, in
/// order: the results that `amp.gradient_of` names.
SmallVector<Value> getParameterGradients(Block &block);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_PARAMETERGRADIENTS_H

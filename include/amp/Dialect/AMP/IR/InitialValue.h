//===- InitialValue.h - amp.init for the host runtime -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_INITIALVALUE_H
#define AMP_DIALECT_AMP_IR_INITIALVALUE_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Runtime/Host/Tensor.h"

namespace mlir::amp {

/// How the state `name` starts, but for the source of a copy, whose name is in
/// the attribute.
::amphost::InitInfo getInitialValue(InitAttr init, StringRef name);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_INITIALVALUE_H

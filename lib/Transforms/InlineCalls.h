//===- InlineCalls.h - A step with what it calls ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_INLINECALLS_H
#define AMP_LIB_TRANSFORMS_INLINECALLS_H

#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Returns a copy of `function` with the bodies of private and other known
/// functions in place of their calls, or null if it calls none.
OwningOpRef<FunctionOpInterface> cloneInlined(FunctionOpInterface function,
                                              SymbolTableCollection &tables);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_INLINECALLS_H

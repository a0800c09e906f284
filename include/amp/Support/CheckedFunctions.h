//===- CheckedFunctions.h - Functions that a check visits -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_CHECKEDFUNCTIONS_H
#define AMP_SUPPORT_CHECKEDFUNCTIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::amp {

/// Calls `check` with each function below `module` that a check of programs
/// starts from, in order: a definition that is public or that no other function
/// calls. A check enters the other private functions from their calls. Returns
/// the number of functions for which `check` returns failure.
unsigned forEachCheckedFunction(
    Operation *module, SymbolTableCollection &tables,
    llvm::function_ref<LogicalResult(FunctionOpInterface)> check);

} // namespace mlir::amp

#endif // AMP_SUPPORT_CHECKEDFUNCTIONS_H

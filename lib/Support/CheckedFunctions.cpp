//===- CheckedFunctions.cpp - Functions that a check visits ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/CheckedFunctions.h"

#include "mlir/Interfaces/CallInterfaces.h"

using namespace mlir;

unsigned mlir::amp::forEachCheckedFunction(
    Operation *module, SymbolTableCollection &tables,
    llvm::function_ref<LogicalResult(FunctionOpInterface)> check) {
  // Collect calls, because uses of symbols are unknown if an unregistered
  // operation may be a symbol table.
  DenseSet<Operation *> called;
  module->walk([&](CallOpInterface call) {
    Operation *callee = call.resolveCallableInTable(&tables);
    if (callee && !callee->isAncestor(call))
      called.insert(callee);
  });
  unsigned failures = 0;
  module->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (!function.isExternal() &&
        (!function.isPrivate() || !called.contains(function)) &&
        failed(check(function)))
      ++failures;
    return WalkResult::skip();
  });
  return failures;
}

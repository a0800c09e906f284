//===- InlineCalls.h - A step with its callees inlined ----------*- C++ -*-===//
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

/// Returns a copy of `function` in which the calls on which a guard may depend
/// are inlined. The callee of such a call uses a loss scale, reads or returns a
/// boolean, forwards an argument, or reads a checked value. Other calls stay,
/// so that the copy does not grow with the depth of all calls. Returns null if
/// no such call exists, and failure, after an error, if the copy would be too
/// large.
FailureOr<OwningOpRef<FunctionOpInterface>>
cloneInlined(FunctionOpInterface function, SymbolTableCollection &tables);

/// Returns a copy of `function` in which all calls of functions that do not
/// call themselves are inlined. Returns null if `function` calls nothing, or if
/// the copy would be too large.
OwningOpRef<FunctionOpInterface>
cloneWithoutCalls(FunctionOpInterface function, SymbolTableCollection &tables);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_INLINECALLS_H

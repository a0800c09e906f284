//===- SlotNames.h - Names of operations with slots -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names by which a policy gives types to the slots of single operations.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_SLOTNAMES_H
#define AMP_PRECISION_ASSIGNMENT_SLOTNAMES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Calls `visit` with each operation of `functions` that has results, in
/// program order, and its name: the name of its first result without the
/// folder (`removeFolder`). From the second operation of a name on, ` #n`
/// follows, where n counts the operations of that name from 1.
void nameOperations(ArrayRef<FunctionOpInterface> functions,
                    llvm::function_ref<void(Operation *, StringRef)> visit);

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_SLOTNAMES_H

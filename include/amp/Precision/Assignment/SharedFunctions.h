//===- SharedFunctions.h - Functions of updates and gradients ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_SHAREDFUNCTIONS_H
#define AMP_PRECISION_ASSIGNMENT_SHAREDFUNCTIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::amp {

/// Gives updates functions of their own. If the computation of gradients and an
/// update call one private function, the update calls a copy of it afterwards,
/// also in the copies. The types of the two are then independent. Returns the
/// copies.
SmallVector<FunctionOpInterface> splitFunctionsOfUpdates(Operation *root);

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_SHAREDFUNCTIONS_H

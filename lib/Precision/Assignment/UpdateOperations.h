//===- UpdateOperations.h - Operations of updates alone ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_UPDATEOPERATIONS_H
#define AMP_LIB_PRECISION_ASSIGNMENT_UPDATEOPERATIONS_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::amp {

/// Adds `op`, which computes a gradient of a parameter, and all operations of
/// its function on which it depends to `towards`. If an operation of a region
/// is added, all operations of this region are added. Other gradients may be
/// computed from the gradient.
void addTowardsGradient(
    Operation *op, llvm::DenseSet<Operation *> &towards,
    llvm::function_ref<void(Operation *)> onAdded = nullptr);

/// Returns the operations in `root` that compute with gradients of parameters,
/// and from which no gradient is computed. The search includes called functions
/// and regions. If a loop or a branch reads a value that is computed from a
/// gradient, all its operations are part of the update. For example, a loop of
/// conjugate gradients also computes products with the Hessian from other
/// values.
llvm::DenseSet<Operation *> findUpdateOperations(Operation *root);

/// The calls of private functions in `root` that updates make, of functions
/// that computations of gradients call too.
llvm::MapVector<FunctionOpInterface, SmallVector<CallOpInterface>>
findSharedUpdateCalls(Operation *root);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_UPDATEOPERATIONS_H

//===- RunningSums.h - Sums that loops carry --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_RUNNINGSUMS_H
#define AMP_LIB_PRECISION_ASSIGNMENT_RUNNINGSUMS_H

#include "amp/Precision/Policy/Policy.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::amp {

/// Returns the running sums of all loops in `root`, with their intermediate
/// sums. A running sum is a value that a loop carries and to which each
/// iteration adds terms that do not depend on it. Gradients and losses that are
/// accumulated over micro-batches are examples. In a low type such a sum loses
/// all terms that are smaller than half a unit in its last place, for any
/// total. (A residual stream is not a running sum, because its terms depend on
/// the value.)
///
/// A term may depend on the sum if a constant factor of at most 1/16 makes it
/// small, as in a step of an integrator, `y + 0.01 * f(y)`, or in a moving
/// average, `m + 0.001 * (x - m)`.
///
/// A loop may also multiply the sum by a constant near 1, as a moving average
/// or a discounted return does. A low type would change this decay or round it
/// to 1.
llvm::DenseSet<Value> findRunningSums(Operation *root, const Policy &policy);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_RUNNINGSUMS_H

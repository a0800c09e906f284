//===- RunningSums.h - Sums that loops carry --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_RUNNINGSUMS_H
#define AMP_LIB_PRECISION_ASSIGNMENT_RUNNINGSUMS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::amp {

/// Adds to `sums` the running sums of `op` if it is a loop. A running sum is a
/// carried value to which each iteration adds terms that do not depend on it.
/// Gradients and losses that are accumulated over micro-batches are examples.
/// The intermediate sums are added too. In a low type such a sum loses all
/// terms that are smaller than half a unit in its last place, for any total. (A
/// residual stream is not a running sum, because its terms depend on the
/// value.)
void findRunningSums(Operation *op, llvm::DenseSet<Value> &sums);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_RUNNINGSUMS_H

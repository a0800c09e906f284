//===- RunningSums.h - Sums that loops carry --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_RUNNINGSUMS_H
#define AMP_LIB_PRECISION_RUNNINGSUMS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::amp {

/// Adds to `sums` the values that `op`, if it is a loop, carries from iteration
/// to iteration and to which each adds something that does not depend on them,
/// and what they are with something added: gradients and losses that are
/// accumulated over micro-batches. In a low type such a sum loses what is
/// smaller than half a unit in its last place, however much that comes to. (In
/// a residual stream what is added is computed from the value itself.)
void findRunningSums(Operation *op, llvm::DenseSet<Value> &sums);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_RUNNINGSUMS_H

//===- OverflowGuard.h - Updates that overflow skips ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_OVERFLOWGUARD_H
#define AMP_LIB_TRANSFORMS_OVERFLOWGUARD_H

#include "StepRewriter.h"

namespace mlir::amp {

/// A result of the step that replaces an argument, and must keep its old value
/// where a step overflows.
struct GuardedResult {
  OpOperand *result;
  BlockArgument argument;
};

/// The updates of parameters and optimizer state, and of float model state
/// (statistics of batches) if `modelState` is set. Results that give an
/// argument back are left out.
SmallVector<GuardedResult> getGuardedResults(const StepRewriter &step,
                                             bool modelState);

/// The operations on which `guarded` depend, without those in `backward`.
StepRewriter::OpSet getUpdateSlice(const StepRewriter &step,
                                   ArrayRef<GuardedResult> guarded,
                                   const StepRewriter::OpSet &backward);

/// Makes `guarded` conditional on `allFinite`, a tensor<i1>: an `scf.if` that
/// gives either the new values or the old ones. What only they need moves into
/// it; what observes them, in metrics, sees what it lets through. `backward`
/// holds the operations on which gradients depend; they stay where they are.
///
/// `feedsUpdate` is the slice of the updates of all guards, and takes the
/// guard. An update computes with new values as it does without guards, even
/// if another guard holds them back: bias correction with the old count of
/// steps would divide by zero.
void guardUpdates(StepRewriter &step, Value allFinite,
                  ArrayRef<GuardedResult> guarded,
                  const StepRewriter::OpSet &backward,
                  StepRewriter::OpSet &feedsUpdate);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_OVERFLOWGUARD_H

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

/// A result of the step that replaces an argument, and must have the old value
/// after an overflow.
struct GuardedResult {
  OpOperand *result;
  BlockArgument argument;
};

/// The updates of parameters and optimizer state, and of float model state
/// (statistics of batches) if `modelState` is set. Results that return an
/// argument unchanged are left out.
SmallVector<GuardedResult> getGuardedResults(const StepRewriter &step,
                                             bool modelState);

/// The operations on which `guarded` depend, without those in `backward`.
StepRewriter::OpSet getUpdateSlice(const StepRewriter &step,
                                   ArrayRef<GuardedResult> guarded,
                                   const StepRewriter::OpSet &backward);

/// Makes `guarded` conditional on `allFinite`, a tensor<i1>, by an `scf.if`
/// that returns either the new values or the old ones. Operations that only the
/// new values need move into it. Metrics that observe them read its results.
/// `backward` holds the operations on which gradients depend. They do not move.
///
/// `feedsUpdate` is the slice of the updates of all guards. The new guard is
/// added to it. An update reads the same new values as without guards, even if
/// another guard keeps the old ones. With the old count of steps, bias
/// correction would divide by zero.
void guardUpdates(StepRewriter &step, Value allFinite,
                  ArrayRef<GuardedResult> guarded,
                  const StepRewriter::OpSet &backward,
                  StepRewriter::OpSet &feedsUpdate);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_OVERFLOWGUARD_H

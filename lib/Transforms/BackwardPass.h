//===- BackwardPass.h - What loss scaling asks of a step --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_BACKWARDPASS_H
#define AMP_LIB_TRANSFORMS_BACKWARDPASS_H

#include "CastChooser.h"
#include "StepRewriter.h"

namespace mlir::amp {

/// Checks that the guard can tell what belongs to the optimizer: every argument
/// that the step updates needs a role.
LogicalResult checkRolesOfUpdates(FunctionOpInterface function);

/// Checks that `gradients` are float tensors, and that nothing else leaves the
/// operations `backward`, on which they depend: it would leave them scaled.
LogicalResult checkBackwardPass(const StepRewriter &step, CastChooser &casts,
                                ArrayRef<Operation *> seeds,
                                ArrayRef<Value> gradients,
                                const StepRewriter::OpSet &backward);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_BACKWARDPASS_H

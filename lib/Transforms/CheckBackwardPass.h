//===- CheckBackwardPass.h - Which steps can be scaled ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_CHECKBACKWARDPASS_H
#define AMP_LIB_TRANSFORMS_CHECKBACKWARDPASS_H

#include "CastChooser.h"
#include "StepRewriter.h"

namespace mlir::amp {

/// Checks that every argument that the step updates has a role. The guard uses
/// roles to find the state of the optimizer.
LogicalResult checkRolesOfUpdates(FunctionOpInterface function);

/// Checks that `gradients` are float tensors, and that no other value leaves
/// the operations `backward`, on which they depend. Such a value would still be
/// scaled. Adds to `observed` the other results of control flow in `backward`,
/// such as a norm that a loop carries.
LogicalResult checkBackwardPass(const StepRewriter &step, CastChooser &casts,
                                ArrayRef<Operation *> seeds,
                                ArrayRef<Value> gradients,
                                const StepRewriter::OpSet &backward,
                                SmallVectorImpl<Value> &observed);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_CHECKBACKWARDPASS_H

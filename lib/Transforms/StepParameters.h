//===- StepParameters.h - Parameters and their readers ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_STEPPARAMETERS_H
#define AMP_LIB_TRANSFORMS_STEPPARAMETERS_H

#include "CastChooser.h"
#include "StepRewriter.h"

namespace mlir::amp {

/// Returns the operations of the forward and the backward pass. A gradient, a
/// prediction, a metric or a model state depends on them. Operations that
/// depend on gradients (the update) are left out.
StepRewriter::OpSet getForwardAndBackward(const StepRewriter &step);

/// Returns the f32 parameters of a step, with the low type in which some
/// operation reads them, or null.
SmallVector<std::pair<BlockArgument, FloatType>>
getParameters(FunctionOpInterface function);

/// Returns the name of the argument that result `index` updates, or null.
StringAttr getUpdated(FunctionOpInterface function, unsigned index);

/// Reports a parameter whose low version `low` cannot be widened again or, with
/// `narrows`, whose update cannot be rounded.
LogicalResult checkCasts(FunctionOpInterface function, CastChooser &casts,
                         BlockArgument parameter, FloatType low, bool narrows);

/// Returns the operations that read `parameter` other than through a cast to
/// `low`. Operations of one block are in program order.
SmallVector<Operation *> getWideReaders(BlockArgument parameter, Type low);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_STEPPARAMETERS_H

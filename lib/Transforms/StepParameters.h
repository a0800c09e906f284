//===- StepParameters.h - The parameters of a step and who reads them *- C++
//-*-===//
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

/// Returns the operations of the forward and the backward pass: those on which
/// a gradient, a prediction, a metric or a model state depends, without what
/// depends on gradients in turn (the update).
StepRewriter::OpSet getForwardAndBackward(const StepRewriter &step);

/// Returns the f32 parameters of a step, with the low type in which some
/// operation reads them, or null.
SmallVector<std::pair<BlockArgument, FloatType>>
getParameters(FunctionOpInterface function);

/// Returns the name of the argument that result `index` updates, or null.
StringAttr getUpdated(FunctionOpInterface function, unsigned index);

/// Reports a parameter of which the low version `low` cannot be widened again,
/// or, for `narrows`, the update not be rounded.
LogicalResult checkCasts(FunctionOpInterface function, CastChooser &casts,
                         BlockArgument parameter, FloatType low, bool narrows);

/// The operations that read `parameter` otherwise than through a cast to
/// `low`, in program order where they stand in one block.
SmallVector<Operation *> getWideReaders(BlockArgument parameter, Type low);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_STEPPARAMETERS_H

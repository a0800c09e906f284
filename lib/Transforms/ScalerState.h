//===- ScalerState.h - The state and the metrics of loss scaling *- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_SCALERSTATE_H
#define AMP_LIB_TRANSFORMS_SCALERSTATE_H

#include "GradientGroups.h"
#include "amp/Precision/LossScaler.h"

namespace mlir::amp {

/// Adds the state of each scale to the step. Returns failure, after a
/// diagnostic, if a name is taken.
LogicalResult addScalerState(StepRewriter &step, const LossScaler &machine,
                             MutableArrayRef<Scaling> scalings);

/// Updates the state of one scale as `machine` says, and publishes the scale.
LogicalResult addScaleUpdate(StepRewriter &step, const LossScaler &machine,
                             const Scaling &scaling, Value allFinite);

/// Publishes that `passed`, a tensor<i1>, is false as the metric `name`.
LogicalResult addSkipMetric(StepRewriter &step, StringRef name, Value passed);

/// Publishes that `passed`, whether the step was made, is false, and that of
/// each optimizer where there are several; with `count`, also how often it was.
LogicalResult addSkipMetrics(StepRewriter &step, ArrayRef<GradientGroup> groups,
                             Value passed, bool count);

/// Publishes the norm of all gradients together. Each of `gradients` stands for
/// the one that `amp.gradient_of` names, at the same place in `named`; several
/// of one parameter, such as those of several losses, are added.
LogicalResult addGradientNorm(StepRewriter &step, ArrayRef<Value> gradients,
                              ArrayRef<Value> named);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_SCALERSTATE_H

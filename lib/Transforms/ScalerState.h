//===- ScalerState.h - The state and the metrics of loss scaling *- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_SCALERSTATE_H
#define AMP_LIB_TRANSFORMS_SCALERSTATE_H

#include "GradientGroups.h"
#include "amp/LossScaling/LossScaler.h"

namespace mlir::amp {

/// Adds the state of each scale to the step. Returns failure, after a
/// diagnostic, if a name is taken.
LogicalResult addScalerState(StepRewriter &step, const LossScaler &lossScaler,
                             MutableArrayRef<Scaling> scalings);

/// Updates the state of one scale by the rules of `lossScaler`, and publishes
/// the scale and, with `trackers`, its trackers before the step.
LogicalResult addScaleUpdate(StepRewriter &step, const LossScaler &lossScaler,
                             const Scaling &scaling, Value allFinite,
                             bool trackers);

/// Publishes the metric `name`, which is set if `passed`, a tensor<i1>, is
/// false.
LogicalResult addSkipMetric(StepRewriter &step, StringRef name, Value passed);

/// Publishes whether the step was skipped: whether `passed` is false. Does so
/// for each optimizer too if there are several. With `count`, also publishes
/// the number of skipped steps.
LogicalResult addSkipMetrics(StepRewriter &step, ArrayRef<GradientGroup> groups,
                             Value passed, bool count);

/// Publishes the norm of all gradients together. Each of `gradients`
/// corresponds to the gradient at the same index in `named`, which has
/// `amp.gradient_of`. Several gradients of one parameter, such as those of
/// several losses, are added.
LogicalResult addGradientNorm(StepRewriter &step, ArrayRef<Value> gradients,
                              ArrayRef<Value> named);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_SCALERSTATE_H

//===- GradientGroups.h - Gradients that are unscaled together --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_GRADIENTGROUPS_H
#define AMP_LIB_TRANSFORMS_GRADIENTGROUPS_H

#include "CastChooser.h"
#include "OverflowGuard.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::amp {

/// A loss scale with the losses that it multiplies.
struct Scaling {
  /// Empty, or a dot and the name of the only loss.
  std::string suffix;
  SmallVector<Operation *> seeds;
  Value scale;
  /// The scale, the growth tracker and the hysteresis tracker, if the step
  /// updates the scale.
  SmallVector<BlockArgument> state;
  /// The largest magnitude of the gradients, where it is that of a layer.
  Value magnitude;
};

/// The gradients of one optimizer that one scale multiplies.
struct GradientGroup {
  unsigned scaling;
  StringAttr optimizer;
  SmallVector<Value> gradients;
  /// Set by unscaleGradients().
  UnscaleOp unscale;
};

/// Puts the gradients of a step into groups: those of one optimizer and one
/// scale, that of `getLayer` if it is given. Returns failure, after a
/// diagnostic, if a gradient has several scales.
LogicalResult
groupGradients(const StepRewriter &step, ArrayRef<Scaling> scalings,
               SmallVector<GradientGroup> &groups,
               llvm::function_ref<unsigned(Value)> getLayer = nullptr);

/// Unscales a group by `scale` after its last gradient, and moves what needs
/// true gradients behind it. `backward` holds the operations on which gradients
/// depend. `strict`: what unscaling gives must be finite, too.
void unscaleGradients(StepRewriter &step, CastChooser &casts,
                      GradientGroup &group, Value scale, bool strict,
                      const StepRewriter::OpSet &backward);

/// All gradients, unscaled.
SmallVector<Value> getUnscaled(ArrayRef<GradientGroup> groups);

/// Returns whether all of `flags`, each a tensor<i1>, are set, as another one
/// that is computed as early as they are.
Value buildConjunction(StepRewriter &step, ArrayRef<Value> flags);

/// The same of whether any of `flags` is set.
Value buildDisjunction(StepRewriter &step, ArrayRef<Value> flags);

/// Updates and the flags that let them through: bit i is that of group i.
struct UpdateGuard {
  BitVector groups;
  /// Whether the updates depend on no gradient, and any other guard lets them
  /// through.
  bool follows = false;
  SmallVector<GuardedResult> results;
};

/// Says which flags guard each update: those of all gradients that it depends
/// on, and of those of its own optimizer (arguments without `amp.optimizer`
/// have one in common); for one that depends on none, and whose optimizer has
/// none, all. With `byLayer` an optimizer need not step as a whole, and what
/// depends on no gradient, such as a count of steps, follows its optimizer.
SmallVector<UpdateGuard> getUpdateGuards(StepRewriter &step,
                                         ArrayRef<GradientGroup> groups,
                                         bool modelState, bool byLayer);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_GRADIENTGROUPS_H

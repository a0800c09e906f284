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
  /// The largest magnitude of the gradients, for the scale of a layer.
  Value magnitude;
};

/// A value other than a gradient that the scale to the power `power`
/// multiplies, such as a norm (1) or a squared norm (2).
struct ObservedValue {
  Value value;
  unsigned power;
};

/// The gradients of one optimizer that one scale multiplies.
struct GradientGroup {
  unsigned scaling;
  StringAttr optimizer;
  SmallVector<Value> gradients;
  /// Other results of control flow and calls that are multiplied by powers of
  /// the scale.
  SmallVector<ObservedValue> observed;
  /// Set by unscaleGradients().
  UnscaleOp unscale;
  /// The divisions of observed values of a higher power, after `unscale`. Set
  /// by unscaleGradients().
  SmallVector<UnscaleOp> further;

  /// Adds the flags of all divisions to `flags`.
  void getFlags(SmallVectorImpl<Value> &flags);
};

/// Groups the gradients of a step by optimizer and scale. `getLayer`, if given,
/// selects the scale. Returns failure, after a diagnostic, if a gradient has
/// several scales.
LogicalResult
groupGradients(const StepRewriter &step, ArrayRef<Scaling> scalings,
               SmallVector<GradientGroup> &groups,
               llvm::function_ref<unsigned(Value)> getLayer = nullptr);

/// Unscales a group by `scale` after its last gradient, and moves the
/// operations that need true gradients after it. `backward` holds the
/// operations on which gradients depend. With `strict`, the unscaled gradients
/// must be finite too. Divides an observed value as often as its power says.
void unscaleGradients(StepRewriter &step, CastChooser &casts,
                      GradientGroup &group, Value scale, bool strict,
                      const StepRewriter::OpSet &backward);

/// All gradients, unscaled.
SmallVector<Value> getUnscaled(ArrayRef<GradientGroup> groups);

/// Builds a tensor<i1> that is true if all of `flags`, each a tensor<i1>, are.
/// It is computed as soon as the flags are.
Value buildConjunction(StepRewriter &step, ArrayRef<Value> flags);

/// Builds a tensor<i1> that is true if any of `flags` is.
Value buildDisjunction(StepRewriter &step, ArrayRef<Value> flags);

/// Updates, and the flags that guard them. Bit i represents group i.
struct UpdateGuard {
  BitVector groups;
  /// Whether the updates depend on no gradient. They are then made if any other
  /// guard passes.
  bool follows = false;
  SmallVector<GuardedResult> results;
};

/// Returns the flags that guard each update. These are the flags of all
/// gradients that it depends on, and of all gradients of its optimizer.
/// Arguments without `amp.optimizer` share one optimizer. If neither the update
/// nor its optimizer has a gradient, all flags guard it. With `byLayer` an
/// optimizer may update only some layers. An update that depends on no
/// gradient, such as a count of steps, then follows its optimizer.
SmallVector<UpdateGuard> getUpdateGuards(StepRewriter &step,
                                         ArrayRef<GradientGroup> groups,
                                         bool modelState, bool byLayer);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_GRADIENTGROUPS_H

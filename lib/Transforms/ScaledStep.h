//===- ScaledStep.h - A step on its way to scaled gradients -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_SCALEDSTEP_H
#define AMP_LIB_TRANSFORMS_SCALEDSTEP_H

#include "LayerScales.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/LossScaling/LinearRule.h"
#include <optional>

namespace mlir::amp {

/// The parts of a backward pass in a function.
struct StepContents {
  explicit StepContents(FunctionOpInterface function);

  /// Returns whether `function` has a backward pass that can be scaled. If not,
  /// emits a remark with the reason.
  bool canScale(FunctionOpInterface function) const;

  SmallVector<Operation *> seeds;
  SmallVector<InnerGradientOp> innerGradients;
  bool hasGradients = false, isScaled = false;
};

/// A step on its way to scaled gradients.
struct ScaledStep : StepContents {
  ScaledStep(StepRewriter step, StepContents contents)
      : StepContents(std::move(contents)), step(step),
        gradients(this->step.getGradients()) {}

  /// Checks that there are seeds and gradients, and that seeds are f32 scalars.
  LogicalResult checkSeeds() const;

  /// Finds the operations on which a gradient depends. They keep the scaled
  /// values.
  void findBackwardPass();

  /// Adds those of `observed` that a power of one scale multiplies to a group
  /// of that scale. Seeds must be scaled before. `linear` are rules for
  /// operations without LossScaleOpInterface. If the factor of a value is
  /// unknown, it is the only scale, provided that the operation of the value
  /// reads the seed from outside. amp-check-loss-scaling proves the result.
  void addObserved(ArrayRef<Value> observed, ArrayRef<LinearRule> linear);

  StepRewriter step;
  SmallVector<Value> gradients;
  StepRewriter::OpSet backward;
  SmallVector<Scaling> scalings;
  std::optional<GradientLayers> layers;
  SmallVector<GradientGroup> groups;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_SCALEDSTEP_H

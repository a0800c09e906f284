//===- StepStatistics.h - What a training step costs ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_ANALYSIS_STEPSTATISTICS_H
#define AMP_ANALYSIS_STEPSTATISTICS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Memory and arithmetic of one training step of static shapes. Low means f16
/// or bf16.
struct StepStatistics {
  /// Bytes of the arguments, by role. Copies of parameters count as parameters.
  int64_t parameterBytes = 0;
  int64_t optimizerStateBytes = 0;
  /// Model state and the state of loss scaling.
  int64_t otherStateBytes = 0;
  int64_t batchBytes = 0;

  /// Activations are the tensors of the forward and the backward pass that
  /// depend on the batch. Gradients of parameters and values computed from them
  /// are excluded. The sum over all activations, and the low part.
  int64_t activationBytes = 0;
  int64_t lowActivationBytes = 0;
  /// The most bytes of activations that live at one point.
  int64_t peakActivationBytes = 0;

  /// Floating-point operations of products and convolutions, and of those with
  /// low operands.
  int64_t productFlops = 0;
  int64_t lowProductFlops = 0;

  /// Bytes of tensors that the operations read and write. Each distinct operand
  /// of an operation counts once. Constants are free.
  int64_t movedBytes = 0;

  int64_t getStateBytes() const {
    return optimizerStateBytes + otherStateBytes;
  }
  double getLowActivationShare() const {
    return activationBytes ? double(lowActivationBytes) / activationBytes : 0;
  }
  double getLowFlopShare() const {
    return productFlops ? double(lowProductFlops) / productFlops : 0;
  }
};

/// Computes the statistics of `function`. Emits a diagnostic and returns
/// failure if it is not a step, has several blocks, or has dynamic shapes.
FailureOr<StepStatistics> computeStepStatistics(FunctionOpInterface function);

} // namespace mlir::amp

#endif // AMP_ANALYSIS_STEPSTATISTICS_H

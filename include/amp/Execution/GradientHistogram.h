//===- GradientHistogram.h - Gradients in the range of f16 ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_GRADIENTHISTOGRAM_H
#define AMP_EXECUTION_GRADIENTHISTOGRAM_H

#include "amp/Execution/JITStep.h"
#include <map>

namespace mlir::amp {

/// Counts, for each parameter, how many non-zero gradients f16 loses. A value
/// below 2^-27 is zero in f16 with any scale. A value in [2^-27, 2^-24) lies
/// below the smallest subnormal, and a loss scale saves it.
///
/// The session runs a step with `ProgramOptions::exposeGradients`. If the step
/// has a loss scale, its gradients are scaled, and the column "before" divides
/// them by the scale. Otherwise the column "after" multiplies them by
/// `assumedScale`.
class GradientHistogram {
public:
  /// `program` is the step that runs. A step without a loss scale is judged as
  /// if it had `assumedScale`.
  GradientHistogram(StepProgram &program, double assumedScale);

  /// Stores the scale that the next step uses.
  void beforeStep(const JITStep &step);

  /// Counts the gradients of the last step.
  void afterStep(const JITStep &step);

  /// Prints a table with one line for each parameter, a heading that names the
  /// run, and the largest constant scale within the range of f16.
  void print(llvm::StringRef run, llvm::raw_ostream &os) const;

  /// Returns a message if the constant scale of a step with f16 values took
  /// gradients beyond the range of f16. Empty otherwise.
  std::string checkConstantScale() const;

private:
  struct Counts {
    int64_t total = 0, zero = 0, nonFinite = 0;
    /// Below 2^-27, in [2^-27, 2^-24), above; before and after scaling.
    int64_t before[3] = {0, 0, 0}, after[3] = {0, 0, 0};
  };

  double assumedScale;
  /// The scale of the step, if it has only one.
  std::optional<double> scale;
  /// The states with the scales of parameters' gradients, and their values.
  std::map<std::string, std::string> scaleStates;
  std::map<std::string, double> scales;
  /// The least and the greatest scale so far.
  double leastScale = 0, greatestScale = 0;
  /// The largest finite gradient, before scaling.
  double largest = 0;
  bool isConstant = false, hasF16 = false;
  std::vector<std::pair<std::string, Counts>> parameters;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_GRADIENTHISTOGRAM_H

//===- GradientHistogram.h - Where gradients lie in f16's range -*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_GRADIENTHISTOGRAM_H
#define AMP_EXECUTION_GRADIENTHISTOGRAM_H

#include "amp/Execution/Session.h"
#include <map>

namespace mlir::amp {

/// Counts, for each parameter, how many non-zero gradients f16 loses. Below
/// 2^-27 a value is zero in f16 whatever happens next; in [2^-27, 2^-24) it
/// lies below the smallest subnormal and is the part that a loss scale saves.
///
/// The session runs a step with `ProgramOptions::exposeGradients`. If the step
/// has a loss scale, its gradients are the scaled ones and are divided by it
/// for the column "before"; otherwise they are multiplied by `assumedScale` for
/// the column "after".
class GradientHistogram {
public:
  /// `program` is the step that is run. A step without a loss scale is judged
  /// as if it had `assumedScale`.
  GradientHistogram(StepProgram &program, double assumedScale);

  /// Remembers the scale that the next step uses.
  void beforeStep(const Session &session);

  /// Counts the gradients of the last step.
  void afterStep(const Session &session, const StepProgram &program);

  /// Prints a table with one line for each parameter, under a line that says
  /// which run it is of, and the largest constant scale that f16 has room for.
  void print(llvm::StringRef run, llvm::raw_ostream &os) const;

  /// Says what is wrong with the constant scale of a step with f16 values: that
  /// it took gradients beyond the range of f16. Empty if nothing is.
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
  /// The states that hold the scales of parameters' gradients, and their
  /// values.
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

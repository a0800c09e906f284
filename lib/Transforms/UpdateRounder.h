//===- UpdateRounder.h - Rounding of low updates ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_UPDATEROUNDER_H
#define AMP_LIB_TRANSFORMS_UPDATEROUNDER_H

#include "CastChooser.h"
#include "StepRewriter.h"

namespace mlir::amp {

/// Rounds updates of values that have no f32 master: to nearest even or
/// stochastically, with or without compensation.
class UpdateRounder {
public:
  UpdateRounder(StepRewriter &step, CastChooser &casts, bool stochastic)
      : step(step), casts(casts), stochastic(stochastic) {}

  /// Adds the random number state, if rounding needs it, to the step once, and
  /// advances it. Returns failure, after a diagnostic, if its name is taken.
  LogicalResult prepare();

  /// Rounds `value` to `low`.
  Value round(OpBuilder &builder, Value value, FloatType low);

  /// Stores optimizer states in bf16: all but scalars, which count steps.
  /// Returns how many, or failure, after a diagnostic.
  FailureOr<unsigned> narrowMoments();

  /// Adds a state for the rounding error of `parameter`, whose update is
  /// already rounded. The update reads and writes the parameter and the error
  /// together. `forwardAndBackward` reads only the parameter.
  LogicalResult addCompensation(BlockArgument parameter,
                                const StepRewriter::OpSet &forwardAndBackward);

private:
  StepRewriter &step;
  CastChooser &casts;
  bool stochastic;
  /// The random number state, and the number of roundings with a key.
  Value random;
  uint32_t numRoundings = 0;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_UPDATEROUNDER_H

//===- ScaleOverflowCheck.h - Scaled constants in narrow types --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The proof that a loss scale times constants stays within the range of f16.
// Such values, like a gradient seed that was narrowed, do not depend on data.
// They overflow in each step in which the scale is too large.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_SCALEOVERFLOWCHECK_H
#define AMP_LOSSSCALING_SCALEOVERFLOWCHECK_H

#include "amp/LossScaling/ScaleExponentAnalysis.h"

namespace mlir::amp {

class ScaleOverflowCheck {
public:
  ScaleOverflowCheck(FunctionOpInterface function,
                     const ScaleExponentAnalysis &exponents)
      : function(function), exponents(exponents) {}

  /// Returns failure, after an error, if an f16 value that is the scale times
  /// constants overflows for a scale that the step may have.
  LogicalResult check();

private:
  /// The f16 values that are computed from scales, seeds and constants alone.
  SmallVector<OpResult> findCandidates();
  /// The largest value that `scale`, an argument or constant, may have. None if
  /// the caller passes any.
  std::optional<double> getMaximum(Value scale);
  /// The first candidate that is not finite if all scales are at most `limit`.
  OpResult findOverflow(ArrayRef<OpResult> candidates, double limit);

  /// Whether a pass narrowed `value`, and its scale is not constant.
  bool isOfPass(OpResult value);

  FunctionOpInterface function;
  const ScaleExponentAnalysis &exponents;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_SCALEOVERFLOWCHECK_H

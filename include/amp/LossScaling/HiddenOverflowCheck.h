//===- HiddenOverflowCheck.h - Overflows that a step replaces ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The check that a step does not replace the infinities and NaN of scaled
// gradients before their finite flags are computed. Such a step takes each
// update, and its scale never falls.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_HIDDENOVERFLOWCHECK_H
#define AMP_LOSSSCALING_HIDDENOVERFLOWCHECK_H

#include "amp/LossScaling/FloatRangeRule.h"
#include "amp/LossScaling/ScaleExponentAnalysis.h"
#include "amp/Support/RegionFlow.h"

namespace mlir::amp {

class HiddenOverflowCheck {
public:
  /// `intervals` are the rules of the constants of other dialects.
  HiddenOverflowCheck(FunctionOpInterface function,
                      const ScaleExponentAnalysis &exponents,
                      ArrayRef<FloatRangeRule> intervals)
      : function(function), exponents(exponents), intervals(intervals) {}

  /// Returns failure, after an error, if a test whether scaled values are
  /// finite decides nothing but other scaled values.
  LogicalResult check();

private:
  bool isScaled(Value value) const;
  /// Whether `value`, a value in the body of an operation, depends on scaled
  /// values that the operation reads.
  bool isScaledInBody(Value value) const;
  /// Whether `op` tests whether a scaled operand is finite.
  bool testsScaled(Operation *op) const;
  const FloatRangeRule *findRule(Operation *op,
                                 FloatRangeRule::Kind kind) const;
  /// Returns the number of `value`, a constant that may be repeated, in any
  /// dialect that the policy describes.
  std::optional<double> findConstant(Value value) const;
  /// Whether `op`, which chooses scaled values by a test, chooses NaN.
  bool choosesNaN(Operation *op) const;
  /// Returns an operation that selects scaled values by the result of `test`.
  /// Returns null if no such operation exists, or if the result has another
  /// use.
  Operation *findHider(Operation *test);

  FunctionOpInterface function;
  const ScaleExponentAnalysis &exponents;
  ArrayRef<FloatRangeRule> intervals;
  RegionFlow flow;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_HIDDENOVERFLOWCHECK_H

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
  /// The rules of `intervals` say which foreign operations test whether a
  /// number is finite.
  HiddenOverflowCheck(FunctionOpInterface function,
                      const ScaleExponentAnalysis &exponents,
                      ArrayRef<FloatRangeRule> intervals)
      : function(function), exponents(exponents), intervals(intervals) {}

  /// Returns failure, after an error, if a test whether scaled values are
  /// finite decides nothing but other scaled values.
  LogicalResult check();

private:
  bool isScaled(Value value) const;
  /// Whether `op` tests whether a scaled operand is finite: by its name or a
  /// rule, by a comparison with itself, or by one with an infinity.
  bool testsFiniteness(Operation *op) const;
  /// Whether `value` is a constant infinity.
  bool isInfinity(Value value) const;
  /// Returns an operation that chooses scaled values by the result of `test`,
  /// or null if there is none, or if the result decides anything else.
  Operation *findHider(Operation *test);

  FunctionOpInterface function;
  const ScaleExponentAnalysis &exponents;
  ArrayRef<FloatRangeRule> intervals;
  RegionFlow flow;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_HIDDENOVERFLOWCHECK_H

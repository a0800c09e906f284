//===- StepIntervals.h - Intervals of values by rules of a policy -*- C++ -*-=//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals of the values of a step whose operations a policy describes. A
// written-out softmax, a row that is zero but for one element, and sums of them
// have closer bounds than their operations alone give.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_STEPINTERVALS_H
#define AMP_LIB_TRANSFORMS_STEPINTERVALS_H

#include "amp/LossScaling/FloatRangeRule.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir::amp {

/// Intervals that hold for all data that stay finite in the types of a step.
/// The intervals of values that control flow carries are unknown.
class StepIntervals {
public:
  using Assumption = llvm::function_ref<std::optional<FloatRange>(Value)>;

  /// Computes all intervals. `assume` gives those that the caller knows.
  StepIntervals(FunctionOpInterface function, ArrayRef<FloatRangeRule> rules,
                Assumption assume);

  FloatRange get(Value value) const {
    auto it = intervals.find(value);
    return it == intervals.end() ? FloatRange::unknown() : it->second;
  }
  /// Whether the interval of `value` is a bound of an element times the number
  /// of terms of a sum. Data may never reach such an interval.
  bool isLoose(Value value) const { return loose.contains(value); }

private:
  /// A value and, for each of its dimensions, the dimension of another value
  /// that it follows, or -1 if it has the extent 1.
  struct View {
    Value value;
    SmallVector<int64_t> dimensions;
  };

  void visit(Operation *op, Assumption assume);
  void set(Value value, FloatRange range);
  const FloatRangeRule *findRule(Operation *op) const;
  /// The rule of the operation that defines `value` if it has this kind.
  const FloatRangeRule *findRule(Value value, FloatRangeRule::Kind kind) const;
  /// The name of the rule of the one operation that the body of `op` applies.
  StringRef getBody(Operation *op) const;
  FloatRange infer(Operation *op, const FloatRangeRule &rule);
  FloatRange inferReduce(Operation *op, const FloatRangeRule &rule);
  FloatRange inferScatter(Operation *op, const FloatRangeRule &rule);

  bool isConstant(Value value, double number) const;
  Value skipExact(Value value) const;
  Value skipConversions(Value value) const;
  /// Follows `view` to the value whose elements it repeats.
  View skipRepeats(View view) const;
  /// Follows `view` through operations that change no finite maximum.
  View skipGuards(View view) const;
  /// The dimensions along which `maximum` is the maximum of `value`, or none.
  SmallVector<int64_t> findMaximum(Value maximum, Value value) const;
  /// Whether a sum of `value` along `dimension` stays within the interval of
  /// `value`, because at most one of its terms is not zero.
  bool isSparse(Value value, int64_t dimension, unsigned depth = 0) const;
  enum class Variation { Unknown, None, Distinct };
  Variation getVariation(Value value, int64_t dimension) const;

  ArrayRef<FloatRangeRule> rules;
  mutable llvm::DenseMap<OperationName, SmallVector<const FloatRangeRule *, 1>>
      cache;
  llvm::DenseMap<Value, FloatRange> intervals;
  llvm::DenseSet<Value> loose;
  /// Values minus their maximum along these dimensions, and exponentials of
  /// such values.
  llvm::DenseMap<Value, SmallVector<int64_t>> shifted, exponentials;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_STEPINTERVALS_H

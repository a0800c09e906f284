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

#include "ForeignRules.h"

#include "amp/Support/RegionFlow.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir::amp {

/// Intervals that hold for all data that stay finite in the types of a step.
/// A fixed point gives the intervals of values that control flow carries.
class StepIntervals {
public:
  using Assumption = llvm::function_ref<std::optional<FloatRange>(Value)>;

  /// Computes all intervals. `assume` gives those that the caller knows. If an
  /// operation precedes the definition of an operand, no interval is known.
  StepIntervals(FunctionOpInterface function, const ForeignRules &foreign,
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

  /// The interval of a value that control flow carries, during the fixed point.
  struct Carried {
    FloatRange range = FloatRange::empty();
    unsigned numChanges = 0;
  };

  /// The number of a carried integer, and its values in all iterations.
  struct Counter {
    unsigned number = 0;
    SmallVector<int64_t> counts;
  };

  /// Visits operations in their order, so that operands come first.
  void visit(Region &region, Assumption assume);
  void visit(Operation *op, Assumption assume);
  /// Visits the regions of `op` until the values that it carries are stable.
  void visitRegions(Operation *op, Assumption assume);
  /// Extends the interval of `value` by the values that control flow passes to
  /// it. Returns whether the interval changed.
  bool updateCarried(Value value, Assumption assume);
  /// Returns the slice that the iterations of a loop write to `result`, if they
  /// write all of its elements, or null.
  Value findStackedSlice(OpResult result) const;
  /// Follows a boolean through moves of elements, loops that carry it and loops
  /// that write it slice by slice, to the value that has its elements.
  Value skipMoves(Value condition) const;
  /// Returns a counter of the loop `op`. It is empty if no carried integer
  /// counts the iterations.
  const Counter &getCounter(Operation *op) const;
  std::optional<Counter> countIterations(Operation *op, unsigned number) const;
  /// Returns the integer `value` in the iteration of `op` where the carried
  /// value `number` equals `count`.
  std::optional<int64_t> getInteger(Value value, Operation *op, unsigned number,
                                    int64_t count, unsigned depth = 0) const;
  /// Whether `op` is a loop, a branch or a body, by its interface or by a rule.
  bool isControlFlow(Operation *op) const;
  static FloatType getFloat(Value value);
  /// The extents of `value`, or none if they are not known.
  static std::optional<ArrayRef<int64_t>> getShape(Value value);
  /// The numbers of the dimensions of `value`, in their order.
  static SmallVector<int64_t> getIdentity(Value value);
  /// The integers of an attribute in any form, or none.
  static std::optional<SmallVector<int64_t>> getIntegers(Operation *op,
                                                         StringRef name);
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
  /// Whether `value` is a constant zero, also of integers.
  bool isZero(Value value) const;
  /// The outcome of a comparison that intervals decide.
  std::optional<bool> getOutcome(Value condition) const;
  Value skipExact(Value value) const;
  Value skipConversions(Value value) const;
  /// Follows `view` to the value whose elements it repeats.
  View skipRepeats(View view) const;
  /// Follows `view` through repeats and through selects that wrap negative
  /// indices. An iota has no negative indices.
  View skipWraps(View view) const;
  /// Follows `view` through operations that change no finite maximum.
  View skipGuards(View view) const;
  /// The dimensions along which `maximum` is the maximum of `value`, or none.
  SmallVector<int64_t> findMaximum(Value maximum, Value value) const;
  /// Whether a sum of `value` along `dimension` stays within the interval of
  /// `value`, because at most one of its terms is not zero.
  bool isSparse(Value value, int64_t dimension, unsigned depth = 0) const;
  /// Whether the scatter `op` adds each element at another index.
  bool hasDistinctIndices(Operation *op, const FloatRangeRule &rule) const;
  enum class Variation { Unknown, None, Distinct };
  Variation getVariation(Value value, int64_t dimension) const;

  ArrayRef<FloatRangeRule> rules;
  ArrayRef<LinearRule> linear;
  mutable llvm::DenseMap<OperationName, SmallVector<const FloatRangeRule *, 1>>
      cache;
  llvm::DenseMap<Value, FloatRange> intervals;
  llvm::DenseSet<Value> loose;
  llvm::DenseMap<Value, Carried> carried;
  mutable llvm::DenseMap<Operation *, Counter> counters;
  /// The operations that a visit has reached.
  llvm::DenseSet<Operation *> visited;
  RegionFlow flow;
  /// Values minus their maximum along these dimensions, and exponentials of
  /// such values.
  llvm::DenseMap<Value, SmallVector<int64_t>> shifted, exponentials;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_STEPINTERVALS_H

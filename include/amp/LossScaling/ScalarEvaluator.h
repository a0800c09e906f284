//===- ScalarEvaluator.h - Values under assumptions -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the possible values of a scalar if some other values are known. The
// evaluator folds operations on constants, and tries both values of an unknown
// boolean.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_SCALAREVALUATOR_H
#define AMP_LOSSSCALING_SCALAREVALUATOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <optional>

namespace mlir::amp {

/// Returns `value` as a constant of `type`, an i1 or a tensor of them, or null
/// for another type.
Attribute getBoolean(Type type, bool value);
/// Returns the boolean that all elements of the constant `attribute` have, if
/// they are equal.
std::optional<bool> getBoolean(Attribute attribute);

/// Returns the number that `attribute` is in all elements, if it is a float.
std::optional<double> getNumber(Attribute attribute);

class ScalarEvaluator {
public:
  /// The possible constants of a value. Empty if nothing is known.
  using Set = SmallVector<Attribute, 2>;
  /// Returns the assumption about a value, or none if the evaluator should
  /// derive the value.
  using Assumption = std::function<std::optional<Set>(Value)>;
  /// Returns whether an assumption holds for a single iteration of a loop.
  using ConcernsLoop = std::function<bool(Operation *)>;

  explicit ScalarEvaluator(Assumption assume, ConcernsLoop concerns = {})
      : assume(std::move(assume)), concerns(std::move(concerns)) {}

  const Set &get(Value value);
  /// Returns `number` in all elements of `type`, a float or a tensor of them of
  /// static shape. Empty for another type.
  static Set getSplat(Type type, double number);
  /// Returns the one value that the boolean `value` has, if it is known.
  std::optional<bool> getBool(Value value);
  /// Whether both values of a boolean counted as possible although all operands
  /// of its operation are known, because the operation does not fold.
  bool hasSkipped() const { return skipped; }

private:
  Set compute(Value value);
  Set computeChoice(Type type, Value condition, Value good, Value bad);
  std::optional<Set> computeCarried(Value value);
  /// Whether `loop` has at least one iteration.
  bool runsOnce(Operation *loop);
  Set fold(Operation *op);
  /// Folds with the constants of `operands`, null where nothing is known.
  /// Returns false if that gives no constant.
  bool foldOne(Operation *op, ArrayRef<Attribute> operands, Set &result);

  Assumption assume;
  ConcernsLoop concerns;
  llvm::DenseMap<Value, Set> memo;
  bool skipped = false;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_SCALAREVALUATOR_H

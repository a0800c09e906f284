//===- ValueOrigins.h - What values were chosen from ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The origin of a value: a choice, the iterations of a loop, a cast, or a move.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_VALUEORIGINS_H
#define AMP_LOSSSCALING_VALUEORIGINS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::amp {

/// A choice between two values by a condition.
struct Choice {
  Value condition, good, bad;
};

/// Returns the choice that `value` is the result of, if any.
std::optional<Choice> getChoice(Value value);

/// A value that a loop carries from iteration to iteration.
struct Carried {
  Operation *loop;
  Value init, yielded;
  BlockArgument argument;
};

/// Returns the carried value of which `value` is the result, if any.
std::optional<Carried> getCarried(Value value);

/// Returns the number with which `argument`, an argument of a step, starts, if
/// its `amp.init` gives one.
std::optional<double> getInitialNumber(Value argument);

/// Whether `value` is computed from a parameter or from data.
bool dependsOnData(Value value);

/// Returns the input of a cast that loses nothing of values of the type of
/// `old`.
Value skipCast(Value value, BlockArgument old);

/// Returns the source of `value` before casts that lose nothing.
Value skipWidening(Value value);

/// Returns the source of `value` before casts that lose nothing and operations
/// that only move a scalar.
Value skipMoves(Value value);

/// Whether `op`, which computes a bit from numbers, only tests whether a number
/// is finite: it has one operand, or compares the number with itself or with a
/// constant close to infinity.
bool testsFinite(Operation *op);

/// Returns the value that the only region of the operation that defines `value`
/// yields as `value`, if the region always runs once, as in
/// `scf.execute_region`, or the value whose parts ranks take or join to
/// `value`, and `value` otherwise.
Value skipRegions(Value value);

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_VALUEORIGINS_H

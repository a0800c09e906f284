//===- ValueOrigins.h - What values were chosen from ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a value came about: by a choice, by the iterations of a loop, by a cast,
// or as a condition that is known to be false.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_VALUEORIGINS_H
#define AMP_LIB_TRANSFORMS_VALUEORIGINS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace mlir::amp {

/// Returns an i1, or a tensor of them, that is false, or null for another type.
Attribute getFalse(Type type);

/// Returns whether the one result of `op` is false wherever the operands of
/// `known` are, whatever the others are: whether it folds so.
bool isFalseWith(Operation *op, ArrayRef<unsigned> known);

/// One of two values, by a condition.
struct Choice {
  Value condition, good, bad;
};

/// Returns what `value` is chosen from, if it is.
std::optional<Choice> getChoice(Value value);

/// What a loop makes of a value, from iteration to iteration.
struct Carried {
  Operation *loop;
  Value init, yielded;
  BlockArgument argument;
};

/// Returns how `value` came about if it is the result of a loop.
std::optional<Carried> getCarried(Value value);

/// Returns the input of a cast that loses nothing of what was once of the type
/// of `old`.
Value skipCast(Value value, BlockArgument old);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_VALUEORIGINS_H

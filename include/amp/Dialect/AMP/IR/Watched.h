//===- Watched.h - The values that amp-watch returns ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_WATCHED_H
#define AMP_DIALECT_AMP_IR_WATCHED_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// The prefix of the names of the results that `amp-watch` adds. A number
/// follows.
inline constexpr llvm::StringLiteral kWatchPrefix = "watch ";

/// The result of the operation that computes `value`. For a result of control
/// flow this is the operation that the first region yields, such as an
/// optimizer that a guard of loss scaling may skip. Null for an argument.
OpResult getComputedResult(Value value);

/// Names a value of a step: an argument as `argument "<name>"`, a result by the
/// operation that computes it, the number if there are several, and the
/// location.
std::string nameWatchedValue(Value value);

/// The parts of a step, in order.
enum class StepPart { Forward, Backward, Update };
StringRef stringifyPart(StepPart part);

/// Maps each operation of `body` to its part of the step. The backward pass
/// depends on a gradient seed, and the update depends on gradients of
/// parameters. Nested operations determine the part of the operation that
/// contains them.
llvm::DenseMap<Operation *, StepPart> findStepParts(Block &body);

/// A value that a step returns for `amp-watch`.
struct WatchedValue {
  /// The number in the name of the result, and the name.
  unsigned number;
  std::string name;
  /// `forward`, `backward` or `update`.
  std::string part;
  Value value;
  /// Null if the step returns the value itself.
  StatisticsOp statistics;
};

/// The watched values of a step, by number.
SmallVector<WatchedValue> getWatchedValues(FunctionOpInterface function);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_WATCHED_H

//===- StepSignature.h - What a training step takes and gives ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `amp.*` attributes of a step function, read once into a structure that
// passes and tools share.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_STEPSIGNATURE_H
#define AMP_DIALECT_AMP_IR_STEPSIGNATURE_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <optional>

namespace mlir::amp {

/// The role of an argument of a training step.
enum class Role {
  Parameter,
  OptimizerState,
  ModelState,
  Batch,
  Hyperparameter,
  ScalerState,
  QuantizerState,
};

/// Returns the spelling of `role` in `amp.role`.
StringRef stringifyRole(Role role);
/// Returns the role spelled `name`, if there is one.
std::optional<Role> symbolizeRole(StringRef name);

/// One argument of a training step.
struct StepArgument {
  unsigned index;
  Role role;
  StringRef name;
  /// Null if the argument has no `amp.init`.
  InitAttr init;
  RankedTensorType type;
  /// The result that replaces this argument after the step, if there is one.
  std::optional<unsigned> updatedBy;

  /// Whether the argument keeps its value from one step to the next.
  bool isState() const {
    return role != Role::Batch && role != Role::Hyperparameter;
  }
};

/// The kind of a result of a training step.
enum class ResultKind { Update, Metric, Prediction };

/// One result of a training step.
struct StepResult {
  unsigned index;
  ResultKind kind;
  /// The argument that is updated, or the name of the metric or prediction.
  StringRef name;
  /// The index of the argument that is updated, for `ResultKind::Update`.
  unsigned argument = 0;
  RankedTensorType type;
};

/// The arguments and results of a training step, in order.
struct StepSignature {
  SmallVector<StepArgument> arguments;
  SmallVector<StepResult> results;

  /// Reads the attributes of `function`. If an argument has no role or name, or
  /// a result is neither an update, a metric nor a prediction, emits one
  /// diagnostic at the function that says what to add and returns failure. The
  /// verifier has checked the attributes that are present.
  static FailureOr<StepSignature> get(FunctionOpInterface function);

  /// Returns the argument named `name`, or null.
  const StepArgument *findArgument(StringRef name) const;
};

/// Returns the role of argument `index` of `function`, if it has one.
std::optional<Role> getRole(FunctionOpInterface function, unsigned index);
/// Returns the role of `value`, if it is an argument of a function and has one.
std::optional<Role> getRole(Value value);

/// Returns whether some argument of `function` carries `amp.role`.
bool isStepFunction(FunctionOpInterface function);

/// Checks that the body of `step` is a single block that ends with a return of
/// a value for each result. Emits an error otherwise. An unregistered operation
/// at the end of a block may be a terminator with any operands.
LogicalResult verifyStepBody(FunctionOpInterface step);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_STEPSIGNATURE_H

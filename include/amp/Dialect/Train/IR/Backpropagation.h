//===- Backpropagation.h - The reverse sweep over operations ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `train-autodiff` and the derivatives of composite operations share this code.
// It chooses the operations to differentiate and sweeps over them in reverse
// through `DifferentiableOpInterface`.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_BACKPROPAGATION_H
#define AMP_DIALECT_TRAIN_IR_BACKPROPAGATION_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <utility>

namespace mlir::train {

/// A unit attribute of any operation: the results count as constants of the
/// differentiation, so no gradient reaches the operands through them.
inline constexpr StringLiteral kStopGradientAttr = "train.stop_gradient";

/// The attribute of operations that `train-rematerialize` runs again, with the
/// number of their group.
inline constexpr StringLiteral kRecomputedAttr = "train.recomputed";

/// How the backward loop gets a value of an iteration of the forward loop.
enum class LoopValues {
  Stack,    ///< Reads it from a stack that the forward loop fills.
  Recompute ///< Computes it again from the stacked carried values.
};

/// One reverse-mode sweep. Set up `active` and `gradients`, then `run`.
class Backpropagation {
public:
  /// Called with each operation that the sweep emits, and with the forward
  /// operation whose gradients it computes.
  using Listener = function_ref<void(Operation *forward, Operation *backward)>;

  explicit Backpropagation(OpBuilder &builder,
                           LoopValues loopValues = LoopValues::Stack)
      : builder(builder), loopValues(loopValues) {}
  Backpropagation(const Backpropagation &) = delete;
  /// Erases the operations that were replaced.
  ~Backpropagation();

  /// Marks `value` as one to differentiate by.
  void activate(Value value) { active.insert(value); }
  bool isActive(Value value) const { return active.contains(value); }

  /// Adds `gradient` to the gradient of `value`.
  void accumulate(Value value, Value gradient, Location loc);
  /// The gradient of `value` found so far, or null if it is zero.
  Value lookup(Value value) const { return gradients.lookup(value); }
  /// Makes `gradient` the gradient of `value`, in place of the sum so far.
  void assign(Value value, Value gradient) { gradients[value] = gradient; }
  /// Lets the results of `replacement`, which start with those of `op`, take
  /// the places of the results of `op`. Values of an iteration that a backward
  /// loop reads are further results of the forward loop.
  void replace(Operation *op, Operation *replacement);
  /// The operations that were replaced, each with its replacement.
  ArrayRef<std::pair<Operation *, Operation *>> getReplacements() const {
    return replacements;
  }

  /// Sweeps over `forward`, in which each operation follows those that it uses.
  /// Marks the float results that depend on an active value, other than those
  /// of operations with `train.stop_gradient`. Then emits the gradients of the
  /// active operands in reverse order. If an operation between an active value
  /// and a value with a gradient has no derivative, emits a diagnostic at it
  /// and returns failure.
  LogicalResult run(ArrayRef<Operation *> forward, Listener listener);

private:
  LogicalResult differentiate(Operation *op);
  LogicalResult differentiateRule(Operation *op,
                                  ArrayRef<Value> resultGradients);
  /// Folds the operations emitted after `last` and updates `emittedGradients`.
  /// No gradient is then the result of an operation that folding erases.
  void foldEmitted(Operation *last, MutableArrayRef<Value> emittedGradients);
  /// The operation before the insertion point, or null.
  Operation *getLastEmitted() const;
  /// The operation that follows `last` at the insertion point.
  Block::iterator after(Operation *last) const;

  OpBuilder &builder;
  LoopValues loopValues;
  SmallVector<std::pair<Operation *, Operation *>> replacements;
  DenseSet<Value> active;
  DenseMap<Value, Value> gradients;
};

/// Appends to `ops` the operations on which `value` depends. Each operation
/// follows those that it uses.
void collectProducers(Value value, SmallVectorImpl<Operation *> &ops);

/// Appends the operands of `op` and the values that its regions use from
/// outside.
void getInputs(Operation *op, SmallVectorImpl<Value> &inputs);

/// Returns whether gradients flow through values of `type`.
bool isDifferentiableType(Type type);

} // namespace mlir::train

#endif // AMP_DIALECT_TRAIN_IR_BACKPROPAGATION_H

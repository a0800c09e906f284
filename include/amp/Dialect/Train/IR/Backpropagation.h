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

namespace mlir::train {

/// One reverse-mode sweep. Set up `active` and `gradients`, then `run`.
class Backpropagation {
public:
  /// Called with each operation that the sweep emits, and with the forward
  /// operation whose gradients it computes.
  using Listener = function_ref<void(Operation *forward, Operation *backward)>;

  explicit Backpropagation(OpBuilder &builder) : builder(builder) {}

  /// Marks `value` as one to differentiate by.
  void activate(Value value) { active.insert(value); }
  bool isActive(Value value) const { return active.contains(value); }

  /// Adds `gradient` to the gradient of `value`.
  void accumulate(Value value, Value gradient, Location loc);
  /// The gradient of `value` found so far, or null if it is zero.
  Value lookup(Value value) const { return gradients.lookup(value); }

  /// Sweeps over `forward`, in which each operation follows those that it uses.
  /// Marks the float results that depend on an active value, then emits the
  /// gradients of the active operands in reverse order. If an operation between
  /// an active value and a value with a gradient has no derivative, emits a
  /// diagnostic at it and returns failure.
  LogicalResult run(ArrayRef<Operation *> forward, Listener listener);

private:
  LogicalResult differentiate(Operation *op);
  /// Folds the operations emitted after `last` and updates `emittedGradients`.
  /// No gradient is then the result of an operation that folding erases.
  void foldEmitted(Operation *last, MutableArrayRef<Value> emittedGradients);
  /// The operation before the insertion point, or null.
  Operation *getLastEmitted() const;
  /// The operation that follows `last` at the insertion point.
  Block::iterator after(Operation *last) const;

  OpBuilder &builder;
  DenseSet<Value> active;
  DenseMap<Value, Value> gradients;
};

/// Appends to `ops` the operations on which `value` depends. Each operation
/// follows those that it uses.
void collectProducers(Value value, SmallVectorImpl<Operation *> &ops);

/// Returns whether gradients flow through values of `type`.
bool isDifferentiableType(Type type);

} // namespace mlir::train

#endif // AMP_DIALECT_TRAIN_IR_BACKPROPAGATION_H

//===- StepRewriter.h - Changing the signature of a step --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by the loss-scaling and the master-weight pass. It adds arguments and
// results to a step, and computes slices that separate the forward and the
// backward pass from the update.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_STEPREWRITER_H
#define AMP_LIB_TRANSFORMS_STEPREWRITER_H

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::amp {

/// A step function with a single block.
class StepRewriter {
public:
  /// Returns failure, after a diagnostic, if `function` has several blocks.
  static FailureOr<StepRewriter> get(FunctionOpInterface function);

  FunctionOpInterface getFunction() const { return function; }
  Block &getBody() const { return function.getFunctionBody().front(); }
  Operation *getReturn() const { return getBody().getTerminator(); }
  /// The insertion point of new results: before the return and the inserted
  /// casts that only it reads. These casts stay last, where
  /// auto-mixed-precision inserts them when it runs again.
  Operation *getResultPoint() const;

  /// Appends an argument. Returns failure, after a diagnostic, if `name` is
  /// taken. The argument gets the sharding (`mhlo.sharding`, `sdy.sharding`) of
  /// `like`, an argument of the same shape. Without `like` it is replicated if
  /// arguments have an `mhlo.sharding`.
  FailureOr<BlockArgument> addArgument(StringRef name, Role role, Type type,
                                       InitAttr init, BlockArgument like = {});

  /// Appends `value` as a result with the attribute `attribute` = `name`. A
  /// result that updates an argument gets its sharding. The argument is then
  /// aliased to the result (`tf.aliasing_output`) if the caller donates
  /// parameters (`tf.aliasing_output`, `jax.buffer_donor`).
  LogicalResult addResult(Value value, StringRef attribute, StringRef name);

  /// The operation of the body's block that holds `op`, which may be nested.
  Operation *getAncestor(Operation *op) const {
    return getBody().findAncestorOpInBlock(*op);
  }

  /// The values of the body that `amp.gradient_of` names, in program order.
  SmallVector<Value> getGradients() const;

  /// The `amp.name` of the parameter whose gradient is `gradient`.
  static StringAttr getParameterOf(Value gradient);

  /// The `amp.optimizer` of the argument named `argument`, or null.
  StringAttr getOptimizer(StringAttr argument) const;

  /// Returns failure, after a diagnostic, if no result updates an argument that
  /// needs an update: optimizer state, and parameters with a gradient in the
  /// step. Other parameters may be frozen.
  LogicalResult checkUpdates() const;

  using OpSet = llvm::DenseSet<Operation *>;

  /// Adds to `slice` the operations of the body on which `roots` depend, the
  /// roots themselves included, without entering those in `barrier`.
  void addBackwardSlice(ArrayRef<Operation *> roots, OpSet &slice,
                        const OpSet &barrier = {}) const;

  /// The operations of the body that depend on `values`, without those in
  /// `except`.
  OpSet getDependents(ArrayRef<Value> values, const OpSet &except) const;

  /// Moves the operations before `anchor` that depend on `values` and are not
  /// in `except` to after it, in their order.
  void moveDependentsAfter(Operation *anchor, ArrayRef<Value> values,
                           const OpSet &except) const;

private:
  explicit StepRewriter(FunctionOpInterface function) : function(function) {}

  void alias(unsigned result, StringRef name);

  // Interfaces are handles: their methods are not const.
  mutable FunctionOpInterface function;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_STEPREWRITER_H

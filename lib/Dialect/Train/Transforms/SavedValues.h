//===- SavedValues.h - What a step keeps for its backward pass --*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that a step keeps for its backward pass. Positions in the
// function's block define them: the operations before the first gradient seed
// are the forward pass, and a value of the forward pass that is read after the
// seed is kept.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_TRAIN_TRANSFORMS_SAVEDVALUES_H
#define AMP_LIB_DIALECT_TRAIN_TRANSFORMS_SAVEDVALUES_H

#include "amp/Dialect/Train/IR/Backpropagation.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace mlir::train {

/// Returns the bytes of `value`, or 0 if that is not known.
int64_t countBytes(Value value);

/// The values that one step keeps, and the operations that compute them again.
class SavedValues {
public:
  using Ops = llvm::SetVector<Operation *>;

  explicit SavedValues(Block &block) : block(block) {}

  /// Finds the kept values. Returns false if the block has no gradient seed.
  bool analyze();

  Block &getBlock() const { return block; }
  unsigned numberOf(Operation *op) const { return numbers.lookup(op); }
  bool isForward(Operation *op) const {
    return op->getBlock() == &block && numberOf(op) < seed;
  }
  bool isForwardValue(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && isForward(op);
  }
  bool isConstant(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && op->hasTrait<OpTrait::ConstantLike>();
  }
  bool isKept(Value value) const {
    return saved.contains(value) && !dropped.contains(value);
  }
  bool isReturned(Value value) const;

  /// The value whose memory `value` uses.
  Value getRoot(Value value) const;
  /// `value` and the views of it that the forward pass makes.
  void collectViews(Value value, SmallVectorImpl<Value> &views) const;
  /// The operation of the block that `use` is in.
  Operation *getUser(OpOperand &use) const {
    return block.findAncestorOpInBlock(*use.getOwner());
  }
  /// The first operation after the seed that reads `value` or a view of it.
  Operation *getFirstReader(Value value) const;

  /// Clones `ops` before `where`. All operations after the seed that read one
  /// of `values` then read the clone.
  void emit(ArrayRef<Value> values, const Ops &ops, Operation *where);

  /// `saved` holds the kept values in program order, `dropped` those that are
  /// computed again, and `pinned` those that must stay, because other values
  /// are computed from them. `reasons` says why a value is kept.
  llvm::SetVector<Value> saved;
  DenseSet<Value> dropped, pinned;
  llvm::MapVector<Value, std::string> reasons;

  unsigned numValues = 0, numOps = 0, numBlocks = 0;
  int64_t numBytes = 0;

private:
  Block &block;
  unsigned seed = 0;
  int64_t group = 0;
  DenseMap<Operation *, unsigned> numbers;
};

/// Computes each block again whose locations match one of `patterns`. Inserts
/// the patterns that match into `usedPatterns`.
void recomputeBlocks(SavedValues &step, ArrayRef<std::string> patterns,
                     llvm::StringSet<> &usedPatterns);

/// Computes single values of at least `minBytes` again if at most `chain` cheap
/// operations suffice.
void recomputeSingleValues(SavedValues &step, int64_t chain, int64_t minBytes);

} // namespace mlir::train

#endif // AMP_LIB_DIALECT_TRAIN_TRANSFORMS_SAVEDVALUES_H

//===- BucketedReductions.h - Where ranks add their values ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The all-reduces of a step: buckets of gradients in the order of the backward
// pass, and metrics and state with the last of them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_REPLICATION_BUCKETEDREDUCTIONS_H
#define AMP_LIB_REPLICATION_BUCKETEDREDUCTIONS_H

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"

namespace mlir::amp {

/// How the ranks exchange gradients.
struct ReductionSettings {
  /// The bytes from which a bucket ends with the current layer.
  int64_t bucketBytes = 0;
  /// The type of exchanged gradients. Null for f32.
  FloatType low;
};

/// A value of which each rank has a summand, times N to the power `power`.
struct Summand {
  Value value;
  int power = 0;
  /// The operand that gets the total. Null for all uses.
  OpOperand *use = nullptr;
  bool isGradient = false;
};

/// The name of the parameter that `value` is the gradient of
/// (`amp.gradient_of`). Null or empty if it is not a gradient.
StringAttr getGradientName(Value value);

/// The results of operations in `body` that `amp.gradient_of` names, in order.
SmallVector<Value> getNamedGradients(Block &body);

/// The argument of `function` that result `index` updates, or null.
BlockArgument getUpdatedArgument(FunctionOpInterface function, unsigned index);

/// Names `to`, in the place of `from`, as the gradient of its parameter, if
/// `from` is one.
void moveGradientName(Value from, Value to);

/// Divides `value` by the number of ranks, `power` times.
Value buildDivisions(OpBuilder &builder, Value value, int power);

/// Collects the values of one step that ranks add, then builds the reductions.
class BucketedReductions {
public:
  explicit BucketedReductions(const ReductionSettings &settings)
      : settings(settings) {}

  /// Replaces all uses of `summand` by its total, at the insertion point.
  void reduceAlone(OpBuilder &builder, const Summand &summand);
  void addGradient(Value gradient, int power);
  /// Adds the value that `operand` returns.
  void addResult(OpOperand &operand, int power);
  /// Inserts the reductions of what was added. A bucket is reduced as soon as
  /// its last gradient is final, or before the first use of any of them.
  void build(Block &body);

  /// Replaces `values` by their maxima over all ranks, from `before` on.
  void buildMaximum(Operation *before, ArrayRef<Value> values);

  unsigned getNumGradients() const { return numGradients; }
  unsigned getNumCollectives() const { return numCollectives; }

private:
  /// Reduces `bucket` at the insertion point of `builder` and empties it.
  void flush(OpBuilder &builder, SmallVectorImpl<Summand> &bucket);
  /// The type in which the ranks exchange `summand`.
  FloatType getExchangedType(const Summand &summand) const;
  int64_t getBytes(const Summand &summand) const;
  void replace(const Summand &summand, Value total, Value wide,
               const llvm::DenseSet<Operation *> &except);

  ReductionSettings settings;
  SmallVector<Summand> gradients, results;
  unsigned numGradients = 0, numCollectives = 0;
};

} // namespace mlir::amp

#endif // AMP_LIB_REPLICATION_BUCKETEDREDUCTIONS_H

//===- TensorLiveness.h - When the tensors of a step live -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Live ranges of the intermediate tensors of a function with one block, in
// program order. Memory reports and memory plans use them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_ANALYSIS_TENSORLIVENESS_H
#define AMP_ANALYSIS_TENSORLIVENESS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::amp {

/// A tensor that an operation of the function's block produces, with the
/// operations between which it occupies memory. Operations are numbered from 0.
struct TensorRange {
  Value value;
  int64_t bytes;
  unsigned definition;
  /// The last operation that reads the tensor or a view of it; equal to
  /// `definition` if none does.
  unsigned lastUse;
};

/// Returns the number of bytes of a tensor of static shape, or failure if
/// `type` is not one. A boolean takes one byte. Here and below, numbers that
/// are too large for their type saturate.
FailureOr<int64_t> getTensorBytes(Type type);

/// Returns whether the result of `op` is a view of its first operand. This
/// holds for reshapes and for broadcasts without new dimensions.
bool isTensorView(Operation *op);

/// Live ranges of the tensors of one function.
class TensorLiveness {
public:
  /// Computes the ranges of the tensors that the operations of the single block
  /// of `function` produce, in program order. Operations inside regions count
  /// as their ancestor in the block. A view is not a separate tensor. It keeps
  /// its operand alive. Emits a diagnostic at the operation and returns failure
  /// if a shape is dynamic.
  static FailureOr<TensorLiveness> compute(FunctionOpInterface function);

  ArrayRef<TensorRange> getRanges() const { return ranges; }

  /// Returns the greatest sum of `bytes` over ranges that live at one point,
  /// counting those that `include` accepts. A tensor that an operation reads
  /// for the last time still lives while that operation writes its result.
  int64_t getPeakBytes(function_ref<bool(const TensorRange &)> include) const;

private:
  std::vector<TensorRange> ranges;
  unsigned numOperations = 0;
};

} // namespace mlir::amp

#endif // AMP_ANALYSIS_TENSORLIVENESS_H

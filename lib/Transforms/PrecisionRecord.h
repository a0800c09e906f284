//===- PrecisionRecord.h - What auto-mixed-precision changed ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records how to undo the rewrite to mixed precision. In a function with
// `amp.mixed_precision`, every tensor of the low type was f32 before, and every
// cast with `inserted` is new. Attributes on operations record the exceptions.
// Exceptions are rare, so the record does not clutter a rewritten function.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_PRECISIONRECORD_H
#define AMP_LIB_TRANSFORMS_PRECISIONRECORD_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/AttributeNames.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Returns the low type of a function that has been rewritten, or null.
FloatType getRecordedPrecision(FunctionOpInterface function);

/// Marks `function`, which will be rewritten to `low`, and records the low
/// tensors and inserted casts that it already has.
void recordInput(FunctionOpInterface function, FloatType low);

/// Returns the value of a constant, or null.
Attribute getConstantValue(Operation *op);

/// Records that the constant `op` had the value `input`, unless its present
/// value implies that.
void recordConstant(Operation *op, Attribute input);

/// Records that `op`, a copy of `original` in another type, is not part of the
/// input. For a constant, also records the value of `original` in the input.
void recordCopy(Operation *op, Operation *original);

/// What `restoreInput` removed.
struct RestoreCounts {
  int64_t functions = 0;
  int64_t casts = 0;
  int64_t values = 0;
};

/// Undoes the rewrite of the marked functions of `functions`, of all of them or
/// none. Fails if later passes have built on the low types. Then `reason`
/// describes the problem and `culprit` is the function.
LogicalResult restoreInput(ArrayRef<FunctionOpInterface> functions,
                           FunctionOpInterface &culprit, std::string &reason,
                           RestoreCounts &counts);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_PRECISIONRECORD_H

//===- PrecisionRecord.h - What auto-mixed-precision changed ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the rewrite to mixed precision is undone. In a function that carries
// `amp.mixed_precision`, every tensor of the low type was f32 before and every
// cast with `inserted` was not there, but for the exceptions that are recorded
// on the operations that they concern. Exceptions are rare, so that a rewritten
// function is as readable as if there were no record.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_PRECISIONRECORD_H
#define AMP_LIB_TRANSFORMS_PRECISIONRECORD_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Returns the low type of a function that has been rewritten, or null.
FloatType getRecordedPrecision(FunctionOpInterface function);

/// Marks `function`, which is about to be rewritten to `low`, and records which
/// of its tensors and inserted casts have stood there before.
void recordInput(FunctionOpInterface function, FloatType low);

/// Returns the value of a constant, or null.
Attribute getConstantValue(Operation *op);

/// Records that the constant `op` has had the value `input`, unless what it has
/// now says so anyway.
void recordConstant(Operation *op, Attribute input);

/// Records that `op`, a copy of `original` in another type, did not stand in
/// the input, and with a constant the value that it had there.
void recordCopy(Operation *op, Operation *original);

/// What `restoreInput` removed.
struct RestoreCounts {
  int64_t functions = 0;
  int64_t casts = 0;
  int64_t values = 0;
};

/// Gives those of `functions` that are marked back as they were before the
/// rewrite, all of them or none. Fails, with what is wrong in `reason` and the
/// function concerned in `culprit`, if later passes have built on the low
/// types.
LogicalResult restoreInput(ArrayRef<FunctionOpInterface> functions,
                           FunctionOpInterface &culprit, std::string &reason,
                           RestoreCounts &counts);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_PRECISIONRECORD_H

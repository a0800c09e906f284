//===- LinalgBody.h - What a structured operation computes ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXTERNALMODELS_LINALGBODY_H
#define AMP_LIB_EXTERNALMODELS_LINALGBODY_H

#include "Common.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::amp {

/// The slots of a structured operation:
///
/// - a contraction (sums of products, convolutions included): its two inputs
///   are a compute slot; the result is a slot of its own, accumulated in f32
///   and rounded afterwards where it is stored low; the initial value is f32;
/// - elementwise, or moving values: one slot; a range slot if the body may
///   leave the range of the low type (exponentials, powers, reciprocals);
/// - a maximum or minimum: one slot; any other reduction: a slot for the
///   inputs and a range slot for the result, accumulated in f32;
/// - operations in a wider type than f32 keep their types;
/// - anything else, such as several results of a reduction: the inputs are a
///   slot, results keep their types.
void getStructuredSlots(linalg::LinalgOp op, PrecisionSlots &slots);

/// Adapts the body and the accumulators to new types of the slots.
LogicalResult retypeStructured(linalg::LinalgOp op, ArrayRef<Type> slotTypes,
                               RewriterBase &rewriter);

/// Counts the multiplications and additions of a contraction. 0 for any other
/// operation.
int64_t getStructuredFlops(linalg::LinalgOp op);

/// The elementwise computation of a body with one operation apart from casts.
/// `Add`, `Subtract` and `Compare` may combine one input with a constant.
Arithmetic getElementArithmetic(linalg::LinalgOp op);

/// Returns for each result of `op` the number of the input whose elements it
/// has, moved or repeated. Empty if `op` computes something else.
SmallVector<unsigned> getMovedInputs(linalg::LinalgOp op);

/// Returns whether `fill` writes a constant to a tensor that nothing else has
/// written: a copy of it costs no more than a cast.
bool isFreshFill(linalg::FillOp fill);

} // namespace mlir::amp

#endif // AMP_LIB_EXTERNALMODELS_LINALGBODY_H

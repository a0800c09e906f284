//===- AMPCollectiveOps.h - Values of several ranks -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives of the amp dialect. Few files use them, so `AMP.h` does not
// include them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPCOLLECTIVEOPS_H
#define AMP_DIALECT_AMP_IR_AMPCOLLECTIVEOPS_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <limits>

#include "amp/Dialect/AMP/IR/AMPCollectiveEnums.h.inc"

namespace mlir::amp {
/// The value of `along` for parts in row-major order.
inline constexpr int64_t kFlatPart = std::numeric_limits<int64_t>::min();
} // namespace mlir::amp

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h.inc"

namespace mlir::amp {

/// On an operation that draws a random number for each element: the dimension
/// along which the ranks divide its result and, after `amp-set-ranks`, the
/// number of ranks and that of this rank. Elements have the random numbers of
/// their places in the whole tensor. An array of i64.
inline constexpr llvm::StringLiteral kDividedAlongAttr = "amp.divided_along";

/// On an argument of a step: the type of the whole tensor. Each rank keeps the
/// flat part of it that `amp.rank_part` gives. Initial values and files are
/// those of the whole tensor.
inline constexpr llvm::StringLiteral kPartOfAttr = "amp.part_of";

/// The type of the whole tensor of argument `index`, or its own type if it is
/// not a part.
Type getWholeType(FunctionOpInterface function, unsigned index);

/// The elements of each flat part of a tensor of `elements` elements.
int64_t getFlatPartSize(int64_t elements, int64_t ranks);

/// Whether `part` is the type of a flat part of a tensor of type `whole`, for
/// some number of ranks.
bool isFlatPart(ShapedType whole, ShapedType part);

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_AMPCOLLECTIVEOPS_H

//===- AMPCollectives.h - Values of several ranks ---------------*- C++ -*-===//
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

#ifndef AMP_DIALECT_AMP_IR_AMPCOLLECTIVES_H
#define AMP_DIALECT_AMP_IR_AMPCOLLECTIVES_H

#include "amp/Dialect/AMP/IR/AMP.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveEnums.h.inc"

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h.inc"

namespace mlir::amp {

/// On an operation that draws a random number for each element: the dimension
/// along which the ranks divide its result and, after `amp-set-ranks`, the
/// number of ranks and that of this rank. Elements have the random numbers of
/// their places in the whole tensor. An array of i64.
inline constexpr llvm::StringLiteral kDividedAlongAttr = "amp.divided_along";

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_AMPCOLLECTIVES_H

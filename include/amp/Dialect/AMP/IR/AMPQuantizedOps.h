//===- AMPQuantizedOps.h - Scaled values of eight bits ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of the amp dialect on 8-bit floats. Few files need them, so
// AMP.h does not include them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_AMPQUANTIZEDOPS_H
#define AMP_DIALECT_AMP_IR_AMPQUANTIZEDOPS_H

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Runtime/Host/Float8.h"
#include <optional>

namespace mlir::amp {

/// The rows and columns of a block, 0 for all of them. Without a value the
/// whole tensor is one block, and its scale is a scalar.
using BlockSizes = std::optional<ArrayRef<int64_t>>;

/// The largest margin of a scale, as a power of two.
inline constexpr int32_t kLargestMargin = 64;
/// The fewest bits of an accumulator: a sign, an exponent, and one bit of the
/// significand.
inline constexpr int32_t kNarrowestAccumulator = 10;
/// The longest history of magnitudes, in steps.
inline constexpr int64_t kLongestHistory = 65536;

/// The bits of `type`, f8E4M3FN or f8E5M2; null for any other type.
const amphost::Float8Format *getFloat8Format(Type type);

/// Returns [rows, columns] of the matrix that a tensor of shape `shape` is: all
/// dimensions but the last are rows. A tensor of rank 0 has one element.
SmallVector<int64_t, 2> getMatrixShape(ArrayRef<int64_t> shape);

/// Returns the shape of the scales of a tensor of shape `shape`: one element
/// for each block.
SmallVector<int64_t> getScaleShape(ArrayRef<int64_t> shape, BlockSizes blocks);

} // namespace mlir::amp

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h.inc"

#endif // AMP_DIALECT_AMP_IR_AMPQUANTIZEDOPS_H

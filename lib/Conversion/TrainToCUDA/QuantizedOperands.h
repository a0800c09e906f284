//===- QuantizedOperands.h - 8-bit operands of products ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_TRAINTOCUDA_QUANTIZEDOPERANDS_H
#define AMP_LIB_CONVERSION_TRAINTOCUDA_QUANTIZEDOPERANDS_H

#include "Products.h"
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"

namespace mlir::cuda {

/// An operand of products: its codes, and the factors that multiply them.
struct QuantizedOperand {
  Value codes, factors;
};

/// The orders of each payload: as it is stored, and transposed.
using QuantizedOperands = DenseMap<Value, std::array<QuantizedOperand, 2>>;

/// Whether the product reads the operand in the order of its columns.
bool readsTransposed(amp::ScaledMatmulOp product, bool isLhs);

/// Returns whether products read the payload as it is stored, and transposed.
std::array<bool, 2> getReadOrders(amp::QuantizeOp op);

/// Adds launches that find the magnitudes of blocks and write their codes and
/// factors. They replace those of `ops` whose scales follow from the magnitudes
/// of the same blocks. Two of them that read a tensor in both orders become one
/// launch. Leaves the columns of a matrix as blocks to `cuda.quantize`.
void quantizeOwnBlocks(PatternRewriter &rewriter, ArrayRef<amp::QuantizeOp> ops,
                       QuantizedOperands &operands);

} // namespace mlir::cuda

#endif // AMP_LIB_CONVERSION_TRAINTOCUDA_QUANTIZEDOPERANDS_H

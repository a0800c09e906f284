//===- Contractions.cpp - Sums of products as loops -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::amp;

Value mlir::amp::contract(LinalgBuilder &b, ArrayRef<int64_t> shape, Value lhs,
                          Value rhs, ArrayRef<AffineMap> maps,
                          ArrayRef<utils::IteratorType> iterators) {
  Type element = getScalarComputeType(typeOf(lhs).getElementType());
  Value init = b.filled(RankedTensorType::get(shape, element), 0.0);
  return b.accumulate(
      init, {lhs, rhs}, maps, iterators,
      [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value product = arith::MulFOp::create(inner, args[0], args[1]);
        return arith::AddFOp::create(inner, args[2], product);
      });
}

Value mlir::amp::multiplyMatrices(LinalgBuilder &b, ArrayRef<int64_t> shape,
                                  Value lhs, Value rhs, bool transposeLhs,
                                  bool transposeRhs) {
  // Loops: leading dimensions, m, k, n.
  unsigned leading = shape.size() - 2, loops = leading + 3;
  ImplicitLocOpBuilder &builder = b.getBuilder();
  auto map = [&](unsigned row, unsigned column, bool transpose) {
    SmallVector<AffineExpr> exprs;
    for (unsigned dim = 0; dim < leading; ++dim)
      exprs.push_back(builder.getAffineDimExpr(dim));
    if (transpose)
      std::swap(row, column);
    exprs.push_back(builder.getAffineDimExpr(leading + row));
    exprs.push_back(builder.getAffineDimExpr(leading + column));
    return AffineMap::get(loops, 0, exprs, builder.getContext());
  };
  SmallVector<utils::IteratorType> iterators(loops, parallel);
  iterators[leading + 1] = reduction;
  return contract(
      b, shape, lhs, rhs,
      {map(0, 1, transposeLhs), map(1, 2, transposeRhs), map(0, 2, false)},
      iterators);
}

//===- Movement.cpp - Reshapes, transposes, slices and products ---------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

bool StableHLOImporter::convertMovement(Operation *op, StringRef name) {
  TrainBuilder b = at(op);
  if (op->getNumOperands() == 0)
    return false;
  Value x = get(op->getOperand(0));
  if (!x)
    return false;
  auto type = typeOf(op->getResult(0));
  if (name == "reshape")
    return set(op, reshape(b, x, type.getShape()));
  if (name == "transpose") {
    auto permutation = getNumbers(op, "permutation");
    return permutation && set(op, transpose(b, x, *permutation));
  }
  if (name == "broadcast_in_dim") {
    auto dims = getNumbers(op, "broadcast_dimensions");
    if (!dims || !llvm::is_sorted(*dims))
      return false;
    SmallVector<int64_t> kept, repeated;
    for (int64_t dim = 0, next = 0; dim < type.getRank(); ++dim) {
      bool isThere =
          next < static_cast<int64_t>(dims->size()) && (*dims)[next] == dim;
      int64_t extent = isThere ? typeOf(x).getDimSize(next++) : 1;
      if (extent == type.getDimSize(dim))
        kept.push_back(extent);
      else
        repeated.push_back(dim);
    }
    x = reshape(b, x, kept);
    if (!repeated.empty())
      x = train::BroadcastOp::create(builder, op->getLoc(), type, x, Value(),
                                     repeated, /*mean=*/false);
    return set(op, x);
  }
  if (name == "slice") {
    auto from = getNumbers(op, "start_indices");
    auto steps = getNumbers(op, "strides");
    return from && steps &&
           set(op, train::SliceOp::create(builder, op->getLoc(), type, x, *from,
                                          type.getShape(), *steps));
  }
  return false;
}

bool StableHLOImporter::convertDot(Operation *op) {
  TrainBuilder b = at(op);
  Value lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
  std::string text = getText(op, "dot_dimension_numbers");
  if (!lhs || !rhs || text.empty())
    return false;
  SmallVector<int64_t> lb = getField(text, "lhs_batching_dimensions"),
                       rb = getField(text, "rhs_batching_dimensions"),
                       lc = getField(text, "lhs_contracting_dimensions"),
                       rc = getField(text, "rhs_contracting_dimensions");
  SmallVector<int64_t> shape;
  for (int64_t dim : lb)
    shape.push_back(typeOf(lhs).getDimSize(dim));
  // Transposes an operand to the order batch, first, second, as a matrix.
  auto bring = [&](Value x, ArrayRef<int64_t> batch, ArrayRef<int64_t> inner,
                   bool innerFirst) {
    SmallVector<int64_t> outer;
    for (int64_t dim = 0; dim < typeOf(x).getRank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(inner, dim))
        outer.push_back(dim);
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, innerFirst ? inner : ArrayRef<int64_t>(outer));
    llvm::append_range(order, innerFirst ? ArrayRef<int64_t>(outer) : inner);
    auto count = [&](ArrayRef<int64_t> dims) {
      int64_t product = 1;
      for (int64_t dim : dims)
        product *= typeOf(x).getDimSize(dim);
      return product;
    };
    SmallVector<int64_t> matrix(shape);
    matrix.push_back(count(innerFirst ? inner : ArrayRef<int64_t>(outer)));
    matrix.push_back(count(innerFirst ? ArrayRef<int64_t>(outer) : inner));
    return reshape(b, transpose(b, x, order), matrix);
  };
  lhs = bring(lhs, lb, lc, /*innerFirst=*/false);
  rhs = bring(rhs, rb, rc, /*innerFirst=*/true);
  SmallVector<int64_t> product(typeOf(lhs).getShape());
  product.back() = typeOf(rhs).getShape().back();
  Value result = train::MatmulOp::create(builder, op->getLoc(),
                                         typeOf(lhs).clone(product), lhs, rhs);
  return set(op, reshape(b, result, typeOf(op->getResult(0)).getShape()));
}

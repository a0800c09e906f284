//===- Rotations.cpp - Rotary embeddings as one loop ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"
#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"
#include "amp/Dialect/Train/IR/Train.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

namespace {

/// Reads both halves for each element. The decomposition computes the halves
/// apart and joins them in a second loop.
struct RotationToLoop : OpRewritePattern<train::RotaryEmbeddingOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::RotaryEmbeddingOp op,
                                PatternRewriter &rewriter) const override {
    mlir::amp::LinalgBuilder b(rewriter, getNamedLocation(op));
    auto split = [&](Value value, int64_t parts) {
      SmallVector<int64_t> shape(typeOf(value).getShape());
      shape.back() /= parts;
      shape.insert(shape.end() - 1, parts);
      return b.reshape(value, shape);
    };
    Value x = split(op.getInput(), 2), cosines = split(op.getCosines(), 1),
          sines = split(op.getSines(), 1);
    auto type = typeOf(x);
    const unsigned rank = type.getRank(), half = rank - 2;
    AffineMap same = rewriter.getMultiDimIdentityMap(rank);
    SmallVector<AffineExpr> exprs(same.getResults());
    exprs[half] = rewriter.getAffineConstantExpr(1) - exprs[half];
    AffineMap other = AffineMap::get(rank, 0, exprs, getContext());
    AffineMap table = mlir::amp::getBroadcastMap(typeOf(cosines).getShape(),
                                                 type.getShape(), getContext());
    // (a·cos - b·sin, b·cos + a·sin).
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      Value isFirst = arith::CmpIOp::create(
          inner, arith::CmpIPredicate::eq, linalg::IndexOp::create(inner, half),
          arith::ConstantIndexOp::create(inner, 0));
      Value sine = arith::SelectOp::create(
          inner, isFirst, arith::NegFOp::create(inner, args[3]), args[3]);
      return arith::AddFOp::create(
          inner, arith::MulFOp::create(inner, args[0], args[2]),
          arith::MulFOp::create(inner, args[1], sine));
    };
    Value rotated = b.elementwise(type, {x, x, cosines, sines},
                                  {same, other, table, table}, body);
    rewriter.replaceOp(op, b.reshape(rotated, op.getType().getShape()));
    return success();
  }
};

} // namespace

void mlir::cuda::populateRotations(RewritePatternSet &patterns) {
  patterns.add<RotationToLoop>(patterns.getContext());
}

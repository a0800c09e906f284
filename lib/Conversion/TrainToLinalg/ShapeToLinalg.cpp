//===- ShapeToLinalg.cpp - Reductions and data movement as loops===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"
#include "amp/Conversion/LinalgCommon/LongSums.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {

/// Sums, means and maxima accumulate in the compute type, then divide, round
/// and restore the dimensions that are kept.
template <typename ReduceOp>
struct LowerReduce : OpRewritePattern<ReduceOp> {
  using OpRewritePattern<ReduceOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    constexpr bool isMax = std::is_same_v<ReduceOp, ReduceMaxOp>;
    constexpr bool isMean = std::is_same_v<ReduceOp, ReduceMeanOp>;
    LinalgBuilder b(rewriter, op.getLoc());
    auto input = typeOf(op.getInput());
    Type accumulator = getScalarComputeType(input.getElementType());
    Type compute = accumulator;
    int64_t count = 1;
    for (int64_t dim : op.getDims())
      count *= input.getDimSize(dim);
    if (!isMax && count > kLongSum)
      accumulator = rewriter.getF64Type();
    double init = isMax ? -std::numeric_limits<double>::infinity() : 0.0;
    Value result =
        b.reduce(op.getInput(), op.getDims(), accumulator, init,
                 [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                   if (isMax)
                     return arith::MaximumFOp::create(inner, args[0], args[1]);
                   Value term = args[0];
                   if (term.getType() != accumulator)
                     term = arith::ExtFOp::create(inner, accumulator, term);
                   return arith::AddFOp::create(inner, args[1], term);
                 });
    Type element = op.getType().getElementType();
    if (isMean) {
      // A low result is rounded from the compute type.
      Type quotient = accumulator == compute ? element : compute;
      result = b.elementwise(
          typeOf(result).clone(quotient), result,
          [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
            Value divisor = arith::ConstantOp::create(
                inner, inner.getFloatAttr(accumulator, double(count)));
            return arith::DivFOp::create(inner, args[0], divisor);
          });
    }
    if (accumulator != compute)
      result = b.castTo(result, compute);
    result = b.castTo(result, element);
    rewriter.replaceOp(op, b.reshape(result, op.getType().getShape()));
    return success();
  }
};

struct LowerBroadcast : OpRewritePattern<BroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastOp op,
                                PatternRewriter &rewriter) const override {
    // Without dimensions the reduction is the identity.
    if (op.getDims().empty()) {
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType();
    SmallVector<AffineExpr> kept;
    double count = 1;
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
        count *= extent;
      else
        kept.push_back(rewriter.getAffineDimExpr(dim));
    }
    auto map = AffineMap::get(type.getRank(), 0, kept, getContext());
    rewriter.replaceOp(
        op, b.elementwise(
                type, op.getInput(), map,
                [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  if (!op.getMean())
                    return args[0];
                  Value divisor = arith::ConstantOp::create(
                      inner, inner.getFloatAttr(args[0].getType(), count));
                  return arith::DivFOp::create(inner, args[0], divisor);
                }));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

struct LowerReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, b.reshape(op.getInput(), op.getType().getShape()));
    return success();
  }
};

struct LowerTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    // Dimension i of the result, which is loop i, is dimension permutation[i]
    // of the operand.
    SmallVector<AffineExpr> exprs(op.getPermutation().size());
    for (auto [loop, dim] : llvm::enumerate(op.getPermutation()))
      exprs[dim] = rewriter.getAffineDimExpr(loop);
    auto map = AffineMap::get(exprs.size(), 0, exprs, getContext());
    rewriter.replaceOp(op,
                       b.elementwise(op.getType(), op.getInput(), map,
                                     [](ImplicitLocOpBuilder &,
                                        ValueRange args) { return args[0]; }));
    return success();
  }
};

struct LowerSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, b.slice(op.getInput(), op.getOffsets(),
                                   op.getType().getShape(), op.getStrides()));
    return success();
  }
};

struct LowerPad : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto padded = [&](Value input, Type element) {
      APFloat value = op.getValue();
      bool losesInfo;
      value.convert(cast<FloatType>(element).getFloatSemantics(),
                    APFloat::rmNearestTiesToEven, &losesInfo);
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      return b.pad(input, op.getLow(), op.getHigh(), op.getInterior(),
                   value.convertToDouble());
    };
    rewriter.replaceOp(op,
                       padded(op.getInput(), op.getType().getElementType()));
    return success();
  }
};

struct LowerConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType();
    Value result = b.empty(type.getShape(), type.getElementType());
    SmallVector<int64_t> offsets(type.getRank(), 0);
    SmallVector<int64_t> strides(type.getRank(), 1);
    for (Value input : op.getInputs()) {
      result = b.insert(input, result, offsets, strides);
      offsets[op.getAxis()] += typeOf(input).getDimSize(op.getAxis());
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

void mlir::amp::populateTrainShapeToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerReduce<ReduceSumOp>, LowerReduce<ReduceMeanOp>,
               LowerReduce<ReduceMaxOp>, LowerBroadcast, LowerReshape,
               LowerTranspose, LowerSlice, LowerPad, LowerConcat>(
      patterns.getContext());
}

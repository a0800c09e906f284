//===- SequenceToLinalg.cpp - Indexing and scans as loops ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

/// Whether the integer `index` is in [0, `extent`), and a valid index, which is
/// `index` in that case.
static std::pair<Value, Value> checkIndex(ImplicitLocOpBuilder &b, Value index,
                                          int64_t extent) {
  Value at = arith::IndexCastOp::create(b, b.getIndexType(), index);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value last = arith::ConstantIndexOp::create(b, extent - 1);
  Value clamped =
      arith::MinSIOp::create(b, arith::MaxSIOp::create(b, at, zero), last);
  Value inside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, at, clamped);
  return {inside, clamped};
}

static Value zeroOf(ImplicitLocOpBuilder &b, Type type) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, 0.0));
}

static int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

namespace {

struct LowerGather : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType();
    Value input = op.getInput();
    int64_t axis = op.getAxis(), extent = typeOf(input).getDimSize(axis);
    int64_t numIndices = typeOf(op.getIndices()).getRank();
    SmallVector<AffineExpr> exprs;
    for (int64_t i = 0; i < numIndices; ++i)
      exprs.push_back(rewriter.getAffineDimExpr(axis + i));
    auto map = AffineMap::get(type.getRank(), 0, exprs, getContext());
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      std::pair<Value, Value> index = checkIndex(inner, args[0], extent);
      SmallVector<Value> at;
      for (int64_t i = 0; i < axis; ++i)
        at.push_back(linalg::IndexOp::create(inner, i));
      at.push_back(index.second);
      for (int64_t i = axis + numIndices; i < type.getRank(); ++i)
        at.push_back(linalg::IndexOp::create(inner, i));
      Value element =
          widenScalar(inner, tensor::ExtractOp::create(inner, input, at));
      return arith::SelectOp::create(inner, index.first, element,
                                     zeroOf(inner, element.getType()));
    };
    rewriter.replaceOp(op, b.elementwise(type, op.getIndices(), map, body));
    return success();
  }
};

/// Lowers to a loop over the updates, each of which adds one slice. The work is
/// that of the updates, in the order of the definition.
struct LowerScatterAdd : OpRewritePattern<ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterAddOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    ImplicitLocOpBuilder &builder = b.getBuilder();
    auto type = op.getType();
    int64_t axis = op.getAxis(), extent = type.getDimSize(axis);
    int64_t before = product(type.getShape().take_front(axis));
    int64_t after = product(type.getShape().drop_front(axis + 1));
    int64_t count = typeOf(op.getIndices()).getNumElements();
    Type compute = getScalarComputeType(type.getElementType());

    Value updates = b.reshape(op.getUpdates(), {before, count, after});
    Value indices = b.reshape(op.getIndices(), {count});
    Value sums =
        b.filled(RankedTensorType::get({before, extent, after}, compute), 0.0);
    auto loop = scf::ForOp::create(
        builder, arith::ConstantIndexOp::create(builder, 0),
        arith::ConstantIndexOp::create(builder, count),
        arith::ConstantIndexOp::create(builder, 1), ValueRange(sums),
        [&](OpBuilder &nested, Location loc, Value n, ValueRange carried) {
          LinalgBuilder l(nested, loc);
          ImplicitLocOpBuilder &inner = l.getBuilder();
          Value index = tensor::ExtractOp::create(inner, indices, n);
          std::pair<Value, Value> at = checkIndex(inner, index, extent);
          auto part = [&](Value from, Value offset, Type element) -> Value {
            SmallVector<OpFoldResult> offsets{inner.getIndexAttr(0), offset,
                                              inner.getIndexAttr(0)};
            SmallVector<OpFoldResult> sizes{inner.getIndexAttr(before),
                                            inner.getIndexAttr(1),
                                            inner.getIndexAttr(after)};
            SmallVector<OpFoldResult> strides(3, inner.getIndexAttr(1));
            return tensor::ExtractSliceOp::create(
                inner, RankedTensorType::get({before, 1, after}, element), from,
                offsets, sizes, strides);
          };
          Value slice = part(carried[0], at.second, compute);
          Value update = part(updates, n, typeOf(updates).getElementType());
          AffineMap map = inner.getMultiDimIdentityMap(3);
          SmallVector<utils::IteratorType> iterators(
              3, utils::IteratorType::parallel);
          Value sum = l.accumulate(
              slice, update, {map, map}, iterators,
              [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
                Value added = arith::AddFOp::create(body, args[1], args[0]);
                return arith::SelectOp::create(body, at.first, added, args[1]);
              });
          SmallVector<OpFoldResult> offsets{inner.getIndexAttr(0), at.second,
                                            inner.getIndexAttr(0)};
          SmallVector<OpFoldResult> sizes{inner.getIndexAttr(before),
                                          inner.getIndexAttr(1),
                                          inner.getIndexAttr(after)};
          SmallVector<OpFoldResult> strides(3, inner.getIndexAttr(1));
          Value next = tensor::InsertSliceOp::create(inner, sum, carried[0],
                                                     offsets, sizes, strides);
          scf::YieldOp::create(inner, next);
        });
    Value result = b.castTo(loop.getResult(0), type.getElementType());
    rewriter.replaceOp(op, b.reshape(result, type.getShape()));
    return success();
  }
};

/// Computes the maximum, then the least index that has it.
struct LowerArgmax : OpRewritePattern<ArgmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ArgmaxOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    Value input = op.getInput();
    auto from = typeOf(input);
    int64_t axis = op.getAxis(), rank = from.getRank();
    Type compute = getScalarComputeType(from.getElementType());
    double infinity = std::numeric_limits<double>::infinity();
    Value max =
        b.reduce(input, axis, compute, -infinity,
                 [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                   return arith::MaximumFOp::create(inner, args[0], args[1]);
                 });
    Type f32 = rewriter.getF32Type();
    AffineMap whole = rewriter.getMultiDimIdentityMap(rank);
    AffineMap kept = whole.dropResult(axis);
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    iterators[axis] = utils::IteratorType::reduction;
    Value start = b.filled(typeOf(max).clone(f32), infinity);
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      Value equal = arith::CmpFOp::create(inner, arith::CmpFPredicate::OEQ,
                                          args[0], args[1]);
      Value unordered = arith::CmpFOp::create(inner, arith::CmpFPredicate::UNO,
                                              args[0], args[0]);
      Value index = arith::IndexCastOp::create(
          inner, inner.getI32Type(), linalg::IndexOp::create(inner, axis));
      Value number = arith::SIToFPOp::create(inner, f32, index);
      Value never =
          arith::ConstantOp::create(inner, inner.getFloatAttr(f32, infinity));
      Value here = arith::SelectOp::create(
          inner, arith::OrIOp::create(inner, equal, unordered), number, never);
      return arith::MinimumFOp::create(inner, here, args[2]);
    };
    Value first =
        b.accumulate(start, {input, max}, {whole, kept, kept}, iterators, body);
    Type integer = op.getType().getElementType();
    rewriter.replaceOp(
        op, b.elementwise(
                op.getType(), first,
                [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  return arith::FPToSIOp::create(inner, integer, args[0]);
                }));
    return success();
  }
};

/// Computes each element as a separate sum, so elements need no order.
struct LowerCumsum : OpRewritePattern<CumsumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CumsumOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType();
    int64_t axis = op.getAxis(), rank = type.getRank();
    Type compute = getScalarComputeType(type.getElementType());
    // The last loop runs over the terms.
    SmallVector<AffineExpr> read, written;
    for (int64_t i = 0; i < rank; ++i) {
      written.push_back(rewriter.getAffineDimExpr(i));
      read.push_back(rewriter.getAffineDimExpr(i == axis ? rank : i));
    }
    // This operand determines the extent of the last loop.
    SmallVector<AffineMap> maps{
        AffineMap::get(rank + 1, 0, read, getContext()),
        AffineMap::get(rank + 1, 0, written, getContext())};
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    iterators.push_back(utils::IteratorType::reduction);
    Value start = b.filled(type.clone(compute), 0.0);
    auto predicate =
        op.getReverse() ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
    Value sums = b.accumulate(
        start, op.getInput(), maps, iterators,
        [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
          Value counts = arith::CmpIOp::create(
              inner, predicate, linalg::IndexOp::create(inner, rank),
              linalg::IndexOp::create(inner, axis));
          Value term = arith::SelectOp::create(inner, counts, args[0],
                                               zeroOf(inner, compute));
          return arith::AddFOp::create(inner, args[1], term);
        });
    rewriter.replaceOp(op, b.castTo(sums, type.getElementType()));
    return success();
  }
};

} // namespace

void mlir::amp::populateTrainSequenceToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerGather, LowerScatterAdd, LowerArgmax, LowerCumsum>(
      patterns.getContext());
}

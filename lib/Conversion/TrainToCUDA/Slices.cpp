//===- Slices.cpp - Slices as loops over elements -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"
#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

/// Returns the static offsets, sizes and strides of a slice, or false if some
/// are dynamic.
static bool isStatic(OffsetSizeAndStrideOpInterface slice) {
  auto known = [](ArrayRef<int64_t> values) {
    return llvm::none_of(values, ShapedType::isDynamic);
  };
  return known(slice.getStaticOffsets()) && known(slice.getStaticSizes()) &&
         known(slice.getStaticStrides());
}

namespace {

struct ExtractToLoops : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isStatic(op))
      return failure();
    // Loops run over the result. Dropped dimensions have extent 1.
    llvm::SmallBitVector dropped = op.getDroppedDims();
    SmallVector<AffineExpr> exprs;
    unsigned loop = 0;
    for (auto [dim, offset] : llvm::enumerate(op.getStaticOffsets())) {
      AffineExpr expr = rewriter.getAffineConstantExpr(offset);
      if (!dropped[dim])
        expr = rewriter.getAffineDimExpr(loop++) * op.getStaticStrides()[dim] +
               offset;
      // The verifier of linalg would require the extent of the source for a
      // bare loop. `dropModulos` removes this later.
      int64_t extent = op.getSourceType().getDimSize(dim);
      if (isa<AffineDimExpr>(expr) && op.getStaticSizes()[dim] != extent)
        expr = expr % extent;
      exprs.push_back(expr);
    }
    mlir::amp::LinalgBuilder b(rewriter, op.getLoc());
    auto map = AffineMap::get(loop, 0, exprs, getContext());
    rewriter.replaceOp(op,
                       b.elementwise(op.getType(), op.getSource(), map,
                                     [](ImplicitLocOpBuilder &,
                                        ValueRange args) { return args[0]; }));
    return success();
  }
};

/// Reads the source for an element in the slice, else the destination.
struct InsertToLoops : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    if (!isStatic(op))
      return failure();
    mlir::amp::LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType();
    Value source = op.getSource(), destination = op.getDest();
    if (typeOf(source).getRank() != type.getRank())
      source = b.reshape(source, op.getStaticSizes());
    // Elements without a writer are never read. Zeros serve as well.
    if (destination.getDefiningOp<tensor::EmptyOp>())
      destination =
          b.filled(type, arith::ConstantOp::create(
                             rewriter, op.getLoc(),
                             rewriter.getZeroAttr(type.getElementType())));
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      Value inside;
      SmallVector<Value> indices;
      for (int64_t dim = 0; dim < type.getRank(); ++dim) {
        auto constant = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(inner, value);
        };
        int64_t stride = op.getStaticStrides()[dim],
                size = op.getStaticSizes()[dim];
        Value at =
            arith::SubIOp::create(inner, linalg::IndexOp::create(inner, dim),
                                  constant(op.getStaticOffsets()[dim]));
        Value zero = constant(0);
        SmallVector<Value> conditions;
        conditions.push_back(
            arith::CmpIOp::create(inner, arith::CmpIPredicate::sge, at, zero));
        if (stride != 1) {
          conditions.push_back(arith::CmpIOp::create(
              inner, arith::CmpIPredicate::eq,
              arith::RemSIOp::create(inner, at, constant(stride)), zero));
          at = arith::DivSIOp::create(inner, at, constant(stride));
        }
        conditions.push_back(arith::CmpIOp::create(
            inner, arith::CmpIPredicate::slt, at, constant(size)));
        for (Value condition : conditions)
          inside =
              inside
                  ? arith::AndIOp::create(inner, inside, condition).getResult()
                  : condition;
        // Keep the index in range in any case.
        at = arith::MaxSIOp::create(inner, at, zero);
        at = arith::MinSIOp::create(inner, at, constant(size - 1));
        indices.push_back(at);
      }
      Value element = tensor::ExtractOp::create(inner, source, indices);
      Type compute = args[0].getType();
      if (isa<FloatType>(compute) && compute != element.getType())
        element = arith::ExtFOp::create(inner, compute, element);
      return inside ? arith::SelectOp::create(inner, inside, element, args[0])
                          .getResult()
                    : element;
    };
    rewriter.replaceOp(op, b.elementwise(type, destination, body));
    return success();
  }
};

/// Selects the scalar at the written element, else the destination.
struct InsertScalarToLoops : OpRewritePattern<tensor::InsertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::InsertOp op,
                                PatternRewriter &rewriter) const override {
    mlir::amp::LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getDest().getType();
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      Value scalar = op.getScalar();
      if (scalar.getType() != args[0].getType())
        scalar = arith::ExtFOp::create(inner, args[0].getType(), scalar);
      Value here;
      for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
        Value equal =
            arith::CmpIOp::create(inner, arith::CmpIPredicate::eq,
                                  linalg::IndexOp::create(inner, dim), index);
        here = here ? arith::AndIOp::create(inner, here, equal).getResult()
                    : equal;
      }
      return here ? arith::SelectOp::create(inner, here, scalar, args[0])
                        .getResult()
                  : scalar;
    };
    rewriter.replaceOp(op, b.elementwise(type, op.getDest(), body));
    return success();
  }
};

} // namespace

void mlir::cuda::populateSlicesToLoops(RewritePatternSet &patterns) {
  patterns.add<ExtractToLoops, InsertScalarToLoops, InsertToLoops>(
      patterns.getContext());
}

//===- AMPToLinalg.cpp - The amp dialect as loops over tensors ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgBuilder.h"

#include "amp/Conversion/Passes.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CONVERTAMPTOLINALG
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

/// Casts, and copies of master weights.
template <typename OpTy>
struct LowerCast : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isa<RankedTensorType>(op->getOperand(0).getType()))
      return rewriter.notifyMatchFailure(op, "is of another dialect's type");
    LinalgBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, b.castTo(op->getOperand(0),
                                    getElementTypeOrSelf(op->getResult(0))));
    return success();
  }
};

struct LowerGradientSeed : OpRewritePattern<GradientSeedOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GradientSeedOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    auto one = rewriter.getFloatAttr(type.getElementType(), 1.0);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(type, one.getValue()));
    return success();
  }
};

struct LowerScale : OpRewritePattern<ScaleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScaleOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(
        op, b.elementwise(
                b.typeOf(op.getResult()), {op.getInput(), op.getScale()},
                [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  return arith::MulFOp::create(inner, args[0], args[1]);
                }));
    return success();
  }
};

/// Whether all elements of `value` are finite, a tensor<i1>. The maximum of the
/// magnitudes as integers, in which infinity and NaN are the largest, needs no
/// branch and vectorises.
static Value buildAllFinite(LinalgBuilder &b, Value value) {
  auto type = b.typeOf(value);
  Type compute = getScalarComputeType(type.getElementType());
  auto bits =
      IntegerType::get(type.getContext(), compute.getIntOrFloatBitWidth());
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  Value largest =
      b.reduce(value, all, bits, 0,
               [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                 Value magnitude = math::AbsFOp::create(inner, args[0]);
                 magnitude = arith::BitcastOp::create(inner, bits, magnitude);
                 return arith::MaxUIOp::create(inner, args[1], magnitude);
               });
  auto infinity = APFloat::getInf(cast<FloatType>(compute).getFloatSemantics());
  return b.elementwise(
      RankedTensorType::get({}, b.getBuilder().getI1Type()), largest,
      [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value limit = arith::ConstantOp::create(
            inner, inner.getIntegerAttr(bits, infinity.bitcastToAPInt()));
        return arith::CmpIOp::create(inner, arith::CmpIPredicate::ult, args[0],
                                     limit);
      });
}

struct LowerUnscale : OpRewritePattern<UnscaleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnscaleOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
      return rewriter.notifyMatchFailure(op, "is of another dialect's type");
    LinalgBuilder b(rewriter, op.getLoc());
    // The inverse, rounded once from f64 as GradScaler does.
    Value inverse = b.elementwise(
        b.typeOf(op.getScale()), op.getScale(),
        [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
          Type f64 = inner.getF64Type();
          Value one =
              arith::ConstantOp::create(inner, inner.getF64FloatAttr(1.0));
          return arith::DivFOp::create(
              inner, one, arith::ExtFOp::create(inner, f64, args[0]));
        });
    Value finite;
    SmallVector<Value> results;
    for (auto [gradient, unscaled] :
         llvm::zip_equal(op.getGradients(), op.getUnscaled())) {
      auto type = b.typeOf(unscaled);
      Value wide = b.castTo(
          inverse, getScalarComputeType(b.typeOf(gradient).getElementType()));
      results.push_back(b.elementwise(
          type, {gradient, wide},
          [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
            return arith::MulFOp::create(inner, args[0], args[1]);
          }));
      Value one = buildAllFinite(b, gradient);
      if (!finite) {
        finite = one;
        continue;
      }
      finite = b.elementwise(
          b.typeOf(finite), {finite, one},
          [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
            return arith::AndIOp::create(inner, args[0], args[1]);
          });
    }
    results.push_back(finite);
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct LowerUpdateScale : OpRewritePattern<UpdateScaleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UpdateScaleOp op,
                                PatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult
LowerUpdateScale::matchAndRewrite(UpdateScaleOp op,
                                  PatternRewriter &rewriter) const {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto read = [&](Value tensor) -> Value {
    return tensor::ExtractOp::create(b, tensor, ValueRange());
  };
  auto real = [&](const APFloat &value) -> Value {
    return arith::ConstantOp::create(b, b.getFloatAttr(b.getF32Type(), value));
  };
  auto integer = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(b, condition, yes, no);
  };
  Value scale = read(op.getScale()), finite = read(op.getAllFinite());
  Value growth = read(op.getGrowthTracker());
  Value hysteresis = read(op.getHysteresisTracker());

  // Overflow: back off once the hysteresis is used up.
  Value left = arith::SubIOp::create(b, hysteresis, integer(1));
  Value tolerated =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, left, integer(0));
  Value reduced = arith::MaximumFOp::create(
      b, arith::MulFOp::create(b, scale, real(op.getBackoffFactor())),
      real(op.getMinScale()));
  Value afterOverflow = select(tolerated, scale, reduced);

  // No overflow: grow at the end of the interval, if there is room.
  Value next = arith::AddIOp::create(b, growth, integer(1));
  Value due = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, next,
                                    integer(op.getGrowthInterval()));
  Value grown = arith::MulFOp::create(b, scale, real(op.getGrowthFactor()));
  Value room = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, grown,
                                     real(op.getMaxScale()));
  Value infinity = real(APFloat::getInf(APFloat::IEEEsingle()));
  room = arith::AndIOp::create(
      b, room,
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, grown, infinity));
  Value afterSuccess =
      select(arith::AndIOp::create(b, due, room), grown, scale);

  auto wrap = [&](Value scalar, Value like) -> Value {
    return tensor::FromElementsOp::create(b, like.getType(), scalar);
  };
  rewriter.replaceOp(
      op, {wrap(select(finite, afterSuccess, afterOverflow), op.getNewScale()),
           wrap(select(finite, select(due, integer(0), next), integer(0)),
                op.getNewGrowthTracker()),
           wrap(select(finite, integer(op.getHysteresis()), left),
                op.getNewHysteresisTracker())});
  return success();
}

void mlir::amp::populateAMPToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerCast<CastOp>, LowerCast<MasterCopyOp>, LowerGradientSeed,
               LowerScale, LowerUnscale, LowerUpdateScale>(
      patterns.getContext());
}

namespace {

struct ConvertAMPToLinalg
    : amp::impl::ConvertAMPToLinalgBase<ConvertAMPToLinalg> {
  void runOnOperation() override {
    Operation *root = getOperation();
    if (failed(verifyStaticShapes(root, "amp")))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateAMPToLinalg(patterns);
    walkAndApplyPatterns(root, std::move(patterns));
    WalkResult left = root->walk([](Operation *op) {
      if (!isa_and_nonnull<AMPDialect>(op->getDialect()))
        return WalkResult::advance();
      op->emitOpError("cannot be lowered to linalg");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      return signalPassFailure();
    // They speak of results, which buffers will take the place of. The roles
    // of arguments are needed still.
    root->walk([](Operation *op) {
      if (!isa<FunctionOpInterface>(op))
        removeAMPAttributes(op);
    });
  }
};

} // namespace

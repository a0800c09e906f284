//===- AMPToLinalg.cpp - The amp dialect as loops over tensors ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArithScalars.h"
#include "StatisticsToLinalg.h"

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"
#include "amp/Conversion/LinalgCommon/PhiloxBuilder.h"

#include "amp/Conversion/Passes.h"
#include "amp/Dialect/AMP/IR/AMPCallOps.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/LossScaling/ScaleUpdate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CONVERTAMPTOLINALG
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

struct LowerCast : TensorPattern<CastOp> {
  using TensorPattern::TensorPattern;
  void lower(CastOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, b.castTo(op.getInput(), getElementTypeOrSelf(op.getType())));
  }
};

/// Builds an f32 from `bits`, an i32 whose lower 16 bits are cleared.
Value buildUpperHalf(ImplicitLocOpBuilder &inner, Value bits) {
  Value upper = arith::AndIOp::create(
      inner, bits, PhiloxBuilder::constant32(inner, 0xFFFF0000));
  return arith::BitcastOp::create(inner, inner.getF32Type(), upper);
}

struct LowerMasterCopy : TensorPattern<MasterCopyOp> {
  using TensorPattern::TensorPattern;
  void lower(MasterCopyOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    auto type = typeOf(op.getCopy());
    if (!op.getRng()) {
      rewriter.replaceOp(op, b.castTo(op.getMaster(), type.getElementType()));
      return;
    }
    PhiloxBuilder random(b.getBuilder(), op.getRng(), op.getKey(),
                         op.getMaster());
    // bf16 is the upper half of f32. Add 16 random bits to the lower half and
    // cut it off. The value rounds up with the probability that the lower half
    // represents. The result is exact in bf16.
    rewriter.replaceOp(
        op, b.elementwise(
                type, op.getMaster(),
                [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  Type i32 = inner.getI32Type();
                  auto constant = PhiloxBuilder::constant32;
                  Value bits = arith::BitcastOp::create(inner, i32, args[0]);
                  Value word = arith::ShRUIOp::create(
                      inner, random.buildWord(inner), constant(inner, 16));
                  Value sum = arith::AddIOp::create(inner, bits, word);
                  Value rounded = buildUpperHalf(inner, sum);
                  Value isNaN = arith::CmpFOp::create(
                      inner, arith::CmpFPredicate::UNO, args[0], args[0]);
                  return arith::SelectOp::create(inner, isNaN, args[0],
                                                 rounded);
                }));
  }
};

struct LowerUpperHalf : TensorPattern<UpperHalfOp> {
  using TensorPattern::TensorPattern;
  void lower(UpperHalfOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op,
                       b.elementwise(typeOf(op.getHalf()), op.getWeight(),
                                     [](ImplicitLocOpBuilder &inner,
                                        ValueRange args) -> Value {
                                       Value bits = arith::BitcastOp::create(
                                           inner, inner.getI32Type(), args[0]);
                                       return buildUpperHalf(inner, bits);
                                     }));
  }
};

struct LowerResidual : TensorPattern<ResidualOp> {
  using TensorPattern::TensorPattern;
  void lower(ResidualOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, b.elementwise(
                typeOf(op.getResidual()), {op.getMaster(), op.getCopy()},
                [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  auto type = cast<FloatType>(args[1].getType());
                  auto number = [&](const APFloat &value) -> Value {
                    return arith::ConstantOp::create(
                        inner, inner.getFloatAttr(type, value));
                  };
                  Value lost = arith::SubFOp::create(inner, args[0], args[1]);
                  Value magnitude = math::AbsFOp::create(inner, args[1]);
                  Value isFinite = arith::CmpFOp::create(
                      inner, arith::CmpFPredicate::OLT, magnitude,
                      number(APFloat::getInf(type.getFloatSemantics())));
                  return arith::SelectOp::create(
                      inner, isFinite, lost,
                      number(APFloat::getZero(type.getFloatSemantics())));
                }));
  }
};

struct LowerCompensate : TensorPattern<CompensateOp> {
  using TensorPattern::TensorPattern;
  void lower(CompensateOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, b.combine<arith::AddFOp>(typeOf(op.getMaster()),
                                                    op.getCopy(),
                                                    op.getResidual()));
  }
};

/// The sum of the squares of all elements of `gradients`, in f64.
Value addSquares(LinalgBuilder &b, PatternRewriter &rewriter,
                 ValueRange gradients) {
  Type f64 = rewriter.getF64Type();
  Value total;
  for (Value gradient : gradients) {
    auto all =
        llvm::to_vector(llvm::seq<int64_t>(0, typeOf(gradient).getRank()));
    Value sum =
        b.reduce(gradient, all, f64, 0,
                 [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                   Value value = roundScalar(inner, args[0], f64);
                   Value square = arith::MulFOp::create(inner, value, value);
                   return arith::AddFOp::create(inner, args[1], square);
                 });
    total = !total ? sum : b.combine<arith::AddFOp>(typeOf(total), total, sum);
  }
  return total;
}

struct LowerGlobalNorm : TensorPattern<GlobalNormOp> {
  using TensorPattern::TensorPattern;
  void lower(GlobalNormOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    Value sum = b.castTo(addSquares(b, rewriter, op.getGradients()),
                         rewriter.getF32Type());
    rewriter.replaceOp(op, b.elementwise(typeOf(op.getNorm()), sum,
                                         [](ImplicitLocOpBuilder &inner,
                                            ValueRange args) -> Value {
                                           return math::SqrtOp::create(inner,
                                                                       args[0]);
                                         }));
  }
};

struct LowerSquareSum : TensorPattern<SquareSumOp> {
  using TensorPattern::TensorPattern;
  void lower(SquareSumOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, addSquares(b, rewriter, op.getGradients()));
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
    rewriter.replaceOp(op,
                       b.combine<arith::MulFOp>(typeOf(op.getResult()),
                                                op.getInput(), op.getScale()));
    return success();
  }
};

/// Whether all elements of `value` are finite, a tensor<i1>.
static Value buildAllFinite(LinalgBuilder &b, Value value) {
  Type compute = getScalarComputeType(typeOf(value).getElementType());
  Value largest = buildMaxMagnitudeBits(b, value);
  Type bits = typeOf(largest).getElementType();
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

/// 1 / `scale`, rounded once from f64 as GradScaler does.
static Value buildInverse(LinalgBuilder &b, Value scale) {
  return b.elementwise(
      typeOf(scale), scale,
      [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value one =
            arith::ConstantOp::create(inner, inner.getF64FloatAttr(1.0));
        return arith::DivFOp::create(
            inner, one,
            arith::ExtFOp::create(inner, inner.getF64Type(), args[0]));
      });
}

struct LowerInnerGradient : OpRewritePattern<InnerGradientOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(InnerGradientOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    Type type = typeOf(op.getResult()).getElementType();
    if (!op.getScale()) {
      rewriter.replaceOp(op, b.castTo(op.getGradient(), type));
      return success();
    }
    Value wide = b.castTo(
        buildInverse(b, op.getScale()),
        getScalarComputeType(typeOf(op.getGradient()).getElementType()));
    rewriter.replaceOp(op, b.combine<arith::MulFOp>(typeOf(op.getResult()),
                                                    op.getGradient(), wide));
    return success();
  }
};

struct LowerUnscale : TensorPattern<UnscaleOp> {
  using TensorPattern::TensorPattern;
  void lower(UnscaleOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    Value inverse = buildInverse(b, op.getScale());
    Value finite;
    auto require = [&](Value flag) {
      finite = !finite ? flag
                       : b.combine<arith::AndIOp>(typeOf(finite), finite, flag);
    };
    SmallVector<Value> results;
    for (auto [gradient, unscaled] :
         llvm::zip_equal(op.getGradients(), op.getUnscaled())) {
      auto type = typeOf(unscaled);
      Value wide = b.castTo(
          inverse, getScalarComputeType(typeOf(gradient).getElementType()));
      results.push_back(b.combine<arith::MulFOp>(type, gradient, wide));
      require(buildAllFinite(b, gradient));
      if (op.getStrict())
        require(buildAllFinite(b, results.back()));
    }
    results.push_back(finite);
    rewriter.replaceOp(op, results);
  }
};

/// Rounds once.
struct LowerDivideByRanks : OpRewritePattern<DivideByRanksOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivideByRanksOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getRanks() || !isa<RankedTensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "has no number of ranks");
    LinalgBuilder b(rewriter, op.getLoc());
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      auto type = cast<FloatType>(args[0].getType());
      Value ranks = arith::ConstantOp::create(
          inner, inner.getFloatAttr(type, static_cast<double>(*op.getRanks())));
      return arith::DivFOp::create(inner, args[0], ranks);
    };
    rewriter.replaceOp(
        op, b.elementwise(typeOf(op.getQuotient()), op.getValue(), body));
    return success();
  }
};

struct LowerUpdateScale : OpRewritePattern<UpdateScaleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UpdateScaleOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto read = [&](Value tensor) -> Value {
      return tensor::ExtractOp::create(b, tensor, ValueRange());
    };
    auto wrap = [&](Value scalar, Value like) -> Value {
      return tensor::FromElementsOp::create(b, like.getType(), scalar);
    };
    ArithScalars scalars(b);
    ScaleState old{read(op.getScale()), read(op.getGrowthTracker()),
                   read(op.getHysteresisTracker())};
    ScaleState updated = buildScaleUpdate(scalars, op.getScaler().getRules(),
                                          old, read(op.getAllFinite()));
    rewriter.replaceOp(
        op, {wrap(updated.scale, op.getNewScale()),
             wrap(updated.growthTracker, op.getNewGrowthTracker()),
             wrap(updated.hysteresisTracker, op.getNewHysteresisTracker())});
    return success();
  }
};

} // namespace

void mlir::amp::populateAMPToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerCast, LowerCompensate, LowerDivideByRanks, LowerGlobalNorm,
               LowerGradientSeed, LowerInnerGradient, LowerMasterCopy,
               LowerResidual, LowerScale, LowerSquareSum, LowerUnscale,
               LowerUpdateScale, LowerUpperHalf>(patterns.getContext());
  populateAMPLayersToLinalg(patterns);
  populateQuantizedOpsToLinalg(patterns);
  populateStatisticsToLinalg(patterns);
}

LogicalResult
mlir::amp::lowerAMPToLinalg(Operation *root, StringRef target,
                            function_ref<bool(Operation *)> keeps) {
  RewritePatternSet patterns(root->getContext());
  populateAMPToLinalg(patterns);
  walkAndApplyPatterns(root, std::move(patterns));
  WalkResult left = root->walk([&](Operation *op) {
    if (!isa_and_nonnull<AMPDialect>(op->getDialect()) || keeps(op))
      return WalkResult::advance();
    op->emitOpError("cannot be lowered to ") << target;
    return WalkResult::interrupt();
  });
  return failure(left.wasInterrupted());
}

namespace {

struct ConvertAMPToLinalg
    : mlir::amp::impl::ConvertAMPToLinalgBase<ConvertAMPToLinalg> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertAMPToLinalgBase::getDependentDialects(registry);
    registry.insert<vector::VectorDialect>();
  }

  void runOnOperation() override {
    Operation *root = getOperation();
    if (failed(verifyStaticShapes(root, "amp")))
      return signalPassFailure();
    RewritePatternSet statistics(&getContext());
    populateStatisticsToVectors(statistics);
    walkAndApplyPatterns(root, std::move(statistics));
    // Calls and collectives stay on tensors until bufferization.
    auto isCall = llvm::IsaPred<AllReduceOp, ReduceScatterOp, AllGatherOp,
                                CallOp, RankPartOp>;
    if (failed(lowerAMPToLinalg(root, "linalg", isCall)))
      return signalPassFailure();
    // These attributes describe results, which buffers will replace. The roles
    // of arguments are still needed.
    root->walk([](Operation *op) {
      if (!isa<FunctionOpInterface>(op))
        removeAMPAttributes(op);
    });
  }
};

} // namespace

//===- LayerScalesToLinalg.cpp - Loss scales of layers as loops
//-------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArithScalars.h"

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/LossScaling/ScaleUpdate.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::amp;

/// An integer maximum of the magnitudes needs no branch and vectorises.
Value mlir::amp::buildMaxMagnitudeBits(LinalgBuilder &b, Value value) {
  auto type = typeOf(value);
  Type compute = getScalarComputeType(type.getElementType());
  auto bits =
      IntegerType::get(type.getContext(), compute.getIntOrFloatBitWidth());
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return b.reduce(value, all, bits, 0,
                  [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                    Value magnitude = math::AbsFOp::create(inner, args[0]);
                    magnitude =
                        arith::BitcastOp::create(inner, bits, magnitude);
                    return arith::MaxUIOp::create(inner, args[1], magnitude);
                  });
}

namespace {

struct LowerRescale : TensorPattern<RescaleOp> {
  using TensorPattern::TensorPattern;
  void lower(RescaleOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    auto type = typeOf(op.getGradient());
    Value factor =
        b.combine<arith::DivFOp>(typeOf(op.getTo()), op.getTo(), op.getFrom());
    Value wide = b.castTo(factor, getScalarComputeType(type.getElementType()));
    rewriter.replaceOp(op,
                       b.combine<arith::MulFOp>(type, op.getGradient(), wide));
  }
};

struct LowerMaxMagnitude : TensorPattern<MaxMagnitudeOp> {
  using TensorPattern::TensorPattern;
  void lower(MaxMagnitudeOp op, LinalgBuilder &b,
             PatternRewriter &rewriter) const override {
    auto type = typeOf(op.getLargest());
    Value largest;
    for (Value gradient : op.getGradients()) {
      Type compute = getScalarComputeType(typeOf(gradient).getElementType());
      auto source = typeOf(gradient);
      auto all = llvm::to_vector(llvm::seq<int64_t>(0, source.getRank()));
      // Every target supports this maximum as a reduction. It keeps NaN.
      Value magnitude =
          b.reduce(gradient, all, compute, 0,
                   [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                     Value absolute = math::AbsFOp::create(inner, args[0]);
                     return arith::MaximumFOp::create(inner, args[1], absolute);
                   });
      Value one = b.castTo(magnitude, type.getElementType());
      // NaN is the largest.
      largest =
          !largest ? one : b.combine<arith::MaximumFOp>(type, largest, one);
    }
    rewriter.replaceOp(op, largest);
  }
};

struct LowerAdaptScale : OpRewritePattern<AdaptScaleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AdaptScaleOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    LayerScalerRules rules = op.getScaler().getRules();
    auto build = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      ArithScalars scalars(inner);
      return buildScaleAdaptation(scalars, rules, args[0], args[1], args[2]);
    };
    rewriter.replaceOp(
        op, b.elementwise(typeOf(op.getNewScale()),
                          {op.getScale(), op.getMagnitude(), op.getAllFinite()},
                          build));
    return success();
  }
};

} // namespace

void mlir::amp::populateAMPLayersToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerAdaptScale, LowerMaxMagnitude, LowerRescale>(
      patterns.getContext());
}

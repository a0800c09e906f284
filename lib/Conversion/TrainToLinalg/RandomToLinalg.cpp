//===- RandomToLinalg.cpp - Dropout and its state ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"
#include "amp/Conversion/LinalgCommon/PhiloxBuilder.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

namespace {

struct LowerDropout : OpRewritePattern<DropoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DropoutOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType();
    double rate = op.getRate().convertToDouble();
    auto threshold = static_cast<uint32_t>(std::floor(rate * 0x1p32));

    // The state does not depend on the element. Read it once, before the loop.
    PhiloxBuilder random(b.getBuilder(), op.getRng(), op.getKey(),
                         op.getInput());
    if (auto division =
            op->getAttrOfType<DenseI64ArrayAttr>(kDividedAlongAttr)) {
      if (division.size() != 3)
        return rewriter.notifyMatchFailure(op, "has no number of ranks");
      random.setPart(division[0], division[1], division[2]);
    }

    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      Value word = random.buildWord(inner);
      Value keep =
          arith::CmpIOp::create(inner, arith::CmpIPredicate::uge, word,
                                PhiloxBuilder::constant32(inner, threshold));
      Type compute = args[0].getType();
      auto number = [&](double value) -> Value {
        return arith::ConstantOp::create(inner,
                                         inner.getFloatAttr(compute, value));
      };
      Value scaled =
          arith::MulFOp::create(inner, args[0], number(1.0 / (1.0 - rate)));
      return arith::SelectOp::create(inner, keep, scaled, number(0.0));
    };
    rewriter.replaceOp(op, b.elementwise(type, op.getInput(), body));
    return success();
  }
};

struct LowerAdvanceRng : OpRewritePattern<AdvanceRngOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AdvanceRngOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto body = [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
      Value index = arith::IndexCastOp::create(
          inner, inner.getI64Type(), linalg::IndexOp::create(inner, 0));
      return arith::AddIOp::create(inner, args[0], index);
    };
    rewriter.replaceOp(op, b.elementwise(op.getType(), op.getRng(), body));
    return success();
  }
};

} // namespace

void mlir::amp::populateTrainRandomToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerDropout, LowerAdvanceRng>(patterns.getContext());
}

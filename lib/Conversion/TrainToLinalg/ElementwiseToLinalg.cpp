//===- ElementwiseToLinalg.cpp - Elementwise operations as loops===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

static Value number(ImplicitLocOpBuilder &b, double value, Value like) {
  return arith::ConstantOp::create(b, b.getFloatAttr(like.getType(), value));
}

static Value compare(ImplicitLocOpBuilder &b, arith::CmpFPredicate predicate,
                     Value lhs, Value rhs) {
  return arith::CmpFOp::create(b, predicate, lhs, rhs);
}

static Value select(ImplicitLocOpBuilder &b, Value condition, Value onTrue,
                    Value onFalse) {
  return arith::SelectOp::create(b, condition, onTrue, onFalse);
}

// One overload per operation computes the value from widened scalars. The first
// parameter only selects the overload.

template <typename ScalarOp>
static Value apply(ImplicitLocOpBuilder &b, ValueRange x) {
  return ScalarOp::create(b, x[0].getType(), x);
}

#define AMP_SCALAR_OP(OP, SCALAR_OP)                                           \
  static Value compute(OP, ImplicitLocOpBuilder &b, ValueRange x) {            \
    return apply<SCALAR_OP>(b, x);                                             \
  }

AMP_SCALAR_OP(NegOp, arith::NegFOp)
AMP_SCALAR_OP(AbsOp, math::AbsFOp)
AMP_SCALAR_OP(SinOp, math::SinOp)
AMP_SCALAR_OP(CosOp, math::CosOp)
AMP_SCALAR_OP(ErfOp, math::ErfOp)
AMP_SCALAR_OP(SqrtOp, math::SqrtOp)
AMP_SCALAR_OP(LogOp, math::LogOp)
AMP_SCALAR_OP(Log1pOp, math::Log1pOp)
AMP_SCALAR_OP(TanhOp, math::TanhOp)
AMP_SCALAR_OP(ExpOp, math::ExpOp)
AMP_SCALAR_OP(Expm1Op, math::ExpM1Op)
AMP_SCALAR_OP(RsqrtOp, math::RsqrtOp)
AMP_SCALAR_OP(AddOp, arith::AddFOp)
AMP_SCALAR_OP(SubOp, arith::SubFOp)
AMP_SCALAR_OP(MulOp, arith::MulFOp)
AMP_SCALAR_OP(DivOp, arith::DivFOp)
AMP_SCALAR_OP(MaximumOp, arith::MaximumFOp)
AMP_SCALAR_OP(MinimumOp, arith::MinimumFOp)
AMP_SCALAR_OP(PowOp, math::PowFOp)

#undef AMP_SCALAR_OP

static Value compute(SignOp, ImplicitLocOpBuilder &b, ValueRange x) {
  Value zero = number(b, 0.0, x[0]);
  Value positive = compare(b, arith::CmpFPredicate::OGT, x[0], zero);
  Value negative = compare(b, arith::CmpFPredicate::OLT, x[0], zero);
  Value isZero = compare(b, arith::CmpFPredicate::OEQ, x[0], zero);
  Value rest = select(b, isZero, zero, x[0]); // Leaves NaN.
  rest = select(b, negative, number(b, -1.0, x[0]), rest);
  return select(b, positive, number(b, 1.0, x[0]), rest);
}

// "Greater or unordered" lets NaN through.
static Value compute(ReluOp, ImplicitLocOpBuilder &b, ValueRange x) {
  Value zero = number(b, 0.0, x[0]);
  return select(b, compare(b, arith::CmpFPredicate::UGT, x[0], zero), x[0],
                zero);
}

static Value compute(ReciprocalOp, ImplicitLocOpBuilder &b, ValueRange x) {
  return arith::DivFOp::create(b, number(b, 1.0, x[0]), x[0]);
}

static Value compute(SquareOp, ImplicitLocOpBuilder &b, ValueRange x) {
  return arith::MulFOp::create(b, x[0], x[0]);
}

static Value compute(train::SelectOp, ImplicitLocOpBuilder &b, ValueRange x) {
  return select(b, x[0], x[1], x[2]);
}

static Value compute(CompareOp op, ImplicitLocOpBuilder &b, ValueRange x) {
  using Float = arith::CmpFPredicate;
  using Integer = arith::CmpIPredicate;
  static constexpr Float floats[] = {Float::OEQ, Float::UNE, Float::OLT,
                                     Float::OLE, Float::OGT, Float::OGE};
  static constexpr Integer integers[] = {Integer::eq,  Integer::ne,
                                         Integer::slt, Integer::sle,
                                         Integer::sgt, Integer::sge};
  auto index = static_cast<unsigned>(op.getPredicate());
  if (isa<FloatType>(x[0].getType()))
    return compare(b, floats[index], x[0], x[1]);
  // False is less than true because an i1 has no sign.
  Type wide = b.getI32Type();
  Value lhs = x[0], rhs = x[1];
  if (lhs.getType().isInteger(1)) {
    lhs = arith::ExtUIOp::create(b, wide, lhs);
    rhs = arith::ExtUIOp::create(b, wide, rhs);
  }
  return arith::CmpIOp::create(b, integers[index], lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Lowers any operation with a body above whose operands broadcast to its
/// result.
template <typename OpTy>
struct LowerElementwise : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = cast<RankedTensorType>(op.getType());
    rewriter.replaceOp(
        op, b.elementwise(type, op->getOperands(),
                          [&](ImplicitLocOpBuilder &inner, ValueRange args) {
                            return compute(op, inner, args);
                          }));
    return success();
  }
};

struct LowerOneHot : OpRewritePattern<OneHotOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(OneHotOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType();
    int64_t rank = type.getRank();
    AffineMap map = AffineMap::getMultiDimIdentityMap(rank, getContext())
                        .dropResult(rank - 1);
    rewriter.replaceOp(
        op, b.elementwise(
                type, op.getIndices(), map,
                [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
                  Value column = arith::IndexCastOp::create(
                      inner, args[0].getType(),
                      linalg::IndexOp::create(inner, rank - 1));
                  Value hot = arith::CmpIOp::create(
                      inner, arith::CmpIPredicate::eq, args[0], column);
                  Type compute = getScalarComputeType(type.getElementType());
                  auto constant = [&](double value) -> Value {
                    return arith::ConstantOp::create(
                        inner, inner.getFloatAttr(compute, value));
                  };
                  return select(inner, hot, constant(1.0), constant(0.0));
                }));
    return success();
  }
};

struct LowerConstant : OpRewritePattern<ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConstantOp op,
                                PatternRewriter &rewriter) const override {
    auto type = op.getType();
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    // Large splats are filled, not stored.
    if (!splat || type.getRank() == 0) {
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(
          op, type, cast<TypedAttr>(op.getValue()));
      return success();
    }
    LinalgBuilder b(rewriter, op.getLoc());
    Value scalar = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    rewriter.replaceOp(op, b.filled(type, scalar));
    return success();
  }
};

} // namespace

void mlir::amp::populateTrainElementwiseToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerElementwise<NegOp>, LowerElementwise<AbsOp>,
               LowerElementwise<SignOp>, LowerElementwise<SinOp>,
               LowerElementwise<CosOp>, LowerElementwise<ErfOp>,
               LowerElementwise<SqrtOp>, LowerElementwise<LogOp>,
               LowerElementwise<Log1pOp>, LowerElementwise<TanhOp>,
               LowerElementwise<ReluOp>, LowerElementwise<ExpOp>,
               LowerElementwise<Expm1Op>, LowerElementwise<RsqrtOp>,
               LowerElementwise<ReciprocalOp>, LowerElementwise<SquareOp>,
               LowerElementwise<AddOp>, LowerElementwise<SubOp>,
               LowerElementwise<MulOp>, LowerElementwise<DivOp>,
               LowerElementwise<MaximumOp>, LowerElementwise<MinimumOp>,
               LowerElementwise<PowOp>, LowerElementwise<CompareOp>,
               LowerElementwise<train::SelectOp>, LowerOneHot, LowerConstant>(
      patterns.getContext());
}

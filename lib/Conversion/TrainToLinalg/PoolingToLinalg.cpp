//===- PoolingToLinalg.cpp - Pooling as loops ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

namespace {

/// The loop nest of a pooling operation: n, h, w, kh, kw, c.
class Pooling {
public:
  template <typename PoolOp>
  Pooling(LinalgBuilder &b, PoolOp op)
      : b(b), window(op.getWindow()), strides(op.getStrides()),
        padding(op.getPadding()) {}

  /// Surrounds the pooled input with `value`.
  Value padInput(Value input, double value) {
    return b.pad(input, {0, padding[0], padding[2], 0},
                 {0, padding[1], padding[3], 0}, {0, 0, 0, 0}, value);
  }

  /// Spreads a tensor of the shape of the result. For each element of the
  /// input, the gather below then finds all windows that cover it. `input` is
  /// the shape of the unpadded input.
  Value spreadOutput(Value output, ArrayRef<int64_t> input, double value) {
    SmallVector<int64_t> low(4, 0), high(4, 0), interior(4, 0);
    for (int i = 0; i < 2; ++i) {
      int64_t reach = window[i] - 1;
      int64_t extent = typeOf(output).getDimSize(i + 1);
      int64_t spread = (extent - 1) * strides[i] + 1;
      interior[i + 1] = strides[i] - 1;
      low[i + 1] = reach - padding[2 * i];
      high[i + 1] = input[i + 1] + reach - low[i + 1] - spread;
    }
    return b.pad(output, low, high, interior, value);
  }

  /// Accumulates over the window. `windowed` are read at the position in the
  /// window, `plain` at the position of the result.
  Value accumulate(Value init, ValueRange windowed, ValueRange plain,
                   ArrayRef<int64_t> steps, ScalarBody body) {
    auto &builder = b.getBuilder();
    auto dim = [&](unsigned index) { return builder.getAffineDimExpr(index); };
    auto map = [&](ArrayRef<AffineExpr> exprs) {
      return AffineMap::get(6, 0, exprs, builder.getContext());
    };
    SmallVector<Value> inputs(windowed);
    llvm::append_range(inputs, plain);
    // The shape of this operand determines the extents of the window loops.
    inputs.push_back(b.empty(window, builder.getI1Type()));
    SmallVector<AffineMap> maps(windowed.size(),
                                map({dim(0), dim(1) * steps[0] + dim(3),
                                     dim(2) * steps[1] + dim(4), dim(5)}));
    AffineMap plainMap = map({dim(0), dim(1), dim(2), dim(5)});
    maps.append(plain.size(), plainMap);
    maps.push_back(map({dim(3), dim(4)}));
    maps.push_back(plainMap);
    return b.accumulate(
        init, inputs, maps,
        {parallel, parallel, parallel, reduction, reduction, parallel}, body);
  }

  /// The row-major index of the position in the window.
  Value position(ImplicitLocOpBuilder &inner) {
    Value row = linalg::IndexOp::create(inner, 3);
    Value column = linalg::IndexOp::create(inner, 4);
    Value width = arith::ConstantIndexOp::create(inner, window[1]);
    Value index = arith::AddIOp::create(
        inner, arith::MulIOp::create(inner, row, width), column);
    return arith::IndexCastOp::create(inner, inner.getI32Type(), index);
  }

  /// Whether the position in the window is inside the input. Null if all do.
  Value isInside(ImplicitLocOpBuilder &inner, ArrayRef<int64_t> input) {
    Value result;
    for (int i = 0; i < 2; ++i) {
      if (padding[2 * i] == 0 && padding[2 * i + 1] == 0)
        continue;
      auto constant = [&](int64_t value) -> Value {
        return arith::ConstantIndexOp::create(inner, value);
      };
      Value at = arith::MulIOp::create(
          inner, linalg::IndexOp::create(inner, i + 1), constant(strides[i]));
      at = arith::AddIOp::create(inner, at,
                                 linalg::IndexOp::create(inner, i + 3));
      at = arith::SubIOp::create(inner, at, constant(padding[2 * i]));
      // Negative numbers are large as unsigned ones.
      Value inside = arith::CmpIOp::create(inner, arith::CmpIPredicate::ult, at,
                                           constant(input[i + 1]));
      result = result ? arith::AndIOp::create(inner, result, inside).getResult()
                      : inside;
    }
    return result;
  }

  int64_t windowSize() const { return window[0] * window[1]; }
  ArrayRef<int64_t> getStrides() const { return strides; }

private:
  LinalgBuilder &b;
  SmallVector<int64_t> window, strides, padding;
};

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

struct LowerMaxPool : OpRewritePattern<MaxPool2DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaxPool2DOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    Pooling pooling(b, op);
    double least = -std::numeric_limits<double>::infinity();
    // A maximum is one of its operands, so their type holds it.
    auto type = op.getType();
    Value result = pooling.accumulate(
        b.filled(type, least), pooling.padInput(op.getInput(), least), {},
        pooling.getStrides(),
        [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
          Value max = arith::MaximumFOp::create(
              inner, args[0], widenScalar(inner, args.back()));
          return roundScalar(inner, max, type.getElementType());
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// For each element, gathers the gradients of the windows whose first maximum
/// it is.
struct LowerMaxPoolGrad : OpRewritePattern<MaxPool2DGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MaxPool2DGradOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    Pooling pooling(b, op);
    auto type = op.getType();
    Type i32 = rewriter.getI32Type();

    // The position of the first maximum of each window. A NaN counts as the
    // maximum and equals it.
    Value none = b.constant(pooling.windowSize(), i32);
    Value first = pooling.accumulate(
        b.filled(typeOf(op.getOutput()).clone(i32), none),
        pooling.padInput(op.getInput(),
                         -std::numeric_limits<double>::infinity()),
        op.getOutput(), pooling.getStrides(),
        [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
          Value equal = arith::CmpFOp::create(inner, arith::CmpFPredicate::OEQ,
                                              args[0], args[1]);
          Value isNaN = arith::CmpFOp::create(inner, arith::CmpFPredicate::UNO,
                                              args[0], args[0]);
          Value found = arith::OrIOp::create(inner, equal, isNaN);
          if (Value inside = pooling.isInside(inner, type.getShape()))
            found = arith::AndIOp::create(inner, found, inside);
          Value here = arith::SelectOp::create(inner, found,
                                               pooling.position(inner), none);
          return arith::MinSIOp::create(inner, here, args.back());
        });

    // From an element, the position in a window is mirrored.
    Value spreadFirst = pooling.spreadOutput(first, type.getShape(), -1);
    Value spreadGrad = pooling.spreadOutput(op.getGrad(), type.getShape(), 0);
    Type compute = getScalarComputeType(type.getElementType());
    Value result = pooling.accumulate(
        b.filled(type.clone(compute), 0.0), {spreadFirst, spreadGrad}, {},
        {1, 1}, [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
          Value last = arith::ConstantOp::create(
              inner, inner.getI32IntegerAttr(pooling.windowSize() - 1));
          Value position =
              arith::SubIOp::create(inner, last, pooling.position(inner));
          Value chosen = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq,
                                               args[0], position);
          Value zero = arith::ConstantOp::create(
              inner, inner.getFloatAttr(compute, 0.0));
          Value grad = arith::SelectOp::create(inner, chosen, args[1], zero);
          return arith::AddFOp::create(inner, args.back(), grad);
        });
    rewriter.replaceOp(op, b.castTo(result, type.getElementType()));
    return success();
  }
};

/// Divides by the size of the window and rounds.
static Value divideByWindow(LinalgBuilder &b, Value value, int64_t size,
                            Type element) {
  return b.elementwise(
      typeOf(value).clone(element), value,
      [&](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        Value divisor = arith::ConstantOp::create(
            inner, inner.getFloatAttr(args[0].getType(), size));
        return arith::DivFOp::create(inner, args[0], divisor);
      });
}

static Value addToSum(ImplicitLocOpBuilder &inner, ValueRange args) {
  return arith::AddFOp::create(inner, args.back(), args[0]);
}

/// Replaces `op` by the means of the windows of `input` at `strides`.
template <typename OpTy>
static void replaceByMeans(OpTy op, PatternRewriter &rewriter, LinalgBuilder &b,
                           Pooling &pooling, Value input,
                           ArrayRef<int64_t> strides) {
  auto type = op.getType();
  Type compute = getScalarComputeType(type.getElementType());
  Value sum = pooling.accumulate(b.filled(type.clone(compute), 0.0), input, {},
                                 strides, addToSum);
  rewriter.replaceOp(
      op, divideByWindow(b, sum, pooling.windowSize(), type.getElementType()));
}

struct LowerAvgPool : OpRewritePattern<AvgPool2DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AvgPool2DOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    Pooling pooling(b, op);
    replaceByMeans(op, rewriter, b, pooling,
                   pooling.padInput(op.getInput(), 0.0), pooling.getStrides());
    return success();
  }
};

struct LowerAvgPoolGrad : OpRewritePattern<AvgPool2DGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AvgPool2DGradOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    Pooling pooling(b, op);
    Value spread =
        pooling.spreadOutput(op.getGrad(), op.getType().getShape(), 0.0);
    replaceByMeans(op, rewriter, b, pooling, spread, {1, 1});
    return success();
  }
};

} // namespace

void mlir::amp::populateTrainPoolingToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerMaxPool, LowerMaxPoolGrad, LowerAvgPool, LowerAvgPoolGrad>(
      patterns.getContext());
}

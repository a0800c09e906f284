//===- ProductToLinalg.cpp - Products and convolutions as loops===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/Contractions.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Matmul
//===----------------------------------------------------------------------===//

namespace {

struct LowerMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType();
    Value result =
        multiplyMatrices(b, type.getShape(), op.getLhs(), op.getRhs(),
                         op.getTransposeA(), op.getTransposeB());
    rewriter.replaceOp(op, b.castTo(result, type.getElementType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// A convolution on a padded input, by groups.
class Convolution {
public:
  template <typename ConvOp>
  Convolution(LinalgBuilder &b, ConvOp op)
      : b(b), strides(op.getStrides()), dilations(op.getDilations()),
        groups(op.getGroups()) {}

  void setStrides(ArrayRef<int64_t> values) {
    strides.assign(values.begin(), values.end());
  }

  /// Splits dimension `dim`, channels or filters, into [groups, rest].
  Value split(Value value, int64_t dim) {
    if (groups == 1)
      return value;
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape[dim] /= groups;
    shape.insert(shape.begin() + dim, groups);
    return b.reshape(value, shape);
  }

  /// Σ over window and channels of input · filter, in the compute type. The
  /// input is padded [N, H, W, C], the filter [KH, KW, C / groups, F].
  Value forward(Value input, Value filter, ArrayRef<int64_t> shape);

  /// Σ over samples and positions of input · grad, the gradient of the filter.
  Value filterGrad(Value input, Value grad, ArrayRef<int64_t> shape);

private:
  AffineExpr dim(unsigned index) {
    return b.getBuilder().getAffineDimExpr(index);
  }
  AffineMap map(unsigned loops, ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(loops, 0, exprs, b.getBuilder().getContext());
  }

  LinalgBuilder &b;
  SmallVector<int64_t> strides, dilations;
  int64_t groups;
};

Value Convolution::forward(Value input, Value filter, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> split4(shape);
  bool grouped = groups != 1;
  if (grouped) {
    split4.back() /= groups;
    split4.insert(split4.end() - 1, groups);
  }
  // Loops: n, h, w, (g,) kh, kw, c, f.
  unsigned g = 3, kh = grouped ? 4 : 3, kw = kh + 1, c = kh + 2, f = kh + 3;
  unsigned loops = f + 1;
  AffineExpr y = dim(1) * strides[0] + dim(kh) * dilations[0];
  AffineExpr x = dim(2) * strides[1] + dim(kw) * dilations[1];
  SmallVector<AffineExpr> in{dim(0), y, x}, weight{dim(kh), dim(kw), dim(c)},
      out{dim(0), dim(1), dim(2)};
  if (grouped) {
    in.push_back(dim(g));
    weight.push_back(dim(g));
    out.push_back(dim(g));
  }
  in.push_back(dim(c));
  weight.push_back(dim(f));
  out.push_back(dim(f));
  SmallVector<utils::IteratorType> iterators(loops, parallel);
  iterators[kh] = iterators[kw] = iterators[c] = reduction;
  Value result = contract(b, split4, split(input, 3), split(filter, 3),
                          {map(loops, in), map(loops, weight), map(loops, out)},
                          iterators);
  return b.reshape(result, shape);
}

Value Convolution::filterGrad(Value input, Value grad,
                              ArrayRef<int64_t> shape) {
  SmallVector<int64_t> split4(shape);
  bool grouped = groups != 1;
  if (grouped) {
    split4.back() /= groups;
    split4.insert(split4.end() - 1, groups);
  }
  // Loops: kh, kw, n, h, w, c, (g,) f.
  unsigned n = 2, h = 3, w = 4, c = 5, g = 6, f = grouped ? 7 : 6;
  unsigned loops = f + 1;
  AffineExpr y = dim(h) * strides[0] + dim(0) * dilations[0];
  AffineExpr x = dim(w) * strides[1] + dim(1) * dilations[1];
  SmallVector<AffineExpr> in{dim(n), y, x}, dy{dim(n), dim(h), dim(w)},
      out{dim(0), dim(1), dim(c)};
  if (grouped) {
    in.push_back(dim(g));
    dy.push_back(dim(g));
    out.push_back(dim(g));
  }
  in.push_back(dim(c));
  dy.push_back(dim(f));
  out.push_back(dim(f));
  SmallVector<utils::IteratorType> iterators(loops, parallel);
  iterators[n] = iterators[h] = iterators[w] = reduction;
  Value result =
      contract(b, split4, split(input, 3), split(grad, 3),
               {map(loops, in), map(loops, dy), map(loops, out)}, iterators);
  return b.reshape(result, shape);
}

/// Surrounds an [N, H, W, C] tensor with zeros: [top, bottom, left, right].
static Value padSpatial(LinalgBuilder &b, Value value,
                        ArrayRef<int64_t> padding) {
  return b.pad(value, {0, padding[0], padding[2], 0},
               {0, padding[1], padding[3], 0}, {0, 0, 0, 0}, 0.0);
}

struct LowerConv2D : OpRewritePattern<Conv2DOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Conv2DOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    Value input = padSpatial(b, op.getInput(), op.getPadding());
    Value result = Convolution(b, op).forward(input, op.getFilter(),
                                              op.getType().getShape());
    rewriter.replaceOp(op, b.castTo(result, op.getType().getElementType()));
    return success();
  }
};

struct LowerConv2DFilterGrad : OpRewritePattern<Conv2DFilterGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Conv2DFilterGradOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    Value input = padSpatial(b, op.getInput(), op.getPadding());
    Value result = Convolution(b, op).filterGrad(input, op.getGrad(),
                                                 op.getType().getShape());
    rewriter.replaceOp(op, b.castTo(result, op.getType().getElementType()));
    return success();
  }
};

/// The gradient of the input is a convolution of stride 1. Its input is the
/// gradient of the output with zeros between rows and columns. Its filter is
/// rotated by 180 degrees with exchanged channels.
struct LowerConv2DInputGrad : OpRewritePattern<Conv2DInputGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(Conv2DInputGradOp op,
                                PatternRewriter &rewriter) const override {
    LinalgBuilder b(rewriter, op.getLoc());
    auto type = op.getType(), grad = typeOf(op.getGrad());
    auto filter = typeOf(op.getFilter());
    SmallVector<int64_t> low(4, 0), high(4, 0), interior(4, 0);
    for (int i = 0; i < 2; ++i) {
      int64_t reach = (filter.getDimSize(i) - 1) * op.getDilations()[i];
      int64_t spread = (grad.getDimSize(i + 1) - 1) * op.getStrides()[i] + 1;
      interior[i + 1] = op.getStrides()[i] - 1;
      low[i + 1] = reach - op.getPadding()[2 * i];
      high[i + 1] = type.getDimSize(i + 1) + reach - low[i + 1] - spread;
    }
    Value spread = b.pad(op.getGrad(), low, high, interior, 0.0);

    // Permute [KH, KW, C / G, G * F / G] to [KH, KW, F / G, G * C / G] and
    // rotate.
    int64_t groups = op.getGroups();
    int64_t kh = filter.getDimSize(0), kw = filter.getDimSize(1);
    int64_t channels = filter.getDimSize(2),
            filters = filter.getDimSize(3) / groups;
    Value weight =
        b.reshape(op.getFilter(), {kh, kw, channels, groups, filters});
    auto turned = RankedTensorType::get({kh, kw, filters, groups, channels},
                                        filter.getElementType());
    auto dim = [&](unsigned i) { return rewriter.getAffineDimExpr(i); };
    auto map = AffineMap::get(
        5, 0, {kh - 1 - dim(0), kw - 1 - dim(1), dim(4), dim(3), dim(2)},
        getContext());
    weight = b.elementwise(
        turned, weight, map,
        [](ImplicitLocOpBuilder &, ValueRange args) { return args[0]; });
    weight = b.reshape(weight, {kh, kw, filters, groups * channels});

    Convolution convolution(b, op);
    convolution.setStrides({1, 1});
    Value result = convolution.forward(spread, weight, type.getShape());
    rewriter.replaceOp(op, b.castTo(result, type.getElementType()));
    return success();
  }
};

} // namespace

void mlir::amp::populateTrainProductToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerMatmul, LowerConv2D, LowerConv2DInputGrad,
               LowerConv2DFilterGrad>(patterns.getContext());
}

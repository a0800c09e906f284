//===- Products.cpp - Products as library calls ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::cuda;

/// Collapses all dimensions of `value` but the last into one.
static Value flattenRows(PatternRewriter &rewriter, Value value) {
  auto type = typeOf(value);
  int64_t columns = type.getShape().back();
  return reshape(rewriter, value, {type.getNumElements() / columns, columns});
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

struct ConvertLinear : OpRewritePattern<train::LinearOp> {
  ConvertLinear(MLIRContext *context, bool tf32)
      : OpRewritePattern(context), tf32(tf32) {}

  LogicalResult matchAndRewrite(train::LinearOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = getNamedLocation(op);
    Value input = flattenRows(rewriter, op.getInput());
    SmallVector<Value> inputs{input, op.getWeight()};
    if (op.getBias())
      inputs.push_back(op.getBias());
    auto type = RankedTensorType::get(
        {typeOf(input).getDimSize(0), op.getType().getShape().back()},
        op.getType().getElementType());
    auto gemm =
        GemmOp::create(rewriter, loc, type, StringAttr(), inputs, ValueRange(),
                       ValueRange(), Value(), FloatAttr());
    gemm.setTransposeB(op.getTransposeWeight());
    gemm.setBias(bool(op.getBias()));
    gemm.setTf32(tf32 && typeOf(input).getElementType().isF32());
    copyAttributes(op, gemm);
    replaceReshaped(rewriter, op, gemm.getResult(0));
    return success();
  }

  bool tf32;
};

struct ConvertMatmul : OpRewritePattern<train::MatmulOp> {
  ConvertMatmul(MLIRContext *context, bool tf32)
      : OpRewritePattern(context), tf32(tf32) {}

  LogicalResult matchAndRewrite(train::MatmulOp op,
                                PatternRewriter &rewriter) const override {
    auto gemm = GemmOp::create(rewriter, getNamedLocation(op), op.getType(),
                               StringAttr(), op.getOperands(), ValueRange(),
                               ValueRange(), Value(), FloatAttr());
    gemm.setTransposeA(op.getTransposeA());
    gemm.setTransposeB(op.getTransposeB());
    gemm.setTf32(tf32 && typeOf(op.getLhs()).getElementType().isF32());
    copyAttributes(op, gemm);
    rewriter.replaceOp(op, gemm.getResult(0));
    return success();
  }

  bool tf32;
};

/// Converts a convolution. A pointwise one becomes a matrix product.
template <typename OpTy>
struct ConvertConv : OpRewritePattern<OpTy> {
  ConvertConv(MLIRContext *context, ConvKind kind, bool tf32)
      : OpRewritePattern<OpTy>(context), kind(kind), tf32(tf32) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    bool usesTF32 = tf32 && typeOf(op->getOperand(0)).getElementType().isF32();
    bool isForward = kind == ConvKind::Forward,
         isFilter = kind == ConvKind::FilterGrad;
    auto filter = isFilter ? op.getType() : typeOf(op->getOperand(1));
    if (isPointwise(op, filter.getShape())) {
      rewriter.setInsertionPoint(op);
      Value a = flattenRows(rewriter, op->getOperand(0)),
            b = flattenRows(rewriter, op->getOperand(1));
      int64_t columns = op.getType().getShape().back();
      auto type = op.getType().clone(
          {op.getType().getNumElements() / columns, columns});
      auto gemm = GemmOp::create(rewriter, getNamedLocation(op), type,
                                 StringAttr(), ValueRange{a, b}, ValueRange(),
                                 ValueRange(), Value(), FloatAttr());
      gemm.setTransposeA(isFilter);
      gemm.setTransposeB(!isForward && !isFilter);
      gemm.setTf32(usesTF32);
      copyAttributes(op, gemm);
      replaceReshaped(rewriter, op, gemm.getResult(0));
      return success();
    }
    auto conv = ConvOp::create(
        rewriter, getNamedLocation(op), op.getType(), kind, StringAttr(),
        op->getOperands(), ValueRange(), ValueRange(), Value(), op.getStrides(),
        op.getPadding(), op.getDilations(), op.getGroups(), usesTF32);
    copyAttributes(op, conv);
    rewriter.replaceOp(op, conv.getResult(0));
    return success();
  }

  ConvKind kind;
  bool tf32;
};

} // namespace

void mlir::cuda::populateProductsToCUDA(RewritePatternSet &patterns,
                                        bool tf32) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertLinear, ConvertMatmul>(context, tf32);
  patterns.add<ConvertConv<train::Conv2DOp>>(context, ConvKind::Forward, tf32);
  patterns.add<ConvertConv<train::Conv2DInputGradOp>>(
      context, ConvKind::InputGrad, tf32);
  patterns.add<ConvertConv<train::Conv2DFilterGradOp>>(
      context, ConvKind::FilterGrad, tf32);
}

//===----------------------------------------------------------------------===//
// Canonical form
//===----------------------------------------------------------------------===//

namespace {

/// Folds product(transpose(x)) to a flag.
struct FoldTranspose : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned index : {0u, 1u}) {
      auto transpose =
          op.getInputs()[index].getDefiningOp<train::TransposeOp>();
      if (!transpose)
        continue;
      SmallVector<int64_t> swapped = llvm::to_vector(
          llvm::seq<int64_t>(0, transpose.getPermutation().size()));
      std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
      if (transpose.getPermutation() != ArrayRef<int64_t>(swapped))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        op.getInputsMutable()[index].set(transpose.getInput());
        if (index == 0)
          op.setTransposeA(!op.getTransposeA());
        else
          op.setTransposeB(!op.getTransposeB());
      });
      return success();
    }
    return failure();
  }
};

/// Folds product(widen(x), widen(y)) to product(x, y). Products of low values
/// are already exact in f32.
struct FoldWidenedOperands : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    auto a = op.getA().getDefiningOp<mlir::amp::CastOp>();
    auto b = op.getB().getDefiningOp<mlir::amp::CastOp>();
    if (!a || !b ||
        a.getInput().getType().getElementType() !=
            b.getInput().getType().getElementType())
      return failure();
    Type element = a.getInput().getType().getElementType();
    if (!typeOf(op.getA()).getElementType().isF32() ||
        !(element.isF16() || element.isBF16()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputsMutable()[0].set(a.getInput());
      op.getInputsMutable()[1].set(b.getInput());
      op.setTf32(false);
    });
    return success();
  }
};

/// Folds cast(product) to a product of another result type. An inserted
/// widening skips the rounding before it. A narrowing becomes the only
/// rounding.
struct FoldResultCast : OpRewritePattern<mlir::amp::CastOp> {
  FoldResultCast(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(mlir::amp::CastOp op,
                                PatternRewriter &rewriter) const override {
    GemmOp gemm = getOnlyProduct<GemmOp>(op.getInput());
    if (!gemm || !isPlain(gemm) || gemm.getBias() || gemm.getAccumulate())
      return failure();
    Type from = typeOf(gemm.getResult(0)).getElementType(),
         to = op.getType().getElementType();
    Type operand = typeOf(gemm.getA()).getElementType();
    bool widens = to.isF32() && op.getInserted() && !from.isF32() && !strict;
    bool narrows = from.isF32() && to == operand && !to.isF32();
    if (!widens && !narrows)
      return failure();
    rewriter.setInsertionPoint(gemm);
    GemmOp copy = rebuild(rewriter, gemm, typeOf(gemm.getResult(0)).clone(to),
                          gemm.getInputs());
    replaceReshaped(rewriter, op, copy.getResult(0));
    return success();
  }

  bool strict;
};

/// The factor that `op` applies to another value of any shape.
static std::optional<APFloat> getScale(train::MulOp op, Value scaled) {
  Value other = op.getLhs() == scaled ? op.getRhs() : op.getLhs();
  DenseElementsAttr elements;
  if (scaled.getType() != op.getType() || other == scaled ||
      !matchPattern(other, m_Constant(&elements)) || !elements.isSplat() ||
      !isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  auto value = elements.getSplatValue<APFloat>();
  bool losesInfo = false;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.isFinite() && !losesInfo ? std::optional(value) : std::nullopt;
}

static APFloat getScaledAlpha(GemmOp gemm, APFloat scale) {
  scale.multiply(gemm.getScale(), APFloat::rmNearestTiesToEven);
  return scale;
}

/// Whether the product may be scaled by `scale`, even twice. Its result is then
/// not rounded before the scaling.
static bool takesScale(GemmOp gemm, APFloat scale, bool strict) {
  APFloat square = scale;
  square.multiply(scale, APFloat::rmNearestTiesToEven);
  return isPlain(gemm) && !gemm.getBias() && !gemm.getAccumulate() &&
         getScaledAlpha(gemm, square).isNormal() &&
         (!strict || typeOf(gemm.getResult(0)).getElementType().isF32());
}

/// Folds product · c to alpha.
struct FoldScaledResult : OpRewritePattern<train::MulOp> {
  FoldScaledResult(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::MulOp op,
                                PatternRewriter &rewriter) const override {
    for (Value scaled : op->getOperands()) {
      GemmOp gemm = getOnlyProduct<GemmOp>(scaled);
      std::optional<APFloat> scale = getScale(op, scaled);
      if (!gemm || !scale || !takesScale(gemm, *scale, strict))
        continue;
      rewriter.modifyOpInPlace(
          gemm, [&] { gemm.setAlpha(getScaledAlpha(gemm, *scale)); });
      rewriter.replaceOp(op, scaled);
      return success();
    }
    return failure();
  }

  bool strict;
};

/// Folds product(x · c, y) to alpha if only products read x · c.
struct FoldScaledOperand : OpRewritePattern<train::MulOp> {
  FoldScaledOperand(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::MulOp op,
                                PatternRewriter &rewriter) const override {
    for (Value scaled : op->getOperands()) {
      std::optional<APFloat> scale = getScale(op, scaled);
      if (!scale || op->use_empty() ||
          (strict && !op.getType().getElementType().isF32()) ||
          !llvm::all_of(op->getUses(), [&](OpOperand &use) {
            auto gemm = dyn_cast<GemmOp>(use.getOwner());
            return gemm && use.getOperandNumber() < 2 &&
                   takesScale(gemm, *scale, strict);
          }))
        continue;
      // A product of x · c with itself is scaled twice.
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
        auto gemm = cast<GemmOp>(use.getOwner());
        rewriter.modifyOpInPlace(gemm, [&] {
          gemm.setAlpha(getScaledAlpha(gemm, *scale));
          use.set(scaled);
        });
      }
      rewriter.eraseOp(op);
      return success();
    }
    return failure();
  }

  bool strict;
};

/// Folds product + x to the operand C. The product is then not rounded
/// separately.
struct FoldResidual : OpRewritePattern<train::AddOp> {
  FoldResidual(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::AddOp op,
                                PatternRewriter &rewriter) const override {
    if (strict && !op.getType().getElementType().isF32())
      return failure();
    for (unsigned index : {0u, 1u}) {
      GemmOp gemm = getOnlyProduct<GemmOp>(op->getOperand(index));
      Value other = op->getOperand(1 - index);
      if (!gemm || !isPlain(gemm) || gemm.getAccumulate() ||
          op->getOperand(index).getType() != op.getType() ||
          other.getType() != op.getType())
        continue;
      // Insert after all operations that C may depend on.
      rewriter.setInsertionPoint(op);
      SmallVector<Value> inputs(gemm.getInputs());
      inputs.insert(
          inputs.begin() + 2,
          reshape(rewriter, other, typeOf(gemm.getResult(0)).getShape()));
      GemmOp copy = rebuild(rewriter, gemm, gemm.getResultTypes(), inputs);
      copy.setAccumulate(true);
      replaceReshaped(rewriter, op, copy.getResult(0));
      return success();
    }
    return failure();
  }

  bool strict;
};

} // namespace

void mlir::cuda::populateCanonicalProducts(RewritePatternSet &patterns,
                                           bool strict) {
  MLIRContext *context = patterns.getContext();
  patterns.add<FoldTranspose, FoldWidenedOperands>(context);
  patterns
      .add<FoldResultCast, FoldResidual, FoldScaledResult, FoldScaledOperand>(
          context, strict);
}

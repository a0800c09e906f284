//===- TrainToCUDAProducts.cpp - Products as library calls ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/Train/IR/Train.h"

using namespace mlir;
using namespace mlir::cuda;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// `value` with all dimensions but the last as one.
static Value flattenRows(PatternRewriter &rewriter, Location loc, Value value) {
  auto type = typeOf(value);
  if (type.getRank() == 2)
    return value;
  int64_t columns = type.getShape().back();
  auto flat = type.clone({type.getNumElements() / columns, columns});
  return ViewOp::create(rewriter, loc, flat, value);
}

/// Replaces `op` by `value`, in the shape of its result.
static void replaceReshaped(PatternRewriter &rewriter, Operation *op,
                            Value value) {
  Type type = op->getResult(0).getType();
  if (value.getType() != type)
    value = ViewOp::create(rewriter, op->getLoc(), type, value);
  rewriter.replaceOp(op, value);
}

/// What is kept of an operation on the launch that takes its place.
static void copyAttributes(Operation *from, Operation *to) {
  for (NamedAttribute attribute : from->getDiscardableAttrs())
    to->setDiscardableAttr(attribute.getName(), attribute.getValue());
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
    Value input = flattenRows(rewriter, loc, op.getInput());
    SmallVector<Value> inputs{input, op.getWeight()};
    if (op.getBias())
      inputs.push_back(op.getBias());
    auto type = RankedTensorType::get(
        {typeOf(input).getDimSize(0), op.getType().getShape().back()},
        op.getType().getElementType());
    auto gemm = GemmOp::create(rewriter, loc, type, StringAttr(), inputs,
                               ValueRange(), ValueRange(), Value());
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
                               ValueRange(), Value());
    gemm.setTransposeA(op.getTransposeA());
    gemm.setTransposeB(op.getTransposeB());
    gemm.setTf32(tf32 && typeOf(op.getLhs()).getElementType().isF32());
    copyAttributes(op, gemm);
    rewriter.replaceOp(op, gemm.getResult(0));
    return success();
  }

  bool tf32;
};

template <typename OpTy>
struct ConvertConv : OpRewritePattern<OpTy> {
  ConvertConv(MLIRContext *context, ConvKind kind, bool tf32)
      : OpRewritePattern<OpTy>(context), kind(kind), tf32(tf32) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto conv = ConvOp::create(
        rewriter, getNamedLocation(op), op.getType(),
        ConvKindAttr::get(op.getContext(), kind), StringAttr(),
        op->getOperands(), ValueRange(), ValueRange(), Value(),
        op.getStridesAttr(), op.getPaddingAttr(), op.getDilationsAttr(),
        op.getGroupsAttr(),
        tf32 && typeOf(op->getOperand(0)).getElementType().isF32()
            ? rewriter.getUnitAttr()
            : UnitAttr());
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

/// A copy of `gemm` with other inputs and result types; its properties are set
/// by the caller.
static GemmOp rebuild(PatternRewriter &rewriter, GemmOp gemm, TypeRange types,
                      ValueRange inputs) {
  auto copy =
      GemmOp::create(rewriter, gemm.getLoc(), types, gemm.getNameAttr(), inputs,
                     ValueRange(), ValueRange(), gemm.getPredicate());
  copy.setTransposeA(gemm.getTransposeA());
  copy.setTransposeB(gemm.getTransposeB());
  copy.setTf32(gemm.getTf32());
  copy.setAccumulate(gemm.getAccumulate());
  copy.setBias(gemm.getBias());
  copy.setAuxiliary(gemm.getAuxiliary());
  copy.setBiasGrad(gemm.getBiasGrad());
  copy.setActivation(gemm.getActivation());
  copyAttributes(gemm, copy);
  // Targets that are added are no gradients of arguments.
  if (auto gradients =
          gemm->getAttrOfType<ArrayAttr>(amp::AMPDialect::kGradientOfAttr)) {
    SmallVector<Attribute> names(gradients.getValue());
    names.resize(types.size(), rewriter.getStringAttr(""));
    copy->setAttr(amp::AMPDialect::kGradientOfAttr,
                  rewriter.getArrayAttr(names));
  }
  return copy;
}

/// Whether the product has neither activation nor targets besides D.
static bool isPlain(GemmOp gemm) {
  return gemm.getActivation() == Activation::None && !gemm.getBiasGrad();
}

/// The product whose only use, perhaps in another shape, `value` is; null if
/// there is none.
static GemmOp getOnlyProduct(Value value) {
  if (!value.hasOneUse())
    return {};
  if (auto view = value.getDefiningOp<ViewOp>())
    return getOnlyProduct(view.getSource());
  auto gemm = value.getDefiningOp<GemmOp>();
  if (gemm && value == gemm.getResults()[0])
    return gemm;
  return {};
}

/// As above, of any number of uses.
static GemmOp getProduct(Value value) {
  if (auto view = value.getDefiningOp<ViewOp>())
    return getProduct(view.getSource());
  auto gemm = value.getDefiningOp<GemmOp>();
  if (gemm && value == gemm.getResults()[0])
    return gemm;
  return {};
}

/// `value` in the shape `shape`.
static Value reshape(PatternRewriter &rewriter, Value value,
                     ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  return ViewOp::create(rewriter, value.getLoc(), typeOf(value).clone(shape),
                        value);
}

namespace {

/// product(transpose(x)) to a flag.
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

/// product(widen(x), widen(y)) to product(x, y): products of low values are
/// exact in f32 already.
struct FoldWidenedOperands : OpRewritePattern<GemmOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GemmOp op,
                                PatternRewriter &rewriter) const override {
    auto a = op.getA().getDefiningOp<amp::CastOp>();
    auto b = op.getB().getDefiningOp<amp::CastOp>();
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

/// cast(product) to a product of another result type: a widening that the
/// compiler inserted, whose rounding is then skipped, or a narrowing, which
/// then is the only rounding.
struct FoldResultCast : OpRewritePattern<amp::CastOp> {
  FoldResultCast(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(amp::CastOp op,
                                PatternRewriter &rewriter) const override {
    GemmOp gemm = getOnlyProduct(op.getInput());
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

/// product + x to the operand C. The product by itself is not rounded then.
struct FoldResidual : OpRewritePattern<train::AddOp> {
  FoldResidual(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::AddOp op,
                                PatternRewriter &rewriter) const override {
    if (strict && !op.getType().getElementType().isF32())
      return failure();
    for (unsigned index : {0u, 1u}) {
      GemmOp gemm = getOnlyProduct(op->getOperand(index));
      Value other = op->getOperand(1 - index);
      if (!gemm || !isPlain(gemm) || gemm.getAccumulate() ||
          op->getOperand(index).getType() != op.getType() ||
          other.getType() != op.getType())
        continue;
      // Behind everything that C may depend on.
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
  patterns.add<FoldResultCast, FoldResidual>(context, strict);
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Whether `gemm` may get an epilogue.
static bool takesEpilogue(GemmOp gemm) {
  return isPlain(gemm) && gemm.getExtents().batch == 1 &&
         typeOf(gemm.getResult(0)).getRank() == 2;
}

namespace {

/// relu(product).
struct FuseRelu : OpRewritePattern<train::ReluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::ReluOp op,
                                PatternRewriter &rewriter) const override {
    GemmOp gemm = getOnlyProduct(op.getInput());
    if (!gemm || !takesEpilogue(gemm))
      return failure();
    rewriter.setInsertionPoint(gemm);
    GemmOp copy =
        rebuild(rewriter, gemm, gemm.getResultTypes(), gemm.getInputs());
    copy.setActivation(Activation::Relu);
    replaceReshaped(rewriter, op, copy.getResult(0));
    return success();
  }
};

/// gelu(product) in its tanh form, where nothing but its gradient needs what is
/// before it. The erf form is another function.
struct FuseGelu : OpRewritePattern<train::GeluOp> {
  FuseGelu(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::GeluOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getApproximate() != train::GeluApproximation::Tanh ||
        (strict && !typeOf(op.getInput()).getElementType().isF32()))
      return failure();
    GemmOp gemm = getProduct(op.getInput());
    if (!gemm || !takesEpilogue(gemm))
      return failure();
    bool isSaved = !op.getInput().hasOneUse();
    if (isSaved && gemm.getExtents().n % 8 != 0)
      return failure();
    // Whatever reads the sum reads the auxiliary matrix, which holds it.
    SmallVector<Type> types(gemm.getResultTypes());
    if (isSaved)
      types.push_back(types[0]);
    rewriter.setInsertionPoint(gemm);
    GemmOp copy = rebuild(rewriter, gemm, types, gemm.getInputs());
    copy.setActivation(Activation::GeluTanh);
    copy.setAuxiliary(isSaved);
    replaceReshaped(rewriter, op, copy.getResult(0));
    if (isSaved)
      rewriter.replaceOp(gemm, copy.getResult(1));
    return success();
  }

  bool strict;
};

/// relu_grad(relu, product) with the bit mask of the forward product.
struct FuseReluGrad : OpRewritePattern<train::ReluGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::ReluGradOp op,
                                PatternRewriter &rewriter) const override {
    GemmOp backward = getOnlyProduct(op.getGrad());
    GemmOp forward = getProduct(op.getOutput());
    if (!backward || !forward || !takesEpilogue(backward) ||
        backward.getBias() || backward.getAccumulate() ||
        forward.getActivation() != Activation::Relu)
      return failure();
    auto shape = typeOf(backward.getResult(0)).getShape();
    if (typeOf(forward.getResult(0)).getShape() != shape)
      return failure();
    if (!forward.getAuxiliary()) {
      rewriter.setInsertionPoint(forward);
      SmallVector<Type> types{forward.getResult(0).getType(),
                              RankedTensorType::get(GemmOp::getMaskShape(shape),
                                                    rewriter.getI8Type())};
      GemmOp copy = rebuild(rewriter, forward, types, forward.getInputs());
      copy.setAuxiliary(true);
      rewriter.replaceOp(forward, copy.getResult(0));
      forward = copy;
    }
    rewriter.setInsertionPoint(op);
    SmallVector<Value> inputs(backward.getInputs());
    inputs.push_back(forward.getResult(1));
    GemmOp copy =
        rebuild(rewriter, backward, backward.getResultTypes(), inputs);
    copy.setActivation(Activation::ReluGrad);
    replaceReshaped(rewriter, op, copy.getResult(0));
    return success();
  }
};

/// gelu_grad(sum, product) in the tanh form.
struct FuseGeluGrad : OpRewritePattern<train::GeluGradOp> {
  FuseGeluGrad(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::GeluGradOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getApproximate() != train::GeluApproximation::Tanh ||
        (strict && !typeOf(op.getInput()).getElementType().isF32()))
      return failure();
    GemmOp backward = getOnlyProduct(op.getGrad());
    if (!backward || !takesEpilogue(backward) || backward.getBias() ||
        backward.getAccumulate() || backward.getExtents().n % 8 != 0)
      return failure();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> inputs(backward.getInputs());
    inputs.push_back(reshape(rewriter, op.getInput(),
                             typeOf(backward.getResult(0)).getShape()));
    GemmOp copy =
        rebuild(rewriter, backward, backward.getResultTypes(), inputs);
    copy.setActivation(Activation::GeluTanhGrad);
    replaceReshaped(rewriter, op, copy.getResult(0));
    return success();
  }

  bool strict;
};

/// The sum of the rows of a gradient, with the product that reads it for the
/// gradient of the weights.
struct FuseBiasGrad : OpRewritePattern<train::ReduceSumOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::ReduceSumOp op,
                                PatternRewriter &rewriter) const override {
    int64_t rank = typeOf(op.getInput()).getRank();
    if (op.getKeepDims() || rank < 2 ||
        op.getDims() !=
            ArrayRef<int64_t>(llvm::to_vector(llvm::seq<int64_t>(0, rank - 1))))
      return failure();
    Value matrix = op.getInput();
    while (auto view = matrix.getDefiningOp<ViewOp>())
      matrix = view.getSource();
    SmallVector<Value> forms{matrix, op.getInput()};
    for (Operation *user : matrix.getUsers())
      if (auto view = dyn_cast<ViewOp>(user))
        forms.push_back(view.getResult());
    for (Value form : forms)
      for (Operation *user : form.getUsers()) {
        auto gemm = dyn_cast<GemmOp>(user);
        if (!gemm || gemm.getB() != form || gemm.getTransposeB() ||
            !takesEpilogue(gemm) || gemm.getBias() || gemm.getAccumulate() ||
            typeOf(gemm.getResult(0)).getElementType() !=
                op.getType().getElementType())
          continue;
        rewriter.setInsertionPoint(gemm);
        SmallVector<Type> types{gemm.getResult(0).getType(), op.getType()};
        GemmOp copy = rebuild(rewriter, gemm, types, gemm.getInputs());
        copy.setBiasGrad(true);
        rewriter.replaceOp(op, copy.getResult(1));
        rewriter.replaceOp(gemm, copy.getResult(0));
        return success();
      }
    return failure();
  }
};

} // namespace

void mlir::cuda::populateEpilogues(RewritePatternSet &patterns, bool strict) {
  MLIRContext *context = patterns.getContext();
  // The others round as the operations apart do: relu only selects.
  patterns.add<FuseRelu, FuseReluGrad, FuseBiasGrad>(context);
  patterns.add<FuseGelu, FuseGeluGrad>(context, strict);
}

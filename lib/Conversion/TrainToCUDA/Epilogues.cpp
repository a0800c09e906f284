//===- Epilogues.cpp - Epilogues of products ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "amp/Dialect/Train/IR/Train.h"

using namespace mlir;
using namespace mlir::cuda;

/// Whether the product may have an epilogue.
static bool takesEpilogue(GemmOp gemm) {
  return isPlain(gemm) && gemm.getExtents().batch == 1 &&
         typeOf(gemm.getResult(0)).getRank() == 2;
}
static bool takesEpilogue(ConvOp conv) {
  return isPlain(conv) && conv.getGroups() == 1;
}

static bool takesEpilogue(ConvPlanOp plan) {
  // cuDNN computes a bias and a relu in kernels for whole packs of channels.
  auto types = plan.getForwardTypes();
  return plan.getActivation() == Activation::None && plan.getGroups() == 1 &&
         types.image.getShape().back() % 8 == 0 &&
         types.output.getShape().back() % 8 == 0;
}

/// Whether `value` has one element for each column of `matrix`.
static bool isRowOf(RankedTensorType matrix, Value value) {
  auto type = typeOf(value);
  return type.getRank() > 0 &&
         type.getElementType() == matrix.getElementType() &&
         type.getNumElements() == type.getShape().back() &&
         type.getShape().back() == matrix.getShape().back();
}

/// Adds the bit mask of the product as its second target.
template <typename OpTy>
static OpTy addMask(PatternRewriter &rewriter, OpTy product) {
  if (product.getAuxiliary())
    return product;
  rewriter.setInsertionPoint(product);
  auto type = typeOf(product.getResult(0));
  SmallVector<Type> types{
      type, RankedTensorType::get(GemmOp::getMaskShape(type.getShape()),
                                  rewriter.getI8Type())};
  OpTy copy = rebuild(rewriter, product, types, product.getInputs());
  copy.setAuxiliary(true);
  rewriter.replaceOp(product, copy.getResult(0));
  return copy;
}

namespace {

/// Fuses product + row to a bias. The product is then not rounded separately.
template <typename OpTy>
struct FuseBias : OpRewritePattern<train::AddOp> {
  FuseBias(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::AddOp op,
                                PatternRewriter &rewriter) const override {
    if (strict && !op.getType().getElementType().isF32())
      return failure();
    for (unsigned index : {0u, 1u}) {
      Value sum = op->getOperand(index), row = op->getOperand(1 - index);
      OpTy product = getOnlyProduct<OpTy>(sum);
      // For any shape of the sum, the columns belong to the product.
      if (!product || !takesEpilogue(product) || product.getBias() ||
          !isForward(product) || sum.getType() != op.getType() ||
          !isRowOf(op.getType(), row) ||
          !isRowOf(typeOf(product.getResult(0)), row))
        continue;
      // Insert after all operations that the row may depend on.
      rewriter.setInsertionPoint(op);
      SmallVector<Value> inputs(product.getInputs());
      inputs.push_back(reshape(rewriter, row, {typeOf(row).getShape().back()}));
      OpTy copy =
          rebuild(rewriter, product, product.getResultTypes(), inputs, op);
      copy.setBias(true);
      replaceReshaped(rewriter, op, copy.getResult(0));
      return success();
    }
    return failure();
  }

  static bool isForward(GemmOp) { return true; }
  template <typename ConvTy>
  static bool isForward(ConvTy conv) {
    return conv.getKind() == ConvKind::Forward;
  }

  bool strict;
};

/// relu(product).
template <typename OpTy>
struct FuseRelu : OpRewritePattern<train::ReluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::ReluOp op,
                                PatternRewriter &rewriter) const override {
    OpTy product = getOnlyProduct<OpTy>(op.getInput());
    if (!product || !takesEpilogue(product) ||
        !FuseBias<OpTy>::isForward(product))
      return failure();
    rewriter.setInsertionPoint(product);
    OpTy copy = rebuild(rewriter, product, product.getResultTypes(),
                        product.getInputs(), op);
    copy.setActivation(Activation::Relu);
    replaceReshaped(rewriter, op, copy.getResult(0));
    return success();
  }
};

/// Fuses gelu(product) in its tanh form if only its gradient reads the product.
/// The erf form is another function.
struct FuseGelu : OpRewritePattern<train::GeluOp> {
  FuseGelu(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::GeluOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getApproximate() != train::GeluApproximation::Tanh ||
        (strict && !typeOf(op.getInput()).getElementType().isF32()))
      return failure();
    GemmOp gemm = getProduct<GemmOp>(op.getInput());
    if (!gemm || !takesEpilogue(gemm))
      return failure();
    bool isSaved = !getOnlyProduct<GemmOp>(op.getInput());
    if (isSaved && gemm.getExtents().n % 8 != 0)
      return failure();
    // Readers of the sum read the auxiliary matrix, which holds it.
    SmallVector<Type> types(gemm.getResultTypes());
    if (isSaved)
      types.push_back(types[0]);
    rewriter.setInsertionPoint(gemm);
    GemmOp copy = rebuild(rewriter, gemm, types, gemm.getInputs(), op);
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
    GemmOp backward = getOnlyProduct<GemmOp>(op.getGrad());
    if (!backward || !takesEpilogue(backward) || backward.getBias() ||
        backward.getAccumulate())
      return failure();
    auto shape = typeOf(backward.getResult(0)).getShape();
    Value mask;
    if (GemmOp forward = getProduct<GemmOp>(op.getOutput()))
      mask = getMask(rewriter, forward, shape);
    else if (ConvOp forward = getProduct<ConvOp>(op.getOutput()))
      mask = getMask(rewriter, forward, shape);
    if (!mask)
      return failure();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> inputs(backward.getInputs());
    inputs.push_back(reshape(rewriter, mask, GemmOp::getMaskShape(shape)));
    GemmOp copy =
        rebuild(rewriter, backward, backward.getResultTypes(), inputs, op);
    copy.setActivation(Activation::ReluGrad);
    replaceReshaped(rewriter, op, copy.getResult(0));
    return success();
  }

  /// The mask of a product with the rows of a matrix of shape `shape`.
  /// Null if absent.
  template <typename OpTy>
  static Value getMask(PatternRewriter &rewriter, OpTy forward,
                       ArrayRef<int64_t> shape) {
    auto type = typeOf(forward.getResult(0));
    if (forward.getActivation() != Activation::Relu ||
        type.getShape().back() != shape.back() ||
        type.getNumElements() != shape[0] * shape[1])
      return {};
    return addMask(rewriter, forward).getResult(1);
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
    GemmOp backward = getOnlyProduct<GemmOp>(op.getGrad());
    if (!backward || !takesEpilogue(backward) || backward.getBias() ||
        backward.getAccumulate() || backward.getExtents().n % 8 != 0)
      return failure();
    rewriter.setInsertionPoint(op);
    SmallVector<Value> inputs(backward.getInputs());
    inputs.push_back(reshape(rewriter, op.getInput(),
                             typeOf(backward.getResult(0)).getShape()));
    GemmOp copy =
        rebuild(rewriter, backward, backward.getResultTypes(), inputs, op);
    copy.setActivation(Activation::GeluTanhGrad);
    replaceReshaped(rewriter, op, copy.getResult(0));
    return success();
  }

  bool strict;
};

/// Fuses the sum of the rows of a gradient into the product that reads the
/// gradient to compute that of the weights.
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
    for (Value form : forms) {
      // The rows of another shape differ from those of the sum.
      if (typeOf(form).getShape().back() != op.getType().getShape().back())
        continue;
      for (Operation *user : form.getUsers()) {
        auto gemm = dyn_cast<GemmOp>(user);
        if (gemm && takesEpilogue(gemm) && !gemm.getBias() &&
            !gemm.getAccumulate()) {
          if (gemm.getB() == form && !gemm.getTransposeB() &&
              fuse(rewriter, op, gemm))
            return success();
          // The gradient of weights that are stored as [out, in].
          if (gemm.getA() == form && gemm.getTransposeA() &&
              fuse(rewriter, op, gemm, /*isOfA=*/true))
            return success();
        }
        if (auto conv = dyn_cast<ConvOp>(user);
            conv && conv.getKind() == ConvKind::FilterGrad &&
            conv.getInputs()[1] == form && takesEpilogue(conv) &&
            fuse(rewriter, op, conv))
          return success();
      }
    }
    return failure();
  }

  template <typename OpTy>
  static bool fuse(PatternRewriter &rewriter, train::ReduceSumOp op,
                   OpTy product, bool isOfA = false) {
    auto type = typeOf(product.getResult(0));
    if (type.getElementType() != op.getType().getElementType())
      return false;
    rewriter.setInsertionPoint(product);
    SmallVector<Type> types{type, op.getType()};
    OpTy copy = rebuild(rewriter, product, types, product.getInputs());
    copy.setBiasGrad(true);
    if constexpr (std::is_same_v<OpTy, GemmOp>)
      copy.setBiasGradA(isOfA);
    rewriter.replaceOp(op, copy.getResult(1));
    rewriter.replaceOp(product, copy.getResult(0));
    return true;
  }
};

} // namespace

void mlir::cuda::populateEpilogues(RewritePatternSet &patterns, bool strict) {
  MLIRContext *context = patterns.getContext();
  // The other patterns round as the separate operations do. relu only selects.
  patterns.add<FuseRelu<GemmOp>, FuseRelu<ConvOp>, FuseRelu<ConvPlanOp>,
               FuseReluGrad, FuseBiasGrad>(context);
  patterns.add<FuseBias<GemmOp>, FuseBias<ConvOp>, FuseBias<ConvPlanOp>,
               FuseGelu, FuseGeluGrad>(context, strict);
}

//===- BatchNorms.cpp - Batch norms with residuals and relus --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"

#include "amp/Dialect/Train/IR/Train.h"

using namespace mlir;
using namespace mlir::cuda;

/// The type of the mask of a relu of type `type`. Null if its channels are not
/// a multiple of 8.
static RankedTensorType getMaskType(RankedTensorType type) {
  if (type.getRank() == 0 || type.getShape().back() % 8 != 0)
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape.back() /= 8;
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8));
}

/// Creates a launch of kind `OpTy` in place of `op`, with the attributes of
/// `norm`.
template <typename OpTy, typename NormTy>
static OpTy createLike(PatternRewriter &rewriter, Operation *op, NormTy norm,
                       TypeRange types, ValueRange inputs) {
  NamedAttrList attributes(norm->getDiscardableAttrDictionary());
  for (StringRef name : OpTy::getAttributeNames())
    if (Attribute value = norm->getInherentAttr(name).value_or(Attribute()))
      attributes.set(name, value);
  attributes.set(
      OpTy::getOperandSegmentSizeAttr(),
      rewriter.getDenseI32ArrayAttr({int32_t(inputs.size()), 0, 0, 0}));
  rewriter.setInsertionPoint(op);
  auto launch = OpTy::create(
      rewriter, rewriter.getFusedLoc({norm.getLoc(), op->getLoc()}), types,
      inputs, attributes.getAttrs());
  // Added targets are not gradients of arguments.
  if (auto gradients = norm->template getAttrOfType<ArrayAttr>(
          mlir::amp::AMPDialect::kGradientOfAttr)) {
    SmallVector<Attribute> names(gradients.getValue());
    names.resize(types.size(), rewriter.getStringAttr(""));
    launch->setAttr(mlir::amp::AMPDialect::kGradientOfAttr,
                    rewriter.getArrayAttr(names));
  }
  return launch;
}

namespace {

/// relu(batch norm) and relu(batch norm + residual). The sum is then rounded
/// once.
struct FuseNormRelu : OpRewritePattern<train::ReluOp> {
  FuseNormRelu(MLIRContext *context, bool strict)
      : OpRewritePattern(context), strict(strict) {}

  LogicalResult matchAndRewrite(train::ReluOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType mask = getMaskType(typeOf(op.getResult()));
    if (!mask)
      return failure();
    if (BatchNormTrainingOp norm = getOnlyNorm(op.getInput(), op)) {
      replace<BatchNormReluOp>(rewriter, op, norm, mask, norm.getInputs());
      return success();
    }
    auto sum = op.getInput().getDefiningOp<train::AddOp>();
    if (!sum || !sum->hasOneUse() ||
        (strict && !sum.getType().getElementType().isF32()))
      return failure();
    for (unsigned index : {0u, 1u}) {
      Value residual = sum->getOperand(1 - index);
      BatchNormTrainingOp norm = getOnlyNorm(sum->getOperand(index), op);
      // The statistics must not be part of the residual.
      if (!norm || residual.getType() != op.getType() ||
          dependsOn(residual, norm))
        continue;
      SmallVector<Value> inputs(norm.getInputs());
      inputs.push_back(residual);
      replace<BatchNormAddReluOp>(rewriter, op, norm, mask, inputs);
      return success();
    }
    return failure();
  }

  /// The batch norm of the type of `op` whose result `value` nothing else
  /// reads. Null if absent.
  static BatchNormTrainingOp getOnlyNorm(Value value, train::ReluOp op) {
    auto norm = value.getDefiningOp<BatchNormTrainingOp>();
    return norm && value == norm.getResult(0) && value.hasOneUse() &&
                   value.getType() == op.getType()
               ? norm
               : BatchNormTrainingOp();
  }

  template <typename OpTy>
  static void replace(PatternRewriter &rewriter, train::ReluOp op,
                      BatchNormTrainingOp norm, Type mask, ValueRange inputs) {
    SmallVector<Type> types(norm.getResultTypes());
    types.push_back(mask);
    auto fused = createLike<OpTy>(rewriter, op, norm, types, inputs);
    rewriter.replaceOp(op, fused.getResult(0));
    for (unsigned i = 1; i < norm.getNumResults(); ++i)
      rewriter.replaceAllUsesWith(norm.getResult(i), fused.getResult(i));
  }

  bool strict;
};

/// The gradient of a batch norm that reads the gradient of a relu whose forward
/// operation has a mask.
struct FuseNormReluGrad : OpRewritePattern<BatchNormGradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormGradOp op,
                                PatternRewriter &rewriter) const override {
    auto relu = op.getInputs()[0].getDefiningOp<train::ReluGradOp>();
    if (!relu || relu.getGrad().getType() != relu.getType())
      return failure();
    Operation *forward = relu.getOutput().getDefiningOp();
    if (!isa_and_nonnull<BatchNormReluOp, BatchNormAddReluOp>(forward) ||
        relu.getOutput() != forward->getResult(0))
      return failure();
    SmallVector<Value> inputs{relu.getGrad(), forward->getResults().back()};
    llvm::append_range(inputs, op.getInputs().drop_front());
    if (relu->hasOneUse()) {
      auto fused = createLike<BatchNormReluGradOp>(rewriter, op, op,
                                                   op.getResultTypes(), inputs);
      rewriter.replaceOp(op, fused.getResults());
      return success();
    }
    // The operands must not need the gradient of the relu for anything else.
    if (llvm::any_of(inputs,
                     [&](Value value) { return dependsOn(value, relu); }))
      return failure();
    SmallVector<Type> types(op.getResultTypes());
    types.push_back(relu.getType());
    auto fused =
        createLike<BatchNormAddReluGradOp>(rewriter, op, op, types, inputs);
    rewriter.replaceOp(op, fused.getResults().drop_back());
    rewriter.replaceOp(relu, fused.getResults().back());
    return success();
  }
};

} // namespace

void mlir::cuda::populateBatchNorms(RewritePatternSet &patterns, bool strict) {
  patterns.add<FuseNormRelu>(patterns.getContext(), strict);
  patterns.add<FuseNormReluGrad>(patterns.getContext());
}

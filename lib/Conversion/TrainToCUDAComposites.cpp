//===- TrainToCUDAComposites.cpp - Composites as tuned kernels ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace mlir::cuda;

namespace {

/// An operation whose operands and results are those of the call, in order, and
/// whose attributes are its parameters.
template <typename OpTy>
struct ConvertComposite : OpRewritePattern<OpTy> {
  ConvertComposite(MLIRContext *context, StringRef callee)
      : OpRewritePattern<OpTy>(context), callee(callee) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    NamedAttrList parameters;
    for (StringRef name : findCallee(callee)->parameters)
      parameters.append(name, *op->getInherentAttr(name));
    auto call =
        CallOp::create(rewriter, getNamedLocation(op), op->getResultTypes(),
                       rewriter.getStringAttr(callee), StringAttr(),
                       op->getOperands(), ValueRange(), ValueRange(), Value(),
                       parameters.getDictionary(op.getContext()));
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      call->setDiscardableAttr(attribute.getName(), attribute.getValue());
    rewriter.replaceOp(op, call.getResults());
    return success();
  }

  StringRef callee;
};

/// The rules of the scale become numbers, as the runtime has them.
struct ConvertUpdateScale : OpRewritePattern<mlir::amp::UpdateScaleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::amp::UpdateScaleOp op,
                                PatternRewriter &rewriter) const override {
    NamedAttrList parameters;
    for (StringRef name : findCallee("update_scale")->parameters)
      if (std::optional<Attribute> attribute = op->getInherentAttr(name))
        parameters.set(name, *attribute);
    auto setRule = [&](StringRef name, int32_t rule) {
      parameters.set(name, rewriter.getI32IntegerAttr(rule));
    };
    setRule("refill", static_cast<int32_t>(op.getHysteresisRefill()));
    setRule("after_backoff", static_cast<int32_t>(op.getAfterBackoff()));
    setRule("finite_growth", op.getFiniteGrowth());
    setRule("exact_interval", op.getExactInterval());
    auto call =
        CallOp::create(rewriter, getNamedLocation(op), op->getResultTypes(),
                       rewriter.getStringAttr("update_scale"), StringAttr(),
                       op->getOperands(), ValueRange(), ValueRange(), Value(),
                       parameters.getDictionary(op.getContext()));
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, call.getResults());
    return success();
  }
};

/// Rounding up or down by chance; to nearest, a copy is a cast.
struct ConvertStochasticRound : OpRewritePattern<mlir::amp::MasterCopyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::amp::MasterCopyOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getRng())
      return rewriter.notifyMatchFailure(op, "rounds to nearest");
    auto call =
        CallOp::create(rewriter, getNamedLocation(op), op->getResultTypes(),
                       rewriter.getStringAttr("stochastic_round"), StringAttr(),
                       op->getOperands(), ValueRange(), ValueRange(), Value(),
                       rewriter.getDictionaryAttr(
                           rewriter.getNamedAttr("key", op.getKeyAttr())));
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.replaceOp(op, call.getResults());
    return success();
  }
};

/// A loss without smoothing, which is what the tuned kernels compute.
template <typename OpTy>
struct ConvertCrossEntropy : ConvertComposite<OpTy> {
  using ConvertComposite<OpTy>::ConvertComposite;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.getLabelSmoothing().isZero())
      return rewriter.notifyMatchFailure(op, "smooths labels");
    return ConvertComposite<OpTy>::matchAndRewrite(op, rewriter);
  }
};

/// A composite with products, which are calls of a library.
template <typename OpTy>
struct Decompose : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> results;
    if (failed(op.decompose(rewriter, results)))
      return failure();
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct ConvertReshape : OpRewritePattern<train::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(train::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<ViewOp>(op, op.getType(), op.getInput());
    return success();
  }
};

} // namespace

void mlir::cuda::populateCompositesToCUDA(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertReshape, ConvertStochasticRound, ConvertUpdateScale>(
      context);
  patterns.add<ConvertComposite<train::SoftmaxOp>>(context, "softmax");
  patterns.add<ConvertComposite<train::SoftmaxGradOp>>(context, "softmax_grad");
  patterns.add<ConvertComposite<train::LogSoftmaxOp>>(context, "log_softmax");
  patterns.add<ConvertComposite<train::LogSoftmaxGradOp>>(context,
                                                          "log_softmax_grad");
  patterns.add<ConvertComposite<train::LayerNormOp>>(context, "layer_norm");
  patterns.add<ConvertComposite<train::LayerNormGradOp>>(context,
                                                         "layer_norm_grad");
  patterns.add<ConvertComposite<train::BatchNormTrainingOp>>(
      context, "batch_norm_training");
  patterns.add<ConvertComposite<train::BatchNormInferenceOp>>(
      context, "batch_norm_inference");
  patterns.add<ConvertComposite<train::BatchNormGradOp>>(context,
                                                         "batch_norm_grad");
  patterns.add<Decompose<train::ScaledDotProductAttentionOp>,
               Decompose<train::ScaledDotProductAttentionGradOp>>(context);
  patterns.add<ConvertComposite<train::ScatterAddOp>>(context, "scatter_add");
  patterns.add<ConvertCrossEntropy<train::CrossEntropyOp>>(context,
                                                           "cross_entropy");
  patterns.add<ConvertCrossEntropy<train::CrossEntropyGradOp>>(
      context, "cross_entropy_grad");
  patterns.add<ConvertComposite<train::MaxPool2DOp>>(context, "max_pool2d");
  patterns.add<ConvertComposite<train::MaxPool2DGradOp>>(context,
                                                         "max_pool2d_grad");
  patterns.add<ConvertComposite<train::AvgPool2DOp>>(context, "avg_pool2d");
  patterns.add<ConvertComposite<train::AvgPool2DGradOp>>(context,
                                                         "avg_pool2d_grad");
  patterns.add<ConvertComposite<train::DropoutOp>>(context, "dropout");
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

/// Whether `op` depends on a result of `other`.
static bool dependsOn(Operation *op, Operation *other) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(op, &slice, options);
  return slice.contains(other);
}

void mlir::cuda::mergeCrossEntropy(func::FuncOp step) {
  SmallVector<CallOp> losses, gradients;
  step.walk([&](CallOp call) {
    if (call.getCallee() == "cross_entropy")
      losses.push_back(call);
    else if (call.getCallee() == "cross_entropy_grad")
      gradients.push_back(call);
  });
  IRRewriter rewriter(step.getContext());
  for (CallOp gradient : gradients) {
    auto *loss = llvm::find_if(losses, [&](CallOp call) {
      return call && call.getInputs()[0] == gradient.getInputs()[0] &&
             call.getInputs()[1] == gradient.getInputs()[1] &&
             !dependsOn(gradient, call);
    });
    if (loss == losses.end())
      continue;
    rewriter.setInsertionPoint(gradient);
    Location loc = rewriter.getFusedLoc({loss->getLoc(), gradient.getLoc()});
    auto merged =
        CallOp::create(rewriter, loc,
                       TypeRange{loss->getResult(0).getType(),
                                 gradient.getResult(0).getType()},
                       rewriter.getStringAttr("cross_entropy_with_grad"),
                       StringAttr(), gradient.getInputs(), ValueRange(),
                       ValueRange(), Value(), gradient.getParametersAttr());
    rewriter.replaceOp(*loss, merged.getResult(0));
    rewriter.replaceOp(gradient, merged.getResult(1));
    *loss = {};
  }
}

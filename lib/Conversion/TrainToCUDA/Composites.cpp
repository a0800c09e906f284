//===- Composites.cpp - Composites as tuned kernels ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/AMPCallOps.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace mlir::cuda;

namespace {

/// Converts an operation to a tuned kernel with the same operands, results and
/// attributes.
template <typename OpTy, typename KernelTy>
struct ConvertComposite : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    NamedAttrList attributes(op->getDiscardableAttrDictionary());
    for (StringRef name : KernelTy::getAttributeNames())
      if (Attribute value = op->getInherentAttr(name).value_or(Attribute()))
        attributes.set(name, value);
    attributes.set(KernelTy::getOperandSegmentSizeAttr(),
                   rewriter.getDenseI32ArrayAttr(
                       {int32_t(op->getNumOperands()), 0, 0, 0}));
    auto kernel =
        KernelTy::create(rewriter, getNamedLocation(op), op->getResultTypes(),
                         op->getOperands(), attributes.getAttrs());
    rewriter.replaceOp(op, kernel.getResults());
    return success();
  }
};

/// Stochastic rounding. A copy that rounds to nearest is a cast.
struct ConvertStochasticRound
    : ConvertComposite<mlir::amp::MasterCopyOp, StochasticRoundOp> {
  using ConvertComposite::ConvertComposite;
  LogicalResult matchAndRewrite(mlir::amp::MasterCopyOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getRng())
      return rewriter.notifyMatchFailure(op, "rounds to nearest");
    return ConvertComposite::matchAndRewrite(op, rewriter);
  }
};

/// Converts a dropout. The number of the rank, which `amp.divided_along` has
/// for the CPU, is known when the program runs.
struct ConvertDropout : ConvertComposite<train::DropoutOp, DropoutOp> {
  using ConvertComposite::ConvertComposite;
  LogicalResult matchAndRewrite(train::DropoutOp op,
                                PatternRewriter &rewriter) const override {
    auto division =
        op->getAttrOfType<DenseI64ArrayAttr>(mlir::amp::kDividedAlongAttr);
    if (division) {
      op->removeAttr(mlir::amp::kDividedAlongAttr);
      op->setAttr("divided_along", rewriter.getI64IntegerAttr(division[0]));
    }
    return ConvertComposite::matchAndRewrite(op, rewriter);
  }
};

/// Converts a composite with products, which become library calls.
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
  patterns
      .add<ConvertReshape, ConvertStochasticRound,
           ConvertComposite<mlir::amp::CallOp, CallOp>,
           ConvertComposite<mlir::amp::UpdateQuantizerOp, UpdateQuantizerOp>,
           ConvertComposite<mlir::amp::UpdateScaleOp, UpdateScaleOp>,
           Decompose<train::DocumentMaskOp>,
           Decompose<train::ScaledDotProductAttentionOp>,
           Decompose<train::ScaledDotProductAttentionGradOp>,
           ConvertComposite<train::CrossEntropyOp, CrossEntropyOp>,
           ConvertComposite<train::CrossEntropyGradOp, CrossEntropyGradOp>>(
          context);
  patterns
      .add<ConvertComposite<train::SoftmaxOp, SoftmaxOp>,
           ConvertComposite<train::SoftmaxGradOp, SoftmaxGradOp>,
           ConvertComposite<train::LogSoftmaxOp, LogSoftmaxOp>,
           ConvertComposite<train::LogSoftmaxGradOp, LogSoftmaxGradOp>,
           ConvertComposite<train::LayerNormOp, LayerNormOp>,
           ConvertComposite<train::LayerNormGradOp, LayerNormGradOp>,
           ConvertComposite<train::RMSNormOp, RMSNormOp>,
           ConvertComposite<train::RMSNormGradOp, RMSNormGradOp>,
           ConvertComposite<train::BatchNormTrainingOp, BatchNormTrainingOp>,
           ConvertComposite<train::BatchNormInferenceOp, BatchNormInferenceOp>,
           ConvertComposite<train::BatchNormGradOp, BatchNormGradOp>,
           ConvertComposite<train::MaxPool2DOp, MaxPool2DOp>,
           ConvertComposite<train::MaxPool2DGradOp, MaxPool2DGradOp>,
           ConvertComposite<train::AvgPool2DOp, AvgPool2DOp>,
           ConvertComposite<train::AvgPool2DGradOp, AvgPool2DGradOp>,
           ConvertComposite<train::ScatterAddOp, ScatterAddOp>, ConvertDropout>(
          context);
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

bool mlir::cuda::dependsOn(Value value, Operation *other) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  (void)getBackwardSlice(value, &slice, options);
  return slice.contains(other);
}

void mlir::cuda::mergeCrossEntropy(func::FuncOp step) {
  SmallVector<CrossEntropyOp> losses(step.getOps<CrossEntropyOp>());
  IRRewriter rewriter(step.getContext());
  for (auto gradient :
       llvm::make_early_inc_range(step.getOps<CrossEntropyGradOp>())) {
    auto *loss = llvm::find_if(losses, [&](CrossEntropyOp candidate) {
      return candidate && candidate.getInputs()[0] == gradient.getInputs()[0] &&
             candidate.getInputs()[1] == gradient.getInputs()[1] &&
             candidate.getLabelSmoothing() == gradient.getLabelSmoothing() &&
             llvm::none_of(gradient.getInputs(), [&](Value input) {
               return dependsOn(input, candidate);
             });
    });
    if (loss == losses.end())
      continue;
    rewriter.setInsertionPoint(gradient);
    auto merged = CrossEntropyWithGradOp::create(
        rewriter, rewriter.getFusedLoc({loss->getLoc(), gradient.getLoc()}),
        TypeRange{loss->getResult(0).getType(),
                  gradient.getResult(0).getType()},
        StringAttr(), gradient.getInputs(), ValueRange(), ValueRange(), Value(),
        gradient.getLabelSmoothing());
    rewriter.replaceOp(*loss, merged.getResult(0));
    rewriter.replaceOp(gradient, merged.getResult(1));
    *loss = {};
  }
}

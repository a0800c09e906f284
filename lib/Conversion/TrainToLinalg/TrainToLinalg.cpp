//===- TrainToLinalg.cpp - The train dialect as loops over tensors ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Conversion/Passes.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CONVERTTRAINTOLINALG
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

struct ConvertTrainToLinalg
    : mlir::amp::impl::ConvertTrainToLinalgBase<ConvertTrainToLinalg> {
  void runOnOperation() override {
    Operation *root = getOperation();
    if (failed(verifyStaticShapes(root, "train")))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateTrainElementwiseToLinalg(patterns);
    populateTrainShapeToLinalg(patterns);
    populateTrainProductToLinalg(patterns);
    populateTrainPoolingToLinalg(patterns);
    populateTrainRandomToLinalg(patterns);
    populateTrainSequenceToLinalg(patterns);
    walkAndApplyPatterns(root, std::move(patterns));

    WalkResult left = root->walk([](Operation *op) {
      if (!isa_and_nonnull<train::TrainDialect>(op->getDialect()))
        return WalkResult::advance();
      auto diagnostic = op->emitOpError("cannot be lowered to linalg");
      if (isa<DecomposableOpInterface>(op))
        diagnostic << "; expected it to be decomposed by 'train-decompose'";
      else if (isa<train::GradientsOp>(op))
        diagnostic << "; expected it to be expanded by 'train-autodiff'";
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace

//===- Decompose.cpp - Composite operations become primitives ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/Transforms/Passes.h"

#include "amp/Interfaces/DecomposableOpInterface.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::train {
#define GEN_PASS_DEF_TRAINDECOMPOSE
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::amp;

namespace {

struct TrainDecompose : train::impl::TrainDecomposeBase<TrainDecompose> {
  void runOnOperation() override {
    // A definition may use other composites. Decompose the emitted operations
    // too.
    SmallVector<DecomposableOpInterface> worklist;
    getOperation()->walk(
        [&](DecomposableOpInterface op) { worklist.push_back(op); });
    IRRewriter rewriter(&getContext());
    struct Listener : RewriterBase::Listener {
      explicit Listener(SmallVectorImpl<DecomposableOpInterface> &worklist)
          : worklist(worklist) {}
      void notifyOperationInserted(Operation *op,
                                   OpBuilder::InsertPoint) override {
        if (auto composite = dyn_cast<DecomposableOpInterface>(op))
          worklist.push_back(composite);
      }
      SmallVectorImpl<DecomposableOpInterface> &worklist;
    } listener(worklist);
    rewriter.setListener(&listener);
    while (!worklist.empty()) {
      DecomposableOpInterface op = worklist.pop_back_val();
      rewriter.setInsertionPoint(op);
      SmallVector<Value> results;
      if (failed(op.decompose(rewriter, results)))
        return signalPassFailure();
      rewriter.replaceOp(op, results);
    }
  }
};

} // namespace

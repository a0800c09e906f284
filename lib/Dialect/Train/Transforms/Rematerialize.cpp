//===- Rematerialize.cpp - Compute values again instead of keeping them ---===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemarkOptions.h"
#include "SavedValues.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::train {
#define GEN_PASS_DEF_TRAINREMATERIALIZE
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::train;

/// Emits a remark with the reason for each value that is still kept.
static void remarkOnKept(const SavedValues &step, int64_t minBytes) {
  for (Value value : step.saved) {
    if (step.dropped.contains(value) || countBytes(value) < minBytes)
      continue;
    auto remark = remark::missed(
        value.getLoc(), getRemarkOptions("Kept", value.getDefiningOp()));
    if (!remark)
      return;
    StringRef why = "single values are not computed again";
    if (auto it = step.reasons.find(value); it != step.reasons.end())
      why = it->second;
    remark << remark::metric("Op",
                             value.getDefiningOp()->getName().getStringRef())
           << remark::metric("Bytes", countBytes(value))
           << remark::reason("{0}", why);
  }
}

namespace {

struct RematerializePass
    : public train::impl::TrainRematerializeBase<RematerializePass> {
  using TrainRematerializeBase::TrainRematerializeBase;
  void runOnOperation() override;

private:
  ArrayRef<StringRef> getListOptions() const override {
    static constexpr StringRef names[] = {"blocks"};
    return names;
  }
};

} // namespace

void RematerializePass::runOnOperation() {
  if (chain < 0 || minBytes < 0) {
    getOperation()->emitError("train-rematerialize: 'chain' and 'min-bytes' "
                              "must not be negative, got ")
        << chain.getValue() << " and " << minBytes.getValue();
    return signalPassFailure();
  }
  // The values to keep are unknown until the backward pass is expanded.
  WalkResult expanded = getOperation()->walk([](GradientsOp op) {
    op.emitOpError("is not expanded, expected the backward pass; run "
                   "train-autodiff first");
    return WalkResult::interrupt();
  });
  if (expanded.wasInterrupted())
    return signalPassFailure();
  llvm::StringSet<> usedPatterns;
  getOperation()->walk([&](FunctionOpInterface function) {
    if (function.isExternal() || !function.getFunctionBody().hasOneBlock())
      return;
    SavedValues step(function.getFunctionBody().front());
    if (!step.analyze())
      return;
    recomputeBlocks(step, blocks, usedPatterns);
    recomputeSingleValues(step, chain, minBytes);
    remarkOnKept(step, minBytes);
    numValues += step.numValues;
    numOps += step.numOps;
    numBytes += step.numBytes;
    numBlocks += step.numBlocks;
  });
  for (const std::string &pattern : blocks) {
    if (usedPatterns.contains(pattern))
      continue;
    getOperation()->emitError("train-rematerialize: no location in the forward "
                              "pass of a step matches '")
        << pattern << "' of 'blocks'";
    return signalPassFailure();
  }
}

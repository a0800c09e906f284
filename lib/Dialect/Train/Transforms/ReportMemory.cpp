//===- ReportMemory.cpp - Print what occupies the memory of a step --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/MemoryBreakdown.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/Support/OutputFile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir::train {
#define GEN_PASS_DEF_TRAINREPORTMEMORY
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::train;

namespace {
struct ReportMemoryPass
    : public train::impl::TrainReportMemoryBase<ReportMemoryPass> {
  using TrainReportMemoryBase::TrainReportMemoryBase;
  void runOnOperation() override;
};
} // namespace

void ReportMemoryPass::runOnOperation() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto function : getOperation().getOps<FunctionOpInterface>()) {
    if (function.isExternal() || !amp::isStepFunction(function))
      continue;
    // Without the backward pass the table would cover only half of the step.
    WalkResult expanded = function->walk([](GradientsOp op) {
      op.emitOpError("is not expanded, expected the backward pass; "
                     "run train-autodiff first");
      return WalkResult::interrupt();
    });
    if (expanded.wasInterrupted())
      return signalPassFailure();
    FailureOr<amp::MemoryBreakdown> report =
        amp::MemoryBreakdown::compute(function);
    if (failed(report))
      return signalPassFailure();
    if (json)
      report->printJSON(os, function.getName());
    else
      report->printTable(os, function.getName());
  }
  if (text.empty()) {
    getOperation()->emitError("train-report-memory: expected a training step, "
                              "a function whose arguments have 'amp.role'");
    return signalPassFailure();
  }
  if (llvm::Error error = amp::writeOutputFile(output, text)) {
    getOperation()->emitError("train-report-memory: ")
        << llvm::toString(std::move(error));
    return signalPassFailure();
  }
  markAllAnalysesPreserved();
}

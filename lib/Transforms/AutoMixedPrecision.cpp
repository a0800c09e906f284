//===- AutoMixedPrecision.cpp - Store values in low precision -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decision is made in the Precision library; this pass reads the options,
// builds the graph of slots, asks for an assignment, and gives it effect.
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "PrecisionRecord.h"
#include "PrecisionRemarks.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Precision/Optimal.h"
#include "amp/Precision/Strategies.h"
#include "amp/Transforms/PrecisionRewriter.h"
#include "mlir/IR/Remarks.h"

namespace mlir::amp {
#define GEN_PASS_DEF_AUTOMIXEDPRECISIONPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

#define DEBUG_TYPE "auto-mixed-precision"

using namespace mlir;
using namespace mlir::amp;

FloatType mlir::amp::parsePrecision(StringRef name, MLIRContext *context) {
  if (name == "fp16" || name == "f16" || name == "half")
    return Float16Type::get(context);
  if (name == "bf16" || name == "bfloat16")
    return BFloat16Type::get(context);
  if (name == "f32" || name == "fp32" || name == "float")
    return Float32Type::get(context);
  return {};
}

namespace {

class AutoMixedPrecisionPass final
    : public amp::impl::AutoMixedPrecisionPassBase<AutoMixedPrecisionPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    Location loc = getOperation()->getLoc();
    FailureOr<Policy> loaded = Policy::load(policy, loc);
    if (failed(loaded))
      return signalPassFailure();
    if (precision.empty())
      precision = loaded->settings.precision;
    if (precision.empty())
      precision = "fp16";
    FloatType low = parsePrecision(precision, &getContext());
    if (!low) {
      emitError(loc) << "auto-mixed-precision: unknown precision '" << precision
                     << "', expected fp16, bf16 or f32";
      return signalPassFailure();
    }
    if (failed(readStrategy(loc)) || failed(readTarget(low, loc)))
      return signalPassFailure();
    if (low.isF32())
      return;

    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (!function.isExternal() &&
              failed(rewriteFunction(function, low, *loaded)))
            return WalkResult::interrupt();
          return WalkResult::skip();
        });
    if (result.wasInterrupted() || failed(loaded->checkUse()))
      return signalPassFailure();
  }

private:
  LogicalResult readStrategy(Location loc);
  LogicalResult readTarget(FloatType low, Location loc);
  LogicalResult rewriteFunction(FunctionOpInterface function, FloatType low,
                                const Policy &policy);

  Strategy chosenStrategy = Strategy::Optimal;
  std::optional<Target> chosenTarget;
  CostOptions costOptions;
};

} // namespace

LogicalResult AutoMixedPrecisionPass::readStrategy(Location loc) {
  if (masterWeights != "cast" && masterWeights != "copy")
    return emitError(loc) << "auto-mixed-precision: unknown master-weights '"
                          << masterWeights << "', expected cast or copy";
  costOptions.masterCopies = masterWeights == "copy";
  if (strategy.empty())
    return success();
  std::optional<Strategy> found = symbolizeStrategy(strategy);
  if (!found)
    return emitError(loc) << "auto-mixed-precision: unknown strategy '"
                          << strategy << "', expected autocast, grappler or optimal";
  chosenStrategy = *found;
  return success();
}

LogicalResult AutoMixedPrecisionPass::readTarget(FloatType low, Location loc) {
  if (target.empty())
    return success();
  chosenTarget = getTarget(target);
  if (!chosenTarget) {
    auto diag = emitError(loc) << "auto-mixed-precision: unknown target '"
                               << target << "', expected one of ";
    llvm::interleaveComma(getTargetNames(), diag);
    return diag;
  }
  costOptions.target = &*chosenTarget;
  return success();
}

LogicalResult
AutoMixedPrecisionPass::rewriteFunction(FunctionOpInterface function,
                                        FloatType low, const Policy &policy) {
  std::string obstacle;
  RestoreCounts restored;
  if (getRecordedPrecision(function) &&
      failed(restoreInput(function, obstacle, restored))) {
    remark::missed(function.getLoc(), remark::RemarkOpts::name("AlreadyMixed")
                                          .category("amp")
                                          .function(function.getName()))
        << "already in mixed precision, and later passes built on it"
        << remark::reason("{0}", obstacle);
    return success();
  }
  SlotGraph graph(function, policy, low);
  if (policy.isContradictory())
    return failure();
  std::optional<CostModel> costs;
  bool wantsRemarks = getContext().getRemarkEngine() != nullptr;
  if (chosenStrategy == Strategy::Optimal || wantsRemarks)
    costs.emplace(graph, costOptions);
  Assignment assignment;
  switch (chosenStrategy) {
  case Strategy::Autocast:
    assignment = assignAutocast(graph);
    break;
  case Strategy::Grappler:
    assignment = assignGrappler(graph, {sinkRule});
    break;
  case Strategy::Optimal:
    assignment = assignOptimal(graph, *costs);
    break;
  }

  recordInput(function, low);
  FailureOr<RewriteCounts> counts = rewritePrecision(graph, assignment, low);
  if (failed(counts))
    return failure();
  numLowSlots += counts->lowSlots;
  numCasts += counts->casts;
  numWideProducts += counts->wideProducts;
  numUnlisted += graph.getUnlisted().size();
  if (wantsRemarks)
    emitPrecisionRemarks(function, graph, *costs, assignment, chosenStrategy);
  return success();
}

//===- StripPrecision.cpp - Undo the rewrite to mixed precision -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "PrecisionRecord.h"

#include "amp/Precision/Assignment/CallGroups.h"

#include "mlir/IR/Remarks.h"

namespace mlir::amp {
#define GEN_PASS_DEF_STRIPPRECISIONPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

class StripPrecisionPass final
    : public amp::impl::StripPrecisionPassBase<StripPrecisionPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SmallVector<KeptSignature> kept;
    for (const CallGroup &group : findCallGroups(getOperation(), kept))
      if (failed(strip(group.functions)))
        return signalPassFailure();
  }

private:
  LogicalResult strip(ArrayRef<FunctionOpInterface> functions) {
    for (FunctionOpInterface function : functions)
      if (!getRecordedPrecision(function))
        remark::missed(function->getLoc(), remark::RemarkOpts::name("NotMixed")
                                               .category("amp")
                                               .function(function.getName()))
            << "not rewritten by auto-mixed-precision";
    std::string reason;
    RestoreCounts counts;
    FunctionOpInterface culprit;
    if (failed(restoreInput(functions, culprit, reason, counts)))
      return culprit->emitError()
             << "cannot undo mixed precision, because later passes built on "
                "it: "
             << reason;
    numFunctions += counts.functions;
    numCasts += counts.casts;
    numValues += counts.values;
    return success();
  }
};

} // namespace

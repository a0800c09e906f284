//===- StripPrecision.cpp - Undo the rewrite to mixed precision -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "PrecisionRecord.h"

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
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          return failed(strip(function)) ? WalkResult::interrupt()
                                         : WalkResult::skip();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult strip(FunctionOpInterface function) {
    if (!getRecordedPrecision(function)) {
      remark::missed(function.getLoc(), remark::RemarkOpts::name("NotMixed")
                                            .category("amp")
                                            .function(function.getName()))
          << "not rewritten by auto-mixed-precision";
      return success();
    }
    std::string reason;
    RestoreCounts counts;
    if (failed(restoreInput(function, reason, counts)))
      return function->emitError()
             << "cannot undo mixed precision, because later passes built on "
                "it: "
             << reason;
    ++numFunctions;
    numCasts += counts.casts;
    numValues += counts.values;
    return success();
  }
};

} // namespace

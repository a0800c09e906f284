//===- CheckSymbolTables.cpp - Operations that may hide symbols -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CHECKSYMBOLTABLES
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

struct CheckSymbolTables final
    : mlir::amp::impl::CheckSymbolTablesBase<CheckSymbolTables> {
  void runOnOperation() override {
    // mlir::SymbolTable makes the same distinction.
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (op->getNumRegions() != 1 || op->getDialect())
        return WalkResult::advance();
      op->emitOpError("of an unknown dialect has one region and may define "
                      "symbols, expected its dialect to be loaded");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

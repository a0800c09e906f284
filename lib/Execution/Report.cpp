//===- Report.cpp - Metrics as CSV, JSON and curves -----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Report.h"

#include "amp/Execution/Files.h"
#include "amp/Runtime/CUDA/Plot.h"

using namespace mlir::amp;

static llvm::Error writeText(llvm::StringRef path, const std::string &text) {
  return writeAtomically(path, [&](llvm::raw_ostream &os) {
    os << text;
    return llvm::Error::success();
  });
}

llvm::Error mlir::amp::writeMetricsCsv(llvm::StringRef path,
                                       const std::vector<RunRecord> &runs) {
  return writeText(path, ::ampreport::printMetricsCsv(runs));
}

llvm::Error mlir::amp::writeMetricsJson(llvm::StringRef path,
                                        const std::vector<RunRecord> &runs) {
  return writeText(path, ::ampreport::printMetricsJson(runs));
}

llvm::Error mlir::amp::writePlot(llvm::StringRef path, llvm::StringRef title,
                                 const std::vector<RunRecord> &runs) {
  return writeText(path, ::amp::cuda::printPlot(title.str(), runs));
}

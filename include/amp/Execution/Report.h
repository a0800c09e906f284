//===- Report.h - Metrics as CSV, JSON and curves ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_REPORT_H
#define AMP_EXECUTION_REPORT_H

#include "amp/Runtime/CUDA/RunRecord.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::amp {

/// What the trainers of generated programs have too.
using ::ampreport::formatNumber;
using ::ampreport::kMetricColumns;
using ::ampreport::RunRecord;
using ::ampreport::StepRecord;

/// The results for the most bytes that a training step has allocated at one
/// time beside its arguments and results: by the lowered code, and as counted.
inline constexpr llvm::StringLiteral kPlannedBytes = "peak bytes planned";
inline constexpr llvm::StringLiteral kAllocatedBytes = "peak bytes allocated";

/// One line for each step of each run under the union of their metrics, with
/// the columns precision, seed, step and epoch first. A metric that a run does
/// not have is an empty cell.
llvm::Error writeMetricsCsv(llvm::StringRef path,
                            const std::vector<RunRecord> &runs);

/// `{"runs": [{"precision", "seed", "steps": [{...}], "results": {...}}]}`.
/// JSON has no infinities: non-finite values are the strings `inf`, `-inf` and
/// `nan`.
llvm::Error writeMetricsJson(llvm::StringRef path,
                             const std::vector<RunRecord> &runs);

/// One self-contained HTML page with a curve for each run: the loss, the loss
/// scale and the number of skipped steps so far. A panel without data is left
/// out. The metrics are called `loss`, `loss_scale` and `skipped`.
llvm::Error writePlot(llvm::StringRef path, llvm::StringRef title,
                      const std::vector<RunRecord> &runs);

} // namespace mlir::amp

#endif // AMP_EXECUTION_REPORT_H

//===- Report.h - Metrics as CSV, JSON and curves ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_REPORT_H
#define AMP_EXECUTION_REPORT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::amp {

/// The columns before those of the metrics, whose names no metric may have.
inline constexpr llvm::StringLiteral kMetricColumns[] = {"precision", "seed",
                                                         "step", "epoch"};

/// The results for the most bytes that a training step has allocated at one
/// time beside its arguments and results: by the lowered code, and as counted.
inline constexpr llvm::StringLiteral kPlannedBytes = "peak bytes planned";
inline constexpr llvm::StringLiteral kAllocatedBytes = "peak bytes allocated";

/// What one training step reported.
struct StepRecord {
  int64_t step = 0;
  int64_t epoch = 0;
  /// One value for each metric of the run.
  std::vector<double> values;
};

/// The history of one run.
struct RunRecord {
  /// What ran: `f32`, `fp16`, `bf16`, or `as written`.
  std::string precision;
  uint64_t seed = 0;
  std::vector<std::string> metrics;
  std::vector<StepRecord> steps;
  /// Named results at the end, such as `eval accuracy`.
  std::vector<std::pair<std::string, double>> results;

  /// The column of `metric` in the records, if the run has it.
  std::optional<size_t> findMetric(llvm::StringRef metric) const;
};

/// Prints a number so that reading it back gives the same f32; non-finite
/// values are `inf`, `-inf` and `nan`.
std::string formatNumber(double value);

/// One line for each step of each run under the union of their metrics, with
/// the columns precision, seed, step and epoch first. A metric that a run does
/// not have is an empty cell.
llvm::Error writeMetricsCsv(llvm::StringRef path,
                            llvm::ArrayRef<RunRecord> runs);

/// `{"runs": [{"precision", "seed", "steps": [{...}], "results": {...}}]}`.
/// JSON has no infinities: non-finite values are the strings `inf`, `-inf` and
/// `nan`.
llvm::Error writeMetricsJson(llvm::StringRef path,
                             llvm::ArrayRef<RunRecord> runs);

/// One self-contained HTML page with a curve for each run: the loss, the loss
/// scale and the number of skipped steps so far. A panel without data is left
/// out. The metrics are called `loss`, `loss_scale` and `skipped`.
llvm::Error writePlot(llvm::StringRef path, llvm::StringRef title,
                      llvm::ArrayRef<RunRecord> runs);

} // namespace mlir::amp

#endif // AMP_EXECUTION_REPORT_H

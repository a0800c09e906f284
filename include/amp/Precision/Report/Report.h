//===- Report.h - Every decision, as a file ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The report of the decisions of a precision pass and their reasons, as JSON
// for tools and as one HTML page with the same data for readers.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_REPORT_REPORT_H
#define AMP_PRECISION_REPORT_REPORT_H

#include "amp/Precision/Assignment/CostModel.h"
#include "amp/Precision/Assignment/WideValues.h"
#include <functional>

namespace mlir::amp {

/// Collects the decisions of one run of a pass, group by group, and
/// writes them. `docs/reports.md` describes the format.
class PrecisionReport {
public:
  /// The settings of the whole run.
  struct Settings {
    /// The preset or file that the user named.
    std::string policy;
    Strategy strategy;
    /// The strategies to compare, `strategy` among them.
    SmallVector<Strategy, 3> strategies;
    FloatType low;
    /// The target must outlive the report.
    CostOptions costs;
  };

  /// Computes the assignment of the pass for a strategy.
  using Decide =
      std::function<Assignment(const SlotGraph &, const CostModel &, Strategy)>;

  PrecisionReport(Settings settings, Decide decide);

  /// Returns success if `path` ends in the name of a format. Otherwise prints
  /// an error at `loc`.
  static LogicalResult checkPath(StringRef path, Location loc);

  /// Computes the decisions for functions that are assigned together and are
  /// not rewritten yet, and records them as one entry. `policy` is unchanged on
  /// return. Prints an error and returns failure if pins contradict each other.
  LogicalResult addGroup(const CallGroup &group, Policy &policy,
                         const WideValues &wide);

  /// Records that the pass leaves functions unchanged, and the reason.
  void addUntouched(const CallGroup &group, const Twine &why);

  /// Writes the file in the format of its extension. On failure prints an error
  /// at `loc` and writes no partial file.
  LogicalResult write(StringRef path, Location loc) const;

  /// Writes the report as JSON.
  void writeJSON(raw_ostream &os) const;
  /// Writes the report as one self-contained HTML page.
  void writeHTML(raw_ostream &os) const;

private:
  Settings settings;
  Decide decide;
  /// One JSON object per group.
  std::vector<std::string> functions;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_REPORT_REPORT_H

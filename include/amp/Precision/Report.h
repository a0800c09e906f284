//===- Report.h - Every decision, as a file ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a precision pass decided and why, for tools (JSON) and for people (one
// HTML page that shows the same data).
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_REPORT_H
#define AMP_PRECISION_REPORT_H

#include "amp/Precision/CostModel.h"
#include <functional>

namespace mlir::amp {

/// Collects the decisions of one run of a pass, group by group, and
/// writes them. `docs/reports.md` describes the format.
class PrecisionReport {
public:
  /// What holds for the whole run.
  struct Settings {
    /// The policy as the user named it: a preset or a file.
    std::string policy;
    Strategy strategy;
    /// The strategies to compare, `strategy` among them.
    SmallVector<Strategy, 3> strategies;
    FloatType low;
    /// The target must outlive the report.
    CostOptions costs;
  };

  /// Decides as the pass does, by any of the strategies.
  using Decide =
      std::function<Assignment(const SlotGraph &, const CostModel &, Strategy)>;

  PrecisionReport(Settings settings, Decide decide);

  /// Returns whether `path` ends in the name of a format; if not, prints an
  /// error at `loc`.
  static LogicalResult checkPath(StringRef path, Location loc);

  /// Decides on functions that are assigned together and have not been
  /// rewritten yet, and records them as one entry. `policy` comes back
  /// unchanged. Fails, after an error, if pins contradict each other.
  LogicalResult addGroup(const CallGroup &group, Policy &policy);

  /// Records that the pass leaves functions alone, and why.
  void addUntouched(const CallGroup &group, const Twine &why);

  /// Writes the file in the format that its name ends in, whole or not at all.
  /// On failure prints an error at `loc`.
  LogicalResult write(StringRef path, Location loc) const;

  /// Writes the report as JSON.
  void writeJSON(raw_ostream &os) const;
  /// Writes the report as one page of HTML that needs no other file.
  void writeHTML(raw_ostream &os) const;

private:
  Settings settings;
  Decide decide;
  /// One JSON object per group.
  std::vector<std::string> functions;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_REPORT_H

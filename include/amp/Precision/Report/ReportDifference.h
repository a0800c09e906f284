//===- ReportDifference.h - Two reports compared ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slots that change their type between two reports on one module, with the
// rules that decided them and the costs of both assignments.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_REPORT_REPORTDIFFERENCE_H
#define AMP_PRECISION_REPORT_REPORTDIFFERENCE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace mlir::amp {

/// The decision of one report on one slot.
struct ReportedDecision {
  /// The element type if the slot has a choice, else empty.
  std::string type;
  std::string rule;
  /// The name of the operation at the root of the decision, or empty.
  std::string cause;
  int64_t bytes = 0;
};

/// A slot that both reports describe.
struct SlotDifference {
  /// The position of the operation in the `ops` of the second report.
  int64_t op = 0;
  std::string name, place, part, slot, kind;
  ReportedDecision before, after;

  bool changesType() const {
    return before.type != after.type && !(isWide(before) && isWide(after));
  }

private:
  /// A slot without a choice keeps its type, as an f32 slot does.
  static bool isWide(const ReportedDecision &decision) {
    return decision.type.empty() || decision.type == "f32";
  }
};

/// A number of the chosen strategies of both reports.
struct TotalDifference {
  std::string key;
  int64_t before = 0, after = 0;
};

/// The differences in one entry of `functions`.
struct FunctionDifference {
  std::string name;
  /// The position in the `functions` of the second report.
  int64_t index = 0;
  std::vector<TotalDifference> totals;
  /// The slots that change their type, in program order.
  std::vector<SlotDifference> slots;
  /// Slots that keep their type because of another rule.
  int64_t otherRules = 0;
  /// Operations that only one report has.
  int64_t onlyBefore = 0, onlyAfter = 0;
};

/// The differences between two reports of `auto-mixed-precision`.
class ReportDifference {
public:
  /// Compares two parsed reports. Operations with the same name, location and
  /// position among such operations belong together. An error names the
  /// malformed report and the place in it.
  static llvm::Expected<ReportDifference> compare(llvm::json::Value before,
                                                  llvm::json::Value after);

  /// Writes totals, and the changed slots by operation and rules.
  void printText(llvm::raw_ostream &os) const;
  /// Returns the differences as JSON. `docs/reports.md` describes the format.
  llvm::json::Value toJSON() const;
  /// Writes the page of the second report with the differences.
  void writeHTML(llvm::raw_ostream &os) const;

  const std::vector<FunctionDifference> &getFunctions() const {
    return functions;
  }

private:
  ReportDifference(llvm::json::Value before, llvm::json::Value after)
      : before(std::move(before)), after(std::move(after)) {}

  llvm::json::Value before, after;
  std::vector<FunctionDifference> functions;
  /// Functions that only one report has.
  std::vector<std::string> onlyBefore, onlyAfter;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_REPORT_REPORTDIFFERENCE_H

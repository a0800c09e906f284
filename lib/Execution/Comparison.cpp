//===- Comparison.cpp - Comparison of precisions --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Comparison.h"

#include "amp/Execution/JITStep.h"
#include "amp/Runtime/Host/RunRecord.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir::amp;

static std::string formatValue(const char *format, double value) {
  if (!std::isfinite(value))
    return host::formatNumber(value);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, value);
  return text;
}

namespace {
class Table {
public:
  explicit Table(llvm::ArrayRef<ComparisonColumn> columns) : columns(columns) {
    std::vector<std::string> header = {""};
    for (const ComparisonColumn &column : columns)
      header.push_back(column.precision);
    rows.push_back(std::move(header));
  }

  /// Adds a line of text across the table.
  void addHeading(llvm::StringRef text) { rows.push_back({text.str()}); }

  /// Adds one cell per column, computed by `cell`. Skips a row of empty cells.
  void addRow(llvm::StringRef name,
              llvm::function_ref<std::string(const ComparisonColumn &)> cell) {
    std::vector<std::string> row = {name.str()};
    for (const ComparisonColumn &column : columns)
      row.push_back(cell(column));
    if (llvm::any_of(llvm::drop_begin(row),
                     [](const std::string &text) { return !text.empty(); }))
      rows.push_back(std::move(row));
  }

  /// Adds the mean and spread of a result over the runs.
  void addResult(llvm::StringRef name, llvm::StringRef result,
                 const char *format) {
    addRow(name, [&](const ComparisonColumn &column) -> std::string {
      host::Spread spread = host::summarize(column.runs, result);
      if (spread.count == 0)
        return "";
      std::string text = formatValue(format, spread.mean);
      if (spread.count > 1)
        text += " +- " + formatValue(format, spread.deviation);
      return text;
    });
  }

  void print(llvm::raw_ostream &os) const {
    std::vector<size_t> widths(columns.size() + 1, 0);
    for (const std::vector<std::string> &row : rows)
      if (row.size() > 1)
        for (auto [width, cell] : llvm::zip_equal(widths, row))
          width = std::max(width, cell.size());
    for (const std::vector<std::string> &row : rows) {
      std::string line = row.front();
      if (row.size() > 1)
        line.resize(widths.front(), ' ');
      for (size_t i = 1; i < row.size(); ++i)
        line += "  " + std::string(widths[i] - row[i].size(), ' ') + row[i];
      os << llvm::StringRef(line).rtrim() << '\n';
    }
  }

private:
  llvm::ArrayRef<ComparisonColumn> columns;
  std::vector<std::vector<std::string>> rows;
};
} // namespace

/// Formats 1234567 as 1,234,567.
static std::string formatBytes(int64_t bytes) {
  std::string digits = std::to_string(bytes);
  for (int64_t at = int64_t(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return digits;
}

void mlir::amp::printComparison(llvm::ArrayRef<ComparisonColumn> columns,
                                llvm::raw_ostream &os) {
  Table table(columns);
  table.addResult("final training loss", "final loss", "%.4f");
  table.addResult("evaluation loss", "eval loss", "%.4f");
  table.addResult("evaluation accuracy", "eval accuracy", "%.4f");
  table.addRow("peak activation bytes", [](const ComparisonColumn &column) {
    return formatBytes(column.statistics.peakActivationBytes);
  });
  table.addRow("parameter bytes", [](const ComparisonColumn &column) {
    return formatBytes(column.statistics.parameterBytes);
  });
  table.addRow("other state bytes", [](const ComparisonColumn &column) {
    return formatBytes(column.statistics.getStateBytes());
  });
  table.addRow("matmul and conv FLOPs in low precision",
               [](const ComparisonColumn &column) {
                 return formatValue("%.1f%%",
                                    100 * column.statistics.getLowFlopShare());
               });
  table.addRow("activation bytes in low precision",
               [](const ComparisonColumn &column) {
                 return formatValue(
                     "%.1f%%", 100 * column.statistics.getLowActivationShare());
               });
  table.addResult("skipped steps", "skipped steps", "%g");
  table.addResult("final loss scale", "final loss scale", "%g");
  table.addHeading("CPU emulation, not GPU speed:");
  table.addResult("time per step, ms", "ms per step", "%.3f");
  for (llvm::StringRef result : {kPlannedBytes, kAllocatedBytes})
    table.addRow(result, [&](const ComparisonColumn &column) {
      host::Spread spread = host::summarize(column.runs, result);
      return spread.count ? formatBytes(int64_t(spread.mean)) : "";
    });
  table.print(os);
}

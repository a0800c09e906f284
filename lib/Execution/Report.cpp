//===- Report.cpp - Metrics as CSV and JSON -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Report.h"

#include "amp/Execution/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace mlir::amp;

std::optional<size_t> RunRecord::findMetric(llvm::StringRef metric) const {
  auto it = llvm::find(metrics, metric);
  if (it == metrics.end())
    return std::nullopt;
  return it - metrics.begin();
}

std::string mlir::amp::formatNumber(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

/// Quotes a CSV cell where it needs to be.
static std::string quoteCsv(llvm::StringRef cell) {
  if (cell.find_first_of(",\"\n") == llvm::StringRef::npos)
    return cell.str();
  std::string quoted = "\"";
  for (char c : cell) {
    if (c == '"')
      quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

llvm::Error mlir::amp::writeMetricsCsv(llvm::StringRef path,
                                       llvm::ArrayRef<RunRecord> runs) {
  std::vector<std::string> columns;
  for (const RunRecord &run : runs)
    for (const std::string &metric : run.metrics)
      if (!llvm::is_contained(columns, metric))
        columns.push_back(metric);
  return writeAtomically(path, [&](llvm::raw_ostream &os) {
    llvm::interleave(kMetricColumns, os, ",");
    for (const std::string &column : columns)
      os << ',' << quoteCsv(column);
    os << '\n';
    for (const RunRecord &run : runs) {
      llvm::SmallVector<std::optional<size_t>> positions;
      for (const std::string &column : columns)
        positions.push_back(run.findMetric(column));
      for (const StepRecord &step : run.steps) {
        os << quoteCsv(run.precision) << ',' << run.seed << ',' << step.step
           << ',' << step.epoch;
        for (std::optional<size_t> position : positions) {
          os << ',';
          if (position)
            os << formatNumber(step.values[*position]);
        }
        os << '\n';
      }
    }
    return llvm::Error::success();
  });
}

static llvm::json::Value toJson(double value) {
  if (std::isfinite(value))
    return value;
  return formatNumber(value);
}

llvm::Error mlir::amp::writeMetricsJson(llvm::StringRef path,
                                        llvm::ArrayRef<RunRecord> runs) {
  return writeAtomically(path, [&](llvm::raw_ostream &os) {
    llvm::json::OStream json(os, /*IndentSize=*/1);
    json.object([&] {
      json.attributeArray("runs", [&] {
        for (const RunRecord &run : runs) {
          json.object([&] {
            json.attribute("precision", run.precision);
            json.attribute("seed", int64_t(run.seed));
            json.attributeArray("steps", [&] {
              for (const StepRecord &step : run.steps) {
                json.object([&] {
                  json.attribute("step", step.step);
                  json.attribute("epoch", step.epoch);
                  for (auto [metric, value] :
                       llvm::zip_equal(run.metrics, step.values))
                    json.attribute(metric, toJson(value));
                });
              }
            });
            json.attributeObject("results", [&] {
              for (const auto &[name, value] : run.results)
                json.attribute(name, toJson(value));
            });
          });
        }
      });
    });
    os << '\n';
    return llvm::Error::success();
  });
}

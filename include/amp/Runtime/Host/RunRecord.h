//===- RunRecord.h - Metrics and results of runs ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The metrics of steps, the results of runs, and the files of both. amp-run and
// the trainers of generated programs write the same files. This header needs
// neither CUDA nor LLVM. Headers of the compiler include it, where a second
// namespace `amp` next to `mlir::amp` would make the name ambiguous.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_RUNRECORD_H
#define AMP_RUNTIME_HOST_RUNRECORD_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace amphost {

/// The columns before the metrics. No metric may have one of these names.
inline constexpr const char *kMetricColumns[] = {"precision", "seed", "step",
                                                 "epoch"};

/// The metrics of one training step.
struct StepRecord {
  int64_t step = 0;
  int64_t epoch = 0;
  /// One value for each metric of the run.
  std::vector<double> values;
};

/// The history of one run.
struct RunRecord {
  /// The precision: `f32`, `tf32`, `fp16`, `bf16`, or `as written`.
  std::string precision;
  uint64_t seed = 0;
  std::vector<std::string> metrics;
  std::vector<StepRecord> steps;
  /// Named results at the end, such as `eval accuracy`.
  std::vector<std::pair<std::string, double>> results;
  /// Why the run was in vain, or empty.
  std::string failure;

  /// The column of `metric` in the records, if the run has it.
  std::optional<size_t> findMetric(std::string_view metric) const {
    for (size_t i = 0; i < metrics.size(); ++i)
      if (metrics[i] == metric)
        return i;
    return std::nullopt;
  }

  /// The mean of `column` over the last `count` steps.
  double averageLast(size_t column, int64_t count) const {
    count = std::min(count, int64_t(steps.size()));
    double sum = 0.0;
    for (size_t i = steps.size() - size_t(count); i < steps.size(); ++i)
      sum += steps[i].values[column];
    return sum / double(count);
  }
};

/// Prints a number such that reading it back returns the same f32. Non-finite
/// values are `inf`, `-inf` and `nan`.
inline std::string formatNumber(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

/// The same with `digits` significant digits, for tables.
inline std::string formatNumber(double value, int digits) {
  if (!std::isfinite(value))
    return formatNumber(value);
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

/// Mean and sample standard deviation over the runs that have a result.
struct Spread {
  double mean = 0.0;
  double deviation = 0.0;
  size_t count = 0;
};

inline Spread summarize(const std::vector<RunRecord> &runs,
                        std::string_view result) {
  Spread spread;
  std::vector<double> values;
  for (const RunRecord &run : runs)
    for (const auto &[name, value] : run.results)
      if (name == result)
        values.push_back(value);
  spread.count = values.size();
  if (values.empty())
    return spread;
  for (double value : values)
    spread.mean += value / double(values.size());
  if (values.size() > 1) {
    double squares = 0.0;
    for (double value : values)
      squares += (value - spread.mean) * (value - spread.mean);
    spread.deviation = std::sqrt(squares / double(values.size() - 1));
  }
  return spread;
}

/// Prints a line for each result of the first run: the mean over all runs and,
/// for several runs, the deviation.
inline std::string printResults(const std::vector<RunRecord> &runs) {
  std::string text;
  for (const auto &[name, value] : runs.front().results) {
    const Spread spread = summarize(runs, name);
    text += name + ": " + formatNumber(spread.mean);
    if (spread.count > 1)
      text += " +- " + formatNumber(spread.deviation);
    text += '\n';
  }
  return text;
}

/// Quotes a CSV cell if necessary.
inline std::string quoteCsv(const std::string &cell) {
  if (cell.find_first_of(",\"\n") == std::string::npos)
    return cell;
  std::string quoted = "\"";
  for (char c : cell) {
    if (c == '"')
      quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

/// Prints one line for each step of each run. The columns are the fixed ones
/// and the union of the metrics. The cell of a metric that a run lacks is
/// empty.
inline std::string printMetricsCsv(const std::vector<RunRecord> &runs) {
  std::vector<std::string> columns;
  for (const RunRecord &run : runs)
    for (const std::string &metric : run.metrics)
      if (std::find(columns.begin(), columns.end(), metric) == columns.end())
        columns.push_back(metric);
  std::string text;
  for (const char *column : kMetricColumns)
    text += (text.empty() ? "" : ",") + std::string(column);
  for (const std::string &column : columns)
    text += "," + quoteCsv(column);
  text += '\n';
  for (const RunRecord &run : runs) {
    std::vector<std::optional<size_t>> positions;
    for (const std::string &column : columns)
      positions.push_back(run.findMetric(column));
    for (const StepRecord &step : run.steps) {
      text += quoteCsv(run.precision) + "," + std::to_string(run.seed) + "," +
              std::to_string(step.step) + "," + std::to_string(step.epoch);
      for (std::optional<size_t> position : positions)
        text += position ? "," + formatNumber(step.values[*position]) : ",";
      text += '\n';
    }
  }
  return text;
}

/// Returns the number of bytes of the UTF-8 character that begins at
/// `text[at]`, or 0 if no valid character begins there.
inline size_t getUtf8Length(const std::string &text, size_t at) {
  const auto byte = [&](size_t i) { return (unsigned char)text[i]; };
  const unsigned first = byte(at);
  const size_t length = first < 0x80    ? 1
                        : first < 0xC2  ? 0
                        : first < 0xE0  ? 2
                        : first < 0xF0  ? 3
                        : first <= 0xF4 ? 4
                                        : 0;
  if (at + length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80)
      return 0;
  if (length < 3)
    return length;
  // Overlong forms, surrogates, and code points above U+10FFFF.
  const unsigned second = byte(at + 1);
  const bool isWrong =
      (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return isWrong ? 0 : length;
}

/// Prints JSON with one element per line. Bytes that are not UTF-8 become the
/// replacement character.
class JsonPrinter {
public:
  /// Begins an object or array, or ends it.
  void open(char bracket) {
    text += bracket;
    isFirst = true;
    ++depth;
  }
  void close(char bracket) {
    --depth;
    if (!isFirst)
      breakLine();
    text += bracket;
    isFirst = false;
  }
  /// Begins an element of an array.
  void next() {
    if (!isFirst)
      text += ',';
    isFirst = false;
    breakLine();
  }
  void key(const std::string &name) {
    next();
    string(name);
    text += ": ";
  }
  void string(const std::string &value) {
    text += '"';
    for (size_t at = 0; at < value.size();) {
      const char c = value[at];
      const size_t length = getUtf8Length(value, at);
      if (c == '"' || c == '\\') {
        text += '\\';
        text += c;
      } else if (length == 1 && c < 0x20) {
        char escaped[8];
        std::snprintf(escaped, sizeof(escaped), "\\u%04x", unsigned(c));
        text += escaped;
      } else if (length == 0) {
        text += "\xEF\xBF\xBD";
      } else {
        text.append(value, at, length);
      }
      at += std::max<size_t>(length, 1);
    }
    text += '"';
  }
  /// JSON has no infinities. Non-finite values are strings.
  void number(double value) {
    if (!std::isfinite(value))
      return string(formatNumber(value));
    char digits[32];
    std::snprintf(digits, sizeof(digits), "%.17g", value);
    text += digits;
  }
  void integer(const std::string &digits) { text += digits; }

  std::string text;

private:
  void breakLine() { text += "\n" + std::string(depth, ' '); }

  size_t depth = 0;
  bool isFirst = true;
};

/// `{"runs": [{"precision", "seed", "steps": [{...}], "results": {...}}]}`.
inline std::string printMetricsJson(const std::vector<RunRecord> &runs) {
  JsonPrinter json;
  json.open('{');
  json.key("runs");
  json.open('[');
  for (const RunRecord &run : runs) {
    json.next();
    json.open('{');
    json.key("precision");
    json.string(run.precision);
    json.key("seed");
    json.integer(std::to_string(run.seed));
    json.key("steps");
    json.open('[');
    for (const StepRecord &step : run.steps) {
      json.next();
      json.open('{');
      json.key("step");
      json.integer(std::to_string(step.step));
      json.key("epoch");
      json.integer(std::to_string(step.epoch));
      for (size_t i = 0; i < run.metrics.size(); ++i) {
        json.key(run.metrics[i]);
        json.number(step.values[i]);
      }
      json.close('}');
    }
    json.close(']');
    json.key("results");
    json.open('{');
    for (const auto &[name, value] : run.results) {
      json.key(name);
      json.number(value);
    }
    json.close('}');
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return json.text + "\n";
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_RUNRECORD_H

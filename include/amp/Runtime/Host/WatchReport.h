//===- WatchReport.h - Statistics of the values of a run --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the counts of watched values of a run as a table, as JSON and as an
// HTML page. amp-run, trainers of generated programs and the C interface write
// the same files. This header needs neither CUDA nor LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_WATCHREPORT_H
#define AMP_RUNTIME_HOST_WATCHREPORT_H

#include "amp/Runtime/Host/RunRecord.h"
#include "amp/Runtime/Host/Status.h"
#include "amp/Runtime/Host/WatchPage.h"
#include "amp/Runtime/Host/WatchedRecord.h"

#include <array>
#include <utility>
#include <vector>

namespace amphost {

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace watching {

/// The names of the fields before the histogram.
inline constexpr const char *kFieldNames[] = {
    "nan", "infinite", "zero", "overflow", "underflow", "largest", "smallest"};

inline void printInteger(JsonPrinter &json, int64_t value) {
  json.integer(std::to_string(value));
}

inline void printField(JsonPrinter &json, int field,
                       const ValueStatistics &value) {
  if (field == kLargest)
    json.number(value.getLargest());
  else if (field == kSmallest)
    json.number(value.getSmallest());
  else
    printInteger(json, value.fields[size_t(field)]);
}

inline void printText(JsonPrinter &json, const char *key,
                      const std::string &value) {
  if (value.empty())
    return;
  json.key(key);
  json.string(value);
}

template <typename List, typename Print>
void printList(JsonPrinter &json, const char *key, const List &list,
               Print print) {
  json.key(key);
  json.open('[');
  for (const auto &element : list) {
    json.next();
    print(element);
  }
  json.close(']');
}

inline void printExponents(JsonPrinter &json, const ValueStatistics &total) {
  json.key("exponents");
  json.open('{');
  for (int exponent = -127; exponent < 128; ++exponent) {
    int64_t count = total.getBin(exponent);
    if (exponent == -127)
      count -= total.fields[kZeros];
    if (count == 0)
      continue;
    json.key(std::to_string(exponent));
    printInteger(json, count);
  }
  json.close('}');
}

} // namespace watching

/// Prints the fields of `record` into an object, with the nonzero elements
/// counted by exponent. With `hasSeries`, also prints the fields of each step.
/// `low` is the low type of the run or empty.
inline void printWatchedRecord(JsonPrinter &json, const WatchedRecord &record,
                               const std::string &low, bool hasSeries) {
  using namespace watching;
  const ValueStatistics &total = record.total;
  auto addInteger = [&](int64_t value) { printInteger(json, value); };
  printText(json, "name", record.name);
  printText(json, "op", record.op);
  printText(json, "location", record.place);
  printText(json, "scope", record.scope);
  printText(json, "part", record.part);
  printText(json, "gradientOf", record.gradientOf);
  printText(json, "type", record.type);
  printList(json, "shape", record.shape, addInteger);
  printText(json, "to", record.to);
  const std::string judged = getJudgedType(record, low);
  printText(json, "judged", judged);
  printList(json, "operands", record.operands, addInteger);
  if (!record.fused.empty())
    printList(json, "fused", record.fused,
              [&](const std::string &name) { json.string(name); });
  const LowExponents exponents = getLowExponents(judged);
  const std::pair<const char *, int64_t> counts[] = {
      {"elements", total.getCount()},
      {"belowNormal", total.getBelow(exponents.normal)},
      {"belowSubnormal", total.getBelow(exponents.subnormal)}};
  for (const auto &[key, count] : counts) {
    json.key(key);
    printInteger(json, count);
  }
  for (int field = 0; field < kFirstBin; ++field) {
    json.key(kFieldNames[field]);
    printField(json, field, total);
  }
  printExponents(json, total);
  if (!hasSeries)
    return;
  json.key("series");
  json.open('{');
  for (int field = 0; field < kFirstBin; ++field)
    printList(json, kFieldNames[field], record.series, [&](const auto &step) {
      ValueStatistics one;
      std::copy(step.begin(), step.end(), one.fields.begin());
      printField(json, field, one);
    });
  json.close('}');
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// The forms of a report.
enum class WatchFormat : uint8_t { Table, Json, Page };

/// The watched values of a run. One of `every` steps is sampled, beginning with
/// the first. A point of the series has the counts of one or more sampled
/// steps, so the size of a report does not grow with the length of the run.
class WatchReport {
public:
  /// The records in `described` have no statistics. `low` is the low type of
  /// the run or empty.
  WatchReport(std::vector<WatchedRecord> described, std::string low,
              int64_t every)
      : every(every), low(std::move(low)), records(std::move(described)) {}

  /// Whether the step after `done` steps is sampled.
  bool isSampled(int64_t done) const { return done % every == 0; }
  /// Adds the statistics of step number `step`. `read(record, fields)` reads
  /// the fields of a record and returns a Status.
  template <typename Read>
  Status add(int64_t step, Read read) {
    // A failed read leaves the report as it was.
    counts.resize(records.size());
    for (size_t i = 0; i < records.size(); ++i)
      AMP_RETURN_IF_ERROR(read(records[i], counts[i].data()));
    if (sampled == kMostPoints * merged)
      joinPoints();
    const bool isPoint = sampled++ % merged == 0;
    if (isPoint)
      steps.push_back(step);
    for (size_t i = 0; i < records.size(); ++i)
      records[i].add(counts[i].data(), isPoint);
    return Status();
  }

  const std::vector<WatchedRecord> &getRecords() const { return records; }
  /// The number of the first sampled step of each point, from 1.
  const std::vector<int64_t> &getSteps() const { return steps; }
  int64_t getNumSampled() const { return sampled; }
  /// The sampled steps in a point. The last point may have fewer.
  int64_t getNumMerged() const { return merged; }

  /// Prints the most important values as a table, or all values as JSON or as a
  /// page that needs no other file. `title` names the run in a table, and the
  /// model in other formats.
  std::string print(WatchFormat format, const std::string &title) const {
    return format == WatchFormat::Table  ? printTable(title)
           : format == WatchFormat::Json ? printJson(title)
                                         : printPage(title);
  }

private:
  /// An even number.
  static constexpr int64_t kMostPoints = 512;

  /// Halves the number of points.
  void joinPoints() {
    merged *= 2;
    for (size_t i = 0; i < steps.size(); i += 2)
      steps[i / 2] = steps[i];
    steps.resize((steps.size() + 1) / 2);
    for (WatchedRecord &record : records)
      record.joinPoints();
  }
  inline std::vector<size_t> rank() const;
  inline std::string printTable(const std::string &run) const;
  inline std::string printJson(const std::string &title) const;
  inline std::string printPage(const std::string &title) const;

  static double divide(int64_t part, int64_t whole) {
    return whole ? double(part) / double(whole) : 0.0;
  }

  int64_t every, sampled = 0, merged = 1;
  std::string low;
  std::vector<WatchedRecord> records;
  std::vector<int64_t> steps;
  /// The fields of the last sampled step.
  std::vector<std::array<int64_t, kNumStatistics>> counts;
};

/// Returns the indices of the records by importance: values with non-finite
/// elements in program order, values by their share of overflow, values by
/// their share of underflow, and the others by their share of elements below
/// the normal range. Values that no 16-bit type stores come last.
inline std::vector<size_t> WatchReport::rank() const {
  std::vector<std::pair<std::pair<int, double>, size_t>> keys;
  for (size_t i = 0; i < records.size(); ++i) {
    const ValueStatistics &total = records[i].total;
    const int kind = total.getNonFinite()        ? 0
                     : total.fields[kOverflows]  ? 1
                     : total.fields[kUnderflows] ? 2
                     : isStoredLow(records[i])   ? 3
                                                 : 4;
    const int64_t count =
        kind == 1 ? total.fields[kOverflows]
        : kind == 2
            ? total.fields[kUnderflows]
            : total.getBelow(
                  getLowExponents(getJudgedType(records[i], low)).normal);
    keys.push_back(
        {{kind, kind == 0 ? 0.0 : -divide(count, total.getNonZero())}, i});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<size_t> order;
  for (const auto &key : keys)
    order.push_back(key.second);
  return order;
}

inline std::string WatchReport::printTable(const std::string &run) const {
  constexpr size_t kMostLines = 12;
  size_t counts[3] = {0, 0, 0};
  for (const WatchedRecord &record : records) {
    counts[0] += record.total.getNonFinite() != 0;
    counts[1] += record.total.fields[kOverflows] != 0;
    counts[2] += record.total.fields[kUnderflows] != 0;
  }
  std::string text = "watched " + std::to_string(records.size()) +
                     " values in " + std::to_string(sampled) + " steps, " +
                     run + ": " + std::to_string(counts[0]) + " not finite, " +
                     std::to_string(counts[1]) + " with overflow and " +
                     std::to_string(counts[2]) + " with underflow in a cast\n";
  text += "not finite   overflow  underflow  below normal    largest   "
          "smallest  part      type       value\n";
  auto share = [&](int64_t part, int64_t whole, int width) {
    char cell[32];
    std::snprintf(cell, sizeof(cell), "%*.3f%%", width - 1,
                  100.0 * divide(part, whole));
    text += cell;
  };
  const std::vector<size_t> order = rank();
  for (size_t i = 0; i < order.size() && i < kMostLines; ++i) {
    const WatchedRecord &record = records[order[i]];
    const ValueStatistics &total = record.total;
    share(total.getNonFinite(), total.getCount(), 10);
    share(total.fields[kOverflows], total.getNonZero(), 11);
    share(total.fields[kUnderflows], total.getNonZero(), 11);
    const std::string judged = getJudgedType(record, low);
    share(total.getBelow(getLowExponents(judged).normal), total.getNonZero(),
          14);
    const std::string type =
        record.type + (record.to.empty() ? "" : " > " + record.to);
    // A magnitude that is not finite is larger than all others.
    const std::string largest = total.fields[kInfinities] ? "inf"
                                : total.fields[kNaNs] && !total.getNonZero()
                                    ? "nan"
                                    : formatNumber(total.getLargest(), 3);
    char cells[96];
    std::snprintf(cells, sizeof(cells), "%11s%11.3g  %-10s%-11s",
                  largest.c_str(), total.getSmallest(), record.part.c_str(),
                  type.c_str());
    text += cells + record.name + "\n";
  }
  if (records.size() > kMostLines)
    text += "and " + std::to_string(records.size() - kMostLines) +
            " more: see --watch-json or --watch-page\n";
  return text;
}

inline std::string WatchReport::printJson(const std::string &title) const {
  using namespace watching;
  auto addInteger = [](JsonPrinter &json) {
    return [&json](auto value) { printInteger(json, int64_t(value)); };
  };
  JsonPrinter json;
  json.open('{');
  json.key("version");
  printInteger(json, 1);
  json.key("model");
  json.string(title);
  json.key("low");
  json.string(low);
  json.key("every");
  printInteger(json, every);
  json.key("sampled");
  printInteger(json, sampled);
  json.key("merged");
  printInteger(json, merged);
  printList(json, "steps", steps, addInteger(json));
  printList(json, "ranked", rank(), addInteger(json));
  printList(json, "values", records, [&](const WatchedRecord &record) {
    json.open('{');
    printWatchedRecord(json, record, low, /*hasSeries=*/true);
    json.close('}');
  });
  json.close('}');
  return json.text + "\n";
}

inline std::string WatchReport::printPage(const std::string &title) const {
  return printWatchPage(printJson(title));
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_WATCHREPORT_H

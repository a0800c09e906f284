//===- WatchedRecord.h - A watched value of a step --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes a watched value, and encodes it in the name of a prediction.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_WATCHEDRECORD_H
#define AMP_RUNTIME_HOST_WATCHEDRECORD_H

#include "amp/Runtime/Host/ValueStatistics.h"

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace amphost {

/// A watched value of a step, and its statistics over the sampled steps.
struct WatchedRecord {
  /// The operation or the argument, and its place.
  std::string name;
  /// The name of the prediction of the step.
  std::string prediction;
  /// The operation without location, or `argument`.
  std::string op;
  /// The place and the name of the location. Either may be empty. The name of
  /// an argument is its `amp.name`.
  std::string place, scope;
  /// The positions in the step of the operation and of the narrowing cast of
  /// its result. The position of an argument is 0.
  int64_t position = 0, castPosition = 0;
  /// `forward`, `backward` or `update`.
  std::string part;
  /// The parameter whose gradient the value is, or empty.
  std::string gradientOf;
  /// The element type, and the type of a narrowing cast of the value or empty.
  std::string type, to;
  /// The extents, -1 for a dynamic one.
  std::vector<int64_t> shape;
  /// The numbers of the watched operands of the operation.
  std::vector<unsigned> operands;
  /// A constant operand that is not finite, or empty. Constants are not
  /// watched.
  std::string badConstant;
  /// Whether the step returns the value as a state or a metric, or it is the
  /// gradient of a parameter.
  bool isOutcome = false;
  /// Whether an operation with regions, such as a loop, computes the value.
  bool hasRegions = false;
  /// The other operations of the launch that computes the value on a GPU.
  std::vector<std::string> fused;
  /// The sum over the sampled steps.
  ValueStatistics total;
  /// The fields before the histogram, of each point of the report.
  std::vector<std::array<int64_t, kFirstBin>> series;

  /// Adds the statistics of one more step, which begins a point of the report
  /// or belongs to the last one.
  void add(const int64_t *fields, bool isPoint = true) {
    total.add(fields);
    if (isPoint) {
      auto &last = series.emplace_back();
      std::copy_n(fields, last.size(), last.begin());
    } else {
      addStatistics(series.back().data(), fields, kFirstBin);
    }
  }
  /// Joins each point at an odd position to the one before it.
  void joinPoints() {
    for (size_t i = 0; i < series.size(); ++i)
      if (i % 2 == 0)
        series[i / 2] = series[i];
      else
        addStatistics(series[i / 2].data(), series[i].data(), kFirstBin);
    series.resize((series.size() + 1) / 2);
  }
};

/// The low type of a run in `precision`: `f16`, `bf16` or empty.
inline std::string getLowType(const std::string &precision) {
  return precision == "fp16" ? "f16" : precision == "bf16" ? "bf16" : "";
}

/// Whether a 16-bit type stores the value or the result of its cast.
inline bool isStoredLow(const WatchedRecord &record) {
  return !record.to.empty() || record.type == "f16" || record.type == "bf16";
}

/// The element type whose range matters for `record`: the type of its cast, its
/// own type if it is low, else `low` (`f16`, `bf16` or empty).
inline std::string getJudgedType(const WatchedRecord &record,
                                 const std::string &low) {
  if (!record.to.empty())
    return record.to;
  return isStoredLow(record) || low.empty() ? record.type : low;
}

/// The exponents of the least normal and the least subnormal magnitude of
/// `f16`, `bf16` or `f32`.
struct LowExponents {
  int normal, subnormal;
};
inline LowExponents getLowExponents(const std::string &type) {
  if (type == "f16")
    return {-14, -24};
  // f32 has the exponents of bf16. The histogram has no smaller ones.
  return {-126, -126};
}

//===----------------------------------------------------------------------===//
// Names of predictions
//===----------------------------------------------------------------------===//

/// The prefix of the names of predictions that count values.
inline constexpr const char *kWatchedPrefix = "watch ";

/// Separates the operations of one launch in the name of a prediction.
inline constexpr const char *kFusedSeparator = " | ";

/// Returns the name of prediction `number`, which counts a value:
///   watch NUMBER PART TYPE[>TO] [EXTENTx]... [OPERAND,...] NAME[ | NAME]...
/// One space separates two fields. A scalar has no extents. A value without
/// watched operands has no operand numbers.
inline std::string nameCounts(unsigned number, const WatchedRecord &record) {
  std::string text = kWatchedPrefix + std::to_string(number) + " " +
                     record.part + " " + record.type;
  text += (record.to.empty() ? "" : ">" + record.to) + " ";
  for (int64_t extent : record.shape)
    text += std::to_string(extent) + "x";
  text += " ";
  for (unsigned operand : record.operands)
    text += std::to_string(operand) + ",";
  text += " " + record.name;
  for (const std::string &name : record.fused)
    text += kFusedSeparator + name;
  return text;
}

namespace watching {

/// Removes the text up to the end of the first `separator` from `text`, or all
/// text if there is no separator. Returns the removed text without the
/// separator.
inline std::string takeField(std::string *text, const std::string &separator) {
  const size_t end = text->find(separator);
  const std::string field = text->substr(0, end);
  text->erase(0, end == std::string::npos ? end : end + separator.size());
  return field;
}

/// Whether `text` ends with a line and a column.
inline bool isPlace(const std::string &text) {
  size_t end = text.size();
  for (int i = 0; i < 2; ++i) {
    const size_t colon = text.rfind(':', end - 1);
    if (end == 0 || colon == std::string::npos || colon + 1 == end)
      return false;
    if (text.find_first_not_of("0123456789", colon + 1) < end)
      return false;
    end = colon;
  }
  return true;
}

/// Sets the operation, the place and the scope from the name of `record`.
inline void readOperation(WatchedRecord *record) {
  std::string rest = record->name;
  record->op = takeField(&rest, " ");
  record->op = record->op.substr(0, record->op.find('#'));
  if (record->op == "argument" && rest.size() > 1 && rest.front() == '"') {
    record->scope = rest.substr(1, rest.size() - 2);
    return;
  }
  const size_t space = rest.rfind(' ');
  const size_t begin = space == std::string::npos ? 0 : space + 1;
  if (!isPlace(rest.substr(begin))) {
    record->scope = rest;
    return;
  }
  record->place = rest.substr(begin);
  record->scope = rest.substr(0, begin ? begin - 1 : 0);
}

} // namespace watching

/// Parses the name of a prediction that `nameCounts` returned. Returns false
/// for other predictions.
inline bool readWatchedName(const std::string &prediction,
                            WatchedRecord *record) {
  using watching::takeField;
  std::string text = prediction;
  if (text.compare(0, std::string(kWatchedPrefix).size(), kWatchedPrefix) != 0)
    return false;
  takeField(&text, " ");
  takeField(&text, " ");
  record->prediction = prediction;
  record->part = takeField(&text, " ");
  record->to = takeField(&text, " ");
  record->type = takeField(&record->to, ">");
  std::string shape = takeField(&text, " "), operands = takeField(&text, " ");
  while (!shape.empty())
    record->shape.push_back(
        std::strtoll(takeField(&shape, "x").c_str(), nullptr, 10));
  while (!operands.empty())
    record->operands.push_back(
        unsigned(std::strtoul(takeField(&operands, ",").c_str(), nullptr, 10)));
  record->name = takeField(&text, kFusedSeparator);
  while (!text.empty())
    record->fused.push_back(takeField(&text, kFusedSeparator));
  watching::readOperation(record);
  return !record->name.empty();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_WATCHEDRECORD_H

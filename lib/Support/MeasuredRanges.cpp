//===- MeasuredRanges.cpp - Ranges from data ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/MeasuredRanges.h"

#include "amp/Support/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace mlir::amp;
using amphost::ValueStatistics;

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// Returns the expected error of rounding `magnitude` to `format`: a uniform
/// error within half a unit in the last place, as a root mean square.
static double getRoundingError(double magnitude, const LowFormat &format) {
  int exponent = std::max(std::ilogb(magnitude), format.leastNormal);
  double unit = std::ldexp(1.0, exponent - format.mantissaBits);
  if (magnitude < unit / 2)
    return magnitude;
  return unit / std::sqrt(12.0);
}

RoundingLoss mlir::amp::measureLoss(const ValueStatistics &statistics,
                                    const LowFormat &format, double scale,
                                    double margin) {
  RoundingLoss loss;
  // Rounding makes numbers infinite from half a unit above the largest on.
  double limit =
      format.largest * (1 + std::ldexp(1.0, -format.mantissaBits - 2));
  loss.overflows = statistics.getLargest() * scale * margin >= limit;
  int leastSubnormal = format.leastNormal - format.mantissaBits;
  double norm = 0, error = 0;
  int64_t zeros = 0;
  for (int exponent = -127; exponent < 128; ++exponent) {
    int64_t count = statistics.getBin(exponent);
    if (exponent == -127)
      count -= statistics.fields[amphost::kZeros];
    if (count <= 0)
      continue;
    double magnitude = std::ldexp(1.5, exponent) * scale;
    if (magnitude < std::ldexp(1.0, leastSubnormal - 1))
      zeros += count;
    if (magnitude >= limit)
      continue;
    double rounding = getRoundingError(magnitude, format);
    norm += double(count) * magnitude * magnitude;
    error += double(count) * rounding * rounding;
  }
  if (int64_t nonZero = statistics.getNonZero())
    loss.zeroShare = double(zeros) / double(nonZero);
  if (norm > 0)
    loss.error = std::sqrt(error / norm);
  return loss;
}

double mlir::amp::chooseLossScale(llvm::ArrayRef<MeasuredRange> ranges,
                                  const LowFormat &format, double margin,
                                  double tolerance) {
  // The bounds of a dynamic loss scale.
  constexpr int kLeast = -16, kMost = 40;
  double best = 1;
  int64_t most = 0;
  for (int exponent = kLeast; exponent <= kMost; ++exponent) {
    double scale = std::ldexp(1.0, exponent);
    int64_t fitting = 0;
    for (const MeasuredRange &range : ranges) {
      if (!range.isScaled() || range.isParameterGradient)
        continue;
      RoundingLoss loss = measureLoss(range.statistics, format, scale, margin);
      if (!loss.overflows && loss.error <= tolerance)
        fitting += range.statistics.getNonZero();
    }
    if (fitting != 0 && fitting >= most) {
      most = fitting;
      best = scale;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static int64_t toBits(double value) {
  float number = float(value);
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return bits;
}

/// Reads the statistics of `object` as `writeWatchedRecord` writes them.
static bool readStatistics(const llvm::json::Object &object,
                           ValueStatistics &statistics) {
  auto count = [&](llvm::StringRef key, int64_t &to) {
    std::optional<int64_t> number = object.getInteger(key);
    to = number.value_or(0);
    return number && *number >= 0;
  };
  auto &fields = statistics.fields;
  if (!count("nan", fields[amphost::kNaNs]) ||
      !count("infinite", fields[amphost::kInfinities]) ||
      !count("zero", fields[amphost::kZeros]))
    return false;
  std::optional<double> largest = object.getNumber("largest"),
                        smallest = object.getNumber("smallest");
  if (!largest || !smallest || !(*largest >= 0) || !(*smallest >= 0))
    return false;
  fields[amphost::kLargest] = toBits(*largest);
  fields[amphost::kSmallest] = toBits(*smallest);
  const llvm::json::Object *exponents = object.getObject("exponents");
  if (!exponents)
    return false;
  int64_t *bins = fields.data() + amphost::kFirstBin;
  bins[0] = fields[amphost::kZeros];
  bins[amphost::kNumExponents - 1] =
      statistics.fields[amphost::kNaNs] + fields[amphost::kInfinities];
  for (const auto &[key, value] : *exponents) {
    int exponent;
    std::optional<int64_t> number = value.getAsInteger();
    if (llvm::StringRef(key).getAsInteger(10, exponent) || exponent < -127 ||
        exponent > 127 || !number || *number < 0)
      return false;
    bins[exponent + 127] += *number;
  }
  return true;
}

static bool readRange(const llvm::json::Value &value, MeasuredRange &range) {
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return false;
  std::optional<llvm::StringRef> name = object->getString("name"),
                                 part = object->getString("part");
  if (!name || !part ||
      !llvm::is_contained({"forward", "backward", "update"}, *part))
    return false;
  range.name = name->str();
  range.part = part->str();
  range.scope = object->getString("scope").value_or("").str();
  if (const llvm::json::Value *shape = object->get("shape")) {
    range.shape.emplace();
    const llvm::json::Array *extents = shape->getAsArray();
    if (!extents)
      return false;
    for (const llvm::json::Value &extent : *extents) {
      std::optional<int64_t> number = extent.getAsInteger();
      if (!number || *number < -1)
        return false;
      range.shape->push_back(*number);
    }
  }
  range.isParameterGradient = object->get("gradientOf") != nullptr;
  return readStatistics(*object, range.statistics);
}

llvm::Expected<std::vector<MeasuredRange>>
mlir::amp::readMeasuredRanges(llvm::StringRef path) {
  auto fail = [&](const llvm::Twine &why) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "cannot read ranges from '" + path +
                                       "': " + why);
  };
  auto file = readInputFile(path, kMaxRangesBytes);
  if (!file)
    return fail(llvm::toString(file.takeError()));
  llvm::Expected<llvm::json::Value> parsed =
      llvm::json::parse((*file)->getBuffer());
  if (!parsed)
    return fail(llvm::toString(parsed.takeError()));
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object || object->getString("format") != kRangesFormat)
    return fail(
        "expected a file of 'amp-run --calibrate', with \"format\": \"" +
        kRangesFormat + "\"");
  if (object->getInteger("version") != 1)
    return fail("expected \"version\": 1");
  const llvm::json::Array *values = object->getArray("values");
  if (!values)
    return fail("expected an array \"values\"");
  std::vector<MeasuredRange> ranges(values->size());
  for (size_t i = 0; i < values->size(); ++i)
    if (!readRange((*values)[i], ranges[i]))
      return fail("element " + llvm::Twine(i) +
                  " of \"values\" is not a value with its statistics");
  return ranges;
}

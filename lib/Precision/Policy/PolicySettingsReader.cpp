//===- PolicySettingsReader.cpp - Settings of a policy file -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PolicyDocument.h"
#include "amp/LossScaling/FloatRangeRule.h"
#include "amp/LossScaling/LossScaler.h"
#include "amp/Precision/Policy/Policy.h"
#include "amp/Precision/Policy/ScalingRecipe.h"
#include "amp/Support/PrecisionName.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::detail;

namespace {

/// Checks the settings of one document and merges them into those of its base.
class SettingsReader {
public:
  SettingsReader(PolicyDocument &document, PolicyErrorHandler error)
      : document(document), error(error) {}

  bool run();

private:
  void fail(StringRef key, const Twine &expected, const PolicyScalar &scalar) {
    failed = true;
    error(document.file, scalar.line, scalar.column,
          "expected '" + key + "' to be " + expected + ", got '" + scalar.text +
              "'");
  }
  void readNumber(StringRef key, const PolicyScalar &scalar, StringRef expected,
                  llvm::function_ref<bool(double)> isValid,
                  std::optional<double> &result) {
    double value;
    if (!scalar.isGiven())
      return;
    if (StringRef(scalar.text).getAsDouble(value) || !isValid(value))
      return fail(key, expected, scalar);
    result = value;
  }
  void readCount(StringRef key, const PolicyScalar &scalar,
                 std::optional<int32_t> &result) {
    int32_t value;
    if (!scalar.isGiven())
      return;
    if (StringRef(scalar.text).getAsInteger(10, value) || value < 1)
      return fail(key, "a positive integer", scalar);
    result = value;
  }
  void readLossScaling(LossScalingSettings &settings);
  void readFloat8(Float8Settings &settings);
  void readTarget(std::optional<Target> &target);

  PolicyDocument &document;
  PolicyErrorHandler error;
  bool failed = false;
};

} // namespace

void SettingsReader::readLossScaling(LossScalingSettings &settings) {
  const LossScalingOptions &options = document.lossScaling.options;
  if (options.mode.isGiven()) {
    double scale;
    const std::string &mode = options.mode.text;
    if (mode != "dynamic" && mode != "layerwise" && mode != "none" &&
        (StringRef(mode).getAsDouble(scale) || !isLossScale(scale)))
      fail("loss-scaling", "dynamic, layerwise, none or a positive number",
           options.mode);
    settings.mode = mode;
  }
  if (options.scaler.isGiven()) {
    if (!getLossScaler(options.scaler.text))
      fail("scaler", "one of " + llvm::join(getLossScalerNames(), ", "),
           options.scaler);
    settings.scaler = options.scaler.text;
  }
  LossScaler scaler;
  for (const std::string &key : LossScaler::getKeys()) {
    auto value = options.values.find(key);
    if (value == options.values.end() || !value->second.isGiven())
      continue;
    std::string expected = scaler.set(key, value->second.text);
    if (!expected.empty())
      fail(key, expected, value->second);
    settings.values[key] = value->second.text;
  }
}

void SettingsReader::readFloat8(Float8Settings &settings) {
  const Float8Options &options = document.float8.options;
  for (StringRef key : getFloat8Keys()) {
    auto found = options.values.find(key.str());
    if (found == options.values.end() || !found->second.isGiven())
      continue;
    const PolicyScalar &value = found->second;
    if (std::string expected = findFloat8Fault(key, value.text);
        !expected.empty())
      fail(key, expected, value);
    if (key == "recipe") {
      // The values of the base belong to its recipe.
      if (value.text != settings.recipe)
        settings.values.clear();
      settings.recipe = value.text;
    } else {
      settings.values[key.str()] = value.text;
    }
  }
  for (const PolicyScalar &glob : options.keep) {
    llvm::Expected<llvm::GlobPattern> pattern =
        llvm::GlobPattern::create(glob.text);
    if (!pattern)
      fail("keep",
           "globs of names of layers (" + llvm::toString(pattern.takeError()) +
               ")",
           glob);
    else if (!llvm::is_contained(settings.keep, glob.text))
      settings.keep.push_back(glob.text);
  }
}

void SettingsReader::readTarget(std::optional<Target> &target) {
  auto find = [&](StringRef key, const PolicyScalar &name) {
    std::optional<Target> found = getTarget(name.text);
    if (!found)
      fail(key, "one of " + listTargets(), name);
    return found.value_or(Target());
  };
  if (document.target.name.isGiven())
    target = find("target", document.target.name);
  if (!document.target.options)
    return;
  const TargetOptions &options = *document.target.options;
  target = options.base.isGiven() ? find("base", options.base) : Target();
  target->name.clear();
  if (!options.lowTypes.empty())
    target->lowTypes.clear();
  for (const PolicyScalar &type : options.lowTypes) {
    if (type.text != "f16" && type.text != "bf16")
      fail("low-types", "f16 or bf16", type);
    target->lowTypes.push_back(type.text);
  }
  auto read = [&](StringRef key, const PolicyScalar &scalar, StringRef expected,
                  auto isValid, double &result) {
    std::optional<double> value;
    readNumber(key, scalar, expected, isValid, value);
    result = value.value_or(result);
  };
  auto isRate = [](double value) { return value > 0 && std::isfinite(value); };
  auto isShare = [](double value) { return value >= 0 && value <= 1; };
  read("low-flop-per-byte", options.lowFlopPerByte, "a positive number", isRate,
       target->lowFlopPerByte);
  read("f32-flop-per-byte", options.f32FlopPerByte, "a positive number", isRate,
       target->f32FlopPerByte);
  read("cast-read-share", options.castReadShare, "between 0 and 1", isShare,
       target->castReadShare);
  read("cast-write-share", options.castWriteShare, "between 0 and 1", isShare,
       target->castWriteShare);
  std::optional<int32_t> alignment;
  readCount("alignment", options.alignment, alignment);
  target->alignment = alignment.value_or(target->alignment);
}

bool SettingsReader::run() {
  if (document.base)
    document.settings = document.base->settings;
  PolicySettings &settings = document.settings;
  if (document.version.isGiven() &&
      document.version.text != std::to_string(newestPolicyVersion))
    fail("version", Twine(newestPolicyVersion), document.version);
  if (document.precision.isGiven()) {
    settings.precision = document.precision.text;
    if (!llvm::is_contained({"fp16", "bf16", "f32"},
                            canonicalizePrecision(settings.precision)))
      fail("precision", "fp16, bf16 or f32", document.precision);
  }
  if (document.strategy.isGiven()) {
    settings.strategy = symbolizeStrategy(document.strategy.text);
    if (!settings.strategy)
      fail("strategy", "autocast, grappler or optimal", document.strategy);
  }
  if (document.gradientType.isGiven()) {
    settings.gradientType = symbolizeGradientType(document.gradientType.text);
    if (!settings.gradientType)
      fail("gradient-type", "f32, low or listed", document.gradientType);
  }
  for (const PolicyScalar &glob : document.lowGradients)
    if (!llvm::is_contained(settings.lowGradients, glob.text))
      settings.lowGradients.push_back(glob.text);
  if (document.roundings.isGiven()) {
    if (document.roundings.text == "keep")
      settings.roundings = Roundings::Keep;
    else if (document.roundings.text == "fold")
      settings.roundings = Roundings::Fold;
    else
      fail("roundings", "keep or fold", document.roundings);
  }
  if (document.promotions.isGiven()) {
    if (document.promotions.text == "keep")
      settings.promotions = Promotions::Keep;
    else if (document.promotions.text == "cost")
      settings.promotions = Promotions::Cost;
    else
      fail("promotions", "keep or cost", document.promotions);
  }
  if (document.masterWeights.isGiven()) {
    settings.masterWeights = document.masterWeights.text;
    if (!llvm::is_contained({"cast", "copy", "split", "none"},
                            settings.masterWeights))
      fail("master-weights", "cast, copy, split or none",
           document.masterWeights);
  }
  readLossScaling(settings.lossScaling);
  readFloat8(settings.float8);
  for (const PolicyScalar &glob : document.linear) {
    std::string expected;
    if (mlir::failed(LinearRule::parse(glob.text, expected))) {
      fail("linear", expected, glob);
    } else if (!llvm::is_contained(settings.linear, glob.text)) {
      settings.linear.push_back(glob.text);
    }
  }
  for (const PolicyScalar &entry : document.intervals) {
    std::string expected;
    if (mlir::failed(FloatRangeRule::parse(entry.text, expected)))
      fail("intervals", expected, entry);
    else if (!llvm::is_contained(settings.intervals, entry.text))
      settings.intervals.push_back(entry.text);
  }
  readTarget(settings.target);
  return !failed;
}

bool amp::detail::readSettings(PolicyDocument &document,
                               PolicyErrorHandler error) {
  return SettingsReader(document, error).run();
}

//===- LossScaler.cpp - How loss scales start and adapt -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/LossScaler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Frameworks
//===----------------------------------------------------------------------===//

static constexpr StringRef names[] = {"amp",       "pytorch",  "apex",
                                      "deepspeed", "megatron", "tf-keras",
                                      "keras",     "mxnet",    "paddle"};

ArrayRef<StringRef> mlir::amp::getLossScalerNames() { return names; }

std::optional<LossScaler> mlir::amp::getLossScaler(StringRef name) {
  if (!llvm::is_contained(names, name))
    return std::nullopt;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  LossScaler scaler;
  if (name == "amp")
    return scaler;
  ScalerRules &rules = scaler.rules;
  // All except tf-keras compare for equality.
  rules.intervalRule = IntervalRule::Equal;
  if (name == "pytorch") {
    rules.minScale = 0;
  } else if (name == "apex" || name == "mxnet") {
    rules.minScale = 0;
    rules.maxScale = 0x1p24;
  } else if (name == "deepspeed") {
    rules.growthInterval = 1000;
    rules.maxScale = infinity;
    rules.hysteresis = 2;
    rules.hysteresisRefill = HysteresisRefill::Growth;
    rules.afterBackoff = AfterBackoff::Hold;
    rules.growthGuard = GrowthGuard::Off;
  } else if (name == "megatron") {
    scaler.initScale = 0x1p32;
    rules.growthInterval = 1000;
    rules.maxScale = infinity;
    rules.hysteresis = 2;
    rules.hysteresisRefill = HysteresisRefill::Growth;
    rules.growthGuard = GrowthGuard::Off;
  } else if (name == "tf-keras") {
    scaler.initScale = 0x1p15;
    rules.intervalRule = IntervalRule::AtLeast;
    scaler.strict = true;
  } else if (name == "keras") {
    scaler.initScale = 0x1p15;
    rules.minScale = 0;
    rules.maxScale = infinity;
    rules.growthGuard = GrowthGuard::Off;
  } else if (name == "paddle") {
    rules.afterBackoff = AfterBackoff::Refill;
  }
  return scaler;
}

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

bool mlir::amp::isLossScale(double value) {
  auto scale = static_cast<float>(value);
  return scale > 0 && std::isfinite(scale) && std::isfinite(1 / scale);
}

/// Writes `value` with six digits.
static std::string formatNumber(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

/// Returns a word of an attribute as options and policies spell it.
static std::string toKey(StringRef word) {
  // Options and policies use the word `target` for a GPU.
  return word == "target" ? "layer-target"
                          : llvm::join(llvm::split(word, '_'), "-");
}

template <typename RulesT>
ArrayRef<std::string> LossScalerOf<RulesT>::getKeys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> keys = {"init-scale"};
    for (const ScalerField<RulesT> &field : getScalerFields<RulesT>())
      keys.push_back(toKey(field.name));
    keys.push_back("check");
    return keys;
  }();
  return keys;
}

template <typename RulesT>
std::string LossScalerOf<RulesT>::set(StringRef key, StringRef text) {
  if (key == "check") {
    strict = text == "both";
    return strict || text == "scaled" ? "" : "scaled or both";
  }
  if (key == "init-scale") {
    bool isScale = !text.getAsDouble(initScale) && isLossScale(initScale);
    return isScale ? "" : "positive and, with its reciprocal, finite in f32";
  }
  for (const ScalerField<RulesT> &field : getScalerFields<RulesT>()) {
    if (toKey(field.name) != key)
      continue;
    std::string word = llvm::join(llvm::split(text, '-'), "_");
    // Words may contain hyphens, which numbers use as signs.
    if (field.set(rules, text) || field.set(rules, word))
      return "";
    return llvm::join(llvm::split(field.expected, '_'), "-");
  }
  return "one of " + llvm::join(getKeys(), ", ");
}

/// Scales of layers and their bounds are powers of two.
static bool canStartAt(float scale, const LayerScalerRules &) {
  LayerScalerRules rules;
  rules.minScale = rules.maxScale = scale;
  return findScalerError(rules).empty();
}
static bool canStartAt(float, const ScalerRules &) { return true; }

template <typename RulesT>
std::string LossScalerOf<RulesT>::findError() const {
  std::string start = formatNumber(initScale),
              least = formatNumber(rules.minScale),
              most = formatNumber(rules.maxScale);
  if (!canStartAt(static_cast<float>(initScale), rules))
    return "expected 'init-scale' to be a power of two from 2^-126 to 2^126, "
           "got " +
           start;
  if (!(rules.minScale <= rules.maxScale))
    return "expected 'min-scale' to be at most 'max-scale', got " + least +
           " and " + most;
  if (!(initScale >= rules.minScale && initScale <= rules.maxScale))
    return "expected 'init-scale' to lie between 'min-scale' and 'max-scale', "
           "got " +
           start + ", " + least + " and " + most;
  return "";
}

template struct mlir::amp::LossScalerOf<ScalerRules>;
template struct mlir::amp::LossScalerOf<LayerScalerRules>;

//===- LossScaler.cpp - The machines that adapt a loss scale --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/LossScaler.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::amp;

static constexpr StringRef names[] = {"amp",       "pytorch",  "apex",
                                      "deepspeed", "megatron", "tf-keras",
                                      "keras",     "mxnet",    "paddle"};

ArrayRef<StringRef> mlir::amp::getLossScalerNames() { return names; }

std::optional<LossScaler> mlir::amp::getLossScaler(StringRef name) {
  if (!llvm::is_contained(names, name))
    return std::nullopt;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  LossScaler scaler;
  if (name == "amp")
    return scaler;
  // All compare for equality but tf-keras.
  scaler.intervalRule = "equal";
  if (name == "pytorch") {
    scaler.minScale = 0;
  } else if (name == "apex" || name == "mxnet") {
    scaler.minScale = 0;
    scaler.maxScale = 0x1p24;
  } else if (name == "deepspeed") {
    scaler.growthInterval = 1000;
    scaler.maxScale = infinity;
    scaler.hysteresis = 2;
    scaler.hysteresisRefill = "growth";
    scaler.afterBackoff = "hold";
    scaler.growthGuard = "off";
  } else if (name == "megatron") {
    scaler.initScale = 0x1p32;
    scaler.growthInterval = 1000;
    scaler.maxScale = infinity;
    scaler.hysteresis = 2;
    scaler.hysteresisRefill = "growth";
    scaler.growthGuard = "off";
  } else if (name == "tf-keras") {
    scaler.initScale = 0x1p15;
    scaler.intervalRule = "at-least";
    scaler.check = "both";
  } else if (name == "keras") {
    scaler.initScale = 0x1p15;
    scaler.minScale = 0;
    scaler.maxScale = infinity;
    scaler.growthGuard = "off";
  } else if (name == "paddle") {
    scaler.afterBackoff = "refill";
  }
  return scaler;
}

bool mlir::amp::isLossScale(double value) {
  auto scale = static_cast<float>(value);
  return scale > 0 && std::isfinite(scale) && std::isfinite(1 / scale);
}

ArrayRef<StringRef> LossScaler::getChoices(StringRef key) {
  static constexpr StringRef refill[] = {"clean", "growth"};
  static constexpr StringRef backoff[] = {"count", "hold", "refill"};
  static constexpr StringRef guard[] = {"on", "off"};
  static constexpr StringRef interval[] = {"at-least", "equal"};
  static constexpr StringRef check[] = {"scaled", "both"};
  if (key == "hysteresis-refill")
    return refill;
  if (key == "after-backoff")
    return backoff;
  if (key == "growth-guard")
    return guard;
  if (key == "interval-rule")
    return interval;
  return check;
}

/// Writes `value` with six digits.
static SmallString<16> formatNumber(double value) {
  SmallString<16> text;
  llvm::raw_svector_ostream(text) << llvm::format("%g", value);
  return text;
}

LogicalResult LayerScaler::verify(LossScaler::ErrorHandler error) const {
  bool failed = false;
  auto require = [&](bool holds, StringRef key, const Twine &message) {
    if (!holds && !failed)
      error(key, message);
    failed |= !holds;
  };
  auto isPower = [](double value) {
    int exponent;
    return value > 0 && std::frexp(value, &exponent) == 0.5;
  };
  // What divides has a reciprocal that is normal in f32.
  auto isScale = [&](double value) {
    return isPower(value) && value >= 0x1p-126 && value <= 0x1p126;
  };
  require(isScale(initScale), "init-scale",
          "must be a power of two between 2^-126 and 2^126, got " +
              formatNumber(initScale));
  require(isScale(growthFactor) && growthFactor > 1, "growth-factor",
          "must be a power of two from 2 to 2^126, got " +
              formatNumber(growthFactor));
  require(isScale(backoffFactor) && backoffFactor < 1, "backoff-factor",
          "must be a power of two from 2^-126 to 0.5, got " +
              formatNumber(backoffFactor));
  require(isScale(minScale), "min-scale",
          "must be a power of two between 2^-126 and 2^126, got " +
              formatNumber(minScale));
  require(isScale(maxScale), "max-scale",
          "must be a power of two between 2^-126 and 2^126, got " +
              formatNumber(maxScale));
  require(initScale >= minScale && initScale <= maxScale, "init-scale",
          "must be between 'min-scale' and 'max-scale', got " +
              formatNumber(initScale) + ", " + formatNumber(minScale) +
              " and " + formatNumber(maxScale));
  require(static_cast<float>(target) > 0 &&
              std::isfinite(static_cast<float>(target)),
          "layer-target",
          "must be positive and finite in f32, got " + formatNumber(target));
  return failure(failed);
}

LogicalResult LossScaler::verify(ErrorHandler error) const {
  bool failed = false;
  auto require = [&](bool holds, StringRef key, const Twine &message) {
    if (!holds && !failed)
      error(key, message);
    failed |= !holds;
  };
  auto number = formatNumber;
  // What counts is the f32 that a number rounds to.
  auto growth = static_cast<float>(growthFactor);
  auto backoff = static_cast<float>(backoffFactor);
  require(isLossScale(initScale), "init-scale",
          "must be positive, and it and its reciprocal finite in f32, got " +
              number(initScale));
  require(growth > 1 && std::isfinite(growth), "growth-factor",
          "must be greater than 1 and finite in f32, got " +
              number(growthFactor));
  require(backoff > 0 && backoff < 1, "backoff-factor",
          "must be between 0 and 1, got " + number(backoffFactor));
  require(growthInterval >= 1, "growth-interval",
          "must be at least 1, got " + Twine(growthInterval));
  require(hysteresis >= 1, "hysteresis",
          "must be at least 1, got " + Twine(hysteresis));
  require(minScale >= 0 && minScale <= maxScale, "min-scale",
          "must be between 0 and 'max-scale', got " + number(minScale) +
              " and " + number(maxScale));
  require(initScale >= minScale && initScale <= maxScale, "init-scale",
          "must be between 'min-scale' and 'max-scale', got " +
              number(initScale) + ", " + number(minScale) + " and " +
              number(maxScale));
  for (auto [key, value] :
       {std::pair(StringRef("hysteresis-refill"), StringRef(hysteresisRefill)),
        std::pair(StringRef("after-backoff"), StringRef(afterBackoff)),
        std::pair(StringRef("growth-guard"), StringRef(growthGuard)),
        std::pair(StringRef("interval-rule"), StringRef(intervalRule)),
        std::pair(StringRef("check"), StringRef(check))})
    require(llvm::is_contained(getChoices(key), value), key,
            "must be " + llvm::join(getChoices(key), " or ") + ", got '" +
                value + "'");
  return failure(failed);
}

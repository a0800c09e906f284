//===- LossScaler.h - The machines that adapt a loss scale ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What frameworks do with the loss scale after each step, as constants and
// rules of one machine: that of `amp.update_scale`.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_LOSSSCALER_H
#define AMP_PRECISION_LOSSSCALER_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::amp {

/// The constants and rules of a machine. The rules are spelled as in options
/// and policies.
struct LossScaler {
  double initScale = 65536;
  double growthFactor = 2;
  double backoffFactor = 0.5;
  int32_t growthInterval = 2000;
  double minScale = 1;
  double maxScale = 3.4028234663852886e38;
  int32_t hysteresis = 1;
  /// What fills the hysteresis up: every `clean` step, or `growth` alone.
  std::string hysteresisRefill = "clean";
  /// The hysteresis tracker after a backoff goes on to `count` down, is held at
  /// 1 (`hold`), or is full again (`refill`).
  std::string afterBackoff = "count";
  /// Whether growth beyond the range of f32 is refused: `on` or `off`.
  std::string growthGuard = "on";
  /// When the scale grows: with the tracker `at-least` at the interval, or
  /// `equal` to it.
  std::string intervalRule = "at-least";
  /// Which gradients must be finite: the `scaled` ones, or `both` these and the
  /// unscaled ones.
  std::string check = "scaled";

  /// Takes an error: the key that is wrong, and what is wrong with it.
  using ErrorHandler =
      llvm::function_ref<void(StringRef key, const Twine &message)>;
  /// Returns failure, after an error, if the machine cannot work.
  LogicalResult verify(ErrorHandler error) const;

  /// The words that the rule `key` (`hysteresis-refill`, ...) can be.
  static ArrayRef<StringRef> getChoices(StringRef key);
};

/// The constants by which the loss scales of layers adapt: those of
/// `amp.adapt_scale`.
struct LayerScaler {
  double initScale = 65536;
  double growthFactor = 2;
  double backoffFactor = 0.0625;
  double minScale = 0x1p-16;
  double maxScale = 0x1p40;
  /// The largest gradient of a layer is brought to between half of this and
  /// this.
  double target = 2048;

  /// As that of LossScaler.
  LogicalResult verify(LossScaler::ErrorHandler error) const;
};

/// Whether gradients can be multiplied by `value` and its reciprocal in f32.
bool isLossScale(double value);

/// Returns the machine of the framework `name`, or none for an unknown name.
/// `amp` is ours.
std::optional<LossScaler> getLossScaler(StringRef name);

/// The names that `getLossScaler` knows.
ArrayRef<StringRef> getLossScalerNames();

} // namespace mlir::amp

#endif // AMP_PRECISION_LOSSSCALER_H

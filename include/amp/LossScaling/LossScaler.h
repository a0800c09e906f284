//===- LossScaler.h - How loss scales start and adapt -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loss scalers that options of passes and keys of policies describe, and the
// scalers of frameworks.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_LOSSSCALER_H
#define AMP_LOSSSCALING_LOSSSCALER_H

#include "amp/Dialect/AMP/IR/ScalerRules.h"
#include <optional>
#include <string>

namespace mlir::amp {

/// A loss scaler: the rules of an attribute, and the other settings.
template <typename RulesT>
struct LossScalerOf {
  double initScale = 65536;
  RulesT rules;
  /// Whether unscaled gradients must be finite too. The key `check` is then
  /// `both`, otherwise `scaled`.
  bool strict = false;

  /// The keys of options and policies: `init-scale`, those of the rules
  /// (`growth-factor`, ...) and `check`.
  static ArrayRef<std::string> getKeys();
  /// Sets `key`, one of these, to the value that `text` spells. Returns an
  /// empty string, or a description of valid values if `text` is invalid, such
  /// as `a number greater than 1`.
  std::string set(StringRef key, StringRef text);
  /// Returns an error text if values contradict each other, or an empty string.
  std::string findError() const;
};

/// Adapts a loss scale as `amp.update_scale` does.
using LossScaler = LossScalerOf<ScalerRules>;
/// Adapts the loss scales of layers as `amp.adapt_scale` does.
using LayerScaler = LossScalerOf<LayerScalerRules>;

/// Whether gradients can be multiplied by `value` and its reciprocal in f32.
bool isLossScale(double value);

/// Returns the scaler of the framework `name`, or none for an unknown name. The
/// name `amp` selects the defaults of this project.
std::optional<LossScaler> getLossScaler(StringRef name);

/// The names that `getLossScaler` knows.
ArrayRef<StringRef> getLossScalerNames();

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_LOSSSCALER_H

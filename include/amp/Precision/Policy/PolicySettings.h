//===- PolicySettings.h - What a policy says to the passes ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a policy that sets options of passes. An option that the user
// gives takes precedence.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_POLICY_POLICYSETTINGS_H
#define AMP_PRECISION_POLICY_POLICYSETTINGS_H

#include "amp/Precision/Policy/Target.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlir::amp {

/// How types are assigned to slots.
enum class Strategy : uint8_t {
  /// Operation by operation, as in torch.autocast.
  Autocast,
  /// The four-list propagation of TensorFlow's grappler.
  Grappler,
  /// The least modelled cost: a minimum cut.
  Optimal,
};

/// Returns the name of `strategy` in options and reports, and the strategy of a
/// name.
StringRef stringifyStrategy(Strategy strategy);
std::optional<Strategy> symbolizeStrategy(StringRef name);

/// The result type of products that compute gradients of parameters.
enum class GradientType {
  /// f32, the type of the accumulator.
  F32,
  /// The type of any other product.
  Low,
  /// The type of the operands for operations that `low-gradients` lists, whose
  /// libraries give no other, and f32 for all others.
  Listed,
};

/// Returns the name of `type` in policies, and the type of a name.
StringRef stringifyGradientType(GradientType type);
std::optional<GradientType> symbolizeGradientType(StringRef name);

/// Whether later passes may drop a rounding to the low type where that makes a
/// result more precise.
enum class Roundings {
  /// They may: a product whose low result is only read in f32 gives f32.
  Fold,
  /// They may not: each rounding is part of the program.
  Keep,
};

/// What the strategy `optimal` does with operations that read both an f32 and a
/// low value.
enum class Promotions {
  /// It chooses the type that costs less.
  Cost,
  /// Those of the forward pass that autocast promotes to f32 stay f32, and so
  /// do the gradients of operations with a pin to f32.
  Keep,
};

/// The settings of loss scaling in a policy. Options of
/// `amp-insert-loss-scaling` have the same names.
struct LossScalingSettings {
  /// `dynamic`, `layerwise`, `none` or a number; empty for dynamic with fp16
  /// and none otherwise.
  std::string mode;
  /// The name of a LossScaler.
  std::string scaler;
  /// What replaces its values, by the keys of LossScaler, as the file spells
  /// it.
  std::map<std::string, std::string> values;
};

/// The settings of 8-bit products in a policy. Options of
/// `amp-quantize-products` have the same names.
struct Float8Settings {
  /// The name of a ScalingRecipe, or `none`. Empty if the policy does not set
  /// it.
  std::string recipe;
  /// Values of other settings, by the keys of `getFloat8Keys`, as the file
  /// spells them.
  std::map<std::string, std::string> values;
  /// Globs of names of layers that keep 16-bit operands. Those of the base come
  /// first.
  std::vector<std::string> keep;
};

/// The settings of a policy. They are the defaults of the passes' options.
///
/// ```yaml
/// precision: fp16                   # also bf16 or f32
/// strategy: grappler                # also autocast or optimal
/// gradient-type: f32                # or low, or listed
/// low-gradients: [foreign.conv]     # globs of operations, for listed
/// roundings: fold                   # or keep
/// promotions: cost                  # or keep
/// loss-scaling: none                # also dynamic or a number; or:
/// loss-scaling: {mode: dynamic, scaler: apex, init-scale: 65536,
///                growth-factor: 2, backoff-factor: 0.5,
///                growth-interval: 2000, min-scale: 1, max-scale: 16777216,
///                hysteresis: 1, hysteresis-refill: clean,
///                after-backoff: count, growth-guard: on,
///                interval-rule: at-least, check: scaled}
/// fp8: delayed                      # a recipe of 8-bit products; or:
/// fp8: {recipe: delayed, formats: hybrid, history-length: 1024,
///       algorithm: max, margin: 0, keep-first: 0, keep-last: 1,
///       keep: ["head*"], backward: quantized,
///       high-weight-gradients: false, accumulator-bits: 32, promotion: 0}
/// linear: [foreign.halo_exchange]   # globs of operations that commute with a
///                                   # factor; for amp-check-loss-scaling
/// intervals: [foreign.exp=exp]      # the intervals of results; for
///                                   # amp-check-loss-scaling
/// master-weights: cast              # also copy, split or none
/// target: h100                      # a GPU as in the option; or a mapping:
/// target: {base: h100, low-types: [f16, bf16], low-flop-per-byte: 295,
///          f32-flop-per-byte: 20, alignment: 8, cast-read-share: 1,
///          cast-write-share: 1}
/// ```
struct PolicySettings {
  /// A name of the low type, in the spelling of the file. Empty if the policy
  /// does not set it.
  std::string precision;
  std::optional<Strategy> strategy;
  std::optional<GradientType> gradientType;
  /// Globs of operations that give the gradient of a parameter in the type of
  /// their operands. Those of the base come first.
  std::vector<std::string> lowGradients;
  /// `Fold` if the policy does not set it.
  std::optional<Roundings> roundings;
  /// `Cost` if the policy does not set it.
  std::optional<Promotions> promotions;
  LossScalingSettings lossScaling;
  Float8Settings float8;
  /// Globs of operations without LossScaleOpInterface that commute with a
  /// factor that all their float operands share. Those of the base come first.
  std::vector<std::string> linear;
  /// Entries with the intervals of the results of operations without
  /// FloatRangeOpInterface. Those of the base come first.
  std::vector<std::string> intervals;
  /// Empty if the policy does not set it.
  std::string masterWeights;
  std::optional<Target> target;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_POLICY_POLICYSETTINGS_H

//===- ScalerRules.h - The rules by which loss scales adapt -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of `#amp.scaler` and `#amp.layer_scaler`, which need no context.
// Each field has one name, one range and one spelling, which attributes,
// options of passes and policies share.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_AMP_IR_SCALERRULES_H
#define AMP_DIALECT_AMP_IR_SCALERRULES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <limits>
#include <string>

namespace mlir::amp {

/// What fills the hysteresis tracker up again: every clean step, or growth.
enum class HysteresisRefill : uint8_t { Clean, Growth };

/// The hysteresis tracker after a backoff: it goes on to count down, is held at
/// 1, or is full again.
enum class AfterBackoff : uint8_t { Count, Hold, Refill };

/// Whether growth beyond the range of f32 is refused.
enum class GrowthGuard : uint8_t { On, Off };

/// When the scale grows: with the growth tracker at least at the interval, or
/// equal to it.
enum class IntervalRule : uint8_t { AtLeast, Equal };

/// The constants and rules of `amp.update_scale`.
struct ScalerRules {
  float growthFactor = 2;
  float backoffFactor = 0.5;
  int32_t growthInterval = 2000;
  float minScale = 1;
  float maxScale = std::numeric_limits<float>::max();
  int32_t hysteresis = 1;
  HysteresisRefill hysteresisRefill = HysteresisRefill::Clean;
  AfterBackoff afterBackoff = AfterBackoff::Count;
  GrowthGuard growthGuard = GrowthGuard::On;
  IntervalRule intervalRule = IntervalRule::AtLeast;
};

/// The constants of `amp.adapt_scale`.
struct LayerScalerRules {
  /// The largest gradient of a layer is brought to between half of this and
  /// this.
  float target = 2048;
  float growthFactor = 2;
  float backoffFactor = 0.0625;
  float minScale = 0x1p-16;
  float maxScale = 0x1p40;
};

/// A constant or rule of `RulesT`.
template <typename RulesT>
struct ScalerField {
  /// The name in the attribute, such as `growth_factor`.
  StringLiteral name;
  /// What its values are, such as `a number greater than 1`.
  StringLiteral expected;
  /// Reads `text`. Returns false if the value has another form.
  bool (*set)(RulesT &rules, StringRef text);
  /// Returns the value as `set` reads it.
  std::string (*get)(const RulesT &rules);
  /// Returns whether the value is one of those expected.
  bool (*isValid)(const RulesT &rules);
};

/// Returns the fields, in the order in which they are printed.
template <typename RulesT>
ArrayRef<ScalerField<RulesT>> getScalerFields();
template <>
ArrayRef<ScalerField<ScalerRules>> getScalerFields();
template <>
ArrayRef<ScalerField<LayerScalerRules>> getScalerFields();

/// Returns the field called `name`, or null.
template <typename RulesT>
const ScalerField<RulesT> *findScalerField(StringRef name) {
  for (const ScalerField<RulesT> &field : getScalerFields<RulesT>())
    if (field.name == name)
      return &field;
  return nullptr;
}

/// Returns the value of the field called `name`.
template <typename RulesT>
std::string getScalerField(const RulesT &rules, StringRef name) {
  const ScalerField<RulesT> *field = findScalerField<RulesT>(name);
  return field ? field->get(rules) : std::string();
}

/// Describes the first invalid field of `rules`; empty if all are valid.
template <typename RulesT>
std::string findScalerError(const RulesT &rules) {
  for (const ScalerField<RulesT> &field : getScalerFields<RulesT>())
    if (!field.isValid(rules))
      return ("expected '" + field.name + "' to be " + field.expected +
              ", got " + field.get(rules))
          .str();
  if (rules.minScale <= rules.maxScale)
    return "";
  return "expected 'min_scale' to be at most 'max_scale', got " +
         getScalerField(rules, "min_scale") + " and " +
         getScalerField(rules, "max_scale");
}

/// Rules are equal if they print alike.
template <typename RulesT>
bool isSameScaler(const RulesT &a, const RulesT &b) {
  for (const ScalerField<RulesT> &field : getScalerFields<RulesT>())
    if (field.get(a) != field.get(b))
      return false;
  return true;
}
inline bool operator==(const ScalerRules &a, const ScalerRules &b) {
  return isSameScaler(a, b);
}
inline bool operator==(const LayerScalerRules &a, const LayerScalerRules &b) {
  return isSameScaler(a, b);
}

template <typename RulesT>
llvm::hash_code hashScaler(const RulesT &rules) {
  llvm::hash_code hash = 0;
  for (const ScalerField<RulesT> &field : getScalerFields<RulesT>())
    hash = llvm::hash_combine(hash, field.get(rules));
  return hash;
}
inline llvm::hash_code hash_value(const ScalerRules &rules) {
  return hashScaler(rules);
}
inline llvm::hash_code hash_value(const LayerScalerRules &rules) {
  return hashScaler(rules);
}

} // namespace mlir::amp

#endif // AMP_DIALECT_AMP_IR_SCALERRULES_H

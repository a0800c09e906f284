//===- ScalerRules.cpp - The rules by which loss scales adapt -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/ScalerRules.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static bool readNumber(StringRef text, float &number) {
  double value;
  if (text.getAsDouble(value))
    return false;
  number = static_cast<float>(value);
  return true;
}
static bool readNumber(StringRef text, int32_t &number) {
  return !text.getAsInteger(10, number);
}

/// With the nine digits that tell an f32 from all others, without zeros.
static std::string printNumber(float number) {
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  SmallString<16> text;
  APFloat(number).toString(text);
  return text.str().str();
}
static std::string printNumber(int32_t number) {
  return std::to_string(number);
}

static bool isGrowth(float value) { return value > 1 && std::isfinite(value); }
static bool isBackoff(float value) { return value > 0 && value < 1; }
static bool isFloor(float value) { return value >= 0 && std::isfinite(value); }
static bool isCap(float value) { return value >= 0; }
static bool isCount(int32_t value) { return value >= 1; }
static bool isTarget(float value) { return value > 0 && std::isfinite(value); }
/// Whether both `value` and its reciprocal are normal powers of two.
static bool isPower(float value) {
  int exponent;
  return value >= 0x1p-126f && value <= 0x1p126f &&
         std::frexp(value, &exponent) == 0.5f;
}
static bool isGrowthPower(float value) { return isPower(value) && value > 1; }
static bool isBackoffPower(float value) { return isPower(value) && value < 1; }

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

namespace {

template <auto member>
struct MemberOf;
template <typename RulesT, typename ValueT, ValueT RulesT::*member>
struct MemberOf<member> {
  using Rules = RulesT;
};

/// The functions of a field that is a number.
template <auto member, auto isValidNumber>
struct Number {
  using Rules = typename MemberOf<member>::Rules;
  static bool set(Rules &rules, StringRef text) {
    return readNumber(text, rules.*member) && isValid(rules);
  }
  static std::string get(const Rules &rules) {
    return printNumber(rules.*member);
  }
  static bool isValid(const Rules &rules) {
    return isValidNumber(rules.*member);
  }
};

constexpr StringLiteral refillWords[] = {"clean", "growth"};
constexpr StringLiteral backoffWords[] = {"count", "hold", "refill"};
constexpr StringLiteral guardWords[] = {"on", "off"};
constexpr StringLiteral intervalWords[] = {"at_least", "equal"};

/// The functions of a field that is a choice of `words`, in the order of the
/// enumeration.
template <auto member, const auto &words>
struct Choice {
  using Rules = typename MemberOf<member>::Rules;
  static bool set(Rules &rules, StringRef text) {
    const auto *word = llvm::find(words, text);
    if (word == std::end(words))
      return false;
    using EnumT = std::decay_t<decltype(rules.*member)>;
    rules.*member = static_cast<EnumT>(word - std::begin(words));
    return true;
  }
  static std::string get(const Rules &rules) {
    return words[static_cast<unsigned>(rules.*member)].str();
  }
  static bool isValid(const Rules &) { return true; }
};

template <typename FieldT>
constexpr ScalerField<typename FieldT::Rules>
makeField(StringLiteral name, StringLiteral expected) {
  return {name, expected, FieldT::set, FieldT::get, FieldT::isValid};
}

} // namespace

template <>
ArrayRef<ScalerField<ScalerRules>> mlir::amp::getScalerFields() {
  using R = ScalerRules;
  static constexpr ScalerField<R> fields[] = {
      makeField<Number<&R::growthFactor, isGrowth>>("growth_factor",
                                                    "a number greater than 1"),
      makeField<Number<&R::backoffFactor, isBackoff>>(
          "backoff_factor", "a number between 0 and 1"),
      makeField<Number<&R::growthInterval, isCount>>("growth_interval",
                                                     "a positive integer"),
      makeField<Number<&R::minScale, isFloor>>("min_scale",
                                               "a number of at least 0"),
      makeField<Number<&R::maxScale, isCap>>("max_scale",
                                             "a number of at least 0"),
      makeField<Number<&R::hysteresis, isCount>>("hysteresis",
                                                 "a positive integer"),
      makeField<Choice<&R::hysteresisRefill, refillWords>>("hysteresis_refill",
                                                           "clean or growth"),
      makeField<Choice<&R::afterBackoff, backoffWords>>(
          "after_backoff", "count, hold or refill"),
      makeField<Choice<&R::growthGuard, guardWords>>("growth_guard",
                                                     "on or off"),
      makeField<Choice<&R::intervalRule, intervalWords>>("interval_rule",
                                                         "at_least or equal")};
  return fields;
}

template <>
ArrayRef<ScalerField<LayerScalerRules>> mlir::amp::getScalerFields() {
  using R = LayerScalerRules;
  static constexpr ScalerField<R> fields[] = {
      makeField<Number<&R::target, isTarget>>("target", "a positive number"),
      makeField<Number<&R::growthFactor, isGrowthPower>>(
          "growth_factor", "a power of two from 2 to 2^126"),
      makeField<Number<&R::backoffFactor, isBackoffPower>>(
          "backoff_factor", "a power of two from 2^-126 to 0.5"),
      makeField<Number<&R::minScale, isPower>>(
          "min_scale", "a power of two from 2^-126 to 2^126"),
      makeField<Number<&R::maxScale, isPower>>(
          "max_scale", "a power of two from 2^-126 to 2^126")};
  return fields;
}

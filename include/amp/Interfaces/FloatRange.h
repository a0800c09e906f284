//===- FloatRange.h - Intervals of float values -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intervals of the values of a float tensor, known without data, and arithmetic
// on them. Bounds are doubles and err outwards: they hold for the values that
// an operation computes in f32, not only for the exact real numbers.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_FLOATRANGE_H
#define AMP_INTERFACES_FLOATRANGE_H

#include "mlir/IR/BuiltinTypes.h"
#include <limits>

namespace mlir::amp {

/// An interval that holds every element of a tensor which is not NaN. An
/// infinite bound includes the infinity itself.
struct FloatRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  bool mayBeNaN = true;

  /// Nothing is known.
  static FloatRange unknown() { return {}; }
  /// No value has been seen yet: the neutral element of `join`.
  static FloatRange empty() {
    return {std::numeric_limits<double>::infinity(),
            -std::numeric_limits<double>::infinity(), false};
  }
  /// Exactly the numbers of [lo, hi].
  static FloatRange get(double lo, double hi, bool mayBeNaN = false) {
    return {lo, hi, mayBeNaN};
  }
  /// One number.
  static FloatRange get(double value) { return {value, value, false}; }

  /// Whether there is no bound on either side.
  bool isUnbounded() const {
    return lo == -std::numeric_limits<double>::infinity() &&
           hi == std::numeric_limits<double>::infinity();
  }
  /// Whether no value but NaN is possible.
  bool hasNoNumber() const { return lo > hi; }
  bool isEmpty() const { return hasNoNumber() && !mayBeNaN; }
  bool contains(double value) const { return lo <= value && value <= hi; }
  bool mayBeInfinite() const {
    return contains(std::numeric_limits<double>::infinity()) ||
           contains(-std::numeric_limits<double>::infinity());
  }
  /// The largest magnitude.
  double getMaxAbs() const { return std::max(std::abs(lo), std::abs(hi)); }

  bool operator==(const FloatRange &other) const {
    return lo == other.lo && hi == other.hi && mayBeNaN == other.mayBeNaN;
  }
  bool operator!=(const FloatRange &other) const { return !(*this == other); }

  /// The least interval that holds both.
  FloatRange join(const FloatRange &other) const {
    return {std::min(lo, other.lo), std::max(hi, other.hi),
            mayBeNaN || other.mayBeNaN};
  }
  /// This interval and one number more.
  FloatRange join(double value) const { return join(get(value)); }
  /// The same numbers; NaN as well if `possible`.
  FloatRange withNaN(bool possible) const {
    return {lo, hi, mayBeNaN || possible};
  }
  /// The numbers within [low, high], for results that cannot leave it.
  FloatRange clamp(double low, double high) const {
    return {std::min(std::max(lo, low), high),
            std::max(std::min(hi, high), low), mayBeNaN};
  }

  /// Returns the next interval of a fixed-point iteration. This interval
  /// contains `last`, the interval before, which has changed `numChanges`
  /// times. A bound that still moves after several changes becomes infinite, so
  /// that the iteration ends.
  FloatRange widen(const FloatRange &last, unsigned numChanges) const;

  /// The interval after rounding each value to `type`, to nearest even. A bound
  /// beyond the range of the type becomes infinite.
  FloatRange roundTo(FloatType type) const;

  /// Whether every number is finite after rounding to `type`.
  bool fits(FloatType type) const;
};

/// Prints `[lo, hi]`, followed by ` or NaN` if NaN is possible.
raw_ostream &operator<<(raw_ostream &os, const FloatRange &range);

/// Rounds `value` to `type`, to nearest even.
double roundTo(double value, FloatType type);

/// Intervals of functions as they are computed in f32 or wider: bounds have
/// slack for an error of 32 units in the last place of f32 and for results
/// below the normal range that are flushed to zero. Rounding never changes the
/// sign of a result.
namespace interval {

/// The interval [lo, hi] with the slack of one computation.
FloatRange computed(double lo, double hi, bool mayBeNaN);

FloatRange add(FloatRange a, FloatRange b);
FloatRange sub(FloatRange a, FloatRange b);
FloatRange mul(FloatRange a, FloatRange b);
FloatRange div(FloatRange a, FloatRange b);
FloatRange neg(FloatRange a);
FloatRange abs(FloatRange a);
FloatRange max(FloatRange a, FloatRange b);
FloatRange min(FloatRange a, FloatRange b);
FloatRange square(FloatRange a);
FloatRange sqrt(FloatRange a);
FloatRange rsqrt(FloatRange a);
FloatRange exp(FloatRange a);
FloatRange expm1(FloatRange a);
FloatRange log(FloatRange a);
FloatRange log1p(FloatRange a);
FloatRange pow(FloatRange a, FloatRange b);
FloatRange tanh(FloatRange a);
FloatRange sigmoid(FloatRange a);
FloatRange erf(FloatRange a);
/// sin and cos.
FloatRange wave(FloatRange a);

/// The sum of `count` values of `a` (`ShapedType::kDynamic` if that is not
/// known), accumulated in `type`, one after the other or in lanes.
FloatRange sum(FloatRange a, int64_t count, FloatType type);
/// The sum divided by `count`.
FloatRange mean(FloatRange a, int64_t count, FloatType type);

} // namespace interval

} // namespace mlir::amp

#endif // AMP_INTERFACES_FLOATRANGE_H

//===- FloatRange.cpp - Intervals of float values -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/FloatRange.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Rounding to a type
//===----------------------------------------------------------------------===//

double mlir::amp::roundTo(double value, FloatType type) {
  if (type.isF64() || value == 0 || !std::isfinite(value))
    return value;
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.convertToDouble();
}

FloatRange FloatRange::roundTo(FloatType type) const {
  if (hasNoNumber())
    return *this;
  return {amp::roundTo(lo, type), amp::roundTo(hi, type), mayBeNaN};
}

FloatRange FloatRange::widen(const FloatRange &last,
                             unsigned numChanges) const {
  constexpr unsigned patience = 3;
  if (numChanges > 3 * patience)
    return unknown();
  FloatRange widened = *this;
  if (numChanges > patience && lo < last.lo)
    widened.lo = -kInfinity;
  if (numChanges > patience && hi > last.hi)
    widened.hi = kInfinity;
  return widened;
}

bool FloatRange::fits(FloatType type) const {
  if (hasNoNumber())
    return true;
  return std::isfinite(amp::roundTo(lo, type)) &&
         std::isfinite(amp::roundTo(hi, type));
}

raw_ostream &mlir::amp::operator<<(raw_ostream &os, const FloatRange &range) {
  if (range.hasNoNumber())
    return os << (range.mayBeNaN ? "NaN" : "empty");
  os << llvm::format("[%.6g, %.6g]", range.lo, range.hi);
  if (range.mayBeNaN)
    os << " or NaN";
  return os;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace mlir::amp::interval {

/// 32 units in the last place of f32, and its least normal number.
static constexpr double kRelativeSlack = 0x1p-19;
static constexpr double kAbsoluteSlack = 0x1p-126;
/// The largest number of f32.
static constexpr double kLargest = std::numeric_limits<float>::max();

FloatRange computed(double lo, double hi, bool mayBeNaN) {
  // A NaN bound comes from infinities that cancel. The result may then be any
  // number. The caller accounts for the NaN.
  auto widen = [](double bound, double sign) {
    if (std::isnan(bound))
      return sign * kInfinity;
    if (std::isinf(bound))
      return bound;
    double slack = std::abs(bound) * kRelativeSlack + kAbsoluteSlack;
    double widened = bound + sign * slack;
    // Do not widen beyond zero.
    if (bound * sign <= 0 && widened * sign > 0)
      return 0.0;
    // A value beyond the range of f32 is infinite in f32, but not in f64.
    if (std::abs(widened) > kLargest)
      return widened * sign > 0 ? sign * kInfinity
                                : std::copysign(kLargest, widened);
    return widened;
  };
  return {widen(lo, -1), widen(hi, 1), mayBeNaN};
}

/// The hull of `candidates`. Ignores NaN.
static FloatRange hull(std::initializer_list<double> candidates,
                       bool mayBeNaN) {
  double lo = kInfinity, hi = -kInfinity;
  for (double candidate : candidates) {
    if (std::isnan(candidate))
      continue;
    lo = std::min(lo, candidate);
    hi = std::max(hi, candidate);
  }
  if (lo > hi)
    return FloatRange::unknown();
  return computed(lo, hi, mayBeNaN);
}

FloatRange add(FloatRange a, FloatRange b) {
  bool cancels = (a.hi == kInfinity && b.lo == -kInfinity) ||
                 (a.lo == -kInfinity && b.hi == kInfinity);
  return computed(a.lo + b.lo, a.hi + b.hi,
                  a.mayBeNaN || b.mayBeNaN || cancels);
}

FloatRange neg(FloatRange a) { return {0 - a.hi, 0 - a.lo, a.mayBeNaN}; }

FloatRange sub(FloatRange a, FloatRange b) { return add(a, neg(b)); }

FloatRange mul(FloatRange a, FloatRange b) {
  bool mayBeNaN = a.mayBeNaN || b.mayBeNaN ||
                  (a.contains(0) && b.mayBeInfinite()) ||
                  (b.contains(0) && a.mayBeInfinite());
  // Zero times a bound is zero, even if the bound is infinite.
  auto product = [](double x, double y) {
    return x == 0 || y == 0 ? 0.0 : x * y;
  };
  return hull({product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo),
               product(a.hi, b.hi)},
              mayBeNaN);
}

FloatRange div(FloatRange a, FloatRange b) {
  bool mayBeNaN = a.mayBeNaN || b.mayBeNaN ||
                  (a.mayBeInfinite() && b.mayBeInfinite()) ||
                  (a.contains(0) && b.contains(0));
  // A zero may have either sign, and a number close to zero may be flushed.
  if (b.lo <= kAbsoluteSlack && b.hi >= -kAbsoluteSlack)
    return FloatRange::unknown().withNaN(mayBeNaN);
  FloatRange result =
      hull({a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi}, mayBeNaN);
  // A finite number divided by an infinity is zero.
  return b.mayBeInfinite() ? result.join(0.0) : result;
}

FloatRange abs(FloatRange a) {
  if (a.lo >= 0)
    return a;
  if (a.hi <= 0)
    return neg(a);
  return {0.0, a.getMaxAbs(), a.mayBeNaN};
}

FloatRange max(FloatRange a, FloatRange b) {
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), a.mayBeNaN || b.mayBeNaN};
}

FloatRange min(FloatRange a, FloatRange b) {
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), a.mayBeNaN || b.mayBeNaN};
}

FloatRange square(FloatRange a) {
  FloatRange magnitude = abs(a);
  return computed(magnitude.lo * magnitude.lo, magnitude.hi * magnitude.hi,
                  a.mayBeNaN);
}

FloatRange sqrt(FloatRange a) {
  return computed(std::sqrt(std::max(a.lo, 0.0)),
                  std::sqrt(std::max(a.hi, 0.0)), a.mayBeNaN || a.lo < 0);
}

FloatRange rsqrt(FloatRange a) {
  bool mayBeNaN = a.mayBeNaN || a.lo < 0;
  // The root of a negative zero is a negative zero, and its reciprocal is -inf.
  if (a.lo <= kAbsoluteSlack)
    return FloatRange::get(-kInfinity, kInfinity, mayBeNaN);
  return computed(1 / std::sqrt(a.hi), 1 / std::sqrt(a.lo), mayBeNaN);
}

FloatRange exp(FloatRange a) {
  return computed(std::exp(a.lo), std::exp(a.hi), a.mayBeNaN);
}

FloatRange expm1(FloatRange a) {
  return computed(std::expm1(a.lo), std::expm1(a.hi), a.mayBeNaN)
      .clamp(-1.0, kInfinity);
}

/// The logarithm of `a` + `shift`, an increasing function from -`shift` on.
static FloatRange logarithm(FloatRange a, double shift,
                            double (*function)(double)) {
  bool mayBeNaN = a.mayBeNaN || a.lo < -shift;
  // A number close to the pole may be flushed to it.
  double lo = a.lo <= -shift + kAbsoluteSlack ? -kInfinity : function(a.lo);
  double hi = a.hi <= -shift ? -kInfinity : function(a.hi);
  return computed(lo, hi, mayBeNaN);
}

FloatRange log(FloatRange a) {
  return logarithm(a, 0.0, [](double x) { return std::log(x); });
}

FloatRange log1p(FloatRange a) {
  return logarithm(a, 1.0, [](double x) { return std::log1p(x); });
}

FloatRange pow(FloatRange a, FloatRange b) {
  bool mayBeNaN = a.mayBeNaN || b.mayBeNaN;
  // On positive bases the power is monotone in either operand.
  if (a.lo > kAbsoluteSlack || (a.lo >= 0 && b.lo >= 0))
    return hull({std::pow(a.lo, b.lo), std::pow(a.lo, b.hi),
                 std::pow(a.hi, b.lo), std::pow(a.hi, b.hi)},
                mayBeNaN);
  // An odd power is monotone in the base. An even power depends
  // only on the magnitude.
  if (b.lo == b.hi && b.lo >= 0 && b.lo <= 0x1p20 && b.lo == std::floor(b.lo)) {
    FloatRange base = std::fmod(b.lo, 2) == 0 ? abs(a) : a;
    return computed(std::pow(base.lo, b.lo), std::pow(base.hi, b.lo), mayBeNaN);
  }
  return FloatRange::unknown();
}

FloatRange tanh(FloatRange a) {
  return computed(std::tanh(a.lo), std::tanh(a.hi), a.mayBeNaN).clamp(-1, 1);
}

FloatRange sigmoid(FloatRange a) {
  return computed(1 / (1 + std::exp(-a.lo)), 1 / (1 + std::exp(-a.hi)),
                  a.mayBeNaN)
      .clamp(0, 1);
}

FloatRange erf(FloatRange a) {
  return computed(std::erf(a.lo), std::erf(a.hi), a.mayBeNaN).clamp(-1, 1);
}

FloatRange wave(FloatRange a) {
  return FloatRange::get(-1, 1, a.mayBeNaN || a.mayBeInfinite());
}

/// A bound on the ratio between a rounded sum of `count` values and the sum of
/// their magnitudes. Each addition errs by at most half a unit in the last
/// place. It also errs by at most the added value, because the partial sum is a
/// number of the type.
static double getGrowth(int64_t count) {
  constexpr int64_t limit = int64_t(1) << 20;
  return count <= limit ? 1 + count * 0x1p-22 : 4;
}

FloatRange sum(FloatRange a, int64_t count, FloatType type) {
  bool isDynamic = ShapedType::isDynamic(count);
  if (count == 1)
    return a;
  // A dynamic count may be any number.
  double terms = isDynamic ? kInfinity : count;
  auto times = [&](double bound) { return bound == 0 ? 0.0 : bound * terms; };
  double slack =
      isDynamic ? 0.0 : (getGrowth(count) - 1) * times(a.getMaxAbs());
  double lo = times(a.lo), hi = times(a.hi);
  if (isDynamic) {
    lo = a.lo < 0 ? -kInfinity : 0.0;
    hi = a.hi > 0 ? kInfinity : 0.0;
  }
  // A sum of values of one sign has this sign.
  FloatRange result{a.lo >= 0 ? std::max(lo - slack, 0.0) : lo - slack,
                    a.hi <= 0 ? std::min(hi + slack, 0.0) : hi + slack,
                    a.mayBeNaN};
  if (std::isnan(result.lo))
    result.lo = -kInfinity;
  if (std::isnan(result.hi))
    result.hi = kInfinity;
  // Partial sums that overflow stay infinite, or give NaN if both signs meet.
  double largest =
      llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  if (!(getGrowth(isDynamic ? INT64_MAX : count) * times(a.getMaxAbs()) <=
        largest)) {
    if (a.lo < 0)
      result.lo = -kInfinity;
    if (a.hi > 0)
      result.hi = kInfinity;
    result.mayBeNaN |= a.lo < 0 && a.hi > 0;
  }
  return result;
}

FloatRange mean(FloatRange a, int64_t count, FloatType type) {
  if (!ShapedType::isDynamic(count))
    return div(sum(a, count, type), FloatRange::get(count));
  // The mean is bounded for any count unless the sum overflows. The verifier
  // limits the count to fewer than 2^48 elements.
  constexpr int64_t most = int64_t(1) << 48;
  FloatRange total = sum(a, most, type);
  if (!std::isfinite(total.lo) || !std::isfinite(total.hi))
    return FloatRange{a.lo >= 0 ? 0.0 : -kInfinity, a.hi <= 0 ? 0.0 : kInfinity,
                      total.mayBeNaN};
  double bound = 4 * a.getMaxAbs();
  return computed(a.lo >= 0 ? 0.0 : -bound, a.hi <= 0 ? 0.0 : bound,
                  a.mayBeNaN);
}

} // namespace mlir::amp::interval

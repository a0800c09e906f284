//===- ScaleUpdate.h - amp.update_scale as scalar operations ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_SCALEUPDATE_H
#define AMP_LOSSSCALING_SCALEUPDATE_H

#include "amp/Dialect/AMP/IR/AMP.h"

namespace mlir::amp {

/// The operands of an `amp.update_scale`, or its results, as scalars.
struct ScaleState {
  Value scale, growthTracker, hysteresisTracker;
};

/// Builds what `amp.update_scale` computes from `old` and `allFinite` by
/// `rules`. `b` builds operations on scalars of the caller's own type: `real`
/// and `integer` constants, `add` and `subtract` of integers, `multiply`,
/// `maximum`, `minimum` and `isLess` of reals, `isGreater`, `isAtLeast` and
/// `isEqual` of integers, `both` and `select`.
template <typename BuilderT>
ScaleState buildScaleUpdate(BuilderT &b, const ScalerRules &rules,
                            const ScaleState &old, Value allFinite) {
  Value zero = b.integer(0), one = b.integer(1);
  Value full = b.integer(rules.hysteresis);

  // Overflow: back off once the hysteresis is used up.
  Value left = b.subtract(old.hysteresisTracker, one);
  Value tolerated = b.isGreater(left, zero);
  Value reduced = b.maximum(b.multiply(old.scale, b.real(rules.backoffFactor)),
                            b.real(rules.minScale));
  ScaleState overflow{b.select(tolerated, old.scale, reduced), zero, left};
  if (rules.afterBackoff != AfterBackoff::Count)
    overflow.hysteresisTracker = b.select(
        tolerated, left, rules.afterBackoff == AfterBackoff::Hold ? one : full);

  // No overflow: grow at the end of the interval, if there is room.
  Value next = b.add(old.growthTracker, one);
  Value interval = b.integer(rules.growthInterval);
  Value due = rules.intervalRule == IntervalRule::Equal
                  ? b.isEqual(next, interval)
                  : b.isAtLeast(next, interval);
  Value grown = b.multiply(old.scale, b.real(rules.growthFactor));
  Value grows = due;
  if (rules.growthGuard == GrowthGuard::On)
    grows = b.both(
        due, b.isLess(grown, b.real(std::numeric_limits<float>::infinity())));
  Value capped = b.minimum(grown, b.real(rules.maxScale));
  ScaleState clean{b.select(grows, capped, old.scale),
                   b.select(due, zero, next), full};
  if (rules.hysteresisRefill == HysteresisRefill::Growth)
    clean.hysteresisTracker = b.select(due, full, old.hysteresisTracker);

  return {
      b.select(allFinite, clean.scale, overflow.scale),
      b.select(allFinite, clean.growthTracker, overflow.growthTracker),
      b.select(allFinite, clean.hysteresisTracker, overflow.hysteresisTracker)};
}

/// Builds what `amp.adapt_scale` computes from `scale`, the largest `magnitude`
/// of gradients that are multiplied by it, and `allFinite`. `b` is as for
/// `buildScaleUpdate`, and has `divide`, and `floorToPower` for the next power
/// of two that is not larger than a positive number.
template <typename BuilderT>
Value buildScaleAdaptation(BuilderT &b, const LayerScalerRules &rules,
                           Value scale, Value magnitude, Value allFinite) {
  Value room = b.divide(b.multiply(b.real(rules.target), scale), magnitude);
  Value wanted = b.floorToPower(room);
  Value grown = b.multiply(scale, b.real(rules.growthFactor));
  Value next = b.minimum(wanted, grown);
  Value reduced = b.multiply(scale, b.real(rules.backoffFactor));
  Value infinity = b.real(std::numeric_limits<float>::infinity());
  Value good = b.both(allFinite, b.isLess(magnitude, infinity));
  Value chosen = b.select(good, next, reduced);
  return b.minimum(b.maximum(chosen, b.real(rules.minScale)),
                   b.real(rules.maxScale));
}

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_SCALEUPDATE_H

//===- StepState.h - Loss scale, finite check, guard ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// State that changes from step to step lives on the device. A step can
// therefore be captured in a graph and never waits for the host. Loss scale,
// trackers, step count, learning rate and generator state are scalars with a
// buffer each because checkpoints name them. This header has the values that
// pass from the check of the gradients to the optimizer, and the update of the
// scale.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_STEPSTATE_H
#define AMP_RUNTIME_CUDA_STEPSTATE_H

#include "amp/Runtime/CUDA/Launch.h"

namespace amp::cuda {

/// The result of one pass over the gradients of an optimizer, on the device.
/// `unscaleCheck` writes it and the optimizer reads it.
struct UnscaleState {
  float inverseScale;    ///< f32(1.0 / scale)
  float clipFactor;      ///< min(1, max_norm / (norm + 1e-6)), or 1
  float norm;            ///< √ Σ (g · inverseScale)², before clipping
  uint32_t allFinite;    ///< 1 if every gradient is finite, as asked for
  uint32_t normOverflow; ///< 1 if all are finite but the norm is not
  uint32_t reserved[3];
};

/// The event that refills the hysteresis of a scale.
enum class HysteresisRefill { Clean, Growth };

/// The hysteresis tracker after a backoff: below 1, 1, or full.
enum class AfterBackoff { Count, Hold, Refill };

/// Whether growth to infinity is refused.
enum class GrowthGuard { On, Off };

/// The scale grows with the tracker at least at the interval, or equal to it.
enum class IntervalRule { AtLeast, Equal };

/// #amp.scaler, the rules of amp.update_scale.
struct ScaleConfig {
  float growthFactor = 2.0f;
  float backoffFactor = 0.5f;
  int32_t growthInterval = 2000;
  float minScale = 1.0f;
  float maxScale = 3.402823466e+38f;
  int32_t hysteresis = 1;
  HysteresisRefill hysteresisRefill = HysteresisRefill::Clean;
  AfterBackoff afterBackoff = AfterBackoff::Count;
  GrowthGuard growthGuard = GrowthGuard::On;
  IntervalRule intervalRule = IntervalRule::AtLeast;
};

/// amp.update_scale in place, once per step and after all uses of the scale:
///   overflow: hysteresis -= 1, growth = 0, and if hysteresis <= 0
///     scale = max(scale · backoff, min), hysteresis by `afterBackoff`;
///   else: growth += 1, and if growth >= interval, growth = 0 and
///     scale = min(scale · growth factor, max) if the product is finite;
///     hysteresis = config.hysteresis, with `hysteresisRefill` = Growth then
///     only.
/// Several flags (up to four, the others null) are combined by `and`.
template <typename = void>
Status updateScale(cudaStream_t stream, const ScaleConfig &config, float *scale,
                   int32_t *growthTracker, int32_t *hysteresisTracker,
                   const uint8_t *allFinite,
                   const uint8_t *allFinite1 = nullptr,
                   const uint8_t *allFinite2 = nullptr,
                   const uint8_t *allFinite3 = nullptr);

/// The flags of up to four optimizers.
struct FiniteFlags {
  const uint8_t *flags[4];
};

template <typename = void>
__global__ void
updateScaleKernel(ScaleConfig config, float *scale, int32_t *growthTracker,
                  int32_t *hysteresisTracker, FiniteFlags finite) {
  bool allFinite = true;
  for (const uint8_t *flag : finite.flags)
    allFinite &= flag == nullptr || loadOne(flag) != 0;
  const float old = loadOne(scale);
  if (!allFinite) {
    // Back off when the hysteresis is used up.
    const int32_t left = loadOne(hysteresisTracker) - 1;
    int32_t kept = left;
    if (left <= 0 && config.afterBackoff == AfterBackoff::Hold)
      kept = 1;
    if (left <= 0 && config.afterBackoff == AfterBackoff::Refill)
      kept = config.hysteresis;
    storeOne(hysteresisTracker, kept);
    storeOne(growthTracker, int32_t(0));
    if (left <= 0)
      storeOne(scale, maximum(old * config.backoffFactor, config.minScale));
    return;
  }
  const int32_t steps = loadOne(growthTracker) + 1;
  const bool due = config.intervalRule == IntervalRule::Equal
                       ? steps == config.growthInterval
                       : steps >= config.growthInterval;
  if (due || config.hysteresisRefill == HysteresisRefill::Clean)
    storeOne(hysteresisTracker, config.hysteresis);
  storeOne(growthTracker, due ? int32_t(0) : steps);
  const float grown = old * config.growthFactor;
  if (due && (config.growthGuard == GrowthGuard::Off || isFinite(grown)))
    storeOne(scale, grown < config.maxScale ? grown : config.maxScale);
}

template <typename>
Status updateScale(cudaStream_t stream, const ScaleConfig &config, float *scale,
                   int32_t *growthTracker, int32_t *hysteresisTracker,
                   const uint8_t *allFinite, const uint8_t *allFinite1,
                   const uint8_t *allFinite2, const uint8_t *allFinite3) {
  LaunchShape shape;
  shape.block.x = 1;
  return launch("update_scale", stream, shape, updateScaleKernel<>, config,
                scale, growthTracker, hysteresisTracker,
                FiniteFlags{{allFinite, allFinite1, allFinite2, allFinite3}});
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_STEPSTATE_H

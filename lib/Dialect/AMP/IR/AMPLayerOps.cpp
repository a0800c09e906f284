//===- AMPLayerOps.cpp - Loss scales of layers ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMP.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// RescaleOp
//===----------------------------------------------------------------------===//

void RescaleOp::getPrecisionSlots(PrecisionSlots &slots) {
  // The gradient stays what it is.
  slots.reset(*this);
  slots.add(SlotKind::Storage, {0}, {0});
  slots.add(SlotKind::Fixed, {1, 2}, {});
}

//===----------------------------------------------------------------------===//
// MaxMagnitudeOp
//===----------------------------------------------------------------------===//

LogicalResult MaxMagnitudeOp::verify() {
  if (getGradients().empty())
    return emitOpError("expected at least one gradient");
  return success();
}

void MaxMagnitudeOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  for (unsigned i = 0, e = getGradients().size(); i != e; ++i)
    slots.add(SlotKind::Storage, {i}, {});
  slots.add(SlotKind::Fixed, {}, {0});
}

//===----------------------------------------------------------------------===//
// AdaptScaleOp
//===----------------------------------------------------------------------===//

LogicalResult AdaptScaleOp::verify() {
  auto isPower = [](float value) {
    int exponent;
    return std::isfinite(value) && std::frexp(value, &exponent) == 0.5f;
  };
  float target = getTarget().convertToFloat();
  float growth = getGrowthFactor().convertToFloat();
  float backoff = getBackoffFactor().convertToFloat();
  float least = getMinScale().convertToFloat();
  float most = getMaxScale().convertToFloat();
  if (!(target > 0) || std::isinf(target))
    return emitOpError("'target' must be finite and greater than 0, got ")
           << target;
  if (!isPower(growth) || growth < 2)
    return emitOpError("'growth_factor' must be a power of two of at least 2, "
                       "got ")
           << growth;
  if (!isPower(backoff) || backoff > 0.5f)
    return emitOpError("'backoff_factor' must be a power of two of at most "
                       "0.5, got ")
           << backoff;
  if (!isPower(least) || !std::isfinite(1 / least))
    return emitOpError("'min_scale' must be a power of two whose reciprocal is "
                       "finite, got ")
           << least;
  if (!isPower(most) || !std::isnormal(1 / most))
    return emitOpError("'max_scale' must be a power of two whose reciprocal is "
                       "normal, got ")
           << most;
  if (least > most)
    return emitOpError("'min_scale' must not exceed 'max_scale', got ")
           << least << " and " << most;
  return success();
}

void AdaptScaleOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}

//===- AMPLayerOps.cpp - Loss scales of layers ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMP.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// RescaleOp
//===----------------------------------------------------------------------===//

void RescaleOp::getPrecisionSlots(PrecisionSlots &slots) {
  // The gradient keeps its type.
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

void AdaptScaleOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}

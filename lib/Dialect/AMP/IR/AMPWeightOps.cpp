//===- AMPWeightOps.cpp - Halves of weights -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMPWeightOps.h"

using namespace mlir;
using namespace mlir::amp;

LogicalResult UpperHalfOp::verify() {
  Type wanted = getWithElementType(getWeight().getType(),
                                   BFloat16Type::get(getContext()));
  if (getType() != wanted)
    return emitOpError("expected the half to be ")
           << wanted << ", got " << getType();
  return success();
}

LogicalResult UpperHalfOp::buildOperandGradients(
    OpBuilder &builder, ArrayRef<Value> resultGradients, const BitVector &,
    MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = CastOp::create(builder, getLoc(), resultGradients[0],
                                       builder.getF32Type());
  return success();
}

void UpperHalfOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(SlotKind::Fixed, {0}, {});
  slots.add(SlotKind::Fixed, {}, {0});
}

/// Rounds `bound` towards zero to bf16. Rounding is monotonic, so the rounded
/// bounds are the bounds of the result.
static double cutBound(double bound) {
  APFloat rounded(bound);
  bool losesInfo;
  // Round to f32 first, because the operand is f32.
  rounded.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  rounded.convert(APFloat::BFloat(), APFloat::rmTowardZero, &losesInfo);
  return rounded.convertToDouble();
}

void UpperHalfOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                                   MutableArrayRef<FloatRange> results) {
  FloatRange range = operands[0];
  if (!range.hasNoNumber())
    range =
        FloatRange::get(cutBound(range.lo), cutBound(range.hi), range.mayBeNaN);
  results[0] = range;
}

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPWeightOps.cpp.inc"

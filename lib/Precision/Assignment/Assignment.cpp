//===- Assignment.cpp - Types of slots, with reasons ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/Assignment.h"

using namespace mlir;
using namespace mlir::amp;

Reason mlir::amp::getDenial(const SlotVertex &vertex) {
  if (vertex.proof == RangeProof::DoesNotFit)
    return Reason::DoesNotFit;
  if (vertex.proof == RangeProof::Bits)
    return Reason::Bits;
  if (vertex.proof == RangeProof::Indices)
    return Reason::Indices;
  if (vertex.proof == RangeProof::MeasuredBeyond)
    return Reason::MeasuredBeyond;
  if (vertex.proof == RangeProof::MeasuredLost)
    return Reason::MeasuredLost;
  if (vertex.isSum && !vertex.pinned)
    return Reason::RunningSum;
  return vertex.kind == SlotKind::Range ? Reason::Range : Reason::Denied;
}

StringRef mlir::amp::explain(Reason reason) {
  switch (reason) {
  case Reason::NoLowNeighbour:
    return "no neighbour is in low precision";
  case Reason::NotBetween:
    return "not between operations in low precision";
  case Reason::Fixed:
    return "the slot never changes type";
  case Reason::Denied:
    return "low precision could lose range or accuracy";
  case Reason::DoesNotFit:
    return "a constant or scaled gradient seed here is beyond the range of the "
           "low type";
  case Reason::MeasuredBeyond:
    return "measured, not proved: a value here leaves the range of the low "
           "type";
  case Reason::MeasuredLost:
    return "measured, not proved: a value here loses too much below the range "
           "of the low type";
  case Reason::Bits:
    return "computed from integer bits, such as random numbers, or only used "
           "with such values; a low type has too few values";
  case Reason::Indices:
    return "computed from indices and constants alone, such as positions, "
           "which a low type would round";
  case Reason::Angle:
    return "an angle that a periodic function reads; a rounded angle is wrong "
           "by a part of its size";
  case Reason::Difference:
    return "a difference that a steep function reads, or its operand; rounding "
           "the operand may change most of the difference";
  case Reason::InputDifference:
    return "a difference or comparison of inputs, such as data minus their "
           "mean, a prediction minus its target, a function that amplifies "
           "their errors, arithmetic on "
           "converted integers, or one of its inputs; "
           "rounding the inputs may change most of the result";
  case Reason::PartDifference:
    return "a difference of parts of one value or of a sum that a loop "
           "carries, or its operand; rounding the operand may change most of "
           "the difference";
  case Reason::RunningSum:
    return "a sum that a loop carries, which would lose small terms in low "
           "precision";
  case Reason::Poisoned:
    return "computed from a value that must stay f32";
  case Reason::Allowed:
    return "allowed: low precision is fast here";
  case Reason::Between:
    return "between operations in low precision";
  case Reason::Grown:
    return "moves values of a neighbour in low precision";
  case Reason::Follows:
    return "reads a value that is in low precision";
  case Reason::Sink:
    return "between an operation in low precision and the end of the graph";
  case Reason::FollowsOperands:
    return "all of its operands are in low precision";
  case Reason::WidestOperand:
    return "an operand is f32";
  case Reason::FollowsForward:
    return "has the type of its forward operation";
  case Reason::Reads:
    return "reads values that are in low precision";
  case Reason::ReadLow:
    return "a constant that is read in low precision only";
  case Reason::Implied:
    return "the operands of the operation stay f32";
  case Reason::WideResult:
    return "f32 result of a product, read in f32";
  case Reason::Pinned:
    return "pinned by 'amp.precision'";
  case Reason::Range:
    return "the values may leave the range of the low type";
  case Reason::Tainted:
    return "computed from a value that may leave the range of the low type";
  case Reason::Limit:
    return "limited by a number near 1 that the low type rounds to 1, or "
           "computed from such a value";
  case Reason::CompositePattern:
    return "part of a composite pattern that is f32 inside: rows and "
           "statistics of them";
  case Reason::Update:
    return "computed from the gradient of a parameter, for its update";
  case Reason::State:
    return "computed from hyperparameters and state alone";
  case Reason::Cheapest:
    return "the type that moves the fewest bytes, casts included";
  case Reason::NoGain:
    return "low precision would gain nothing: no product is near, and casts "
           "cost as much as it saves";
  case Reason::Unprofitable:
    return "allowed, but its casts cost more than low precision gains";
  }
  llvm_unreachable("every reason has an explanation");
}

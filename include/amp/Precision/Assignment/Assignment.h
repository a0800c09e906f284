//===- Assignment.h - Types of slots, with reasons --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_ASSIGNMENT_H
#define AMP_PRECISION_ASSIGNMENT_ASSIGNMENT_H

#include "amp/Precision/Assignment/SlotGraph.h"

namespace mlir::amp {

/// The rule that decided a slot.
enum class Reason : uint8_t {
  /// Nothing asked for low precision.
  NoLowNeighbour,
  /// An infer operation with a low neighbour on one side at most.
  NotBetween,
  /// The slot never changes type.
  Fixed,
  /// The deny list of the policy, or a range slot.
  Denied,
  /// The slot is or reads a constant that becomes infinite in the low type.
  DoesNotFit,
  /// In the data of a calibration, a value leaves the range of the low type.
  MeasuredBeyond,
  /// In the data of a calibration, too much of a value is below that range.
  MeasuredLost,
  /// Computed from integer bits, such as random numbers.
  Bits,
  /// Computed from indices and constants alone, such as positions.
  Indices,
  /// Read by a periodic function: an angle.
  Angle,
  /// A difference that a steep function reads, or an operand of such a
  /// difference.
  Difference,
  /// A difference or comparison of values that no product computes, the
  /// difference of such a value and a computed one, a function that amplifies
  /// their errors, arithmetic on converted integers, or one of
  /// these values.
  InputDifference,
  /// A difference of parts of one value, or of a sum that a loop carries, or an
  /// operand of such a difference.
  PartDifference,
  /// A sum that a loop carries. Rounding would stop it from growing.
  RunningSum,
  /// A denied producer upstream.
  Poisoned,
  /// The policy's allow list.
  Allowed,
  /// Between two low slots.
  Between,
  /// A clear operation next to a low slot.
  Grown,
  /// An infer operation that reads a low value.
  Follows,
  /// Between a low slot and the end of the graph.
  Sink,
  /// All operands are low.
  FollowsOperands,
  /// Some operand is f32.
  WidestOperand,
  /// A backward operation, which has the type of its forward operation.
  FollowsForward,
  /// Reads values that are low anyway, and produces none.
  Reads,
  /// A constant that is only read low.
  ReadLow,
  /// Another slot of the operation, which it depends on, stays f32.
  Implied,
  /// All readers of the product's result want f32, and hardware returns f32 at
  /// no cost.
  WideResult,
  /// A pin on the operation.
  Pinned,
  /// A range slot: the values may leave the range of the low type.
  Range,
  /// Computed from a value that may leave the range of the low type.
  Tainted,
  /// Limited by a number near 1 or -1 that the low type rounds to 1 or -1, or
  /// computed from such a value.
  Limit,
  /// Part of a composite pattern, such as softmax or a normalisation.
  CompositePattern,
  /// Computed from the gradient of a parameter: part of its update.
  Update,
  /// Computed from hyperparameters and state alone, such as a learning rate.
  State,
  /// The minimum cut: the type of least cost, casts included.
  Cheapest,
  /// Far from products, where low precision would gain nothing.
  NoGain,
  /// An allowed product whose casts cost more than low precision gains.
  Unprofitable,
};

/// Returns why the policy keeps `vertex`, a slot of the class `Deny`, in f32:
/// the values that it reads, its kind, or a list.
Reason getDenial(const SlotVertex &vertex);

/// Returns one phrase that explains `reason`, for remarks.
StringRef explain(Reason reason);

/// A type for each slot, with reasons.
struct Assignment {
  /// Whether the slot is low, by vertex.
  std::vector<bool> low;
  std::vector<Reason> reasons;
  /// For poisoned and tainted slots, the denied slot where this starts. For
  /// grown slots, the neighbour. The producer of the f32 operand. 0 for slots
  /// without an f32 operand.
  std::vector<VertexId> causes;
  /// For slots that stay f32 because of a slot upstream, the previous slot on
  /// the path from there. May be empty.
  std::vector<VertexId> previous;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_ASSIGNMENT_H

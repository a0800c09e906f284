//===- Assignment.h - Who is low, and why -----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_H
#define AMP_PRECISION_ASSIGNMENT_H

#include "amp/Precision/SlotGraph.h"

namespace mlir::amp {

/// The rule that decided a slot.
enum class Reason : uint8_t {
  /// Nothing asked for low precision.
  NoLowNeighbour,
  /// An infer operation with a low neighbour on one side at most.
  NotBetween,
  /// The slot never changes type.
  Fixed,
  /// The policy's deny list, or a range slot.
  Denied,
  /// A constant that the slot reads or is becomes infinite in the low type.
  DoesNotFit,
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
  /// Reads values that are low anyway, and gives none.
  Reads,
  /// A constant that is only read low.
  ReadLow,
  /// Another slot of the operation, which it depends on, stays f32.
  Implied,
  /// All readers of the product's result want f32, which hardware gives free.
  WideResult,
  /// A pin on the operation.
  Pinned,
  /// A range slot: the values may leave the range of the low type.
  Range,
  /// Computed from a value that may leave the range of the low type.
  Tainted,
  /// Part of a softmax, a normalisation or the like that is written out.
  Unit,
  /// Computed from the gradient of a parameter: part of its update.
  Update,
  /// Computed from hyperparameters and state alone, such as a learning rate.
  State,
  /// The minimum cut: the type of least cost, casts included.
  Cheapest,
  /// An allowed product whose casts cost more than low precision gains.
  Unprofitable,
};

/// Why the policy keeps `vertex`, a slot of the class `Deny`, in f32: for what
/// it reads, for its kind, or because a list says so.
Reason getDenial(const SlotVertex &vertex);

/// Returns one phrase that explains `reason`, for remarks.
StringRef explain(Reason reason);

/// A type for each slot, with reasons.
struct Assignment {
  /// Whether the slot is low, by vertex.
  std::vector<bool> low;
  std::vector<Reason> reasons;
  /// For poisoned and tainted slots, the denied one that it started from; for
  /// grown ones, the neighbour; for those with an f32 operand, what gives it. 0
  /// if there is none.
  std::vector<VertexId> causes;
  /// For slots that stay f32 since something they are computed from does, the
  /// slot before on the path from there. May be empty.
  std::vector<VertexId> previous;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_H

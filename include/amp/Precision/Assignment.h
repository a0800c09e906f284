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
  /// Computed from the gradient of a parameter: part of its update.
  Update,
  /// Computed from hyperparameters and state alone, such as a learning rate.
  State,
  /// The minimum cut: the type of least cost, casts included.
  Cheapest,
  /// An allowed product whose casts cost more than low precision gains.
  Unprofitable,
};

/// Returns one phrase that explains `reason`, for remarks.
StringRef explain(Reason reason);

/// A type for each slot, with reasons.
struct Assignment {
  /// Whether the slot is low, by vertex.
  std::vector<bool> low;
  std::vector<Reason> reasons;
  /// For poisoned and tainted slots, the denied one that it started from; for
  /// grown ones, the neighbour. 0 if there is none.
  std::vector<VertexId> causes;
  /// For tainted slots, the slot before on the path from the cause. May be
  /// empty.
  std::vector<VertexId> previous;
};

/// Decides by TensorFlow's four-list propagation (grappler
/// auto_mixed_precision) over slots: deny poisons infer slots downstream, and
/// clear slots on the way to another one; infer and clear slots between allowed
/// ones become low; low grows through clear slots in both directions. Beyond
/// it, slots that only read follow what they read, constants follow their
/// readers (and are cast if those disagree), and a product whose result is read
/// in f32 everywhere gives f32. Linear in the size of the graph.
Assignment assignByLists(const SlotGraph &graph);

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_H

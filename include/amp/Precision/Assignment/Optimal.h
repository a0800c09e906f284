//===- Optimal.h - The assignment of least cost -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_OPTIMAL_H
#define AMP_PRECISION_ASSIGNMENT_OPTIMAL_H

#include "amp/Precision/Assignment/CostModel.h"

namespace mlir::amp {

/// The constraints that hold at any cost.
struct HardConstraints {
  /// The constraint on a slot.
  enum class State : uint8_t { Free, Low, F32 };

  /// By vertex. The strategy chooses the type of free slots.
  std::vector<State> states;
  /// For slots that are not free: the reason, and the other members as in
  /// `Assignment`.
  std::vector<Reason> reasons;
  std::vector<VertexId> causes;
  std::vector<VertexId> previous;
};

/// Derives the hard constraints from the slots, in linear time:
///
/// - Slots that the policy denies, unproved range slots and pinned slots have
///   the type that they ask for. Allowed slots do too, except the results of
///   products. With a target and known sizes, a product may stay f32.
/// - The values of an unproved range slot may leave the range of the low type.
///   So may all values that are computed from them. Such slots stay f32. This
///   taint ends at slots that feed a product, which read a cast, at values that
///   are known to fit, and at `(x - mean) * rsqrt(var + eps)`. It does not
///   affect clear operations that lead only to products.
/// - Values that are computed from the gradient of a parameter, other than by a
///   product, are its update. Values that are computed from hyperparameters and
///   state alone are bookkeeping. Both stay f32.
/// - An implication takes priority over the type that its premise asks for.
HardConstraints findHardConstraints(const SlotGraph &graph,
                                    const CostModel &costs);

/// Returns the assignment of least cost that obeys the hard constraints. If
/// several have the least cost, it is the one with the most low slots. This
/// assignment is unique: its low slots include those of all others.
///
/// With two types this is a minimum cut. Low is the side of the sink. A free
/// slot is a node. The cost of its type is an arc to a terminal. A value with
/// several users has one more node for each direction of its cast, so that the
/// cast counts once. An implication is an arc that cannot be cut.
///
/// `prices`, by vertex, are costs of low slots in addition to those of `costs`.
/// Their sum must stay below `MaxFlow::infinite`.
Assignment assignOptimal(const SlotGraph &graph, const CostModel &costs,
                         ArrayRef<int64_t> prices = {});

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_OPTIMAL_H

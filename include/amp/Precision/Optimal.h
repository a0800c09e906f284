//===- Optimal.h - The assignment of least cost -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_OPTIMAL_H
#define AMP_PRECISION_OPTIMAL_H

#include "amp/Precision/CostModel.h"

namespace mlir::amp {

/// What must be, whatever it costs.
struct HardConstraints {
  /// The constraint on a slot.
  enum class State : uint8_t { Free, Low, F32 };

  /// By vertex. The free ones are the choice.
  std::vector<State> states;
  /// Of slots that are not free, why, and as in `Assignment`.
  std::vector<Reason> reasons;
  std::vector<VertexId> causes;
  std::vector<VertexId> previous;
};

/// Derives what must be from the slots, in linear time:
///
/// - Slots that the policy denies, unproved range slots and pinned ones have
///   the type that they ask for. So do allowed slots, except the results of
///   products; with a target, and sizes that are known, a product may stay f32.
/// - The values of an unproved range slot may leave the range of the low type,
///   and so may all that is computed from them: such slots stay f32. This ends
///   at slots that feed a product, which read a cast, at values that are known
///   to fit, and at `(x - mean) * rsqrt(var + eps)`. Clear operations that lead
///   to products alone are not held back.
/// - What is computed from the gradient of a parameter, unless by a product, is
///   its update, and what is computed from hyperparameters and state alone is
///   bookkeeping: both stay f32.
/// - An implication holds whatever its premise asks for.
HardConstraints findHardConstraints(const SlotGraph &graph,
                                    const CostModel &costs);

/// Returns the assignment of least cost that obeys the hard constraints. Of
/// several it is the one with the most low slots; there is exactly one that has
/// all that are low in any.
///
/// With two types this is a minimum cut. Low is the side of the sink. A free
/// slot is a node; what its type costs is an arc to a terminal; a value with
/// several users has one more node for each direction of its cast, so that the
/// cast counts once; an implication is an arc that cannot be cut.
Assignment assignOptimal(const SlotGraph &graph, const CostModel &costs);

} // namespace mlir::amp

#endif // AMP_PRECISION_OPTIMAL_H

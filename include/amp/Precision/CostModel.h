//===- CostModel.h - What an assignment costs -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The objective that the optimal strategy minimises and all reports print:
// bytes that operations read and write, bytes that casts move, and the time of
// products expressed in bytes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_COSTMODEL_H
#define AMP_PRECISION_COSTMODEL_H

#include "amp/Precision/Assignment.h"
#include "amp/Precision/Target.h"

namespace mlir::amp {

/// What an assignment costs, in bytes and numbers of casts.
struct AssignmentCost {
  /// The objective: `bytes` and the time of products as bytes.
  int64_t cost = 0;
  /// Bytes that operations read and write and that casts move.
  int64_t bytes = 0;
  /// Of them, what casts move.
  int64_t castBytes = 0;
  /// Distinct casts: one per value and type.
  int64_t casts = 0;
};

/// Costs of slots and casts in one graph. A dynamic extent counts as 1.
class CostModel {
public:
  /// `target` may be null: then products take no time in either type.
  CostModel(const SlotGraph &graph, const Target *target);

  /// Bytes that slot `v` reads and writes, and its share of product time, when
  /// it is low or f32.
  int64_t getSlotCost(VertexId v, bool low) const;
  /// Bytes that slot `v` reads and writes alone.
  int64_t getSlotBytes(VertexId v, bool low) const;
  /// Bytes that a cast of `value` moves, to low or back to f32.
  int64_t getCastCost(Value value, bool toLow) const;

  /// Recounts the whole assignment.
  AssignmentCost evaluate(const Assignment &assignment) const;

private:
  const SlotGraph &graph;
  const Target *target;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_COSTMODEL_H

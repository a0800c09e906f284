//===- Strategies.h - Strategies of frameworks ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two strategies that reproduce the decisions of a framework.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_ASSIGNMENT_STRATEGIES_H
#define AMP_PRECISION_ASSIGNMENT_STRATEGIES_H

#include "amp/Precision/Assignment/Assignment.h"

namespace mlir::amp {

/// Variations of `assignGrappler`.
struct GrapplerOptions {
  /// OneFlow's rule: infer and clear slots on a path from an allowed slot to
  /// the end of the graph become low too, so that the graph has no f32 tail.
  bool sinkRule = false;
};

/// Decides as TensorFlow's grappler pass auto_mixed_precision (2.21) does, step
/// by step, over slots:
///
/// 1. allowed slots are low;
/// 2. deny floods downstream through infer slots, and through clear slots that
///    lead to another deny or infer slot by way of clear ones;
/// 3. infer and clear slots on a path between two allowed ones become low;
/// 4. infer slots that read a low slot and no denied one become low, in program
///    order;
/// 5. low grows in both directions through clear slots.
///
/// An implication merges slots of one operation into one vertex, because
/// TensorFlow has one type attribute for them. Linear in the size of the graph.
Assignment assignGrappler(const SlotGraph &graph,
                          const GrapplerOptions &options = {});

/// Variations of `assignAutocast`.
struct AutocastOptions {
  /// Operations that the policy denies, without a pin, have the widest type of
  /// their operands too. What is f32 then is f32 because of f32 tensors of the
  /// program, and not because of the lists.
  bool deniedFollow = false;
};

/// Decides as torch.autocast does, operation by operation in program order:
/// allow is low, deny f32; infer (torch: promote) has the widest type of its
/// operands; clear follows its operands by torch's type promotion, in which
/// scalars yield to tensors. An operation with `amp.backward_of` has the type
/// of its forward operation. A value that a loop carries is low if all values
/// that enter it are. Linear in the size of the graph.
Assignment assignAutocast(const SlotGraph &graph,
                          const AutocastOptions &options = {});

} // namespace mlir::amp

#endif // AMP_PRECISION_ASSIGNMENT_STRATEGIES_H

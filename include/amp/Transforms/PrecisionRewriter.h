//===- PrecisionRewriter.h - Apply an assignment ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TRANSFORMS_PRECISIONREWRITER_H
#define AMP_TRANSFORMS_PRECISIONREWRITER_H

#include "amp/Precision/Assignment/CastRules.h"

namespace mlir::amp {

/// Counts of the changes of one rewrite.
struct RewriteCounts {
  int64_t lowSlots = 0;
  int64_t casts = 0;
  /// Products of low operands that return f32.
  int64_t wideProducts = 0;
};

/// Which uses of a value share a cast.
enum class CastSharing : uint8_t {
  /// All of them.
  Value,
  /// Those of a parameter or a constant. Every other use has a separate cast,
  /// as under autocast of PyTorch, which keeps only casts of parameters.
  /// Differentiation rounds the gradients of the casts apart.
  Parameter,
};

/// Sets the element type of the values of all low slots to `low` and adapts the
/// operations. For each value on which its producer and some user disagree,
/// inserts the cast that `casts` chose, before the first such user, or before
/// each, according to `sharing`. `graph` must be the graph of the function
/// before the rewrite. Its values and uses refer to the rewritten function
/// afterwards.
FailureOr<RewriteCounts>
rewritePrecision(const SlotGraph &graph, const Assignment &assignment,
                 const CastRules &casts, FloatType low,
                 CastSharing sharing = CastSharing::Value);

} // namespace mlir::amp

#endif // AMP_TRANSFORMS_PRECISIONREWRITER_H

//===- PrecisionRewriter.h - Give an assignment effect ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TRANSFORMS_PRECISIONREWRITER_H
#define AMP_TRANSFORMS_PRECISIONREWRITER_H

#include "amp/Precision/CastRules.h"

namespace mlir::amp {

/// What rewriting changed.
struct RewriteCounts {
  int64_t lowSlots = 0;
  int64_t casts = 0;
  /// Products of low operands that give f32.
  int64_t wideProducts = 0;
};

/// Gives the values of all low slots the element type `low`, lets the
/// operations follow, and inserts one cast per value on which its producer and
/// some user disagree, before the first such user: that which `casts` has
/// chosen for it. `graph` must be that of the function as it stands; its values
/// and uses are those of the rewritten one afterwards.
FailureOr<RewriteCounts> rewritePrecision(const SlotGraph &graph,
                                          const Assignment &assignment,
                                          const CastRules &casts,
                                          FloatType low);

} // namespace mlir::amp

#endif // AMP_TRANSFORMS_PRECISIONREWRITER_H

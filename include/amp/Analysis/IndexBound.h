//===- IndexBound.h - How large labels and indices may be -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_ANALYSIS_INDEXBOUND_H
#define AMP_ANALYSIS_INDEXBOUND_H

#include "mlir/IR/Value.h"

#include <cstdint>
#include <optional>

namespace mlir::amp {

/// Returns the number of classes, of slices of a table, or of ends of documents
/// that the consumers of `indices` have, if any of them has one. The elements
/// of `indices` must be at least 0 and below it. Follows conversions to other
/// integer types, but no arithmetic. Call this before the operations of the
/// train dialect are lowered.
std::optional<int64_t> getIndexBound(Value indices);

/// Whether the rows of `value` are cumulative lengths: each starts with 0 and
/// ascends. Follows conversions as above.
bool isCumulative(Value value);

} // namespace mlir::amp

#endif // AMP_ANALYSIS_INDEXBOUND_H

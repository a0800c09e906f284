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

/// How many classes, or slices of a table, the consumers of `indices` know, if
/// any of them does: its elements must lie below that, and not below 0.
/// Consumers may read them in another integer type; numbers that are computed
/// from them are not followed. Asked before the operations of the train dialect
/// are lowered.
std::optional<int64_t> getIndexBound(Value indices);

} // namespace mlir::amp

#endif // AMP_ANALYSIS_INDEXBOUND_H

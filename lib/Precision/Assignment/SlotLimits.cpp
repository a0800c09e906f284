//===- SlotLimits.cpp - Limits that a low type rounds to 1 ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/SlotGraph.h"
#include "amp/Precision/Assignment/WideValues.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

/// Marks the slots that produce or read a value that a number near 1 limits.
/// Slots of products that only read such a value are not marked.
void SlotGraph::markLimits() {
  const llvm::DenseSet<Value> &limited = wide->getLimited(low);
  if (limited.empty())
    return;
  std::vector<bool> isLimited(values.size(), false);
  for (auto [index, entry] : llvm::enumerate(values)) {
    isLimited[index] = limited.contains(entry.value);
    if (isLimited[index])
      vertices[entry.vertex].isLimit = true;
  }
  for (const SlotUse &use : uses)
    if (isLimited[use.value] && vertices[use.user].kind != SlotKind::Compute)
      vertices[use.user].isLimit = true;
}

//===- SlotBits.cpp - Values computed from bits and indices ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/SlotGraph.h"
#include "amp/Precision/Assignment/WideValues.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns whether `op` reads or returns a value in `bits`.
static bool worksOnBits(Operation *op, const llvm::DenseSet<Value> &bits) {
  auto isBits = [&](Value value) { return bits.contains(value); };
  return llvm::any_of(op->getOperands(), isBits) ||
         llvm::any_of(op->getResults(), isBits);
}

/// Keeps slots f32 that produce or read a value computed from bits, except
/// slots of products, pinned slots, and slots that the policy allows to be low.
/// Slots whose values only such slots read also stay f32. They are the
/// parameters of a distribution, and a sampler needs them in the precision of
/// its random numbers. Comparisons of such values stay f32 too.
void SlotGraph::denyBits() {
  std::vector<bool> isBits(values.size(), false), isKept(vertices.size());
  SmallVector<VertexId> worklist;
  auto keep = [&](VertexId v) {
    if (v == 0 || isKept[v] || vertices[v].kind == SlotKind::Compute)
      return;
    isKept[v] = true;
    worklist.push_back(v);
    vertices[v].proof = RangeProof::Bits;
    if (!vertices[v].pinned && vertices[v].opClass != OpClass::Allow)
      vertices[v].opClass = OpClass::Deny;
  };
  for (auto [index, entry] : llvm::enumerate(values)) {
    isBits[index] = wide->bits.contains(entry.value);
    if (isBits[index])
      keep(entry.vertex);
  }
  for (const SlotUse &use : uses)
    if (isBits[use.value])
      keep(use.user);

  std::vector<SmallVector<VertexId, 2>> producers(vertices.size());
  std::vector<unsigned> others(vertices.size(), 0);
  llvm::SetVector<VertexId> candidates;
  for (const SlotUse &use : uses) {
    // A loop passes a value that it does not change to its next iteration.
    if (use.user == use.producer)
      continue;
    Operation *reader = use.operand->getOwner();
    if (use.user == 0 && reader->getNumRegions() != 0 &&
        worksOnBits(reader, wide->bits)) {
      candidates.insert(use.producer);
    } else if (use.user == 0 || vertices[use.user].produces) {
      producers[use.user].push_back(use.producer);
      ++others[use.producer];
    } else if (isKept[use.user]) {
      // A comparison of a random number with a parameter.
      candidates.insert(use.producer);
    }
  }
  auto keepParameter = [&](VertexId v) {
    if (others[v] == 0 && !vertices[v].isProductResult)
      keep(v);
  };
  llvm::for_each(candidates, keepParameter);
  while (!worklist.empty())
    for (VertexId producer : producers[worklist.pop_back_val()]) {
      --others[producer];
      keepParameter(producer);
    }
  for (const SlotUse &use : uses)
    if (isKept[use.producer] && !vertices[use.user].produces)
      keep(use.user);
}

/// Keeps slots f32 that compute with indices and constants alone. Operations
/// that only move such values follow their readers, unless the results are
/// computed with.
void SlotGraph::denyIndices() {
  std::vector<bool> gives(vertices.size(), false), isKept(vertices.size());
  SmallVector<VertexId> worklist;
  auto keep = [&](VertexId v) {
    SlotVertex &vertex = vertices[v];
    if (v == 0 || isKept[v] || vertex.isConstant)
      return;
    isKept[v] = true;
    worklist.push_back(v);
    bool isListed = vertex.opClass == OpClass::Allow &&
                    vertex.kind != SlotKind::Compute && !vertex.isProductResult;
    if (vertex.pinned || isListed || vertex.proof == RangeProof::DoesNotFit)
      return;
    vertex.proof = RangeProof::Indices;
    vertex.opClass = OpClass::Deny;
  };
  for (const SlotValue &entry : values)
    gives[entry.vertex] =
        gives[entry.vertex] || wide->indices.contains(entry.value);
  for (VertexId v = 1; v < vertices.size(); ++v) {
    const SlotVertex &vertex = vertices[v];
    bool isProduct = vertex.kind == SlotKind::Compute &&
                     llvm::any_of(vertex.op->getResults(), [&](Value result) {
                       return wide->indices.contains(result);
                     });
    if (isProduct || (gives[v] && vertex.opClass != OpClass::Clear &&
                      vertex.slot != SlotVertex::carried))
      keep(v);
  }
  std::vector<SmallVector<VertexId, 2>> producers(vertices.size());
  for (const SlotUse &use : uses)
    if (use.producer != 0 && gives[use.producer] && use.producer != use.user)
      producers[use.user].push_back(use.producer);
  while (!worklist.empty())
    for (VertexId producer : producers[worklist.pop_back_val()])
      keep(producer);
}

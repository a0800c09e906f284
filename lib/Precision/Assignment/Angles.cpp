//===- Angles.cpp - Values that periodic functions read -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Angles.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns whether each element of the result of `product` is one product of
/// elements, by static shapes. Products of batches repeat the leading
/// dimensions of the result in both operands.
static bool isOuterProduct(Operation *product) {
  if (product->getNumOperands() < 2 || product->getNumResults() != 1)
    return false;
  std::array<ShapedType, 3> types = {
      dyn_cast<ShapedType>(product->getOperand(0).getType()),
      dyn_cast<ShapedType>(product->getOperand(1).getType()),
      dyn_cast<ShapedType>(product->getResult(0).getType())};
  if (!llvm::all_of(types, [](ShapedType type) {
        return type && type.hasStaticShape() && type.getNumElements() > 0;
      }))
    return false;
  int64_t read = types[0].getNumElements() * types[1].getNumElements(),
          batch = 1;
  if (read == types[2].getNumElements())
    return true;
  // The last two dimensions belong to the row and the column.
  ArrayRef<int64_t> left = types[0].getShape(), right = types[1].getShape(),
                    extents = types[2].getShape();
  for (size_t i = 0; i + 2 < extents.size(); ++i) {
    if (i >= left.size() || i >= right.size() || left[i] != extents[i] ||
        right[i] != extents[i])
      return false;
    batch *= extents[i];
    if (read == types[2].getNumElements() * batch)
      return true;
  }
  return false;
}

namespace {

class AngleFinder {
public:
  AngleFinder(const SlotGraph &graph) : graph(graph) {}

  SmallVector<std::pair<VertexId, VertexId>>
  run(llvm::function_ref<bool(VertexId)> isWide) {
    ArrayRef<SlotVertex> vertices = graph.getVertices();
    SmallVector<VertexId> functions;
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (vertices[v].slot != SlotVertex::carried && isWide(v) &&
          graph.isPeriodic(vertices[v].op))
        functions.push_back(v);
    if (functions.empty())
      return {};
    isAngle.assign(vertices.size(), false);
    for (VertexId v : functions)
      isAngle[v] = true;
    for (auto [result, operands] : graph.getImplications())
      if (vertices[result].isProductResult)
        factors[result] = operands;
    for (VertexId v : functions)
      visitProducers(v, v);
    while (!worklist.empty()) {
      auto [slot, function] = worklist.pop_back_val();
      visitProducers(slot, function);
    }
    return std::move(found);
  }

private:
  void add(VertexId slot, VertexId function) {
    if (slot == 0 || isAngle[slot])
      return;
    isAngle[slot] = true;
    found.push_back({slot, function});
    worklist.push_back({slot, function});
  }

  void visitProducers(VertexId slot, VertexId function) {
    for (uint32_t index : graph.getUsesInto(slot)) {
      VertexId producer = graph.getUses()[index].producer;
      const SlotVertex &vertex = graph.getVertices()[producer];
      if (producer == 0 || isAngle[producer] || vertex.isConstant)
        continue;
      if (vertex.isProductResult) {
        addProduct(producer, function);
        continue;
      }
      if (isFactor(vertex) ||
          llvm::all_of(graph.getUsesOf(producer), [&](uint32_t use) {
            return isAngle[graph.getUses()[use].user];
          }))
        add(producer, function);
    }
  }

  /// Adds the result of a product. Its operands stay low, unless each element
  /// is one product, for which no tensor core is needed.
  void addProduct(VertexId result, VertexId function) {
    Operation *product = graph.getVertices()[result].op;
    if (isOuterProduct(product)) {
      add(result, function);
      add(factors.lookup(result), function);
    } else if (!isAngle[result]) {
      isAngle[result] = true;
      found.push_back({result, function});
    }
  }

  /// Whether the slot multiplies values or moves them, so that a relative error
  /// of an operand is one of the result. Sums, such as a stream of residuals,
  /// are angles only if nothing else reads them.
  bool isFactor(const SlotVertex &vertex) const {
    if (vertex.slot == SlotVertex::carried)
      return false;
    return graph.keepsRelativeErrors(vertex.op);
  }

  const SlotGraph &graph;
  std::vector<bool> isAngle;
  SmallVector<std::pair<VertexId, VertexId>> found, worklist;
  /// The slots of operands of products, by the slots of their results.
  llvm::DenseMap<VertexId, VertexId> factors;
};

} // namespace

SmallVector<std::pair<VertexId, VertexId>>
mlir::amp::findAngles(const SlotGraph &graph,
                      llvm::function_ref<bool(VertexId)> isWide) {
  return AngleFinder(graph).run(isWide);
}

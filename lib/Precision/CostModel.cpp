//===- CostModel.cpp - What an assignment costs ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/CostModel.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// Sizes saturate here: so many bytes, of so many slots, add up in 64 bits.
static constexpr int64_t largestSize = int64_t(1) << 36;

static int64_t countElements(Type type) {
  int64_t count = 1;
  for (int64_t extent : cast<ShapedType>(type).getShape()) {
    if (ShapedType::isDynamic(extent))
      extent = CostModel::dynamicExtent;
    if (extent == 0)
      return 0;
    count = extent > largestSize / count ? largestSize : count * extent;
  }
  return count;
}

/// Returns whether `value` is an argument of a function with role parameter.
static bool isParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return false;
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return false;
  auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    AMPDialect::kRoleAttr);
  return role && role.getValue() == "parameter";
}

CostModel::CostModel(const SlotGraph &graph, const CostOptions &options)
    : graph(graph), options(options) {
  double read = options.target ? options.target->castReadShare : 1;
  double write = options.target ? options.target->castWriteShare : 1;
  narrowingBytes = std::llround(4 * read + 2 * write);
  wideningBytes = std::llround(2 * read + 4 * write);

  ArrayRef<SlotVertex> vertices = graph.getVertices();
  ArrayRef<SlotValue> values = graph.getValues();
  valueElements.resize(values.size());
  slotElements.assign(vertices.size(), 0);
  cheap.assign(values.size(), CheapCast::None);
  // A graph has many values but few types.
  llvm::DenseMap<Type, int64_t> sizes;
  Type lastType;
  int64_t lastSize = 0;
  for (auto [index, value] : llvm::enumerate(values)) {
    Type type = value.value.getType();
    if (type != lastType) {
      auto [it, isNew] = sizes.try_emplace(type, 0);
      if (isNew)
        it->second = countElements(type);
      lastType = type;
      lastSize = it->second;
    }
    valueElements[index] = lastSize;
    slotElements[value.vertex] += lastSize;
    Operation *producer =
        value.vertex == 0 ? value.value.getDefiningOp() : nullptr;
    if (vertices[value.vertex].isConstant ||
        (producer && producer->hasTrait<OpTrait::ConstantLike>()))
      cheap[index] = CheapCast::Free;
    else if (options.masterCopies && value.vertex == 0 &&
             isParameter(value.value))
      cheap[index] = CheapCast::Write;
  }
  for (const SlotUse &use : graph.getUses())
    slotElements[use.user] += valueElements[use.value];
  slotElements[0] = 0;
  for (const SlotValue &value : values)
    if (vertices[value.vertex].slot == SlotVertex::carried)
      slotElements[value.vertex] = 0;
}

int64_t CostModel::getProductTime(VertexId v, bool low) const {
  const SlotVertex &vertex = graph.getVertices()[v];
  if (!options.target || vertex.kind != SlotKind::Compute)
    return 0;
  PrecisionOpInterface op = graph.getInterface(vertex.op);
  int64_t flops = op ? op.getProductFlops() : 0;
  const Target &target = *options.target;
  auto isAligned = [&](Value value) {
    auto type = dyn_cast<ShapedType>(value.getType());
    return !type || !type.hasRank() || type.getRank() == 0 ||
           type.isDynamicDim(type.getRank() - 1) ||
           type.getShape().back() % target.alignment == 0;
  };
  bool isFast = low;
  for (uint32_t use : graph.getUsesInto(v))
    isFast = isFast && isAligned(graph.getUses()[use].operand->get());
  for (Value result : vertex.op->getResults())
    isFast = isFast && isAligned(result);
  double rate = isFast ? target.lowFlopPerByte : target.f32FlopPerByte;
  return rate > 0 ? std::llround(std::min(flops / rate, 0x1p46)) : 0;
}

AssignmentCost CostModel::evaluate(const Assignment &assignment) const {
  AssignmentCost result;
  for (VertexId v = 1; v < slotElements.size(); ++v) {
    result.bytes += getSlotBytes(v, assignment.low[v]);
    result.cost += getSlotCost(v, assignment.low[v]);
  }
  std::vector<bool> isCast(valueElements.size(), false);
  for (const SlotUse &use : graph.getUses()) {
    if (assignment.low[use.producer] == assignment.low[use.user] ||
        isCast[use.value])
      continue;
    isCast[use.value] = true;
    ++result.casts;
    result.castBytes += getCastCost(use.value, assignment.low[use.user]);
  }
  result.bytes += result.castBytes;
  result.cost += result.castBytes;
  return result;
}

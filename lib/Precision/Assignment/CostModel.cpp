//===- CostModel.cpp - Costs of slots and casts ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/CostModel.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace mlir::amp;

/// Sizes saturate at this limit, so that their sums fit in 64 bits.
static constexpr int64_t largestSize = int64_t(1) << 36;

static int64_t multiply(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  return b > largestSize / a ? largestSize : a * b;
}

static int64_t countElements(Type type) {
  int64_t count = 1;
  for (int64_t extent : cast<ShapedType>(type).getShape())
    count =
        multiply(count, ShapedType::isDynamic(extent) ? CostModel::dynamicExtent
                                                      : extent);
  return count;
}

static std::optional<int64_t> getConstant(OpFoldResult value) {
  APInt number;
  if (auto attribute = dyn_cast<Attribute>(value)) {
    auto integer = dyn_cast<IntegerAttr>(attribute);
    if (!integer)
      return std::nullopt;
    number = integer.getValue();
  } else if (!matchPattern(cast<Value>(value), m_ConstantInt(&number))) {
    return std::nullopt;
  }
  return number.trySExtValue();
}

/// Returns the number of iterations of a loop, or an estimate if it is unknown.
/// A loop without iterations counts as if it ran. Otherwise all assignments
/// would be equal.
static int64_t countIterations(const SlotGraph &graph, Operation *op) {
  if (std::optional<int64_t> count = graph.findTripCount(op))
    return std::clamp<int64_t>(*count, 1, largestSize);
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return CostModel::dynamicExtent;
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
       step = loop.getLoopSteps();
  if (!lower || !upper || !step)
    return CostModel::dynamicExtent;
  int64_t count = 1;
  for (auto [first, last, stride] : llvm::zip(*lower, *upper, *step)) {
    std::optional<int64_t> from = getConstant(first), to = getConstant(last),
                           by = getConstant(stride);
    int64_t span;
    bool isKnown =
        from && to && by && *by > 0 && !llvm::SubOverflow(*to, *from, span);
    count = multiply(
        count, isKnown
                   ? std::max<int64_t>(span / *by + (span % *by > 0 ? 1 : 0), 1)
                   : CostModel::dynamicExtent);
  }
  return count;
}

namespace {
/// How often blocks run when their function runs once.
class Frequencies {
public:
  explicit Frequencies(const SlotGraph &graph) : graph(graph) {}

  int64_t get(Block *block) {
    auto it = runs.find(block);
    if (it != runs.end())
      return it->second;
    Operation *parent = block->getParentOp();
    int64_t count = 1;
    if (parent && parent->getBlock() && !isa<FunctionOpInterface>(parent)) {
      count = get(parent->getBlock());
      if (graph.isLoop(parent))
        count = multiply(count, countIterations(graph, parent));
    }
    return runs[block] = count;
  }

private:
  const SlotGraph &graph;
  llvm::DenseMap<Block *, int64_t> runs;
};
} // namespace

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
  Frequencies frequencies(graph);
  if (graph.hasLoops()) {
    slotRuns.assign(vertices.size(), 1);
    for (VertexId v = 1; v < vertices.size(); ++v)
      if (Block *block = vertices[v].op->getBlock())
        slotRuns[v] = frequencies.get(block);
  }
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
    int64_t elements =
        slotRuns.empty()
            ? lastSize
            : multiply(lastSize,
                       frequencies.get(Value(value.value).getParentBlock()));
    valueElements[index] = elements;
    slotElements[value.vertex] += elements;
    Operation *producer =
        value.vertex == 0 ? value.value.getDefiningOp() : nullptr;
    const SlotVertex &vertex = vertices[value.vertex];
    if (vertex.isRounded) {
      Rounding &rounding = roundings[value.vertex];
      ++rounding.casts;
      rounding.bytes += elements * narrowingBytes;
    }
    if (vertex.isConstant)
      cheap[index] =
          graph.holdsElements(vertex.op) ? CheapCast::Free : CheapCast::Empty;
    else if (producer && graph.holdsElements(producer))
      cheap[index] = CheapCast::Free;
    else if (options.masterCopies && value.vertex == 0 &&
             getRole(value.value) == Role::Parameter)
      cheap[index] = CheapCast::Write;
  }
  for (const SlotUse &use : graph.getUses()) {
    Type read = use.user == 0 ? Type() : graph.getReadType(use);
    if (!read)
      continue;
    auto [it, isNew] = sizes.try_emplace(read, 0);
    if (isNew)
      it->second = countElements(read);
    int64_t runs = slotRuns.empty() ? 1 : slotRuns[use.user];
    slotElements[use.user] += multiply(it->second, runs);
  }
  for (VertexId v = 1; v < vertices.size(); ++v)
    if (vertices[v].op && graph.isView(vertices[v].op))
      slotElements[v] = 0;
  slotElements[0] = 0;
  for (const SlotValue &value : values)
    if (vertices[value.vertex].slot == SlotVertex::carried)
      slotElements[value.vertex] = 0;
}

int64_t CostModel::getProductFlops(VertexId v) const {
  const SlotVertex &vertex = graph.getVertices()[v];
  if (vertex.kind != SlotKind::Compute)
    return 0;
  PrecisionOpInterface op = graph.getInterface(vertex.op);
  int64_t runs = slotRuns.empty() ? 1 : slotRuns[v];
  int64_t most = (int64_t(1) << 62) / runs;
  return op ? std::min(op.getProductFlops(), most) * runs : 0;
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
    // Addends of a product, such as a bias or a zero point, do not decide.
    return !type || !type.hasRank() || type.getRank() < 2 ||
           type.isDynamicDim(type.getRank() - 1) ||
           type.getShape().back() % target.alignment == 0;
  };
  bool isFast = low;
  for (uint32_t use : graph.getUsesInto(v))
    isFast = isFast && isAligned(graph.getUses()[use].operand->get());
  for (Value result : vertex.op->getResults())
    isFast = isFast && isAligned(result);
  double rate = isFast ? target.lowFlopPerByte : target.f32FlopPerByte;
  int64_t runs = slotRuns.empty() ? 1 : slotRuns[v];
  // Round for each run, like bytes.
  return rate > 0 ? std::llround(std::min(flops / rate, 0x1p46 / runs)) * runs
                  : 0;
}

AssignmentCost CostModel::evaluate(const Assignment &assignment) const {
  AssignmentCost result;
  for (VertexId v = 1; v < slotElements.size(); ++v) {
    Rounding rounding = getRounding(v, assignment.low[v]);
    result.casts += rounding.casts;
    result.castBytes += rounding.bytes;
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
    int64_t bytes = getCastCost(use.value, assignment.low[use.user]);
    result.castBytes += bytes;
    result.cost += bytes;
  }
  result.bytes += result.castBytes;
  return result;
}

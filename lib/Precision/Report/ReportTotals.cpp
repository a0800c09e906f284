//===- ReportTotals.cpp - Strategies and policies compared ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportFunction.h"

#include "amp/Precision/Assignment/Optimal.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

/// The maximum number of reclassifications, and of listed violations of one
/// strategy.
static constexpr size_t kMaxReclassified = 16;
static constexpr size_t kMaxViolations = 100;
static constexpr int64_t kLargestSize = int64_t(1) << 38;

int64_t mlir::amp::getReportBytes(Type type) {
  Type element = getElementTypeOrSelf(type);
  int64_t bits;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Type part = complex.getElementType();
    if (!part.isIntOrFloat())
      return 0;
    bits = 2 * static_cast<int64_t>(part.getIntOrFloatBitWidth());
  } else if (element.isIndex()) {
    bits = 64;
  } else if (element.isIntOrFloat()) {
    bits = element.getIntOrFloatBitWidth();
  } else {
    return 0;
  }
  int64_t bytes = (bits + 7) / 8;
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return bytes;
  if (!shaped.hasRank())
    return 0;
  for (int64_t extent : shaped.getShape()) {
    if (ShapedType::isDynamic(extent))
      extent = CostModel::dynamicExtent;
    // The sum does not overflow 64 bits.
    if (llvm::MulOverflow(bytes, extent, bytes) || bytes > kLargestSize)
      bytes = kLargestSize;
  }
  return bytes;
}

/// Returns the assignment without low slots.
static Assignment getWide(const SlotGraph &graph) {
  size_t size = graph.getVertices().size();
  Assignment wide;
  wide.low.assign(size, false);
  wide.reasons.assign(size, Reason::NoLowNeighbour);
  wide.causes.assign(size, 0);
  return wide;
}

/// Returns for each vertex whether a use or a value belongs to it. Of merged
/// carried vertices, only one has them.
static std::vector<bool> findUsed(const SlotGraph &graph) {
  std::vector<bool> used(graph.getVertices().size(), false);
  for (const SlotUse &use : graph.getUses())
    used[use.producer] = used[use.user] = true;
  for (const SlotValue &value : graph.getValues())
    used[value.vertex] = true;
  used[0] = false;
  return used;
}

ReportTotals mlir::amp::getTotals(const CostModel &costs,
                                  const Assignment &assignment) {
  const SlotGraph &graph = costs.getGraph();
  ReportTotals totals;
  totals.cost = costs.evaluate(assignment);
  std::vector<bool> used = findUsed(graph);
  for (VertexId v = 1; v < used.size(); ++v) {
    totals.slots += used[v];
    totals.lowSlots += used[v] && assignment.low[v];
    int64_t flops = used[v] ? costs.getProductFlops(v) : 0;
    flops = std::min(flops, INT64_MAX - totals.flops);
    totals.flops += flops;
    totals.lowFlops += assignment.low[v] ? flops : 0;
  }
  for (SlotValue value : graph.getValues()) {
    if (value.vertex == 0)
      continue;
    int64_t bytes = getReportBytes(value.value.getType());
    // A rounded result stays f32. A cast after the operation rounds it.
    bool low = assignment.low[value.vertex] &&
               !graph.getVertices()[value.vertex].isRounded;
    ++totals.values;
    totals.valueBytes += bytes;
    totals.lowValues += low;
    totals.lowValueBytes += low ? bytes : 0;
  }
  return totals;
}

namespace {

/// A hard constraint that an assignment violates.
struct Violation {
  VertexId vertex;
  StringRef constraint;
};

} // namespace

static std::vector<Violation> findViolations(const CostModel &costs,
                                             const Assignment &assignment) {
  const SlotGraph &graph = costs.getGraph();
  HardConstraints constraints = findHardConstraints(graph, costs);
  std::vector<Violation> violations;
  std::vector<bool> used = findUsed(graph);
  for (VertexId v = 1; v < used.size(); ++v) {
    HardConstraints::State state = constraints.states[v];
    if (used[v] && state != HardConstraints::State::Free &&
        (state == HardConstraints::State::Low) != assignment.low[v])
      violations.push_back({v, explain(constraints.reasons[v])});
  }
  for (auto [premise, conclusion] : graph.getImplications())
    if (assignment.low[premise] && !assignment.low[conclusion])
      violations.push_back({premise, explain(Reason::Implied)});
  return violations;
}

void mlir::amp::writeStrategies(llvm::json::OStream &json,
                                const PrecisionReport::Settings &settings,
                                const PrecisionReport::Decide &decide,
                                const CostModel &costs,
                                const Assignment &assignment) {
  const SlotGraph &graph = costs.getGraph();
  auto write = [&](StringRef name, bool chosen, const Assignment &assignment) {
    ReportTotals totals = getTotals(costs, assignment);
    json.object([&] {
      json.attribute("name", name);
      json.attribute("chosen", chosen);
      json.attribute("slots", totals.slots);
      json.attribute("lowSlots", totals.lowSlots);
      json.attribute("values", totals.values);
      json.attribute("lowValues", totals.lowValues);
      json.attribute("valueBytes", totals.valueBytes);
      json.attribute("lowValueBytes", totals.lowValueBytes);
      json.attribute("flops", totals.flops);
      json.attribute("lowFlops", totals.lowFlops);
      json.attribute("casts", totals.cost.casts);
      json.attribute("castBytes", totals.cost.castBytes);
      json.attribute("bytes", totals.cost.bytes);
      json.attribute("cost", totals.cost.cost);
      std::vector<Violation> violations = findViolations(costs, assignment);
      json.attribute("violated", static_cast<int64_t>(violations.size()));
      json.attributeArray("violations", [&] {
        for (Violation violation :
             ArrayRef<Violation>(violations).take_front(kMaxViolations))
          json.object([&] {
            json.attribute("slot", static_cast<int64_t>(violation.vertex));
            json.attribute("constraint", violation.constraint);
          });
      });
    });
  };
  json.attributeArray("strategies", [&] {
    // The baseline of the other strategies.
    write("f32", false, getWide(graph));
    for (Strategy strategy : settings.strategies) {
      bool chosen = strategy == settings.strategy;
      write(stringifyStrategy(strategy), chosen,
            chosen ? assignment : decide(graph, costs, strategy));
    }
  });
}

namespace {

/// Operations of one name that the policy keeps in f32.
struct KeptGroup {
  OperationName name;
  OpClass from, to;
  /// Operations, their slots in f32, and the bytes that these read and write.
  llvm::SmallSetVector<Operation *, 4> ops;
  int64_t slots = 0, bytes = 0;
};

} // namespace

/// Returns the next class towards low precision, or std::nullopt.
static std::optional<OpClass> promote(const SlotVertex &vertex) {
  switch (vertex.opClass) {
  case OpClass::Deny:
    // Only the allow list overrules a range slot.
    return vertex.kind == SlotKind::Range ? OpClass::Allow : OpClass::Infer;
  case OpClass::Infer:
  case OpClass::Clear:
    return OpClass::Allow;
  case OpClass::Unlisted:
    return OpClass::Infer;
  case OpClass::Allow:
  case OpClass::Keep:
    return std::nullopt;
  }
  llvm_unreachable("every class is handled");
}

void mlir::amp::writeWhatIf(llvm::json::OStream &json,
                            const PrecisionReport::Settings &settings,
                            const PrecisionReport::Decide &decide,
                            const CallGroup &functions, Policy &policy,
                            const CostModel &costs,
                            const Assignment &assignment) {
  const SlotGraph &graph = costs.getGraph();
  // Bytes of each slot, then the slots in f32 by name and class.
  std::vector<int64_t> bytes(graph.getVertices().size(), 0);
  for (const SlotUse &use : graph.getUses())
    bytes[use.user] += getReportBytes(use.operand->get().getType());
  for (SlotValue value : graph.getValues())
    bytes[value.vertex] += getReportBytes(value.value.getType());
  llvm::MapVector<std::pair<OperationName, OpClass>, KeptGroup> groups;
  auto add = [&](Operation *op, OpClass from, OpClass to, int64_t bytes) {
    KeptGroup &group =
        groups
            .insert({{op->getName(), to}, {op->getName(), from, to, {}, 0, 0}})
            .first->second;
    group.ops.insert(op);
    ++group.slots;
    group.bytes += bytes;
  };
  for (VertexId v = 1; v < graph.getVertices().size(); ++v) {
    const SlotVertex &vertex = graph.getVertices()[v];
    if (assignment.low[v] || vertex.pinned || vertex.isConstant ||
        vertex.slot == SlotVertex::carried ||
        assignment.reasons[v] == Reason::WideResult)
      continue;
    if (std::optional<OpClass> to = promote(vertex))
      add(vertex.op, vertex.opClass, *to, bytes[v]);
  }
  for (Operation *op : graph.getUnlisted()) {
    int64_t sum = 0;
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                  llvm::to_vector(op->getResultTypes())))
      if (isa<FloatType>(getElementTypeOrSelf(type)))
        sum += getReportBytes(type);
    add(op, OpClass::Unlisted, OpClass::Infer, sum);
  }

  std::vector<KeptGroup> kept;
  for (auto &[key, group] : groups)
    kept.push_back(std::move(group));
  llvm::stable_sort(kept, [](const KeptGroup &a, const KeptGroup &b) {
    return a.bytes > b.bytes;
  });
  // Another class can add slots to the graph. Compare the savings of each
  // assignment against f32 in its own graph.
  auto getSaved = [](const CostModel &costs, const Assignment &assignment) {
    ReportTotals totals = getTotals(costs, assignment);
    AssignmentCost wide = costs.evaluate(getWide(costs.getGraph()));
    totals.cost.bytes -= wide.bytes;
    totals.cost.cost -= wide.cost;
    return totals;
  };
  ReportTotals before = getSaved(costs, assignment);
  json.attributeBegin("whatIf");
  json.object([&] {
    json.attribute("bound", static_cast<int64_t>(kMaxReclassified));
    json.attribute("candidates", static_cast<int64_t>(kept.size()));
    json.attributeBegin("reclassified");
    json.array([&] {
      for (const KeptGroup &group :
           ArrayRef<KeptGroup>(kept).take_front(kMaxReclassified)) {
        policy.assume(group.name, group.to);
        SlotGraph other(functions, policy, settings.low);
        CostModel otherCosts(other, settings.costs);
        ReportTotals after =
            getSaved(otherCosts, decide(other, otherCosts, settings.strategy));
        policy.dropAssumption();
        json.object([&] {
          writeText(json, "op", group.name.getStringRef());
          json.attribute("from", stringifyOpClass(group.from));
          json.attribute("to", stringifyOpClass(group.to));
          json.attribute("ops", static_cast<int64_t>(group.ops.size()));
          json.attribute("slots", group.slots);
          json.attribute("bytes", group.bytes);
          json.attribute("lowValues", after.lowValues - before.lowValues);
          json.attribute("lowValueBytes",
                         after.lowValueBytes - before.lowValueBytes);
          json.attribute("casts", after.cost.casts - before.cost.casts);
          json.attribute("bytesMoved", after.cost.bytes - before.cost.bytes);
          json.attribute("cost", after.cost.cost - before.cost.cost);
        });
      }
    });
    json.attributeEnd();
  });
  json.attributeEnd();
}

//===- PrecisionRemarks.cpp - Say what was decided, and why ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrecisionRemarks.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

class RemarkEmitter {
public:
  RemarkEmitter(FunctionOpInterface function, const SlotGraph &graph,
                const CostModel &costs, const Assignment &assignment,
                Strategy strategy)
      : function(function), graph(graph), costs(costs), assignment(assignment),
        strategy(strategy) {}

  void run() {
    for (VertexId v = 1, e = graph.getVertices().size(); v != e; ++v)
      if (graph.getVertices()[v].slot != SlotVertex::carried)
        emitSlot(v);
    emitRanges();
    emitUnlisted();
    emitIgnoredPins();
    emitTaintedProducts();
    emitSummary();
  }

private:
  /// Functions that call one another are assigned together: a remark names the
  /// one that holds `op`.
  remark::RemarkOpts options(StringRef name, Operation *op = nullptr) {
    FunctionOpInterface holder = function;
    if (op)
      if (auto parent = op->getParentOfType<FunctionOpInterface>())
        holder = parent;
    return remark::RemarkOpts::name(name).category("amp").function(
        holder.getName());
  }
  StringRef nameOf(VertexId v) const {
    return graph.getVertices()[v].op->getName().getStringRef();
  }

  /// The names of the operations on the path from the cause of `v` to it.
  std::string pathTo(VertexId v) const {
    SmallVector<StringRef> names;
    for (VertexId at = v; at != 0 && !assignment.previous.empty();
         at = assignment.previous[at])
      names.push_back(nameOf(at));
    // A path may be as long as the function: its ends tell enough.
    constexpr size_t shown = 8;
    if (names.size() > shown) {
      names[shown / 2 - 1] = "...";
      names.erase(names.begin() + shown / 2, names.end() - shown / 2);
    }
    return llvm::join(llvm::reverse(names), " > ");
  }

  void emitSlot(VertexId v) {
    ++total;
    bool isLow = assignment.low[v];
    low += isLow;
    bool &enabled = isLow ? passes : misses;
    if (!enabled)
      return;
    const SlotVertex &vertex = graph.getVertices()[v];
    auto remark =
        isLow ? remark::passed(vertex.op->getLoc(), options("Low", vertex.op))
              : remark::missed(vertex.op->getLoc(),
                               options("KeptF32", vertex.op));
    enabled = static_cast<bool>(remark);
    if (!enabled)
      return;
    remark << remark::metric("Op", nameOf(v))
           << remark::metric("Slot", static_cast<int>(vertex.slot))
           << remark::metric("Kind", stringifySlotKind(vertex.kind))
           << remark::metric("Class", stringifyOpClass(vertex.opClass))
           << remark::metric("Bytes", costs.getSlotBytes(v, isLow))
           << remark::reason("{0}", explain(assignment.reasons[v]));
    VertexId cause = assignment.causes[v];
    Reason reason = assignment.reasons[v];
    if (reason == Reason::Poisoned && cause != 0)
      remark << remark::metric("From", nameOf(cause));
    if (reason == Reason::Tainted)
      remark << remark::metric("From", nameOf(cause))
             << remark::metric("Path", pathTo(v));
    if (reason == Reason::Unprofitable)
      remark << remark::metric("CastBytes", countCastsOf(v))
             << remark::metric("SavedBytes", costs.getSlotBytes(v, false) -
                                                 costs.getSlotBytes(v, true))
             << remark::metric("SavedTimeAsBytes",
                               costs.getProductTime(v, false) -
                                   costs.getProductTime(v, true))
             << remark::metric("Target", costs.getTarget()->name)
             << remark::metric(
                    "LowFlopPerByte",
                    llvm::formatv("{0:F1}", costs.getTarget()->lowFlopPerByte)
                        .str())
             << remark::metric(
                    "F32FlopPerByte",
                    llvm::formatv("{0:F1}", costs.getTarget()->f32FlopPerByte)
                        .str());
  }

  /// Bytes of the casts that the operands of `v`, an f32 slot, would need for
  /// it alone to be low.
  int64_t countCastsOf(VertexId v) const {
    int64_t bytes = 0;
    SmallVector<uint32_t, 4> seen;
    for (uint32_t index : graph.getUsesInto(v)) {
      const SlotUse &use = graph.getUses()[index];
      bool isThere =
          assignment.low[use.producer] || llvm::is_contained(seen, use.value) ||
          llvm::any_of(graph.getUsesOf(use.producer), [&](uint32_t other) {
            return graph.getUses()[other].value == use.value &&
                   assignment.low[graph.getUses()[other].user];
          });
      seen.push_back(use.value);
      if (!isThere)
        bytes += costs.getCastCost(use.value, /*toLow=*/true);
    }
    return bytes;
  }

  /// Slots that intervals freed, and constants that became masks.
  void emitRanges() {
    for (VertexId v = 1, e = graph.getVertices().size(); v != e; ++v) {
      const SlotVertex &vertex = graph.getVertices()[v];
      bool isMask = vertex.isConstant &&
                    graph.isMask(vertex.op->getResult(0)) &&
                    llvm::any_of(graph.getUsesOf(v), [&](uint32_t use) {
                      return assignment.low[graph.getUses()[use].user];
                    });
      if (!isMask && vertex.proof != RangeProof::Fits)
        continue;
      auto remark = remark::analysis(vertex.op->getLoc(),
                                     options(isMask ? "Mask" : "Fits"));
      if (!remark)
        return;
      remark << remark::metric("Op", nameOf(v))
             << remark::metric("Slot", static_cast<int>(vertex.slot));
      if (isMask) {
        remark << remark::reason("a mask: the lowest finite value of the low "
                                 "type where it is read low");
        continue;
      }
      std::string range;
      llvm::raw_string_ostream(range) << graph.getProvenRange(v);
      remark << remark::reason("its values fit ({0})", range);
    }
  }

  void emitUnlisted() {
    for (Operation *op : graph.getUnlisted()) {
      if (!misses)
        break;
      remark::missed(op->getLoc(), options("Unlisted", op))
          << remark::metric("Op", op->getName().getStringRef())
          << remark::reason("{0}", graph.hasUnknownBody(op)
                                       ? "its regions keep their types, and so "
                                         "does what it carries"
                                       : "no list of the policy names it");
    }
  }

  void emitIgnoredPins() {
    for (Operation *op : graph.getIgnoredPins()) {
      if (!misses)
        break;
      remark::missed(op->getLoc(), options("PinIgnored", op))
          << remark::metric("Op", op->getName().getStringRef())
          << remark::reason("pinned to low, but it has no f32 tensor that may "
                            "change type");
    }
  }

  /// Products that read a cast of a value that may not fit: where to look when
  /// a gradient or an activation is not finite.
  void emitTaintedProducts() {
    if (strategy != Strategy::Optimal)
      return;
    for (const SlotUse &use : graph.getUses()) {
      Reason reason = assignment.reasons[use.producer];
      if (!assignment.low[use.user] || assignment.low[use.producer] ||
          (reason != Reason::Range && reason != Reason::Tainted))
        continue;
      auto remark =
          remark::analysis(use.operand->getOwner()->getLoc(),
                           options("CastMayOverflow", use.operand->getOwner()));
      if (!remark)
        return;
      VertexId from = assignment.causes[use.producer];
      remark << remark::metric("Op", nameOf(use.user))
             << remark::metric("Operand", use.operand->getOperandNumber())
             << remark::metric("From", nameOf(from == 0 ? use.producer : from))
             << remark::reason("the product reads a cast of a value that may "
                               "leave the range of the low type");
    }
  }

  void emitSummary() {
    auto remark = remark::analysis(function.getLoc(), options("Summary"));
    if (!remark)
      return;
    AssignmentCost cost = costs.evaluate(assignment);
    remark << remark::metric("Strategy", stringifyStrategy(strategy))
           << remark::metric("LowSlots", low) << remark::metric("Slots", total)
           << remark::metric("Cost", cost.cost)
           << remark::metric("Bytes", cost.bytes)
           << remark::metric("CastBytes", cost.castBytes)
           << remark::metric("Casts", cost.casts);
  }

  FunctionOpInterface function;
  const SlotGraph &graph;
  const CostModel &costs;
  const Assignment &assignment;
  Strategy strategy;
  /// An engine that is there may still filter ours; then the first remark of a
  /// kind tells.
  bool passes = true, misses = true;
  size_t low = 0, total = 0;
};

} // namespace

void mlir::amp::emitPrecisionRemarks(FunctionOpInterface function,
                                     const SlotGraph &graph,
                                     const CostModel &costs,
                                     const Assignment &assignment,
                                     Strategy strategy) {
  RemarkEmitter(function, graph, costs, assignment, strategy).run();
}

void mlir::amp::warnOfForcedRanges(const SlotGraph &graph,
                                   const Assignment &assignment,
                                   FloatType low) {
  // bf16 has the range of f32.
  if (!low.isF16())
    return;
  llvm::SmallPtrSet<OperationName, 8> named;
  ArrayRef<SlotVertex> vertices = graph.getVertices();
  for (VertexId v = 1, e = vertices.size(); v != e; ++v) {
    const SlotVertex &vertex = vertices[v];
    if (vertex.kind != SlotKind::Range || vertex.opClass != OpClass::Allow ||
        !assignment.low[v] || !vertex.produces || vertex.isBounded ||
        vertex.proof == RangeProof::Fits ||
        !named.insert(vertex.op->getName()).second)
      continue;
    vertex.op->emitWarning()
        << "'" << vertex.op->getName() << "' can exceed the range of f16, but "
        << (vertex.pinned ? "a pin" : "the policy")
        << " makes it low; expected it to be in the list 'deny', or pinned to "
           "f32";
  }
}

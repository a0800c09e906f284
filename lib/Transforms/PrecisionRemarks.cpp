//===- PrecisionRemarks.cpp - Remarks on the decisions --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrecisionRemarks.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Precision/Assignment/MeasuredValues.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

class RemarkEmitter {
public:
  RemarkEmitter(ArrayRef<FunctionOpInterface> functions, const SlotGraph &graph,
                const CostModel &costs, const Assignment &assignment,
                Strategy strategy)
      : functions(functions), graph(graph), costs(costs),
        assignment(assignment), strategy(strategy) {}

  void run() {
    // The summary is first, because it shows whether remarks of its kind are
    // enabled.
    bool analyses = emitSummary();
    // The first remark of each kind shows whether the kind is enabled.
    for (VertexId v = 1, e = graph.getVertices().size();
         v != e && (passes || misses); ++v)
      emitSlot(v);
    emitUnlisted();
    emitIgnoredPins();
    if (!analyses)
      return;
    for (FunctionOpInterface function : functions)
      emitFixed(function);
    emitRanges();
    emitTaintedProducts();
  }

private:
  /// Functions that call one another are assigned together. A remark names the
  /// function that holds `op`.
  remark::RemarkOpts options(StringRef name, Operation *op = nullptr) {
    FunctionOpInterface holder = functions.front();
    if (auto self = dyn_cast_or_null<FunctionOpInterface>(op))
      holder = self;
    else if (auto parent = op ? op->getParentOfType<FunctionOpInterface>()
                              : FunctionOpInterface())
      holder = parent;
    return remark::RemarkOpts::name(name).category("amp").function(
        holder.getName());
  }
  StringRef nameOf(VertexId v) const {
    return graph.getVertices()[v].op->getName().getStringRef();
  }

  std::string nameOfSlot(VertexId v) const {
    int slot = graph.getVertices()[v].slot;
    return slot == SlotVertex::carried ? "carried" : std::to_string(slot);
  }

  /// The names of the operations on the path from the cause of `v` to it.
  std::string pathTo(VertexId v) const {
    SmallVector<StringRef> names;
    for (VertexId at = v; at != 0 && !assignment.previous.empty();
         at = assignment.previous[at])
      names.push_back(nameOf(at));
    // A path may be as long as the function. Show only its ends.
    constexpr size_t shown = 8;
    if (names.size() > shown) {
      names[shown / 2 - 1] = "...";
      names.erase(names.begin() + shown / 2, names.end() - shown / 2);
    }
    return llvm::join(llvm::reverse(names), " > ");
  }

  void emitSlot(VertexId v) {
    const SlotVertex &vertex = graph.getVertices()[v];
    bool isLow = assignment.low[v];
    bool isCarried = vertex.slot == SlotVertex::carried;
    // Values that control flow ties together share one vertex. The others are
    // unused.
    if (isCarried && graph.getUsesInto(v).empty() && graph.getUsesOf(v).empty())
      return;
    bool &enabled = isLow ? passes : misses;
    if (!enabled)
      return;
    auto remark =
        isLow ? remark::passed(vertex.op->getLoc(), options("Low", vertex.op))
              : remark::missed(vertex.op->getLoc(),
                               options("KeptF32", vertex.op));
    enabled = static_cast<bool>(remark);
    if (!enabled)
      return;
    Reason reason = assignment.reasons[v];
    remark << remark::metric("Op", nameOf(v))
           << remark::metric("Slot", nameOfSlot(v))
           << remark::metric("Kind", stringifySlotKind(vertex.kind))
           << remark::metric("Class", stringifyOpClass(vertex.opClass))
           << remark::metric("Bytes", costs.getSlotBytes(v, isLow))
           << remark::reason("{0}", explain(reason));
    if (reason == Reason::MeasuredBeyond || reason == Reason::MeasuredLost)
      addMeasured(remark, v);
    if (isLow)
      return;
    VertexId cause = assignment.causes[v];
    bool isOwn = graph.getVertices()[cause].op == vertex.op;
    if (cause != 0 && (!isOwn || reason == Reason::Implied))
      remark << remark::metric("From", nameOf(cause))
             << remark::metric("FromSlot", nameOfSlot(cause));
    if (!assignment.previous.empty() && assignment.previous[v] != 0)
      remark << remark::metric("Path", pathTo(v));
    if (reason != Reason::Unprofitable && reason != Reason::Cheapest)
      return;
    remark << remark::metric("CastBytes", countCastsIfLow(v))
           << remark::metric("SavedBytes", costs.getSlotBytes(v, false) -
                                               costs.getSlotBytes(v, true));
    if (reason == Reason::Unprofitable)
      remark << remark::metric("SavedTimeAsBytes",
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

  /// The bytes of the additional casts if only `v`, an f32 slot, became low.
  int64_t countCastsIfLow(VertexId v) const {
    int64_t bytes = 0;
    SmallVector<uint32_t, 4> seen;
    // Whether another slot reads the value in that type.
    auto isRead = [&](VertexId producer, uint32_t value, bool low) {
      return llvm::any_of(graph.getUsesOf(producer), [&](uint32_t index) {
        const SlotUse &use = graph.getUses()[index];
        return use.value == value && use.user != v &&
               assignment.low[use.user] == low;
      });
    };
    for (uint32_t index : graph.getUsesInto(v)) {
      const SlotUse &use = graph.getUses()[index];
      if (use.producer == v || llvm::is_contained(seen, use.value))
        continue;
      seen.push_back(use.value);
      if (assignment.low[use.producer]) {
        // The value is widened, perhaps only for this slot.
        if (!isRead(use.producer, use.value, /*low=*/false))
          bytes -= costs.getCastCost(use.value, /*toLow=*/false);
      } else if (!isRead(use.producer, use.value, /*low=*/true)) {
        bytes += costs.getCastCost(use.value, /*toLow=*/true);
      }
    }
    seen.clear();
    for (uint32_t index : graph.getUsesOf(v)) {
      const SlotUse &use = graph.getUses()[index];
      if (llvm::is_contained(seen, use.value))
        continue;
      seen.push_back(use.value);
      if (isRead(v, use.value, /*low=*/false))
        bytes += costs.getCastCost(use.value, /*toLow=*/false);
      if (isRead(v, use.value, /*low=*/true))
        bytes -= costs.getCastCost(use.value, /*toLow=*/true);
    }
    return bytes;
  }

  /// Emits remarks for tensors of floats without a vertex.
  void emitFixed(FunctionOpInterface function) {
    llvm::DenseSet<std::pair<Operation *, int>> decided;
    for (const SlotVertex &vertex : graph.getVertices())
      decided.insert({vertex.op, vertex.slot});
    PrecisionSlots slots;
    function.getFunctionBody().walk([&](Operation *op) {
      if (!graph.hasSlots(op))
        return WalkResult::advance();
      graph.getSlots(op, slots);
      for (int slot = 0, e = slots.kinds.size(); slot != e; ++slot) {
        if (decided.contains({op, slot}))
          continue;
        std::string why = graph.explainFixed(op, slot, slots);
        if (why.empty())
          continue;
        auto remark = remark::analysis(op->getLoc(), options("Fixed", op));
        if (!remark)
          return WalkResult::interrupt();
        remark << remark::metric("Op", op->getName().getStringRef())
               << remark::metric("Slot", slot) << remark::reason("{0}", why);
      }
      return WalkResult::advance();
    });
  }

  /// Emits remarks for slots that intervals freed, and for constants that
  /// became masks.
  void emitRanges() {
    for (VertexId v = 1, e = graph.getVertices().size(); v != e; ++v) {
      const SlotVertex &vertex = graph.getVertices()[v];
      bool isMask = vertex.isConstant &&
                    graph.isMask(vertex.op->getResult(0)) &&
                    llvm::any_of(graph.getUsesOf(v), [&](uint32_t use) {
                      return assignment.low[graph.getUses()[use].user];
                    });
      bool isMeasured = vertex.proof == RangeProof::MeasuredFits &&
                        vertex.kind == SlotKind::Range;
      if (!isMask && !isMeasured && vertex.proof != RangeProof::Fits)
        continue;
      auto remark = remark::analysis(vertex.op->getLoc(),
                                     options(isMask       ? "Mask"
                                             : isMeasured ? "MeasuredFits"
                                                          : "Fits",
                                             vertex.op));
      if (!remark)
        return;
      remark << remark::metric("Op", nameOf(v))
             << remark::metric("Slot", static_cast<int>(vertex.slot));
      if (isMask) {
        remark << remark::reason("a mask: the lowest finite value of the low "
                                 "type where it is read low");
        continue;
      }
      if (isMeasured) {
        addMeasured(remark, v);
        remark << remark::reason(
            "its measured values fit, which is not a proof");
        continue;
      }
      std::string range;
      llvm::raw_string_ostream(range) << graph.getProvenRange(v);
      remark << remark::reason("its values fit ({0})", range);
    }
  }

  /// Adds the range of the measured values of `v`, and their largest error in
  /// the low type. Gradients have no loss scale.
  template <typename RemarkT>
  void addMeasured(RemarkT &remark, VertexId v) {
    const MeasuredValues &measured = *graph.getMeasured();
    double largest = 0, smallest = 0, error = 0;
    bool isScaled = false;
    for (Value value : graph.getMeasuredValues(v)) {
      const MeasuredRange &range = *measured.lookup(value);
      double least = range.statistics.getSmallest();
      largest = std::max(largest, range.statistics.getLargest());
      smallest = smallest == 0 ? least : std::min(smallest, least);
      error = std::max(error, measured.getLoss(range).error);
      isScaled |= range.isScaled();
    }
    auto add = [&](StringRef name, double number) {
      remark << remark::metric(name, llvm::formatv("{0:E2}", number).str());
    };
    add("Largest", largest);
    add("Smallest", smallest);
    add("Error", error);
    if (isScaled)
      add("LossScale", measured.getScale());
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

  /// Explains why `op`, which is pinned to low, has nothing that may change.
  std::string explainIgnoredPin(Operation *op) {
    if (!graph.hasSlots(op))
      return "no list of the policy names it, so that nothing tells how it "
             "would";
    PrecisionSlots slots;
    graph.getSlots(op, slots);
    for (int slot = 0, e = slots.kinds.size(); slot != e; ++slot)
      if (std::string why = graph.explainFixed(op, slot, slots); !why.empty())
        return why;
    return "it has no f32 tensor that may change type";
  }

  /// Emits remarks for pins of operations that return values.
  void emitIgnoredReturnPins(FunctionOpInterface function) {
    for (Block &block : function.getFunctionBody()) {
      Operation *op = block.empty() ? nullptr : &block.back();
      if (!op || !op->hasTrait<OpTrait::ReturnLike>())
        continue;
      auto pin = op->getAttrOfType<StringAttr>(AMPDialect::kPrecisionAttr);
      if (!misses || !pin || pin.getValue() != "low")
        continue;
      remark::missed(op->getLoc(), options("PinIgnored", op))
          << remark::metric("Op", op->getName().getStringRef())
          << remark::reason("pinned to low, but what a function returns has "
                            "the type of its signature; what computes it may "
                            "be pinned instead");
    }
  }

  void emitIgnoredPins() {
    for (Operation *op : graph.getIgnoredPins()) {
      if (!misses)
        break;
      remark::missed(op->getLoc(), options("PinIgnored", op))
          << remark::metric("Op", op->getName().getStringRef())
          << remark::reason("pinned to low, but {0}", explainIgnoredPin(op));
    }
    for (FunctionOpInterface function : functions) {
      emitIgnoredReturnPins(function);
      for (BlockArgument argument : function.getArguments()) {
        auto pin = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), AMPDialect::kPrecisionAttr);
        if (!misses || !pin || pin.getValue() != "low")
          continue;
        remark::missed(argument.getLoc(), options("PinIgnored", function))
            << remark::metric("Argument", argument.getArgNumber())
            << remark::reason("pinned to low, but an argument with a pin keeps "
                              "its type; what reads it may be pinned instead");
      }
    }
  }

  /// Emits remarks for products that read a cast of a value that may not fit.
  /// They are suspects when a gradient or an activation is not finite.
  void emitTaintedProducts() {
    if (strategy != Strategy::Optimal)
      return;
    for (const SlotUse &use : graph.getUses()) {
      Reason reason = assignment.reasons[use.producer];
      if (!assignment.low[use.user] || assignment.low[use.producer] ||
          (reason != Reason::Range && reason != Reason::Tainted) ||
          graph.getVertices()[use.producer].isBounded ||
          graph.fitsLow(use.operand->get()))
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

  /// Emits the summary. Returns whether analysis remarks are enabled.
  bool emitSummary() {
    FunctionOpInterface first = functions.front();
    auto remark = remark::analysis(first.getLoc(), options("Summary"));
    if (!remark)
      return false;
    size_t low = 0, total = 0;
    for (auto [v, vertex] : llvm::enumerate(graph.getVertices())) {
      if (v == 0 || vertex.slot == SlotVertex::carried)
        continue;
      ++total;
      low += assignment.low[v];
    }
    AssignmentCost cost = costs.evaluate(assignment);
    remark << remark::metric("Strategy", stringifyStrategy(strategy))
           << remark::metric("LowSlots", low) << remark::metric("Slots", total)
           << remark::metric("Cost", cost.cost)
           << remark::metric("Bytes", cost.bytes)
           << remark::metric("CastBytes", cost.castBytes)
           << remark::metric("Casts", cost.casts);
    return true;
  }

  ArrayRef<FunctionOpInterface> functions;
  const SlotGraph &graph;
  const CostModel &costs;
  const Assignment &assignment;
  Strategy strategy;
  /// An engine may still filter the remarks of this pass. The first remark of a
  /// kind shows whether it does.
  bool passes = true, misses = true;
};

} // namespace

void mlir::amp::emitPrecisionRemarks(ArrayRef<FunctionOpInterface> functions,
                                     const SlotGraph &graph,
                                     const CostModel &costs,
                                     const Assignment &assignment,
                                     Strategy strategy) {
  if (!functions.front()->getContext()->getRemarkEngine())
    return;
  RemarkEmitter(functions, graph, costs, assignment, strategy).run();
}

/// Warns once for each operation name that has a low slot for which `isForced`
/// holds.
static void warnOfForced(const SlotGraph &graph, const Assignment &assignment,
                         llvm::function_ref<bool(VertexId)> isForced,
                         llvm::function_ref<void(const SlotVertex &)> warn) {
  llvm::SmallPtrSet<OperationName, 8> named;
  ArrayRef<SlotVertex> vertices = graph.getVertices();
  for (VertexId v = 1, e = vertices.size(); v != e; ++v)
    if (assignment.low[v] && isForced(v) &&
        named.insert(vertices[v].op->getName()).second)
      warn(vertices[v]);
}

void mlir::amp::warnOfForcedLow(const SlotGraph &graph,
                                const Assignment &assignment, FloatType low) {
  ArrayRef<SlotVertex> vertices = graph.getVertices();
  llvm::SmallPtrSet<OperationName, 8> named;
  SmallVector<VertexId> overridden(graph.getOverriddenPins());
  llvm::sort(overridden);
  for (VertexId v : overridden) {
    Operation *op = vertices[v].op;
    if (named.insert(op->getName()).second)
      op->emitWarning() << "'" << op->getName()
                        << "' reads or holds a constant or a gradient seed "
                           "that is beyond the "
                           "range of "
                        << low
                        << ", so it stays f32 although a pin asks for low "
                           "precision; expected "
                           "it to be pinned to f32";
  }
  // bf16 has the range of f32.
  if (!low.isF16())
    return;
  warnOfForced(
      graph, assignment,
      [&](VertexId v) {
        const SlotVertex &vertex = vertices[v];
        return vertex.kind == SlotKind::Range &&
               vertex.opClass == OpClass::Allow && vertex.produces &&
               !vertex.isBounded && vertex.proof == RangeProof::None &&
               !graph.findFittingRange(v);
      },
      [](const SlotVertex &vertex) {
        vertex.op->emitWarning()
            << "'" << vertex.op->getName()
            << "' can exceed the range of f16, but "
            << (vertex.pinned ? "a pin" : "the policy")
            << " makes it low; expected it to be in the list 'deny', or pinned "
               "to f32";
      });
}

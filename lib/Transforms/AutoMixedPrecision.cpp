//===- AutoMixedPrecision.cpp - Store values in low precision -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decision is made in the Precision library; this pass builds the graph of
// slots, asks for an assignment, and materialises it: result types first, then
// one cast per value on which a producer and its users disagree.
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "PrecisionRecord.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Precision/Assignment.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"

namespace mlir::amp {
#define GEN_PASS_DEF_AUTOMIXEDPRECISIONPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

#define DEBUG_TYPE "auto-mixed-precision"

using namespace mlir;
using namespace mlir::amp;

FloatType mlir::amp::parsePrecision(StringRef name, MLIRContext *context) {
  if (name == "fp16" || name == "f16" || name == "half")
    return Float16Type::get(context);
  if (name == "bf16" || name == "bfloat16")
    return BFloat16Type::get(context);
  if (name == "f32" || name == "fp32" || name == "float")
    return Float32Type::get(context);
  return {};
}

namespace {

/// Tensor types with one element type. A graph has many values but few types,
/// so that remembering them is cheaper than uniquing them again.
class TypesOf {
public:
  explicit TypesOf(FloatType elementType) : elementType(elementType) {}

  FloatType getElementType() const { return elementType; }

  /// Returns `type` with this element type.
  Type get(Type type) {
    Type &entry = types[type];
    if (!entry)
      entry = cast<RankedTensorType>(type).clone(elementType);
    return entry;
  }

private:
  FloatType elementType;
  DenseMap<Type, Type> types;
};

class AutoMixedPrecisionPass final
    : public amp::impl::AutoMixedPrecisionPassBase<AutoMixedPrecisionPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    Location loc = getOperation()->getLoc();
    FloatType low = parsePrecision(precision, &getContext());
    if (!low) {
      emitError(loc) << "auto-mixed-precision: unknown precision '" << precision
                     << "', expected fp16, bf16 or f32";
      return signalPassFailure();
    }
    if (low.isF32())
      return;
    FailureOr<Policy> loaded = Policy::load(policy, loc);
    if (failed(loaded))
      return signalPassFailure();

    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (!function.isExternal() &&
              failed(rewriteFunction(function, low, *loaded)))
            return WalkResult::interrupt();
          return WalkResult::skip();
        });
    if (result.wasInterrupted())
      return signalPassFailure();
  }

private:
  LogicalResult rewriteFunction(FunctionOpInterface function, FloatType low,
                                const Policy &policy);
  LogicalResult retypeValues(const SlotGraph &graph,
                             const Assignment &assignment, TypesOf &lowTypes,
                             RewriterBase &rewriter);
  void insertCasts(const SlotGraph &graph, const Assignment &assignment,
                   TypesOf &lowTypes, OpBuilder &builder);
  void emitRemarks(FunctionOpInterface function, const SlotGraph &graph,
                   const Assignment &assignment);
};

} // namespace

LogicalResult
AutoMixedPrecisionPass::rewriteFunction(FunctionOpInterface function,
                                        FloatType low, const Policy &policy) {
  std::string obstacle;
  RestoreCounts counts;
  if (getRecordedPrecision(function) &&
      failed(restoreInput(function, obstacle, counts))) {
    remark::missed(function.getLoc(), remark::RemarkOpts::name("AlreadyMixed")
                                          .category("amp")
                                          .function(function.getName()))
        << "already in mixed precision, and later passes built on it"
        << remark::reason("{0}", obstacle);
    return success();
  }
  SlotGraph graph(function, policy);
  if (policy.isContradictory())
    return failure();
  Assignment assignment = assignByLists(graph);
  if (getContext().getRemarkEngine())
    emitRemarks(function, graph, assignment);
  numUnlisted += graph.getUnlisted().size();

  recordInput(function, low);
  IRRewriter rewriter(&getContext());
  TypesOf lowTypes(low);
  if (failed(retypeValues(graph, assignment, lowTypes, rewriter)))
    return failure();
  insertCasts(graph, assignment, lowTypes, rewriter);
  return success();
}

/// Gives the values of all low slots the low type, and lets the operations
/// follow.
LogicalResult AutoMixedPrecisionPass::retypeValues(const SlotGraph &graph,
                                                   const Assignment &assignment,
                                                   TypesOf &lowTypes,
                                                   RewriterBase &rewriter) {
  for (SlotValue value : graph.getValues())
    if (assignment.low[value.vertex])
      value.value.setType(lowTypes.get(value.value.getType()));

  SmallVector<Type, 4> slotTypes;
  ArrayRef<SlotVertex> vertices = graph.getVertices();
  for (size_t v = 1; v < vertices.size();) {
    // The vertices of an operation follow one another.
    Operation *op = vertices[v].op;
    bool carried = vertices[v].slot == SlotVertex::carried;
    bool retype = false;
    slotTypes.clear();
    for (; v < vertices.size() && vertices[v].op == op &&
           (vertices[v].slot == SlotVertex::carried) == carried;
         ++v) {
      if (assignment.reasons[v] == Reason::WideResult)
        ++numWideProducts;
      if (!assignment.low[v])
        continue;
      ++numLowSlots;
      if (carried || !vertices[v].produces)
        continue;
      retype = true;
      slotTypes.resize(
          std::max<size_t>(slotTypes.size(), vertices[v].slot + 1));
      slotTypes[vertices[v].slot] = lowTypes.getElementType();
    }
    if (!retype)
      continue;
    PrecisionOpInterface iface = graph.getInterface(op);
    if (!iface)
      continue;
    bool isConstant = vertices[v - 1].isConstant;
    Attribute input = isConstant ? getConstantValue(op) : Attribute();
    if (failed(iface.retype(slotTypes, rewriter)))
      return failure();
    if (input)
      recordConstant(op, input);
  }
  return success();
}

/// Inserts one cast per value on which the producer and some user disagree,
/// before the first such user.
void AutoMixedPrecisionPass::insertCasts(const SlotGraph &graph,
                                         const Assignment &assignment,
                                         TypesOf &lowTypes,
                                         OpBuilder &builder) {
  DenseMap<Value, Value> casts;
  TypesOf wideTypes(Float32Type::get(&getContext()));
  for (const SlotUse &use : graph.getUses()) {
    bool userLow = assignment.low[use.user];
    if (assignment.low[use.producer] == userLow)
      continue;
    Value value = use.operand->get();
    Value &converted = casts[value];
    if (!converted) {
      // Uses come in program order: the first one dominates the others once
      // it stands in the block of the value. In unstructured control flow it
      // may stand in another block.
      Operation *user = use.operand->getOwner();
      if (Operation *first =
              value.getParentBlock()->findAncestorOpInBlock(*user))
        builder.setInsertionPoint(first);
      else
        builder.setInsertionPointAfterValue(value);
      TypesOf &types = userLow ? lowTypes : wideTypes;
      converted = CastOp::create(builder, value.getLoc(),
                                 types.get(value.getType()), value,
                                 /*inserted=*/true);
      ++numCasts;
    }
    use.operand->set(converted);
  }
}

void AutoMixedPrecisionPass::emitRemarks(FunctionOpInterface function,
                                         const SlotGraph &graph,
                                         const Assignment &assignment) {
  auto options = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category("amp").function(
        function.getName());
  };
  // An engine that is there may still filter ours; then the first remark of a
  // kind tells.
  bool passes = true, misses = true;
  size_t low = 0, total = 0;
  for (VertexId v = 1, e = graph.getVertices().size(); v != e; ++v) {
    const SlotVertex &vertex = graph.getVertices()[v];
    if (vertex.slot == SlotVertex::carried)
      continue;
    ++total;
    low += assignment.low[v];
    bool &enabled = assignment.low[v] ? passes : misses;
    if (!enabled)
      continue;
    auto emit = [&](auto &&remark) {
      enabled = static_cast<bool>(remark);
      if (!enabled)
        return;
      remark << remark::metric("Op", vertex.op->getName().getStringRef())
             << remark::metric("Slot", static_cast<int>(vertex.slot))
             << remark::metric("Kind", stringifySlotKind(vertex.kind))
             << remark::metric("Class", stringifyOpClass(vertex.opClass))
             << remark::reason("{0}", explain(assignment.reasons[v]));
      VertexId cause = assignment.causes[v];
      if (assignment.reasons[v] == Reason::Poisoned && cause != 0)
        remark << remark::metric(
            "From", graph.getVertices()[cause].op->getName().getStringRef());
    };
    if (assignment.low[v])
      emit(remark::passed(vertex.op->getLoc(), options("Low")));
    else
      emit(remark::missed(vertex.op->getLoc(), options("KeptF32")));
  }
  for (Operation *op : graph.getUnlisted()) {
    if (!misses)
      break;
    remark::missed(op->getLoc(), options("Unlisted"))
        << remark::metric("Op", op->getName().getStringRef())
        << remark::reason("no list of the policy names it");
  }
  remark::analysis(function.getLoc(), options("Summary"))
      << remark::metric("LowSlots", low) << remark::metric("Slots", total);
}

//===- PropagateLayout.cpp - Fewer transposes of activations --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutGraph.h"
#include "RemarkOptions.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::train {
#define GEN_PASS_DEF_TRAINPROPAGATELAYOUT
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::train;

namespace {

struct PropagateLayoutPass
    : public train::impl::TrainPropagateLayoutBase<PropagateLayoutPass> {
  using TrainPropagateLayoutBase::TrainPropagateLayoutBase;
  void runOnOperation() override;

private:
  bool improve(FunctionOpInterface function);
  void remarkChange(Operation *seed, const Changes &before,
                    const Changes &after);
};

} // namespace

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Returns the value with the number `value` in `side`. Creates a transpose if
/// there is only the other order.
Value LayoutGraph::get(unsigned value, Order side) {
  std::array<Value, 2> &both = stored[value];
  if (both[side])
    return both[side];
  const LayoutValue &entry = values[value];
  Value from = both[1 - side];
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(from);
  Layout change = composeLayouts(invertLayout(entry.layouts[1 - side]),
                                 entry.layouts[side]);
  both[side] = createLayoutChange(builder, entry.value.getLoc(), from, change);
  if (both[side] == from)
    return from;
  numInserted += isa<TransposeOp>(both[side].getDefiningOp());
  // A value that is pinned to f32 moves in f32.
  Operation *producer = entry.value.getDefiningOp();
  StringRef pin = amp::AMPDialect::kPrecisionAttr;
  if (Attribute pinned = producer ? producer->getAttr(pin) : Attribute())
    both[side].getDefiningOp()->setAttr(pin, pinned);
  return both[side];
}

void LayoutGraph::rewriteOperation(Operation *op, ArrayRef<bool> isChosen) {
  auto found = opIds.find(op);
  LayoutOp *entry = found == opIds.end() ? nullptr : &ops[found->second];
  if (entry && !isChosen[entry->component])
    entry = nullptr;
  Order side = entry ? best[found->second] : 0;
  SmallVector<Value> operands(op->getOperands());
  for (OpOperand &use : op->getOpOperands()) {
    auto id = valueIds.find(use.get());
    if (id == valueIds.end() || !isChosen[values[id->second].component])
      continue;
    const LayoutValue &value = values[id->second];
    bool follows = entry && getReader(use) != kNone;
    operands[use.getOperandNumber()] =
        get(id->second, follows ? side : value.getOwnOrder());
  }
  if (entry && entry->isView) {
    stored[valueIds[op->getResult(0)]][side] = operands[0];
    return;
  }
  if (!entry || side == entry->ownOrder) {
    op->setOperands(operands);
    return;
  }
  OpBuilder builder(op);
  Operation *clone;
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    const Layout &layout = entry->layouts[side].results.front();
    Layout moved = composeLayouts(
        composeLayouts(invertLayout(layout), transpose.getPermutation()),
        layout);
    clone = builder.clone(*op);
    clone->setOperands(operands);
    cast<TransposeOp>(clone).setPermutation(moved);
    RankedTensorType type = transpose.getType();
    clone->getResult(0).setType(
        type.clone(permuteShape(type.getShape(), layout)));
  } else {
    clone = cloneInLayout(builder, op, entry->layouts[side], operands);
  }
  ++numMoved;
  for (auto [result, moved] :
       llvm::zip_equal(op->getResults(), clone->getResults())) {
    auto id = valueIds.find(result);
    unsigned number = id == valueIds.end() ? kNone : id->second;
    if (number != kNone && getProducer(values[number]) != kNone) {
      stored[number][side] = moved;
      continue;
    }
    // This result is the same in both orders.
    if (number != kNone) {
      stored[number][values[number].getOwnOrder()] = moved;
      valueIds[moved] = number;
    }
    result.replaceAllUsesWith(moved);
  }
}

void LayoutGraph::rewrite(ArrayRef<bool> isChosen) {
  stored.resize(values.size());
  for (auto [id, value] : llvm::enumerate(values)) {
    unsigned producer = getProducer(value);
    if (producer == kNone ||
        (!ops[producer].isView && best[producer] == value.getOwnOrder()))
      stored[id][value.getOwnOrder()] = value.value;
  }
  for (Operation *op : order)
    rewriteOperation(op, isChosen);
  for (Operation *op : llvm::reverse(order)) {
    auto found = opIds.find(op);
    if (found == opIds.end())
      continue;
    const LayoutOp &entry = ops[found->second];
    bool isMoved = entry.isView || best[found->second] != entry.ownOrder;
    if (!isChosen[entry.component] || !isMoved)
      continue;
    numErased += isa<TransposeOp>(op);
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

void PropagateLayoutPass::remarkChange(Operation *seed, const Changes &before,
                                       const Changes &after) {
  auto remark =
      remark::passed(seed->getLoc(), getRemarkOptions("Layout", seed));
  if (remark)
    remark << remark::metric("TransposesBefore", before.count)
           << remark::metric("TransposesAfter", after.count)
           << remark::metric("BytesBefore", before.bytes)
           << remark::metric("BytesAfter", after.bytes);
}

static void remarkBorder(Operation *reader, StringRef why, int64_t bytes) {
  auto remark =
      remark::missed(reader->getLoc(), getRemarkOptions("Transposed", reader));
  if (remark)
    remark << remark::metric("Op", reader->getName().getStringRef())
           << remark::metric("Bytes", bytes)
           << remark::reason("{0} {1}", reader->getName().getStringRef(), why);
}

/// Moves the transposes of `function` where this saves bytes. Returns whether
/// anything changed.
bool PropagateLayoutPass::improve(FunctionOpInterface function) {
  bool hasTransposes =
      function->walk([](TransposeOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (!hasTransposes)
    return false;
  LayoutGraph graph(function);
  graph.solve();
  SmallVector<bool> isChosen;
  for (unsigned id = 0; id < graph.getNumComponents(); ++id) {
    Changes before = graph.count(id, /*isBefore=*/true);
    Changes after = graph.count(id, /*isBefore=*/false);
    isChosen.push_back(after.bytes < before.bytes);
    if (isChosen.back())
      remarkChange(graph.getSeed(id), before, after);
  }
  if (!llvm::is_contained(isChosen, true)) {
    graph.forEachBorder(remarkBorder);
    return false;
  }
  graph.rewrite(isChosen);
  numMoved += graph.numMoved;
  numInserted += graph.numInserted;
  numErased += graph.numErased;
  return true;
}

void PropagateLayoutPass::runOnOperation() {
  SmallVector<FunctionOpInterface> functions;
  getOperation()->walk([&](FunctionOpInterface function) {
    if (!function.isExternal())
      functions.push_back(function);
  });
  // Each round costs less than the one before. A round may join values that
  // were apart.
  for (FunctionOpInterface function : functions)
    while (improve(function)) {
    }
}

//===- LayoutCosts.cpp - The cheapest orders of a graph of layouts --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutGraph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::train;
using mlir::amp::MaxFlow;

/// Whether a value with these layouts has one order alone.
static bool isSameInBoth(const Layout &first, const Layout &second) {
  return isIdentityLayout(first) && isIdentityLayout(second);
}

unsigned LayoutGraph::getProducer(const LayoutValue &value) const {
  auto result = dyn_cast<OpResult>(value.value);
  auto found = result ? opIds.find(result.getOwner()) : opIds.end();
  if (found == opIds.end())
    return kNone;
  const LayoutOp &op = ops[found->second];
  unsigned number = result.getResultNumber();
  return isSameInBoth(op.layouts[0].results[number],
                      op.layouts[1].results[number])
             ? kNone
             : found->second;
}

unsigned LayoutGraph::getReader(OpOperand &use) const {
  auto found = opIds.find(use.getOwner());
  if (found == opIds.end())
    return kNone;
  const LayoutOp &op = ops[found->second];
  const auto &first = op.layouts[0].operands[use.getOperandNumber()];
  const auto &second = op.layouts[1].operands[use.getOperandNumber()];
  return !first || isSameInBoth(*first, *second) ? kNone : found->second;
}

Order LayoutGraph::orderOfReader(OpOperand &use, const LayoutValue &value,
                                 ArrayRef<Order> chosen) const {
  unsigned reader = getReader(use);
  return reader == kNone ? value.getOwnOrder() : chosen[reader];
}

/// The cost of operands of lower rank, which an operation transposes for
/// itself.
int64_t LayoutGraph::getLocalCost(const LayoutOp &op, Order side) const {
  return op.isView || side == op.ownOrder
             ? 0
             : countAlignedBytes(op.op, op.layouts[side]);
}

/// Counts the changes of order in `component`, with the orders of the function
/// as it is or with the cheapest ones.
Changes LayoutGraph::count(unsigned component, bool isBefore) const {
  ArrayRef<Order> chosen = isBefore ? own : best;
  Changes changes;
  for (const LayoutValue &value : values) {
    if (value.component != component)
      continue;
    unsigned producer = getProducer(value);
    Order available =
        producer == kNone ? value.getOwnOrder() : chosen[producer];
    bool isChanged = llvm::any_of(value.value.getUses(), [&](OpOperand &use) {
      return orderOfReader(use, value, chosen) != available;
    });
    if (!isChanged || value.cost == 1)
      continue;
    ++changes.count;
    changes.bytes += value.cost - 1;
  }
  for (auto [op, side] : llvm::zip_equal(ops, chosen))
    if (op.component == component)
      changes.bytes += getLocalCost(op, side);
  return changes;
}

/// Adds the cost of the changes of one value. The source side of the cut is
/// order 1. A value changes its order at most once for all readers.
void LayoutGraph::addFlow(MaxFlow &flow, const LayoutValue &value) {
  int64_t cost = value.isChangeable ? value.cost : MaxFlow::infinite;
  unsigned producer = getProducer(value);
  Order ownOrder = value.getOwnOrder();
  SetVector<unsigned> readers;
  bool isReadInOwn = false;
  for (OpOperand &use : value.value.getUses()) {
    unsigned reader = getReader(use);
    if (reader == kNone)
      isReadInOwn = true;
    else if (reader != producer)
      readers.insert(reader);
  }
  for (Order read : {0, 1}) {
    // The cost arises if a reader is in order `read` and the producer is not.
    if (producer == kNone && read == ownOrder)
      continue;
    if (isReadInOwn && read == ownOrder) {
      flow.addTerminal(producer, read == 1 ? cost : -cost);
      continue;
    }
    if (readers.empty())
      continue;
    MaxFlow::Node node = flow.addNode();
    for (unsigned reader : readers)
      read == 1 ? flow.addArc(reader, node, MaxFlow::infinite)
                : flow.addArc(node, reader, MaxFlow::infinite);
    if (producer == kNone)
      flow.addTerminal(node, read == 1 ? -cost : cost);
    else
      read == 1 ? flow.addArc(node, producer, cost)
                : flow.addArc(producer, node, cost);
  }
}

void LayoutGraph::solve() {
  MaxFlow flow(ops.size(), 2 * values.size(), 8 * values.size());
  for (auto [id, op] : llvm::enumerate(ops)) {
    Order moved = 1 - op.ownOrder;
    int64_t cost = getLocalCost(op, moved);
    if (cost != 0)
      flow.addTerminal(id, moved == 1 ? -cost : cost);
  }
  for (const LayoutValue &value : values)
    addFlow(flow, value);
  flow.run();
  for (unsigned id = 0; id < ops.size(); ++id)
    best.push_back(flow.isOnSourceSide(id) ? 1 : 0);
}

/// Returns the first operation from `op` on that cannot take another order, or
/// null.
Operation *LayoutGraph::findFixed(Operation *op) const {
  SmallVector<Operation *> worklist{op};
  DenseSet<Operation *> seen;
  // The search is for a remark. It ends early in a large component.
  while (!worklist.empty() && seen.size() < 64) {
    Operation *next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (fixed.contains(next))
      return next;
    if (opIds.contains(next))
      llvm::append_range(worklist, next->getUsers());
  }
  return nullptr;
}

void LayoutGraph::forEachBorder(
    function_ref<void(Operation *, StringRef, int64_t)> report) const {
  for (const LayoutValue &value : values) {
    unsigned producer = getProducer(value);
    Order available = producer == kNone ? value.getOwnOrder() : best[producer];
    Operation *reader = nullptr, *fixedReader = nullptr;
    for (OpOperand &use : value.value.getUses()) {
      if (value.cost == 1 || orderOfReader(use, value, best) == available)
        continue;
      reader = use.getOwner();
      if (!fixedReader)
        fixedReader = findFixed(reader);
    }
    if (fixedReader)
      report(fixedReader, fixed.lookup(fixedReader), value.cost - 1);
    else if (reader)
      report(reader, "is cheaper in this order", value.cost - 1);
  }
  for (Operation *op : order)
    if (auto transpose = dyn_cast<TransposeOp>(op);
        transpose && fixed.contains(op))
      report(op, fixed.lookup(op), countTensorBytes(transpose.getResult()));
}

//===- LayoutGraph.cpp - Values that transposes connect -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutGraph.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::train;

LayoutGraph::LayoutGraph(FunctionOpInterface function) : function(function) {
  function->walk<WalkOrder::PreOrder, ForwardDominanceIterator<>>(
      [&](Operation *op) {
        if (op != function.getOperation()) {
          order.push_back(op);
          known.insert(op);
        }
      });
  for (Operation *op : order)
    if (auto transpose = dyn_cast<TransposeOp>(op))
      seed(transpose);
  for (const LayoutOp &op : ops)
    own.push_back(op.ownOrder);
}

bool LayoutGraph::canJoin(Value value) const {
  return isa<RankedTensorType>(value.getType()) &&
         llvm::all_of(value.getUsers(),
                      [&](Operation *user) { return known.contains(user); });
}

void LayoutGraph::addValue(Value value, Layout first, Layout second) {
  LayoutValue entry{value, {first, second}, numComponents - 1};
  auto type = cast<RankedTensorType>(value.getType());
  entry.isChangeable = isa<FloatType>(type.getElementType());
  bool moves = !keepsElementOrder(type.getShape(),
                                  entry.layouts[1 - entry.getOwnOrder()]);
  // A reshape has a small cost too: the fewer, the better.
  entry.cost = moves ? countTensorBytes(value) + 1 : 1;
  valueIds[value] = values.size();
  queue.push_back(values.size());
  values.push_back(std::move(entry));
}

/// Returns why `op` must compute in its own order, or an empty string.
StringRef LayoutGraph::whyExcluded(Operation *op) const {
  if (op->hasAttr(amp::AMPDialect::kGradientOfAttr))
    return "gives the gradient of a parameter";
  for (Operation *user : op->getUsers())
    if (auto gradients = dyn_cast<GradientsOp>(user))
      for (Value value : gradients.getWrt())
        if (value.getDefiningOp() == op)
          return "gives a value that train.gradients differentiates by";
  return "";
}

void LayoutGraph::seed(TransposeOp transpose) {
  Value input = transpose.getInput(), result = transpose.getResult();
  if (valueIds.contains(input) || valueIds.contains(result) ||
      opIds.contains(transpose) || !canJoin(input) || !canJoin(result))
    return;
  if (StringRef why = whyExcluded(transpose); !why.empty()) {
    fixed[transpose] = why;
    return;
  }
  ++numComponents;
  seeds.push_back(transpose);
  Layout identity = getIdentityLayout(transpose.getType().getRank());
  addValue(input, identity, Layout(transpose.getPermutation()));
  while (!queue.empty())
    visit(queue.pop_back_val());
}

void LayoutGraph::visit(unsigned value) {
  Value tensor = values[value].value;
  if (Operation *producer = tensor.getDefiningOp())
    visitOperation(producer, value);
  for (Operation *user : tensor.getUsers())
    visitOperation(user, value);
}

void LayoutGraph::visitOperation(Operation *op, unsigned value) {
  if (opIds.contains(op) || fixed.contains(op) || !known.contains(op))
    return;
  if (StringRef why = whyExcluded(op); !why.empty()) {
    fixed[op] = why;
    return;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    std::optional<LayoutOp> entry = inferTranspose(transpose, value);
    if (!entry || !joinAll(op, *entry))
      fixed[op] = "moves other dimensions";
    return;
  }
  LayoutOp entry{op, {}, values[value].component};
  for (Order side : {0, 1}) {
    InferredLayouts inferred =
        inferLayouts(op, values[value].value, values[value].layouts[side]);
    // A rule may refuse any layout but that of the operation as it is.
    if (!inferred.layouts) {
      if (!inferred.mayFollowAnother)
        fixed[op] = inferred.reason;
      return;
    }
    entry.layouts[side] = *inferred.layouts;
  }
  if (!joinAll(op, entry))
    fixed[op] = "reads values of different orders";
}

/// Returns the layouts of a transpose one of whose values is `value`. The other
/// value is the same stored tensor, if that is the identity in one order, or
/// else has the same layouts.
std::optional<LayoutOp> LayoutGraph::inferTranspose(TransposeOp op,
                                                    unsigned value) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  Layout inverse = invertLayout(permutation);
  bool isInput = values[value].value == op.getInput();
  LayoutOp entry{op, {}, values[value].component};
  auto set = [&](Order side, Layout other) {
    const Layout &mine = values[value].layouts[side];
    entry.layouts[side].operands.assign({isInput ? mine : other});
    entry.layouts[side].results.assign({isInput ? other : mine});
    return isIdentityLayout(other);
  };
  for (Order side : {0, 1})
    entry.isView |=
        set(side, composeLayouts(isInput ? inverse : Layout(permutation),
                                 values[value].layouts[side]));
  if (entry.isView)
    return entry;
  for (Order side : {0, 1})
    set(side, values[value].layouts[side]);
  return entry;
}

/// Returns the order in which `entry` computes as it is. A view counts with its
/// result.
static Order findOwnOrder(const LayoutOp &entry) {
  const OperationLayouts &first = entry.layouts[0];
  bool isOwn = llvm::all_of(first.results, [](const Layout &layout) {
    return isIdentityLayout(layout);
  });
  if (!entry.isView)
    isOwn &= llvm::all_of(first.operands, [](const auto &layout) {
      return !layout || isIdentityLayout(*layout);
    });
  return isOwn ? 0 : 1;
}

/// Adds `entry` and its values. Returns false, and adds nothing, if one of them
/// cannot have the layouts of `entry`.
bool LayoutGraph::joinAll(Operation *op, LayoutOp entry) {
  llvm::SmallMapVector<Value, std::pair<Layout, Layout>, 4> joined;
  auto add = [&](Value value, const Layout &first, const Layout &second) {
    if (isIdentityLayout(first) && isIdentityLayout(second))
      return true;
    if (!canJoin(value) ||
        (!isIdentityLayout(first) && !isIdentityLayout(second)))
      return false;
    auto found = valueIds.find(value);
    if (found != valueIds.end()) {
      const LayoutValue &other = values[found->second];
      return other.component == entry.component && other.layouts[0] == first &&
             other.layouts[1] == second;
    }
    auto [it, isNew] = joined.insert({value, {first, second}});
    return isNew || it->second == std::pair(first, second);
  };
  for (auto [operand, first, second] :
       llvm::zip_equal(op->getOperands(), entry.layouts[0].operands,
                       entry.layouts[1].operands))
    if (first && !add(operand, *first, *second))
      return false;
  for (auto [result, first, second] :
       llvm::zip_equal(op->getResults(), entry.layouts[0].results,
                       entry.layouts[1].results))
    if (!add(result, first, second))
      return false;
  for (auto &[value, layouts] : joined)
    addValue(value, layouts.first, layouts.second);
  opIds[op] = ops.size();
  entry.ownOrder = findOwnOrder(entry);
  ops.push_back(std::move(entry));
  return true;
}

//===- CastRules.cpp - The casts between two types ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/CastRules.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include <limits>
#include <utility>
#include <vector>

using namespace mlir;
using namespace mlir::amp;

Value CastRule::build(OpBuilder &builder, Location loc, Value value,
                      Type type) const {
  Operation *op = adapter ? adapter->buildCast(builder, loc, value, type)
                          : dialect->materializeCast(builder, loc, value, type);
  // A dialect may build another operation, such as a constant of the other
  // type.
  if (op->getNumOperands() == 1 && op->getOperand(0) == value)
    markInserted(op);
  return op->getResult(0);
}

CastRule CastRules::find(StringRef dialectNamespace, MLIRContext *context) {
  auto [it, isNew] = rules.try_emplace(dialectNamespace);
  CastRule &rule = it->second;
  if (!isNew)
    return rule;
  const Adapter *adapter = policy.findAdapter(dialectNamespace);
  if (adapter && adapter->cast)
    rule.adapter = adapter;
  else if (Dialect *dialect = context->getLoadedDialect(dialectNamespace))
    rule.dialect =
        dialect->getRegisteredInterface<CastMaterializationInterface>();
  return rule;
}

CastRule CastRules::find(Operation *op) {
  auto [it, isNew] = rulesOfOperations.try_emplace(op->getName());
  if (isNew)
    it->second = find(op->getName().getDialectNamespace(), op->getContext());
  return it->second;
}

/// Returns whether `rule` is set and can cast between the types.
bool CastRules::canCast(CastRule rule, Type from, Type to) {
  if (!rule.dialect)
    return bool(rule);
  auto [it, isNew] = castable.try_emplace({rule.dialect, from, to});
  if (isNew)
    it->second = rule.dialect->canMaterializeCast(from, to);
  return it->second;
}

/// Returns whether `op` only forwards values and has no cast.
static bool isControlFlow(Operation *op) {
  return !op || op->hasTrait<OpTrait::IsTerminator>() ||
         isa<CallOpInterface, RegionBranchOpInterface>(op);
}

CastRule CastRules::findOfFunction(const SlotGraph &graph, Type from, Type to) {
  CastRule found;
  for (const SlotVertex &vertex : graph.getVertices()) {
    if (!vertex.op)
      continue;
    CastRule candidate = find(vertex.op);
    if (!canCast(candidate, from, to))
      continue;
    if (!candidate.isBorrowed())
      return candidate;
    if (!found)
      found = candidate;
  }
  return found;
}

LogicalResult CastRules::choose(const SlotGraph &graph,
                                const Assignment &assignment, FloatType low) {
  MLIRContext *context = low.getContext();
  ArrayRef<SlotUse> uses = graph.getUses();
  chosen.assign(graph.getValues().size(), {});
  // The uses of a value that need a cast share it: a list for each value, in
  // the order of the uses.
  constexpr uint32_t end = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> firstUse(chosen.size(), end), nextUse(uses.size(), end);
  for (uint32_t index = uses.size(); index-- != 0;) {
    const SlotUse &use = uses[index];
    if (assignment.low[use.producer] != assignment.low[use.user])
      nextUse[index] = std::exchange(firstUse[use.value], index);
  }
  SmallVector<uint32_t> same;

  // Casts of one dialect between the same types need one check.
  llvm::DenseSet<std::tuple<const Adapter *, Type, Type>> checked;
  for (uint32_t first : firstUse) {
    if (first == end)
      continue;
    same.clear();
    for (uint32_t use = first; use != end; use = nextUse[use])
      same.push_back(use);
    OpOperand *operand = uses[first].operand;
    Value value = operand->get();
    bool toLow = assignment.low[uses[first].user];
    // All eligible values still are f32.
    Type from = value.getType(), to = getWithElementType(from, low);
    if (!to)
      return emitError(value.getLoc())
             << "the type " << value.getType()
             << " cannot be given another element type; expected its "
                "'cloneWith' to";
    if (!toLow)
      std::swap(from, to);
    CastRule &rule = chosen[uses[first].value];
    auto consider = [&](CastRule candidate) {
      // Most dialects have their own cast, which has priority.
      if ((!rule || (rule.isBorrowed() && !candidate.isBorrowed())) &&
          canCast(candidate, from, to))
        rule = candidate;
    };
    for (uint32_t use : same)
      consider(find(uses[use].operand->getOwner()));
    if (Operation *producer = value.getDefiningOp())
      consider(find(producer));
    if (!rule || rule.isBorrowed())
      consider(find(value.getType().getDialect().getNamespace(), context));
    bool isRead = !llvm::all_of(same, [&](uint32_t use) {
      return isControlFlow(uses[use].operand->getOwner());
    });
    bool isPassed = isControlFlow(value.getDefiningOp());
    // Other operations decided the precision of a carried value.
    if (!rule && (!isRead || (isPassed && uses[first].producer != 0)))
      rule = findOfFunction(graph, from, to);
    // Without operations that compute, only a pin can ask for low precision. A
    // pin is an attribute of the amp dialect.
    if (!rule && !isRead && isPassed && isa<RankedTensorType>(value.getType()))
      rule = find(AMPDialect::getDialectNamespace(), context);
    if (!rule) {
      Operation *user = operand->getOwner();
      return user->emitOpError("needs operand ")
             << operand->getOperandNumber() << " as " << to << " instead of "
             << from << ", but neither the dialect '"
             << user->getName().getDialectNamespace()
             << "' nor the producer has a cast; expected a "
                "CastMaterializationInterface or an adapter with 'cast' in the "
                "policy";
    }
    if (rule.adapter && checked.insert({rule.adapter, from, to}).second &&
        failed(rule.adapter->checkCast(value.getLoc(), from, to)))
      return failure();
  }
  return success();
}

//===- CastRules.cpp - Which cast stands between two precisions -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/CastRules.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::amp;

Value CastRule::build(OpBuilder &builder, Location loc, Value value,
                      Type type) const {
  Operation *op = adapter ? adapter->buildCast(builder, loc, value, type)
                          : dialect->materializeCast(builder, loc, value, type);
  // A dialect may give something else, such as a constant of the other type.
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

/// Returns whether `op` only passes values on: it has no cast of its own.
static bool isControlFlow(Operation *op) {
  return !op || op->hasTrait<OpTrait::IsTerminator>() ||
         isa<CallOpInterface, RegionBranchOpInterface>(op);
}

CastRule CastRules::findOfFunction(const SlotGraph &graph, Type from, Type to) {
  CastRule found;
  for (const SlotVertex &vertex : graph.getVertices()) {
    if (!vertex.op)
      continue;
    CastRule candidate = find(vertex.op->getName().getDialectNamespace(),
                              vertex.op->getContext());
    if (!candidate ||
        (candidate.dialect && !candidate.dialect->canMaterializeCast(from, to)))
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
  Type wide = Float32Type::get(context);
  // A value is all that its uses have in common; they share one cast.
  struct Need {
    SmallVector<uint32_t, 2> uses;
    CastRule rule;
  };
  llvm::MapVector<Value, Need> needs;
  for (auto [index, use] : llvm::enumerate(graph.getUses()))
    if (assignment.low[use.producer] != assignment.low[use.user])
      needs[use.operand->get()].uses.push_back(index);

  // Casts of one dialect between the same types need one check.
  llvm::DenseSet<std::tuple<const Adapter *, Type, Type>> checked;
  for (auto &entry : needs) {
    Value value = entry.first;
    Need &need = entry.second;
    bool toLow = assignment.low[graph.getUses()[need.uses.front()].user];
    Type to = getWithElementType(value.getType(), toLow ? Type(low) : wide);
    Type from = getWithElementType(value.getType(), toLow ? wide : Type(low));
    if (!to || !from)
      return emitError(value.getLoc())
             << "the type " << value.getType()
             << " cannot be given another element type; expected its "
                "'cloneWith' to";
    auto consider = [&](StringRef name) {
      CastRule candidate = find(name, context);
      if (!candidate || (candidate.dialect &&
                         !candidate.dialect->canMaterializeCast(from, to)))
        return;
      if (!need.rule || (need.rule.isBorrowed() && !candidate.isBorrowed()))
        need.rule = candidate;
    };
    for (uint32_t use : need.uses)
      consider(graph.getUses()[use]
                   .operand->getOwner()
                   ->getName()
                   .getDialectNamespace());
    if (Operation *producer = value.getDefiningOp())
      consider(producer->getName().getDialectNamespace());
    consider(value.getType().getDialect().getNamespace());
    bool onlyControlFlow =
        isControlFlow(value.getDefiningOp()) &&
        llvm::all_of(need.uses, [&](uint32_t use) {
          return isControlFlow(graph.getUses()[use].operand->getOwner());
        });
    if (!need.rule && onlyControlFlow)
      need.rule = findOfFunction(graph, from, to);
    // Where nothing computes, low precision was asked for by a pin, an
    // attribute of the amp dialect.
    if (!need.rule && onlyControlFlow && isa<RankedTensorType>(value.getType()))
      need.rule = find(AMPDialect::getDialectNamespace(), context);
    if (!need.rule) {
      OpOperand *operand = graph.getUses()[need.uses.front()].operand;
      Operation *user = operand->getOwner();
      return user->emitOpError("needs operand ")
             << operand->getOperandNumber() << " as " << to << " instead of "
             << from << ", but neither the dialect '"
             << user->getName().getDialectNamespace()
             << "' nor the producer has a cast; expected a "
                "CastMaterializationInterface or an adapter with 'cast' in the "
                "policy";
    }
    if (need.rule.adapter &&
        checked.insert({need.rule.adapter, from, to}).second &&
        failed(need.rule.adapter->checkCast(value.getLoc(), from, to)))
      return failure();
    for (uint32_t use : need.uses)
      chosen[use] = need.rule;
  }
  return success();
}

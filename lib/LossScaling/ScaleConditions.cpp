//===- ScaleConditions.cpp - Values that depend on a scale otherwise --===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of scales, and the booleans and integers that depend on a scale.
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ScaleExponentAnalysis.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/LossScaling/ScalarEvaluator.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Functions of scales
//===----------------------------------------------------------------------===//

Value ScaleSymbols::findEqual(Value scale) {
  auto result = dyn_cast<OpResult>(scale);
  if (!result)
    return scale;
  Operation *op = result.getOwner();
  if (auto it = equals.find(op); it != equals.end())
    return it->second->getResult(result.getResultNumber());
  Operation *found = op;
  if (op->getNumRegions() == 0 && op->getNumOperands() != 0 &&
      isMemoryEffectFree(op)) {
    auto hash = [](Value) { return llvm::hash_code(0); };
    llvm::hash_code key = OperationEquivalence::computeHash(
        op, hash, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
    // The comparison of operands adds operations to the map.
    SmallVector<Operation *, 1> others = byHash.lookup(size_t(key));
    auto *it = llvm::find_if(others, [&](Operation *other) {
      return OperationEquivalence::isEquivalentTo(
          op, other, [&](Value a, Value b) { return success(isEqual(a, b)); },
          /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
    });
    if (it == others.end())
      byHash[size_t(key)].push_back(op);
    else
      found = *it;
  }
  equals[op] = found;
  return found->getResult(result.getResultNumber());
}

bool ScaleSymbols::isEqual(Value first, Value second) {
  if (first == second)
    return true;
  Attribute a, b;
  if (matchPattern(first, m_Constant(&a)) &&
      matchPattern(second, m_Constant(&b)))
    return a == b;
  return findEqual(first) == findEqual(second);
}

/// Whether `value` is computed from the state of the scaler, finite flags,
/// hyperparameters and constants alone.
static bool isFromScaler(Value value) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    std::optional<Role> role = getRole(next);
    if (role == Role::ScalerState || role == Role::Hyperparameter)
      continue;
    Operation *op = next.getDefiningOp();
    auto iface = dyn_cast_or_null<LossScaleOpInterface>(op);
    if (iface && (iface.getFiniteFlagResult() >= 0 ||
                  iface.getFiniteFlagOperand() >= 0)) {
      // The flag, and not the gradients.
      if (iface.getFiniteFlagResult() >= 0 &&
          op->getResult(iface.getFiniteFlagResult()) != next)
        return false;
      continue;
    }
    if (!op || op->getNumRegions() != 0)
      return false;
    llvm::append_range(worklist, op->getOperands());
  }
  return true;
}

bool ScaleExponentAnalysis::scalesOthers(BlockArgument state) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> worklist;
  auto push = [&](Value value) {
    if (seen.insert(value).second)
      worklist.push_back(value);
  };
  push(state);
  Operation *function = state.getOwner()->getParentOp();
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      Operation *parent = user->getParentOp();
      if (user->hasTrait<OpTrait::IsTerminator>()) {
        if (parent != function)
          llvm::for_each(parent->getResults(), push);
        continue;
      }
      auto iface = dyn_cast<LossScaleOpInterface>(user);
      if (isa<CallOpInterface, LoopLikeOpInterface>(user) ||
          (iface && iface.getLossScaleOperand() >= 0))
        return true;
      if (!isa<RegionBranchOpInterface>(user) &&
          !llvm::all_of(user->getOperands(), [&](Value operand) {
            return seen.contains(operand) || isFromScaler(operand);
          }))
        return true;
      llvm::for_each(user->getResults(), push);
    }
  }
  return false;
}

void ScaleExponentAnalysis::findHiddenScales(FunctionOpInterface function) {
  llvm::SmallVector<double> visible;
  function->walk([&](LossScaleOpInterface op) {
    int index = op.getLossScaleOperand();
    Attribute constant;
    if (index < 0 ||
        !matchPattern(op->getOperand(index), m_Constant(&constant)))
      return;
    std::optional<double> number = getNumber(constant);
    if (!number)
      return;
    if (op.getFiniteFlagResult() >= 0)
      hidden.push_back({*number, op->getOperand(index)});
    else
      visible.push_back(*number);
  });
  llvm::erase_if(hidden, [&](const std::pair<double, Value> &scale) {
    return llvm::is_contained(visible, scale.first);
  });
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

std::optional<ScaleExponent::Symbol>
ScaleExponentAnalysis::findCondition(Operation *op) const {
  if (conditions.empty())
    return std::nullopt;
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() != 0 && !isa<RegionBranchOpInterface>(op))
    getUsedValuesDefinedAbove(op->getRegions(), read);
  for (Value value : read)
    if (auto it = conditions.find(value); it != conditions.end())
      return it->second;
  return std::nullopt;
}

bool ScaleExponentAnalysis::isPositive(Value value) const {
  // A loss scale is positive. Try some.
  for (double scale : {0x1p-8, 1.0, 0x1p10, 0x1p16, 0x1p30}) {
    ScalarEvaluator evaluator(
        [&](Value other) -> std::optional<ScalarEvaluator::Set> {
          if (isa<BlockArgument>(other) && isScale(other))
            return ScalarEvaluator::getSplat(other.getType(), scale);
          return std::nullopt;
        });
    const ScalarEvaluator::Set &found = evaluator.get(value);
    if (found.empty() || llvm::any_of(found, [](Attribute attribute) {
          return !(getNumber(attribute).value_or(0) > 0);
        }))
      return false;
  }
  return true;
}

void ScaleExponentAnalysis::spread(Value value, ScaleExponent::Symbol symbol) {
  if (!holdsNumbers(value.getType())) {
    conditions.try_emplace(value, symbol);
    return;
  }
  // What decides on scales alone makes a scale.
  ScaleExponent exponent = getExponent(value);
  if (!isScale(value) && !exponent.isAny())
    set(value, exponent + ScaleExponent::of(symbol));
}

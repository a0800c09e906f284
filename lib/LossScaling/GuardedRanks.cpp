//===- GuardedRanks.cpp - Flags of other ranks, and of data ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A finite flag of one rank does not say whether the gradients of other ranks
// are finite. The flag of an update of the scale must not depend on a condition
// on data.
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/GuardAnalysis.h"

#include "amp/LossScaling/ValueOrigins.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

using namespace mlir;
using namespace mlir::amp;

static bool holdsFloats(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

static bool holdsBits(Value value) {
  return getElementTypeOrSelf(value.getType()).isInteger(1);
}

bool GuardAnalysis::isGuardedState(Value value) {
  for (const Update &update : results) {
    if (update.value != value || value == update.old)
      continue;
    std::optional<Role> role = getRole(update.old);
    if (role != Role::Parameter && role != Role::OptimizerState)
      continue;
    llvm::BitVector needed = get(value).all;
    needed.resize(flags.size());
    needed.reset(getKeepers(value, update.old));
    return needed.none();
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

void GuardAnalysis::findExchanges() {
  auto isExchange = [](Operation *op) {
    return isa<AllReduceOp, ReduceScatterOp, AllGatherOp>(op);
  };
  // Assume that all gradients of this rank are finite, and that some gradients
  // of another rank are not.
  auto assume =
      [this, isExchange](Value value) -> std::optional<ScalarEvaluator::Set> {
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (isExchange(op))
      return holdsFloats(value)
                 ? ScalarEvaluator::getSplat(
                       value.getType(), std::numeric_limits<double>::infinity())
                 : ScalarEvaluator::Set{getBoolean(value.getType(), false)};
    if (flags.find(op) &&
        op->getResult(cast<LossScaleOpInterface>(op).getFiniteFlagResult()) ==
            value)
      if (Attribute yes = getBoolean(value.getType(), true))
        return ScalarEvaluator::Set{yes};
    return std::nullopt;
  };
  ScalarEvaluator *example = nullptr;
  function->walk([&](Operation *op) {
    if (!isExchange(op) || !llvm::any_of(op->getResults(), holdsFloats))
      return;
    if (!example) {
      examples.push_back(std::make_unique<ScalarEvaluator>(assume));
      example = examples.back().get();
    }
    exchanges[op] = size();
    unchecked.push_back({op, example, /*isExchange=*/true});
  });
}

//===----------------------------------------------------------------------===//
// Conditions on data
//===----------------------------------------------------------------------===//

LogicalResult GuardAnalysis::checkFlag(LossScaleOpInterface update) {
  Value flag = update->getOperand(update.getFiniteFlagOperand());
  llvm::SetVector<Value> reached;
  reached.insert(flag);
  SmallVector<Operation *> conditions;
  for (size_t next = 0; next < reached.size(); ++next) {
    Operation *op = reached[next].getDefiningOp();
    if (!op || flags.find(op) || op->getNumRegions() != 0)
      continue;
    if (holdsBits(reached[next]) &&
        llvm::any_of(op->getOperands(), holdsFloats))
      conditions.push_back(op);
    else if (holdsBits(reached[next]))
      reached.insert(op->operand_begin(), op->operand_end());
  }
  for (Operation *condition : conditions) {
    if (testsFinite(condition) || flags.readsFlag(condition->getResult(0)) ||
        llvm::none_of(condition->getOperands(), dependsOnData))
      continue;
    ScalarEvaluator evaluator(
        [&](Value value) -> std::optional<ScalarEvaluator::Set> {
          Operation *op = value.getDefiningOp();
          if (!op || !holdsBits(value))
            return std::nullopt;
          bool isFlag = flags.find(op);
          if (!isFlag && !llvm::is_contained(conditions, op))
            return std::nullopt;
          Attribute known = getBoolean(value.getType(), op != condition);
          return known ? std::optional(ScalarEvaluator::Set{known})
                       : std::nullopt;
        });
    if (evaluator.getBool(flag) != false)
      continue;
    InFlightDiagnostic diagnostic = update->emitOpError(
        "lowers the scale where all gradients are finite, expected the "
        "conjunction of their finite flags");
    diagnostic.attachNote(condition->getLoc())
        << "it is lowered where this condition on data is false";
    return diagnostic;
  }
  return success();
}

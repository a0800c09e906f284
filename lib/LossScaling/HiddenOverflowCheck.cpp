//===- HiddenOverflowCheck.cpp - Overflows that a step replaces -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/HiddenOverflowCheck.h"

#include "amp/LossScaling/ScalarEvaluator.h"
#include "amp/LossScaling/ValueOrigins.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

bool HiddenOverflowCheck::isScaled(Value value) const {
  if (!isFloat(value))
    return false;
  if (!exponents.knows(value))
    return isScaledInBody(value);
  const ScaleExponent exponent = exponents.getExponent(value);
  return !exponent.isUnscaled() && !exponent.isAny() &&
         !exponents.isScale(value);
}

bool HiddenOverflowCheck::isScaledInBody(Value value) const {
  constexpr size_t limit = 64;
  llvm::SmallSetVector<Value, 8> values;
  values.insert(value);
  for (size_t next = 0; next < values.size(); ++next) {
    Value read = values[next];
    if (read != value && exponents.knows(read)) {
      if (isScaled(read))
        return true;
      continue;
    }
    Operation *op = read.getDefiningOp();
    auto argument = dyn_cast<BlockArgument>(read);
    // If the body has one argument for each operand, argument i is an element
    // of operand i. Otherwise it may be an element of any operand.
    Operation *holder = op ? op : argument.getOwner()->getParentOp();
    if (values.size() > limit || !holder || isa<FunctionOpInterface>(holder))
      continue;
    bool isElement = argument && argument.getOwner()->getNumArguments() ==
                                     holder->getNumOperands();
    for (OpOperand &operand : holder->getOpOperands())
      if (isFloat(operand.get()) &&
          (!isElement || operand.getOperandNumber() == argument.getArgNumber()))
        values.insert(operand.get());
  }
  return false;
}

const FloatRangeRule *
HiddenOverflowCheck::findRule(Operation *op, FloatRangeRule::Kind kind) const {
  const auto *rule = llvm::find_if(intervals, [&](const FloatRangeRule &entry) {
    return entry.kind == kind &&
           entry.pattern.match(op->getName().getStringRef()) &&
           entry.isSatisfiedBy(op);
  });
  return rule == intervals.end() ? nullptr : rule;
}

std::optional<double> HiddenOverflowCheck::findConstant(Value value) const {
  constexpr int limit = 8;
  for (int depth = 0; depth < limit; ++depth) {
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant)))
      return getNumber(constant);
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    if (const FloatRangeRule *rule =
            findRule(op, FloatRangeRule::Kind::Constant)) {
      constant = op->getAttr(rule->attributeName);
      return constant ? getNumber(constant) : std::nullopt;
    }
    if (op->getNumOperands() != 1 ||
        !(findRule(op, FloatRangeRule::Kind::Repeat) ||
          findRule(op, FloatRangeRule::Kind::Convert)))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

bool HiddenOverflowCheck::choosesNaN(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    std::optional<double> number =
        isFloat(operand) ? findConstant(operand) : std::nullopt;
    return number && std::isnan(*number);
  });
}

/// Returns whether `op` chooses one of the two elements that a reducer
/// combines. A maximum that passes NaN on tests its operands, and so does its
/// index.
static bool choosesElement(Operation *op) {
  Operation *parent = op->getParentOp();
  return op->getNumOperands() == 3 && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperands().drop_front(), [&](Value value) {
           auto argument = dyn_cast<BlockArgument>(value);
           return argument && argument.getOwner() == op->getBlock() &&
                  argument.getOwner()->getNumArguments() ==
                      2 * parent->getNumResults();
         });
}

bool HiddenOverflowCheck::testsScaled(Operation *op) const {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1) &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isScaled(operand); }) &&
         (testsFinite(op) ||
          llvm::any_of(op->getOperands(), [&](Value operand) {
            std::optional<double> number = findConstant(operand);
            return number && std::isinf(*number);
          }));
}

/// Returns whether `op` is the terminator of a body whose values become the
/// elements of the results of the parent. Control flow has no such body.
static bool endsBody(Operation *op) {
  Operation *holder = op->getParentOp();
  return op->hasTrait<OpTrait::IsTerminator>() &&
         !isa<FunctionOpInterface, RegionBranchOpInterface>(holder) &&
         holder->getNumRegions() == 1 &&
         op->getNumOperands() == holder->getNumResults();
}

Operation *HiddenOverflowCheck::findHider(Operation *test) {
  Operation *hider = nullptr;
  SmallVector<Value> worklist(test->result_begin(), test->result_end());
  llvm::DenseSet<Value> seen(worklist.begin(), worklist.end());
  auto follow = [&](ValueRange values) {
    for (Value value : values)
      if (!isFloat(value) && seen.insert(value).second)
        worklist.push_back(value);
  };
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      Operation *op = use.getOwner();
      ArrayRef<Value> inputs = flow.getInputs(use);
      if (!inputs.empty()) {
        follow(SmallVector<Value>(inputs));
        continue;
      }
      // The terminator passes the test to a result of the parent.
      if (endsBody(op)) {
        follow(op->getParentOp()->getResult(use.getOperandNumber()));
        continue;
      }
      // A terminator of the function, or a condition of a loop.
      if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumResults() == 0)
        return nullptr;
      if (choosesElement(op))
        continue;
      if (llvm::none_of(op->getResults(), isFloat)) {
        follow(op->getResults());
        continue;
      }
      if (!llvm::all_of(op->getResults(),
                        [&](Value result) { return isScaled(result); }))
        return nullptr;
      // A comparator replaces each NaN by one NaN, so that all are equal.
      if (!choosesNaN(op))
        hider = op;
    }
  return hider;
}

LogicalResult HiddenOverflowCheck::check() {
  Operation *found = nullptr;
  function->walk([&](Operation *op) {
    if (testsScaled(op))
      found = findHider(op);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found)
    return success();
  // Operations in the bodies of named operations have no location.
  while (isa<UnknownLoc>(found->getLoc()) && found->getParentOp() != function)
    found = found->getParentOp();
  return emitError(found->getLoc())
         << "replaces scaled gradients that are not finite before their finite "
            "flag is computed, so that no step is skipped and the scale never "
            "falls; expected the replacement after the gradients are unscaled";
}

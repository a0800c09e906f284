//===- HiddenOverflowCheck.cpp - Overflows that a step replaces -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/HiddenOverflowCheck.h"

#include "amp/LossScaling/ScalarEvaluator.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

bool HiddenOverflowCheck::isScaled(Value value) const {
  if (!isFloat(value) || !exponents.knows(value))
    return false;
  const ScaleExponent exponent = exponents.getExponent(value);
  return !exponent.isUnscaled() && !exponent.isAny() &&
         !exponents.isScale(value);
}

bool HiddenOverflowCheck::isInfinity(Value value) const {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant))) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    for (const FloatRangeRule &rule : intervals)
      if (rule.kind == FloatRangeRule::Kind::Constant &&
          rule.pattern.match(op->getName().getStringRef()))
        constant = op->getAttr(rule.attributeName);
      else if (op->getNumOperands() == 1 &&
               rule.kind == FloatRangeRule::Kind::Repeat &&
               rule.pattern.match(op->getName().getStringRef()))
        return isInfinity(op->getOperand(0));
  }
  std::optional<double> number = constant ? getNumber(constant) : std::nullopt;
  return number && std::isinf(*number);
}

bool HiddenOverflowCheck::testsFiniteness(Operation *op) const {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1) ||
      llvm::none_of(op->getOperands(),
                    [&](Value operand) { return isScaled(operand); }))
    return false;
  if (op->getNumOperands() == 1) {
    StringRef name = op->getName().getStringRef();
    return name == "math.isfinite" || name == "math.isinf" ||
           name == "math.isnan" || name == "math.isnormal" ||
           llvm::any_of(intervals, [&](const FloatRangeRule &rule) {
             return rule.kind == FloatRangeRule::Kind::Finite &&
                    rule.pattern.match(name) && rule.isSatisfiedBy(op);
           });
  }
  return op->getNumOperands() == 2 &&
         (op->getOperand(0) == op->getOperand(1) ||
          llvm::any_of(op->getOperands(),
                       [&](Value operand) { return isInfinity(operand); }));
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
      // A terminator of the function, or a condition of a loop.
      if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumResults() == 0)
        return nullptr;
      if (llvm::none_of(op->getResults(), isFloat)) {
        follow(op->getResults());
        continue;
      }
      if (!llvm::all_of(op->getResults(),
                        [&](Value result) { return isScaled(result); }))
        return nullptr;
      hider = op;
    }
  return hider;
}

LogicalResult HiddenOverflowCheck::check() {
  Operation *found = nullptr;
  function->walk([&](Operation *op) {
    if (testsFiniteness(op))
      found = findHider(op);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found)
    return success();
  return emitError(found->getLoc())
         << "replaces scaled gradients that are not finite before their finite "
            "flag is computed, so that no step is skipped and the scale never "
            "falls; expected the replacement after the gradients are unscaled";
}

//===- RegionFlow.cpp - Flow of values through regions --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/RegionFlow.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::amp;

/// The terminator of the only block of `region`, or null.
static Operation *getTerminator(Region &region) {
  return region.hasOneBlock() && !region.front().empty() &&
                 region.front().mightHaveTerminator()
             ? region.front().getTerminator()
             : nullptr;
}

bool RegionFlow::isKnown(Operation *op) {
  if (isa<RegionBranchOpInterface>(op))
    return true;
  auto holdsFloats = [](ValueRange values) {
    return llvm::any_of(values.getTypes(), [](Type type) {
      return isa<FloatType>(getElementTypeOrSelf(type));
    });
  };
  bool gives = false;
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Operation *last = getTerminator(region);
    unsigned arguments = region.getNumArguments();
    if (!last || (arguments != 0 && arguments != op->getNumOperands()))
      return false;
    if (last->getNumOperands() == op->getNumResults())
      gives = true;
    else if (holdsFloats(last->getOperands()))
      return false;
  }
  return gives || !holdsFloats(op->getResults());
}

void RegionFlow::findTies(Operation *op) {
  if (!visited.try_emplace(op, true).second)
    return;
  auto tie = [&](OpOperand &operand, Value input) {
    inputs[&operand].push_back(input);
    sources[input].push_back(&operand);
  };
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op)) {
    RegionBranchInverseSuccessorMapping mapping;
    branch.getSuccessorInputOperandMapping(mapping);
    for (auto &[value, operands] : mapping)
      for (OpOperand *operand : operands)
        tie(*operand, value);
    return;
  }
  auto tieAll = [&](MutableArrayRef<OpOperand> operands, ValueRange to) {
    if (operands.size() == to.size())
      for (auto [operand, input] : llvm::zip_equal(operands, to))
        tie(operand, input);
  };
  TypeRange types = op->getResultTypes();
  // A loop without iterations returns its operands.
  bool isLoop = op->getNumRegions() != 0 && !types.empty() &&
                types == TypeRange(op->getOperandTypes()) &&
                llvm::all_of(op->getRegions(), [&](Region &region) {
                  return TypeRange(region.getArgumentTypes()) == types;
                });
  if (isLoop && op->getNumRegions() > 1)
    tieAll(op->getOpOperands(), op->getResults());
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    tieAll(op->getOpOperands(), region.getArguments());
    Operation *last = getTerminator(region);
    if (!last)
      continue;
    tieAll(last->getOpOperands(), op->getResults());
    if (isLoop)
      for (Region &other : op->getRegions())
        if (TypeRange(last->getOperandTypes()) == types)
          tieAll(last->getOpOperands(), other.getArguments());
  }
}

ArrayRef<Value> RegionFlow::getInputs(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (op->getNumRegions() != 0)
    findTies(op);
  if (op->hasTrait<OpTrait::IsTerminator>() || op == &op->getBlock()->back())
    if (Operation *parent = op->getParentOp())
      findTies(parent);
  auto it = inputs.find(&operand);
  return it == inputs.end() ? ArrayRef<Value>() : it->second;
}

ArrayRef<OpOperand *> RegionFlow::getSources(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    op = value.getParentBlock()->getParentOp();
  if (op && op->getNumRegions() != 0)
    findTies(op);
  auto it = sources.find(value);
  return it == sources.end() ? ArrayRef<OpOperand *>() : it->second;
}

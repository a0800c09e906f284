//===- ParameterGradients.cpp - The types of gradients of parameters ------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients of parameters stay f32 unless the policy lists the operation that
// computes them. Its gradient may be in another layout than the parameter. The
// operations that move the elements then have the same type.
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Assignment/SlotGraph.h"

using namespace mlir;
using namespace mlir::amp;

/// The most operations that move the elements of one gradient. A limit keeps
/// the time linear in the operations.
static constexpr int kMaxMoves = 16;

/// The only operand of `op` if `op` only moves its elements, or null.
Value SlotGraph::findMoved(Operation *op) const {
  return op->getNumOperands() == 1 && op->getNumResults() == 1 &&
                 movesElements(op)
             ? op->getOperand(0)
             : Value();
}

/// Whether `op` moves the elements of the result of an operation that the
/// policy lists.
bool SlotGraph::movesListedGradient(Operation *op) const {
  for (int i = 0; op && i < kMaxMoves; ++i) {
    Value moved = findMoved(op);
    if (!moved)
      break;
    op = moved.getDefiningOp();
  }
  auto it = op ? infos.find(op->getName()) : infos.end();
  return it != infos.end() && it->second.givesLowGradients;
}

/// Whether operations that move the elements of `value` give the gradient of a
/// parameter.
bool SlotGraph::leadsToGradient(Value value) const {
  SmallVector<Value, 2> worklist = {value};
  for (int i = 0; !worklist.empty() && i < kMaxMoves; ++i)
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (!findMoved(user))
        continue;
      auto gradients =
          user->getRawDictionaryAttrs().getAs<ArrayAttr>(gradientOfName);
      if (gradients && !cast<StringAttr>(gradients[0]).empty())
        return true;
      worklist.push_back(user->getResult(0));
    }
  return false;
}

/// Fixes gradients of parameters, which stay f32 unless the policy says
/// otherwise. Those that it lists are low if the operands are. Returns the
/// slots of these.
SmallVector<int8_t, 1>
SlotGraph::fixParameterGradients(Operation *op, const OperationInfo &info) {
  SmallVector<int8_t, 1> listed;
  if (policy.gradientType == GradientType::Low)
    return listed;
  // A low result needs low operands already. This adds the reverse.
  auto follow = [&](int8_t slot) {
    for (auto [premise, conclusion] : llvm::to_vector(scratch.implications))
      if (premise == slot)
        scratch.implications.push_back({conclusion, premise});
  };
  auto isFree = [&](int8_t slot) {
    return slot != PrecisionSlots::none &&
           scratch.kinds[slot] != SlotKind::Fixed;
  };
  auto gradients = op->getRawDictionaryAttrs().getAs<ArrayAttr>(gradientOfName);
  const bool isMove = bool(findMoved(op));
  const bool isListed =
      info.givesLowGradients || (isMove && movesListedGradient(op));
  // An operation before those that move the elements of a gradient.
  if (!gradients) {
    if (!isMove && !info.givesLowGradients)
      return listed;
    for (auto [slot, result] : llvm::zip(scratch.resultSlots, op->getResults()))
      if (isFree(slot) && leadsToGradient(result)) {
        if (isListed)
          follow(slot);
        else
          scratch.kinds[slot] = SlotKind::Fixed;
      }
    return listed;
  }
  for (auto [slot, name] : llvm::zip(scratch.resultSlots, gradients)) {
    if (!isFree(slot) || cast<StringAttr>(name).empty())
      continue;
    if (!isListed) {
      scratch.kinds[slot] = SlotKind::Fixed;
      continue;
    }
    listed.push_back(slot);
    follow(slot);
  }
  return listed;
}

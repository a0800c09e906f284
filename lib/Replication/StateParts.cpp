//===- StateParts.cpp - What each rank can keep a part of -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateParts.h"

#include "BucketedReductions.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::amp;

static bool hasShape(Value value, ShapedType like) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getShape() == like.getShape();
}

/// Whether `type` has one element, or is not a tensor.
static bool isScalar(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return !shaped || (shaped.hasRank() && shaped.getRank() == 0);
}

bool StatePartsFinder::refuse(const Twine &text) {
  why = text.str();
  return false;
}

bool StatePartsFinder::addUse(OpOperand &use, StateParts &parts) {
  Value value = use.get();
  if (!parts.values.contains(value) && !states.get(value).isReplicated())
    return refuse(Twine("'") + use.getOwner()->getName().getStringRef() +
                  "' reads a value that differs between the ranks");
  parts.uses.insert(&use);
  return true;
}

bool StatePartsFinder::visitFlow(OpOperand &use, ArrayRef<Value> inputs,
                                 StateParts &parts) {
  auto type = cast<ShapedType>(use.get().getType());
  for (Value input : inputs) {
    if (!hasShape(input, type))
      return refuse("its shape changes in control flow");
    parts.values.insert(input);
    for (OpOperand *source : flow.getSources(input))
      if (!addUse(*source, parts))
        return false;
  }
  return true;
}

bool StatePartsFinder::visitCombination(OpOperand &use, StateParts &parts) {
  Operation *op = use.getOwner();
  Operation *ancestor = body.findAncestorOpInBlock(*op);
  bool isMovable = llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *defining = operand.getDefiningOp();
    Operation *before =
        defining ? body.findAncestorOpInBlock(*defining) : nullptr;
    return !defining || (before && before->isBeforeInBlock(ancestor));
  });
  if (ancestor != op && !isMovable)
    return refuse(Twine("'") + op->getName().getStringRef() +
                  "', which reads all elements, is in a conditional");
  unsigned number = use.getOperandNumber();
  if (number < op->getNumResults() &&
      hasShape(op->getResult(number), cast<ShapedType>(use.get().getType())))
    parts.values.insert(op->getResult(number));
  return true;
}

bool StatePartsFinder::isElementwise(Operation *op, ShapedType type) const {
  // The rule of the operation knows: a part along any dimension gives a part
  // along the same one.
  for (int64_t dim = 0, e = type.getRank(); dim != e; ++dim) {
    std::optional<SmallVector<Replication>> results =
        states.tryInfer(op, [&](Value operand) {
          return hasShape(operand, type) ? Replication::sharded(dim)
                                         : states.get(operand);
        });
    if (!results)
      return false;
    for (auto [result, state] : llvm::zip_equal(op->getResults(), *results))
      if (hasShape(result, type) ? !state.isSharded() || state.getDim() != dim
                                 : !state.isReplicated())
        return false;
  }
  return true;
}

bool StatePartsFinder::visitElementwise(OpOperand &use, StateParts &parts) {
  Operation *op = use.getOwner();
  auto type = cast<ShapedType>(use.get().getType());
  bool hasOtherShape = llvm::any_of(op->getOperands(), [&](Value operand) {
    return !hasShape(operand, type) && !isScalar(operand.getType());
  });
  if (hasOtherShape || op->getNumRegions() != 0 || !isElementwise(op, type))
    return refuse(Twine("'") + op->getName().getStringRef() +
                  "' does not work element by element");
  for (OpOperand &operand : op->getOpOperands())
    if (hasShape(operand.get(), type) && !addUse(operand, parts))
      return false;
  for (Value result : op->getResults())
    if (hasShape(result, type))
      parts.values.insert(result);
  return true;
}

bool StatePartsFinder::visit(OpOperand &use, StateParts &parts) {
  Operation *op = use.getOwner();
  if (op == body.getTerminator())
    return true;
  if (!addUse(use, parts))
    return false;
  if (ArrayRef<Value> inputs = flow.getInputs(use); !inputs.empty())
    return visitFlow(use, llvm::to_vector(inputs), parts);
  auto iface = dyn_cast<ReplicationOpInterface>(op);
  if (iface && iface.combinesParts())
    return visitCombination(use, parts);
  return visitElementwise(use, parts);
}

void StatePartsFinder::findStates(StateParts &parts) const {
  for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
    BlockArgument state =
        getUpdatedArgument(function, operand.getOperandNumber());
    std::optional<Role> role = state ? getRole(state) : std::nullopt;
    bool isKept = role == Role::OptimizerState || role == Role::Parameter;
    if (isKept && parts.values.contains(operand.get()) && !state.use_empty() &&
        llvm::all_of(state.getUses(),
                     [&](OpOperand &use) { return parts.uses.contains(&use); }))
      parts.states.push_back(state);
  }
}

FailureOr<StateParts> StatePartsFinder::find(OpResult total,
                                             std::string &reason) {
  StateParts parts;
  parts.total = total;
  parts.values.insert(total);
  why.clear();
  bool isDivided = true;
  for (unsigned i = 0; i != parts.values.size(); ++i) {
    Value value = parts.values[i];
    if (!parts.parameter)
      parts.parameter = getGradientName(value);
    for (OpOperand &use : value.getUses())
      isDivided = isDivided && visit(use, parts);
  }
  if (!parts.parameter || parts.parameter.empty())
    return failure();
  auto type = cast<RankedTensorType>(total.getType());
  if (!type.hasStaticShape() || type.getRank() == 0)
    why = "it has no static shape of at least one dimension";
  else if (type.getNumElements() < minElements)
    why = llvm::formatv("it has {0} elements, fewer than min-elements={1}",
                        type.getNumElements(), minElements);
  if (why.empty())
    findStates(parts);
  if (why.empty() && parts.states.empty())
    why = "it has no state that only its update reads";
  if (why.empty())
    return parts;
  reason = "the parameter '" + parts.parameter.str() + "' stays whole: " + why;
  return failure();
}

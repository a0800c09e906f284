//===- Backpropagation.cpp - The reverse sweep over operations ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Backpropagation.h"

#include "LoopGradients.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::train;

bool mlir::train::isDifferentiableType(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

void mlir::train::getInputs(Operation *op, SmallVectorImpl<Value> &inputs) {
  llvm::append_range(inputs, op->getOperands());
  if (op->getNumRegions() == 0)
    return;
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(inputs, captured);
}

void mlir::train::collectProducers(Value value,
                                   SmallVectorImpl<Operation *> &ops) {
  // Depth-first search without recursion, because graphs may be very deep.
  struct Frame {
    Operation *op;
    SmallVector<Value> inputs;
    size_t next = 0;
  };
  SmallVector<Frame> stack;
  DenseSet<Operation *> seen;
  auto enter = [&](Value input) {
    Operation *op = input.getDefiningOp();
    if (!op || !seen.insert(op).second)
      return;
    stack.push_back({op, {}, 0});
    getInputs(op, stack.back().inputs);
  };
  enter(value);
  while (!stack.empty()) {
    Frame &top = stack.back();
    if (top.next < top.inputs.size()) {
      enter(top.inputs[top.next++]);
      continue;
    }
    ops.push_back(top.op);
    stack.pop_back();
  }
}

Operation *Backpropagation::getLastEmitted() const {
  Block::iterator point = builder.getInsertionPoint();
  return point == builder.getInsertionBlock()->begin() ? nullptr
                                                       : &*std::prev(point);
}

Block::iterator Backpropagation::after(Operation *last) const {
  return last ? std::next(Block::iterator(last))
              : builder.getInsertionBlock()->begin();
}

Backpropagation::~Backpropagation() {
  for (auto [op, replacement] : replacements)
    op->erase();
}

void Backpropagation::replace(Operation *op, Operation *replacement) {
  for (auto [from, to] :
       llvm::zip(op->getResults(), replacement->getResults())) {
    if (active.contains(from))
      active.insert(to);
    if (Value gradient = gradients.lookup(from))
      gradients[to] = gradient;
    from.replaceAllUsesWith(to);
  }
  replacements.push_back({op, replacement});
}

void Backpropagation::accumulate(Value value, Value gradient, Location loc) {
  Value &sum = gradients[value];
  sum = sum ? AddOp::create(builder, loc, value.getType(), sum, gradient)
                  .getResult()
            : gradient;
}

void Backpropagation::foldEmitted(Operation *last,
                                  MutableArrayRef<Value> emittedGradients) {
  auto range = llvm::make_range(after(last), builder.getInsertionPoint());
  for (Operation &op : llvm::make_early_inc_range(range)) {
    SmallVector<OpFoldResult> folded;
    if (op.hasTrait<OpTrait::ConstantLike>() || failed(op.fold(folded)) ||
        folded.size() != op.getNumResults() ||
        !llvm::all_of(folded, [](OpFoldResult r) { return isa<Value>(r); }))
      continue;
    for (auto [result, replacement] : llvm::zip(op.getResults(), folded)) {
      for (Value &gradient : emittedGradients)
        if (gradient == result)
          gradient = cast<Value>(replacement);
      result.replaceAllUsesWith(cast<Value>(replacement));
    }
    op.erase();
  }
}

LogicalResult Backpropagation::differentiate(Operation *op) {
  SmallVector<Value> resultGradients;
  bool onPath = false;
  for (Value result : op->getResults()) {
    bool flows = isActive(result);
    resultGradients.push_back(flows ? lookup(result) : Value());
    onPath |= static_cast<bool>(resultGradients.back());
  }
  if (!onPath)
    return success();
  SmallVector<Value> inputs;
  getInputs(op, inputs);
  if (llvm::none_of(inputs, [&](Value input) { return isActive(input); }))
    return success();

  if (auto loop = dyn_cast<scf::ForOp>(op))
    return differentiateLoop(loop, resultGradients, *this, builder, loopValues);
  if (auto branches = dyn_cast<scf::IfOp>(op))
    return differentiateBranches(branches, resultGradients, *this, builder,
                                 loopValues);
  if (isa<scf::WhileOp>(op))
    return op->emitOpError("has no derivative: its trip count depends on data, "
                           "expected scf.for with constant bounds");
  if (succeeded(differentiatePart(op, resultGradients, *this, builder)))
    return success();
  if (op->getNumRegions() != 0)
    return op->emitOpError("has no derivative: differentiation does not enter "
                           "regions; inline or unroll them first");
  return differentiateRule(op, resultGradients);
}

LogicalResult
Backpropagation::differentiateRule(Operation *op,
                                   ArrayRef<Value> resultGradients) {
  auto rule = dyn_cast<amp::DifferentiableOpInterface>(op);
  if (!rule) {
    return op->emitOpError("has no derivative, but is between the loss and "
                           "a value to differentiate by");
  }

  BitVector wanted(op->getNumOperands());
  for (OpOperand &operand : op->getOpOperands())
    wanted[operand.getOperandNumber()] = isActive(operand.get());
  SmallVector<Value> operandGradients(op->getNumOperands());
  Operation *last = getLastEmitted();
  if (failed(rule.buildOperandGradients(builder, resultGradients, wanted,
                                        operandGradients)))
    return failure();
  foldEmitted(last, operandGradients);

  for (OpOperand &operand : op->getOpOperands()) {
    Value gradient = operandGradients[operand.getOperandNumber()];
    if (!gradient || !isActive(operand.get()))
      continue;
    if (gradient.getType() != operand.get().getType())
      return op->emitOpError("has a derivative of type ")
             << gradient.getType() << " for operand "
             << operand.getOperandNumber() << " of type "
             << operand.get().getType();
    accumulate(operand.get(), gradient, op->getLoc());
  }
  return success();
}

LogicalResult Backpropagation::run(ArrayRef<Operation *> forward,
                                   Listener listener) {
  SmallVector<Value> inputs;
  for (Operation *op : forward) {
    if (op->hasAttr(kStopGradientAttr))
      continue;
    inputs.clear();
    getInputs(op, inputs);
    if (llvm::none_of(inputs, [&](Value input) { return isActive(input); }))
      continue;
    for (Value result : op->getResults())
      if (isDifferentiableType(result.getType()))
        activate(result);
  }
  for (Operation *op : llvm::reverse(forward)) {
    Operation *last = getLastEmitted();
    if (failed(differentiate(op)))
      return failure();
    if (!replacements.empty() && replacements.back().first == op)
      op = replacements.back().second;
    auto range = llvm::make_range(after(last), builder.getInsertionPoint());
    for (Operation &emitted : range)
      listener(op, &emitted);
  }
  return success();
}

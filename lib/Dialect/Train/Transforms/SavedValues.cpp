//===- SavedValues.cpp - What a step keeps for its backward pass ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SavedValues.h"

#include "amp/Dialect/Train/IR/Backpropagation.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::train;

int64_t mlir::train::countBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() ||
      !type.getElementType().isIntOrIndexOrFloat())
    return 0;
  int64_t width = type.getElementType().isIndex()
                      ? 8
                      : (type.getElementTypeBitWidth() + 7) / 8;
  return llvm::SaturatingMultiply<uint64_t>(type.getNumElements(), width);
}

Value SavedValues::getRoot(Value value) const {
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    if (!isForward(reshape.getOperation()))
      break;
    value = reshape.getInput();
  }
  return value;
}

void SavedValues::collectViews(Value value,
                               SmallVectorImpl<Value> &views) const {
  views.push_back(value);
  for (Operation *user : value.getUsers())
    if (auto reshape = dyn_cast<ReshapeOp>(user); reshape && isForward(user))
      collectViews(reshape, views);
}

Operation *SavedValues::getFirstReader(Value value) const {
  SmallVector<Value> views;
  collectViews(value, views);
  Operation *first = nullptr;
  for (Value view : views)
    for (OpOperand &use : view.getUses()) {
      Operation *user = getUser(use);
      if (user && numberOf(user) >= seed &&
          (!first || numberOf(user) < numberOf(first)))
        first = user;
    }
  return first;
}

bool SavedValues::isReturned(Value value) const {
  SmallVector<Value> views;
  collectViews(value, views);
  return llvm::any_of(views, [&](Value view) {
    return llvm::is_contained(view.getUsers(), block.getTerminator());
  });
}

bool SavedValues::analyze() {
  Operation *first = nullptr;
  unsigned number = 0;
  for (Operation &op : block) {
    numbers[&op] = number++;
    if (!first && (isa<amp::GradientSeedOpInterface>(op) ||
                   op.hasAttr(amp::AMPDialect::kGradientSeedAttr)))
      first = &op;
    if (auto attr = op.getAttrOfType<IntegerAttr>(kRecomputedAttr))
      group = std::max(group, attr.getInt() + 1);
  }
  if (!first)
    return false;
  seed = numberOf(first);
  for (Operation &op : block) {
    if (!isForward(&op))
      break;
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    for (Value result : op.getResults()) {
      Value root = getRoot(result);
      if (root != result || !isa<TensorType>(result.getType()) ||
          !getFirstReader(result))
        continue;
      saved.insert(result);
      SmallVector<Value> views;
      collectViews(result, views);
      // An earlier run computes other values from this one.
      for (Value view : views)
        for (Operation *user : view.getUsers())
          if (user->hasAttr(kRecomputedAttr))
            pinned.insert(result);
    }
  }
  return true;
}

void SavedValues::emit(ArrayRef<Value> values, const Ops &ops,
                       Operation *where) {
  OpBuilder builder(where);
  IRMapping mapping;
  auto number = builder.getI64IntegerAttr(group++);
  SmallVector<Operation *> sorted(ops.begin(), ops.end());
  llvm::sort(sorted, [&](Operation *a, Operation *b) {
    return numberOf(a) < numberOf(b);
  });
  for (Operation *op : sorted) {
    for (Value operand : op->getOperands()) {
      if (mapping.contains(operand) || isConstant(operand) ||
          !isDifferentiableType(operand.getType()))
        continue;
      auto barrier =
          BroadcastOp::create(builder, op->getLoc(), operand.getType(), operand,
                              Value(), ArrayRef<int64_t>{}, /*mean=*/false);
      barrier->setAttr(kRecomputedAttr, number);
      numbers[barrier] = numberOf(where);
      mapping.map(operand, barrier.getResult());
    }
    Operation *copy = builder.clone(*op, mapping);
    copy->removeAttr(amp::AMPDialect::kIdAttr);
    copy->setAttr(kRecomputedAttr, number);
    numbers[copy] = numberOf(where);
    ++numOps;
  }
  for (Value value : values) {
    SmallVector<Value> views;
    collectViews(value, views);
    numBytes += countBytes(value);
    ++numValues;
    dropped.insert(value);
    for (Value view : views) {
      if (!mapping.contains(view)) {
        if (!llvm::any_of(view.getUses(), [&](OpOperand &use) {
              return numberOf(getUser(use)) >= seed;
            }))
          continue;
        // A view of a view is cloned after its operand.
        Operation *copy = builder.clone(*view.getDefiningOp(), mapping);
        copy->removeAttr(amp::AMPDialect::kIdAttr);
        copy->setAttr(kRecomputedAttr, number);
        numbers[copy] = numberOf(where);
      }
      Value replacement = mapping.lookup(view);
      view.replaceUsesWithIf(replacement, [&](OpOperand &use) {
        Operation *user = getUser(use);
        return user && numberOf(user) >= seed &&
               !user->hasAttr(kRecomputedAttr);
      });
    }
  }
}

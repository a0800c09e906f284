//===- BranchGradients.cpp - Derivatives of branches ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopGradients.h"

#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::train;

/// Fills `block` with the operations of `branch`, computed again, and the
/// gradients of `captured`.
static LogicalResult emitBranch(Block *block, Block *branch,
                                ArrayRef<Value> captured,
                                ArrayRef<Value> resultGradients, Location loc,
                                OpBuilder &builder, LoopValues values) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(block);
  IRMapping mapping;
  SmallVector<Operation *> ops;
  SmallVector<Value> results;
  if (branch)
    for (Operation &op : branch->without_terminator())
      ops.push_back(builder.clone(op, mapping));
  Backpropagation inner(builder, values);
  for (Value value : captured)
    inner.activate(value);
  if (branch)
    for (auto [yielded, gradient] :
         llvm::zip(branch->getTerminator()->getOperands(), resultGradients))
      if (gradient)
        inner.accumulate(mapping.lookupOrDefault(yielded), gradient, loc);
  if (failed(inner.run(ops, [](Operation *, Operation *) {})))
    return failure();
  for (Value value : captured) {
    Value gradient = inner.lookup(value);
    results.push_back(gradient ? gradient : makeZeros(builder, loc, value));
  }
  scf::YieldOp::create(builder, loc, results);
  return success();
}

LogicalResult mlir::train::differentiateBranches(
    scf::IfOp op, ArrayRef<Value> resultGradients, Backpropagation &sweep,
    OpBuilder &builder, LoopValues values) {
  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(op->getRegions(), outside);
  SmallVector<Value> captured;
  for (Value value : outside)
    if (sweep.isActive(value) && isDifferentiableType(value.getType()))
      captured.push_back(value);
  if (captured.empty())
    return success();
  Location loc = op.getLoc();
  auto backward =
      scf::IfOp::create(builder, loc, TypeRange(ValueRange(captured)),
                        op.getCondition(), /*withElseRegion=*/true);
  for (auto [block, branch] : {std::pair(backward.thenBlock(), op.thenBlock()),
                               std::pair(backward.elseBlock(), op.elseBlock())})
    if (failed(emitBranch(block, branch, captured, resultGradients, loc,
                          builder, values)))
      return failure();
  for (auto [value, gradient] : llvm::zip(captured, backward.getResults()))
    sweep.accumulate(value, gradient, loc);
  return success();
}

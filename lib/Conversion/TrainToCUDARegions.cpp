//===- TrainToCUDARegions.cpp - Guards and loops without regions ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgBuilder.h"
#include "TrainToCUDA.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::cuda;

/// The scalar boolean `condition` as a tensor.
static Value getFlag(OpBuilder &builder, Value condition) {
  if (auto extract = condition.getDefiningOp<tensor::ExtractOp>())
    if (extract.getTensor().getType().getRank() == 0)
      return extract.getTensor();
  auto type = RankedTensorType::get({}, builder.getI1Type());
  return tensor::FromElementsOp::create(builder, condition.getLoc(), type,
                                        condition);
}

/// `flag ? onTrue : onFalse`, whole values.
static Value choose(OpBuilder &builder, Location loc, Value condition,
                    Value onTrue, Value onFalse) {
  if (onTrue == onFalse)
    return onTrue;
  auto type = dyn_cast<RankedTensorType>(onTrue.getType());
  if (!type)
    return arith::SelectOp::create(builder, loc, condition, onTrue, onFalse);
  Value flag = getFlag(builder, condition);
  if (isa<FloatType>(type.getElementType()))
    return train::SelectOp::create(builder, loc, type, flag, onTrue, onFalse);
  mlir::amp::LinalgBuilder b(builder, loc);
  return b.elementwise(
      type, {flag, onTrue, onFalse},
      [](ImplicitLocOpBuilder &inner, ValueRange args) -> Value {
        return arith::SelectOp::create(inner, args[0], args[1], args[2]);
      });
}

/// Computes both branches, which have no side effects, and chooses.
static LogicalResult flatten(scf::IfOp op) {
  IRRewriter rewriter(op.getContext());
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (region->empty())
      continue;
    for (Operation &inner : region->front().without_terminator())
      if (!isPure(&inner))
        return inner.emitOpError("has an effect, which a launch under a guard "
                                 "cannot have");
  }
  if (op.getNumResults() == 0) {
    rewriter.eraseOp(op);
    return success();
  }
  SmallVector<Value> onTrue(op.thenYield().getOperands()),
      onFalse(op.elseYield().getOperands());
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    Operation *yield = region->front().getTerminator();
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&region->front(), op);
  }
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results;
  for (auto [yes, no] : llvm::zip_equal(onTrue, onFalse))
    results.push_back(
        choose(rewriter, op.getLoc(), op.getCondition(), yes, no));
  rewriter.replaceOp(op, results);
  return success();
}

static LogicalResult flatten(scf::ForOp op) {
  std::optional<APInt> count = op.getStaticTripCount();
  if (!count)
    return op.emitOpError("has bounds that are not constants, with which it "
                          "cannot be a fixed list of launches");
  if (failed(loopUnrollFull(op)))
    return op.emitOpError("cannot be unrolled");
  return success();
}

LogicalResult mlir::cuda::flattenRegions(func::FuncOp step) {
  // Innermost first, so that what is inlined has no regions.
  SmallVector<Operation *> nested;
  WalkResult result = step.walk([&](Operation *op) {
    if (isa<func::FuncOp>(op) || op->getNumRegions() == 0 ||
        isa<linalg::LinalgOp>(op))
      return WalkResult::advance();
    if (isa<scf::IfOp, scf::ForOp>(op)) {
      nested.push_back(op);
      return WalkResult::advance();
    }
    op->emitOpError("has a region, which cannot become a list of launches; "
                    "expected 'scf.if' or 'scf.for' with constant bounds");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  for (Operation *op : nested) {
    if (auto guard = dyn_cast<scf::IfOp>(op)) {
      if (failed(flatten(guard)))
        return failure();
    } else if (failed(flatten(cast<scf::ForOp>(op)))) {
      return failure();
    }
  }
  return success();
}

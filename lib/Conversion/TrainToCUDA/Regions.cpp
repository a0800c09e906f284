//===- Regions.cpp - Inlining of guards and loops -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"
#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
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

namespace {

/// Inlines regions, the outermost first. The induction variable of a loop is
/// then a constant in the loops within it.
class Flattener {
public:
  LogicalResult flatten(Block &block);

private:
  LogicalResult flatten(scf::IfOp op);
  LogicalResult flatten(scf::ForOp op);
  void inlineBranch(Region &region, scf::IfOp op);

  /// Iterations so far, of all loops.
  uint64_t iterations = 0;
};

} // namespace

/// Each iteration becomes separate launches. A step cannot have as many.
static constexpr uint64_t kMaxIterations = 1 << 16;

/// Folds `op` if it computes integers or indices, which bounds may depend on.
/// Returns whether constants have replaced it.
static bool foldScalars(Operation *op) {
  if (op->getNumResults() == 0 || op->getNumRegions() != 0 ||
      op->hasTrait<OpTrait::ConstantLike>() || !isPure(op) ||
      !llvm::all_of(op->getResultTypes(),
                    [](Type type) { return type.isIntOrIndex(); }))
    return false;
  IRRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results;
  if (failed(rewriter.tryFold(op, results)) || results.empty())
    return false;
  rewriter.replaceOp(op, results);
  return true;
}

void Flattener::inlineBranch(Region &region, scf::IfOp op) {
  IRRewriter rewriter(op.getContext());
  rewriter.eraseOp(region.front().getTerminator());
  rewriter.inlineBlockBefore(&region.front(), op);
}

/// Takes the branch that is known. Otherwise computes both, which have no side
/// effects, and selects.
LogicalResult Flattener::flatten(scf::IfOp op) {
  IRRewriter rewriter(op.getContext());
  APInt known;
  if (matchPattern(op.getCondition(), m_ConstantInt(&known))) {
    Region &taken = known.isZero() ? op.getElseRegion() : op.getThenRegion();
    SmallVector<Value> results;
    if (!taken.empty()) {
      results = llvm::to_vector(taken.front().getTerminator()->getOperands());
      inlineBranch(taken, op);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    if (region->empty())
      continue;
    if (failed(flatten(region->front())))
      return failure();
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
  inlineBranch(op.getThenRegion(), op);
  inlineBranch(op.getElseRegion(), op);
  rewriter.setInsertionPoint(op);
  SmallVector<Value> results;
  for (auto [yes, no] : llvm::zip_equal(onTrue, onFalse))
    results.push_back(
        choose(rewriter, op.getLoc(), op.getCondition(), yes, no));
  rewriter.replaceOp(op, results);
  return success();
}

LogicalResult Flattener::flatten(scf::ForOp op) {
  APInt begin, end, step;
  if (!matchPattern(op.getLowerBound(), m_ConstantInt(&begin)) ||
      !matchPattern(op.getUpperBound(), m_ConstantInt(&end)) ||
      !matchPattern(op.getStep(), m_ConstantInt(&step)))
    return op.emitOpError(
        "has bounds that are not constants, expected constant "
        "bounds for a fixed list of launches");
  bool isUnsigned = op.getUnsignedCmp();
  if (step.isZero() || (!isUnsigned && step.isNegative()))
    return op.emitOpError("has a step of ")
           << step.getSExtValue() << ", expected a positive one";
  bool runs = isUnsigned ? begin.ult(end) : begin.slt(end);
  // The difference as an unsigned number is correct even if it overflows.
  uint64_t count =
      runs ? ((end - begin - 1).udiv(step)).getLimitedValue(kMaxIterations) + 1
           : 0;
  iterations += count;
  if (iterations > kMaxIterations)
    return op.emitOpError("makes more than ")
           << kMaxIterations << " iterations of the loops of the step, each "
           << "of which becomes separate launches";
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  SmallVector<Value> values(op.getInitArgs());
  APInt at = begin;
  for (uint64_t iteration = 0; iteration < count; ++iteration, at += step) {
    IRMapping mapping;
    mapping.map(
        op.getInductionVar(),
        arith::ConstantOp::create(
            rewriter, op.getLoc(),
            rewriter.getIntegerAttr(op.getInductionVar().getType(), at)));
    mapping.map(op.getRegionIterArgs(), values);
    for (Operation &inner : op.getBody()->without_terminator())
      rewriter.clone(inner, mapping);
    for (auto [value, yielded] :
         llvm::zip_equal(values, op.getBody()->getTerminator()->getOperands()))
      value = mapping.lookupOrDefault(yielded);
  }
  rewriter.replaceOp(op, values);
  return success();
}

LogicalResult Flattener::flatten(Block &block) {
  for (auto it = block.begin(); it != block.end();) {
    Operation *op = &*it++;
    if (foldScalars(op) || op->getNumRegions() == 0 ||
        isa<linalg::LinalgOp>(op))
      continue;
    // Visit the inlined operations next.
    Operation *before = op->getPrevNode();
    if (auto guard = dyn_cast<scf::IfOp>(op)) {
      if (failed(flatten(guard)))
        return failure();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(flatten(loop)))
        return failure();
    } else {
      return op->emitOpError("has a region, which cannot become a list of "
                             "launches; expected 'scf.if' or 'scf.for' with "
                             "constant bounds");
    }
    it = before ? std::next(Block::iterator(before)) : block.begin();
  }
  return success();
}

LogicalResult mlir::cuda::flattenRegions(func::FuncOp step) {
  return Flattener().flatten(step.getBody().front());
}

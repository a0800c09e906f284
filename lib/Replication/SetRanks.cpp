//===- SetRanks.cpp - Fix the number of ranks -----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass that fixes the number of ranks of a step. With one rank it removes
// all collectives.
//
//===----------------------------------------------------------------------===//

#include "BucketedReductions.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Replication/Passes.h"

namespace mlir::amp {
#define GEN_PASS_DEF_SETRANKSPASS
#include "amp/Replication/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {
class SetRanksPass final : public amp::impl::SetRanksPassBase<SetRanksPass> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  /// Checks that `part` is one of as many parts of `whole` as there are ranks.
  LogicalResult checkParts(Operation *op, Value whole, Value part,
                           int64_t along);
  LogicalResult check(Operation *op);
  void rewrite(Operation *op);
};
} // namespace

LogicalResult SetRanksPass::checkOptions() {
  if (ranks < 1)
    return getOperation()->emitError()
           << "amp-set-ranks: expected 'ranks' to be positive, got "
           << std::to_string(ranks);
  if (rank < 0 || rank >= ranks)
    return getOperation()->emitError()
           << "amp-set-ranks: expected 'rank' to be from 0 to "
           << std::to_string(ranks - 1) << ", got " << std::to_string(rank);
  return success();
}

LogicalResult SetRanksPass::checkParts(Operation *op, Value whole, Value part,
                                       int64_t along) {
  auto from = cast<ShapedType>(whole.getType()),
       to = cast<ShapedType>(part.getType());
  if (along == kFlatPart) {
    int64_t size = getFlatPartSize(from.getNumElements(), ranks);
    if (to.getNumElements() == size)
      return success();
    return op->emitOpError("divides ")
           << Type(from) << " into flat parts of " << to.getNumElements()
           << " elements, expected " << size << " for " << std::to_string(ranks)
           << " ranks";
  }
  if (from.isDynamicDim(along) || to.isDynamicDim(along) ||
      from.getDimSize(along) == ranks * to.getDimSize(along))
    return success();
  return op->emitOpError("divides dimension ")
         << along << " of " << Type(from) << " into parts of " << Type(to)
         << ", expected a part for each of " << std::to_string(ranks)
         << " ranks";
}

LogicalResult SetRanksPass::check(Operation *op) {
  auto checkCount = [&](std::optional<int64_t> count) -> LogicalResult {
    if (!count || *count == ranks)
      return success();
    return op->emitOpError("is for ")
           << *count << " ranks, expected " << std::to_string(ranks);
  };
  if (auto divide = dyn_cast<DivideByRanksOp>(op))
    return checkCount(divide.getRanks());
  if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    return checkParts(op, scatter.getValue(), scatter.getPart(),
                      scatter.getAlong());
  if (auto own = dyn_cast<RankPartOp>(op))
    return checkParts(op, own.getValue(), own.getPart(), own.getAlong());
  if (auto gather = dyn_cast<AllGatherOp>(op))
    return checkParts(op, gather.getValue(), gather.getPart(),
                      gather.getAlong());
  auto divided = op->getAttrOfType<DenseI64ArrayAttr>(kDividedAlongAttr);
  return checkCount(divided && divided.size() == 3
                        ? std::optional<int64_t>(divided[1])
                        : std::nullopt);
}

void SetRanksPass::rewrite(Operation *op) {
  if (ranks == 1 && isa<AllReduceOp, ReduceScatterOp, AllGatherOp, RankPartOp,
                        DivideByRanksOp>(op)) {
    // The extents of a part may be dynamic where those of the whole are not.
    if (op->getOperandTypes() != op->getResultTypes())
      return;
    for (auto [result, operand] :
         llvm::zip_equal(op->getResults(), op->getOperands()))
      if (operand.getDefiningOp())
        moveGradientName(result, operand);
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
    ++numRemoved;
    return;
  }
  if (auto divide = dyn_cast<DivideByRanksOp>(op))
    divide.setRanks(ranks);
  auto divided = op->getAttrOfType<DenseI64ArrayAttr>(kDividedAlongAttr);
  if (!divided)
    return;
  if (ranks == 1)
    op->removeAttr(kDividedAlongAttr);
  else
    op->setAttr(
        kDividedAlongAttr,
        DenseI64ArrayAttr::get(op->getContext(), {divided[0], ranks, rank}));
}

void SetRanksPass::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  WalkResult result = getOperation()->walk([&](Operation *op) {
    return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return signalPassFailure();
  getOperation()->walk([&](Operation *op) { rewrite(op); });
}

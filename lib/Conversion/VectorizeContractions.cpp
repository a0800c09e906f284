//===- VectorizeContractions.cpp - Products in vector registers -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products are tiled so that a block of the result fits in vector registers,
// vectorised, and lowered to outer products; the block is then hoisted out of
// the loops over the contracted dimensions. All of it is upstream's; this pass
// chooses the blocks.
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorTransforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::amp {
#define GEN_PASS_DEF_VECTORIZECONTRACTIONS
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// The block of the result that is kept in registers: with 512-bit registers,
/// 8 × 32 f32 are 16 of 32, which leaves room for the operands.
static constexpr int64_t kBlockRows = 8;
static constexpr int64_t kBlockColumns = 32;
/// Steps over a contracted dimension that are unrolled.
static constexpr int64_t kBlockSteps = 4;

/// Looks through a conversion to a wider type.
static Value skipWidening(Value value) {
  if (auto extend = value.getDefiningOp<arith::ExtFOp>())
    return extend.getIn();
  return value;
}

/// Returns whether `op` adds products of its two operands, widened or not, to
/// its result, with static shapes and plain projections as indexing maps.
static bool isProduct(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || op.hasDynamicShape() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  Block *body = op.getBody();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  auto sum = yield.getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  Value accumulator = body->getArgument(2);
  Value product = sum.getLhs() == accumulator ? sum.getRhs() : sum.getLhs();
  auto mul = product.getDefiningOp<arith::MulFOp>();
  if (!mul || (sum.getLhs() != accumulator && sum.getRhs() != accumulator))
    return false;
  Value lhs = skipWidening(mul.getLhs()), rhs = skipWidening(mul.getRhs());
  return (lhs == body->getArgument(0) && rhs == body->getArgument(1)) ||
         (lhs == body->getArgument(1) && rhs == body->getArgument(0));
}

/// Returns the largest divisor of `extent` that is at most `limit`.
static int64_t largestDivisor(int64_t extent, int64_t limit) {
  int64_t divisor = std::min(extent, limit);
  while (extent % divisor != 0)
    --divisor;
  return divisor;
}

namespace {

/// Drops a leading dimension of extent 1 of a batched product: the lowering to
/// outer products knows only matrices.
struct DropLeadingOneDim : OpRewritePattern<vector::ContractionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ContractionOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getIteratorTypes().size() <= 3)
      return rewriter.notifyMatchFailure(op, "a plain matrix product");
    FailureOr<Value> dropped = vector::castAwayContractionLeadingOneDim(
        op, /*maskingOp=*/nullptr, rewriter);
    if (failed(dropped))
      return rewriter.notifyMatchFailure(op, "no leading dimension of 1");
    rewriter.replaceOp(op, *dropped);
    return success();
  }
};

struct VectorizeContractions
    : amp::impl::VectorizeContractionsBase<VectorizeContractions> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> products;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (isProduct(op))
        products.push_back(op);
    });
    if (products.empty())
      return;
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : products)
      if (failed(tileAndVectorize(op, rewriter)))
        return signalPassFailure();
    numVectorized += products.size();

    // First gather products into contractions, then lower those: a contraction
    // that still reads transposed or repeated vectors becomes dot products.
    RewritePatternSet gather(&getContext());
    vector::populateVectorReductionToContractPatterns(gather);
    vector::populateVectorTransferPermutationMapLoweringPatterns(gather);
    // Widen what is read, not what is repeated.
    vector::populateSinkVectorOpsPatterns(gather);
    tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(gather);
    scf::ForOp::getCanonicalizationPatterns(gather, &getContext());
    gather.add<DropLeadingOneDim>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(gather))))
      return signalPassFailure();
    RewritePatternSet lower(&getContext());
    vector::populateVectorContractLoweringPatterns(
        lower, vector::VectorContractLowering::OuterProduct);
    vector::populateVectorOuterProductLoweringPatterns(lower);
    if (failed(applyPatternsGreedily(getOperation(), std::move(lower))))
      return signalPassFailure();

    // The block stays in registers through the innermost loops, those over the
    // contracted dimensions.
    SmallVector<LoopLikeOpInterface> innermostFirst;
    getOperation()->walk(
        [&](scf::ForOp loop) { innermostFirst.push_back(loop); });
    for (LoopLikeOpInterface loop : innermostFirst)
      (void)hoistLoopInvariantSubsets(rewriter, loop);
  }

private:
  LogicalResult tileAndVectorize(linalg::GenericOp op, RewriterBase &rewriter);
};

} // namespace

LogicalResult VectorizeContractions::tileAndVectorize(linalg::GenericOp op,
                                                      RewriterBase &rewriter) {
  // Loops over the result outside, over contracted dimensions inside: the order
  // in which the lowering to outer products recognises a matrix product.
  SmallVector<unsigned> order;
  for (bool wantParallel : {true, false})
    for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
      if (linalg::isParallelIterator(iterator) == wantParallel)
        order.push_back(dim);
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> reordered =
      linalg::interchangeGenericOp(rewriter, op, order);
  if (failed(reordered))
    return op.emitError("cannot reorder the loops of this product");
  op = *reordered;

  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));

  // Columns: the last dimension of the result. Rows: the next one outwards with
  // more than one element. Everything else goes element by element.
  SmallVector<int64_t> sizes(extents.size(), 1);
  bool hasColumns = false;
  for (AffineExpr expr : llvm::reverse(resultMap.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (!hasColumns) {
      sizes[dim] = largestDivisor(extents[dim], kBlockColumns);
      hasColumns = true;
    } else if (extents[dim] > 1) {
      sizes[dim] = largestDivisor(extents[dim], kBlockRows);
      break;
    }
  }

  // A few steps at a time over the last contracted dimension: upstream takes a
  // reduction of one element for an elementwise operation.
  int64_t last = extents.size() - 1;
  sizes[last] = largestDivisor(extents[last], kBlockSteps);
  if (sizes[last] == 1)
    sizes[last] = largestDivisor(extents[last], 4 * kBlockSteps);

  SmallVector<OpFoldResult> tileSizes;
  for (auto [size, extent] : llvm::zip(sizes, extents))
    tileSizes.push_back(
        rewriter.getIndexAttr(size == extent && extent > 1 ? 0 : size));
  scf::SCFTilingOptions options;
  options.setTileSizes(tileSizes);
  rewriter.setInsertionPoint(op);
  FailureOr<scf::SCFTilingResult> tiled = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(tiled))
    return op.emitError("cannot tile this product");
  rewriter.replaceOp(op, tiled->replacements);

  Operation *block = tiled->tiledOps.back();
  rewriter.setInsertionPoint(block);
  FailureOr<linalg::VectorizationResult> vectorized =
      linalg::vectorize(rewriter, block);
  if (failed(vectorized))
    return block->emitError("cannot vectorize this product");
  rewriter.replaceOp(block, vectorized->replacements);
  return success();
}

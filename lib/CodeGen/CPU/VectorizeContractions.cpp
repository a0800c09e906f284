//===- VectorizeContractions.cpp - Products and convolutions on vectors ---===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel for every contraction: matrix products, convolutions and their
// gradients differ only in their indices. The last dimension of the result runs
// over the lanes of vectors. A block of rows, elements of the result that read
// the same vectors of one operand, stays in registers during the reduction.
// Columns that many blocks read are copied first.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "amp/CodeGen/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {
#define GEN_PASS_DEF_VECTORIZECONTRACTIONS
#include "amp/CodeGen/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Leave registers for the operands: there are 32 of 512 bits, or 16 narrower
/// ones.
static constexpr int64_t kWideAccumulators = 16, kAccumulators = 12;

namespace {

/// Emits the loops of one contraction.
class ContractionBuilder {
public:
  ContractionBuilder(ImplicitLocOpBuilder &b, const Contraction &c,
                     unsigned vectorBits, Block *entry)
      : b(b), c(c), entry(entry), indices(c.extents.size(), b.getIndexAttr(0)),
        begins(indices), inner(indices), lengths(c.extents) {
    element = getElementTypeOrSelf(c.result);
    lanes = vectorBits / element.getIntOrFloatBitWidth();
    zero = arith::ConstantIndexOp::create(b, 0);
    chooseBlock(vectorBits == 512 ? kWideAccumulators : kAccumulators);
  }

  void run();

private:
  void chooseBlock(int64_t accumulators);
  void emitLoops(ArrayRef<unsigned> dims);
  void emitLaneBlocks();
  void emitColumns(int64_t width);
  void emitPanel(int64_t width);
  void fillPanel(ArrayRef<unsigned> dims, int64_t width);
  void emitRowBlocks(int64_t width);
  void emitBlock(int64_t width, int64_t rows);
  SmallVector<Value> emitReduction(ArrayRef<unsigned> dims,
                                   SmallVector<Value> accumulators,
                                   ArrayRef<SmallVector<int64_t>> rows,
                                   int64_t width);

  /// Emits `body` for each index of a loop, which sets indices[dim].
  void emitLoop(unsigned dim, int64_t begin, int64_t end, int64_t step,
                function_ref<void()> body);

  /// The indices of `map` for the current loops, a row of the block and a
  /// vector of the block.
  SmallVector<Value> getIndices(AffineMap map, ArrayRef<int64_t> row,
                                int64_t vector);
  SmallVector<Value> getPanelIndices(int64_t vector);
  void setReduction(unsigned dim, OpFoldResult index);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  VectorType vectorType() { return VectorType::get({lanes}, element); }
  Value mask(int64_t count);
  Value load(Value buffer, ValueRange at, int64_t count);
  void store(Value value, Value buffer, ValueRange at, int64_t count);
  int64_t laneCount(int64_t width, int64_t vector) {
    return std::min(lanes, width - vector * lanes);
  }

  ImplicitLocOpBuilder &b;
  const Contraction &c;
  /// The entry block of the function of the contraction. Null outside of
  /// functions.
  Block *entry;
  Type element;
  int64_t lanes;
  Value zero;
  /// The current index of each loop.
  SmallVector<OpFoldResult> indices;
  /// For the reduction loops of one panel: the begin, the index within the
  /// panel, and the number of indices.
  SmallVector<OpFoldResult> begins, inner;
  SmallVector<int64_t> lengths;
  /// A contiguous copy of the columns of `vectors` that the block reads. Null
  /// if they are read in place.
  Value panel;
  /// Parallel loops around the block, and the reduction loops within.
  SmallVector<unsigned> outer, reductions;
  /// Loops that the block covers completely, and the loop that is tiled.
  SmallVector<unsigned> unrolled;
  std::optional<unsigned> tiled;
  int64_t tile = 1, vectors = 1;
};

} // namespace

/// The extent of a panel in one reduction loop, which keeps it in the
/// first-level cache, and the most rows of a panel of several loops.
static constexpr int64_t kPanelDepth = 256, kPanelRows = 1024;

void ContractionBuilder::chooseBlock(int64_t accumulators) {
  vectors = c.extents[c.lane] > lanes ? 2 : 1;
  int64_t rows = accumulators / vectors;
  SmallVector<unsigned> candidates;
  for (AffineExpr expr : llvm::reverse(c.resultMap.getResults())) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim != c.lane && !c.vectorMap.isFunctionOfDim(dim))
      candidates.push_back(dim);
  }
  for (unsigned dim : candidates) {
    if (c.extents[dim] <= rows) {
      unrolled.push_back(dim);
      rows /= c.extents[dim];
    } else if (rows > 1) {
      tiled = dim;
      tile = rows;
      break;
    }
  }
  for (unsigned dim = 0; dim < c.extents.size(); ++dim) {
    if (c.isReduction(dim))
      reductions.push_back(dim);
    else if (dim != c.lane && dim != tiled &&
             !llvm::is_contained(unrolled, dim))
      outer.push_back(dim);
  }
}

void ContractionBuilder::emitLoop(unsigned dim, int64_t begin, int64_t end,
                                  int64_t step, function_ref<void()> body) {
  OpFoldResult saved = indices[dim];
  if (end - begin <= step) {
    indices[dim] = b.getIndexAttr(begin);
    body();
  } else {
    auto loop =
        scf::ForOp::create(b, constant(begin), constant(end), constant(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    indices[dim] = loop.getInductionVar();
    body();
  }
  indices[dim] = saved;
}

void ContractionBuilder::run() { emitLoops(outer); }

void ContractionBuilder::emitLoops(ArrayRef<unsigned> dims) {
  if (dims.empty())
    return emitLaneBlocks();
  emitLoop(dims.front(), 0, c.extents[dims.front()], 1,
           [&] { emitLoops(dims.drop_front()); });
}

void ContractionBuilder::emitLaneBlocks() {
  int64_t extent = c.extents[c.lane], width = vectors * lanes;
  int64_t whole = extent / width * width;
  if (whole > 0)
    emitLoop(c.lane, 0, whole, width, [&] { emitColumns(width); });
  if (whole < extent)
    emitLoop(c.lane, whole, extent, width,
             [&] { emitColumns(extent - whole); });
}

/// Consecutive rows of `vectors` are one row of the whole operand apart, often
/// a power of two, and then share few lines of the cache. If many blocks read
/// the same columns, these are copied first. The reduction is cut into panels
/// for this and continues in the next one, so the order of a sum does not
/// change.
void ContractionBuilder::emitColumns(int64_t width) {
  int64_t blocks = tiled ? llvm::divideCeil(c.extents[*tiled], tile) : 1;
  if (!entry || blocks < 4 || c.extents[c.lane] <= vectors * lanes ||
      reductions.empty())
    return emitRowBlocks(width);
  if (reductions.size() > 1) {
    int64_t rows = 1;
    for (unsigned dim : reductions)
      rows *= c.extents[dim];
    return rows <= kPanelRows ? emitPanel(width) : emitRowBlocks(width);
  }
  unsigned dim = reductions.front();
  auto emitPart = [&](int64_t begin, int64_t end, int64_t length) {
    lengths[dim] = length;
    emitLoop(dim, begin, end, length, [&] {
      begins[dim] = indices[dim];
      emitPanel(width);
      begins[dim] = b.getIndexAttr(0);
    });
    lengths[dim] = c.extents[dim];
  };
  int64_t extent = c.extents[dim];
  int64_t whole = extent / kPanelDepth * kPanelDepth;
  if (whole > 0)
    emitPart(0, whole, kPanelDepth);
  if (whole < extent)
    emitPart(whole, extent, extent - whole);
}

void ContractionBuilder::emitPanel(int64_t width) {
  SmallVector<unsigned> dims;
  SmallVector<int64_t> shape;
  for (unsigned dim : reductions)
    if (c.vectorMap.isFunctionOfDim(dim)) {
      dims.push_back(dim);
      shape.push_back(lengths[dim]);
    }
  shape.push_back(llvm::alignTo(width, lanes));
  {
    OpBuilder::InsertionGuard guard(b);
    // Allocate outside of loops, where each iteration would extend the stack.
    b.setInsertionPointToStart(entry);
    panel = memref::AllocaOp::create(b, MemRefType::get(shape, element),
                                     b.getI64IntegerAttr(64));
  }
  fillPanel(dims, width);
  emitRowBlocks(width);
  panel = nullptr;
}

void ContractionBuilder::fillPanel(ArrayRef<unsigned> dims, int64_t width) {
  if (!dims.empty()) {
    unsigned dim = dims.front();
    auto loop =
        scf::ForOp::create(b, zero, constant(lengths[dim]), constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    setReduction(dim, loop.getInductionVar());
    fillPanel(dims.drop_front(), width);
    setReduction(dim, b.getIndexAttr(0));
    return;
  }
  int64_t count = llvm::divideCeil(width, lanes);
  for (int64_t vector = 0; vector < count; ++vector) {
    Value values = load(c.vectors, getIndices(c.vectorMap, {}, vector),
                        laneCount(width, vector));
    vector::StoreOp::create(b, values, panel, getPanelIndices(vector));
  }
}

void ContractionBuilder::emitRowBlocks(int64_t width) {
  if (!tiled)
    return emitBlock(width, 1);
  int64_t extent = c.extents[*tiled], whole = extent / tile * tile;
  if (whole > 0)
    emitLoop(*tiled, 0, whole, tile, [&] { emitBlock(width, tile); });
  if (whole < extent)
    emitLoop(*tiled, whole, extent, tile,
             [&] { emitBlock(width, extent - whole); });
}

SmallVector<Value> ContractionBuilder::getIndices(AffineMap map,
                                                  ArrayRef<int64_t> row,
                                                  int64_t vector) {
  SmallVector<OpFoldResult> at(indices);
  auto advance = [&](unsigned dim, int64_t offset) {
    if (offset != 0)
      at[dim] = affine::makeComposedFoldedAffineApply(
          b, b.getLoc(), b.getAffineDimExpr(0) + offset, at[dim]);
  };
  for (auto [dim, offset] : llvm::zip(unrolled, row))
    advance(dim, offset);
  if (tiled && !row.empty())
    advance(*tiled, row.back());
  advance(c.lane, vector * lanes);
  SmallVector<Value> values;
  for (AffineExpr expr : map.getResults()) {
    auto single = AffineMap::get(map.getNumDims(), 0, expr);
    OpFoldResult index =
        affine::makeComposedFoldedAffineApply(b, b.getLoc(), single, at);
    values.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), index));
  }
  return values;
}

SmallVector<Value> ContractionBuilder::getPanelIndices(int64_t vector) {
  SmallVector<Value> values;
  for (unsigned dim : reductions)
    if (c.vectorMap.isFunctionOfDim(dim))
      values.push_back(
          getValueOrCreateConstantIndexOp(b, b.getLoc(), inner[dim]));
  values.push_back(constant(vector * lanes));
  return values;
}

void ContractionBuilder::setReduction(unsigned dim, OpFoldResult index) {
  inner[dim] = index;
  indices[dim] =
      getConstantIntValue(begins[dim]) == 0
          ? index
          : affine::makeComposedFoldedAffineApply(
                b, b.getLoc(), b.getAffineDimExpr(0) + b.getAffineDimExpr(1),
                {begins[dim], index});
}

Value ContractionBuilder::mask(int64_t count) {
  auto type = VectorType::get({lanes}, b.getI1Type());
  return vector::ConstantMaskOp::create(b, type, ArrayRef<int64_t>{count});
}

Value ContractionBuilder::load(Value buffer, ValueRange at, int64_t count) {
  if (count == lanes)
    return vector::LoadOp::create(b, vectorType(), buffer, at);
  Value nothing = arith::ConstantOp::create(b, b.getZeroAttr(vectorType()));
  return vector::MaskedLoadOp::create(b, vectorType(), buffer, at, mask(count),
                                      nothing);
}

void ContractionBuilder::store(Value value, Value buffer, ValueRange at,
                               int64_t count) {
  if (count == lanes)
    vector::StoreOp::create(b, value, buffer, at);
  else
    vector::MaskedStoreOp::create(b, buffer, at, mask(count), value);
}

void ContractionBuilder::emitBlock(int64_t width, int64_t tileRows) {
  // All combinations of the indices of the unrolled loops and of the tile.
  SmallVector<SmallVector<int64_t>> rows(1);
  auto cross = [&](int64_t extent) {
    SmallVector<SmallVector<int64_t>> longer;
    for (const SmallVector<int64_t> &row : rows)
      for (int64_t index = 0; index < extent; ++index) {
        longer.push_back(row);
        longer.back().push_back(index);
      }
    rows = std::move(longer);
  };
  for (unsigned dim : unrolled)
    cross(c.extents[dim]);
  if (tiled)
    cross(tileRows);

  SmallVector<Value> accumulators;
  int64_t count = llvm::divideCeil(width, lanes);
  for (const SmallVector<int64_t> &row : rows)
    for (int64_t vector = 0; vector < count; ++vector)
      accumulators.push_back(load(c.result,
                                  getIndices(c.resultMap, row, vector),
                                  laneCount(width, vector)));
  accumulators =
      emitReduction(reductions, std::move(accumulators), rows, width);
  auto next = accumulators.begin();
  for (const SmallVector<int64_t> &row : rows)
    for (int64_t vector = 0; vector < count; ++vector)
      store(*next++, c.result, getIndices(c.resultMap, row, vector),
            laneCount(width, vector));
}

SmallVector<Value> ContractionBuilder::emitReduction(
    ArrayRef<unsigned> dims, SmallVector<Value> accumulators,
    ArrayRef<SmallVector<int64_t>> rows, int64_t width) {
  if (!dims.empty()) {
    unsigned dim = dims.front();
    if (lengths[dim] == 1) {
      setReduction(dim, b.getIndexAttr(0));
      return emitReduction(dims.drop_front(), std::move(accumulators), rows,
                           width);
    }
    auto loop = scf::ForOp::create(b, zero, constant(lengths[dim]), constant(1),
                                   accumulators);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    setReduction(dim, loop.getInductionVar());
    SmallVector<Value> sums(loop.getRegionIterArgs());
    sums = emitReduction(dims.drop_front(), std::move(sums), rows, width);
    scf::YieldOp::create(b, sums);
    setReduction(dim, b.getIndexAttr(0));
    return SmallVector<Value>(loop.getResults());
  }
  int64_t count = llvm::divideCeil(width, lanes);
  SmallVector<Value> operands;
  for (int64_t vector = 0; vector < count; ++vector)
    operands.push_back(
        panel ? vector::LoadOp::create(b, vectorType(), panel,
                                       getPanelIndices(vector))
              : load(c.vectors, getIndices(c.vectorMap, rows.front(), vector),
                     laneCount(width, vector)));
  auto accumulator = accumulators.begin();
  for (const SmallVector<int64_t> &row : rows) {
    Value scalar =
        memref::LoadOp::create(b, c.scalars, getIndices(c.scalarMap, row, 0));
    Value spread = vector::BroadcastOp::create(b, vectorType(), scalar);
    for (Value operand : operands) {
      *accumulator = vector::FMAOp::create(b, spread, operand, *accumulator);
      ++accumulator;
    }
  }
  return accumulators;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct VectorizeContractions
    : mlir::amp::impl::VectorizeContractionsBase<VectorizeContractions> {
  using VectorizeContractionsBase::VectorizeContractionsBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (vectorBits == 128 || vectorBits == 256 || vectorBits == 512)
      return success();
    emitError(UnknownLoc::get(context))
        << "option 'vector-bits' must be 128, 256 or 512, got "
        << vectorBits.getValue();
    return failure();
  }

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> candidates;
    getOperation()->walk(
        [&](linalg::GenericOp op) { candidates.push_back(op); });
    for (linalg::GenericOp op : candidates) {
      std::optional<Contraction> contraction = matchContraction(op);
      if (!contraction)
        continue;
      ImplicitLocOpBuilder b(op.getLoc(), op);
      SmallVector<Value> buffers = packOperands(b, *contraction);
      auto function = op->getParentOfType<FunctionOpInterface>();
      ContractionBuilder(b, *contraction, vectorBits,
                         function ? &function.getFunctionBody().front()
                                  : nullptr)
          .run();
      for (Value buffer : buffers)
        memref::DeallocOp::create(b, buffer);
      op.erase();
    }
  }
};

} // namespace

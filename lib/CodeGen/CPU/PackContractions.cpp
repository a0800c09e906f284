//===- PackContractions.cpp - Packing of operands -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "amp/CodeGen/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::amp {
#define GEN_PASS_DEF_PACKCONTRACTIONS
#include "amp/CodeGen/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

static MemRefType memRefTypeOf(Value buffer) {
  return cast<MemRefType>(buffer.getType());
}

/// Returns the block argument that `value` is or widens.
static BlockArgument skipWidening(Value value) {
  if (auto extend = value.getDefiningOp<arith::ExtFOp>())
    value = extend.getIn();
  return dyn_cast<BlockArgument>(value);
}

/// Whether the body of `op` is accumulator + lhs · rhs.
static bool isMultiplyAdd(linalg::GenericOp op) {
  Block &body = *op.getBody();
  auto sum = body.getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  Value accumulator = sum.getLhs(), other = sum.getRhs();
  if (accumulator != body.getArgument(2))
    std::swap(accumulator, other);
  auto product = other.getDefiningOp<arith::MulFOp>();
  if (accumulator != body.getArgument(2) || !product)
    return false;
  BlockArgument lhs = skipWidening(product.getLhs());
  BlockArgument rhs = skipWidening(product.getRhs());
  return lhs && rhs && lhs.getOwner() == &body && rhs.getOwner() == &body &&
         lhs.getArgNumber() + rhs.getArgNumber() == 1 &&
         // The body must have no other operations.
         llvm::all_of(body, llvm::IsaPred<arith::ExtFOp, arith::MulFOp,
                                          arith::AddFOp, linalg::YieldOp>);
}

std::optional<Contraction> mlir::amp::matchContraction(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !isMultiplyAdd(op))
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (!isa<MemRefType>(operand.getType()) ||
        !memRefTypeOf(operand).hasStaticShape())
      return std::nullopt;
  Contraction result;
  result.result = op.getDpsInits()[0];
  result.extents = op.getStaticLoopRanges();
  result.iterators = op.getIteratorTypesArray();
  auto maps = op.getIndexingMapsArray();
  result.resultMap = maps[2];
  Type element = memRefTypeOf(result.result).getElementType();
  if ((!element.isF32() && !element.isF64()) || maps[2].getNumResults() == 0 ||
      !maps[2].isProjectedPermutation() ||
      llvm::is_contained(result.extents, 0) ||
      !memRefTypeOf(result.result).isLastDimUnitStride())
    return std::nullopt;
  result.lane = cast<AffineDimExpr>(maps[2].getResults().back()).getPosition();
  bool first = maps[0].isFunctionOfDim(result.lane);
  if (first == maps[1].isFunctionOfDim(result.lane))
    return std::nullopt;
  result.vectors = op.getDpsInputs()[first ? 0 : 1];
  result.vectorMap = maps[first ? 0 : 1];
  result.scalars = op.getDpsInputs()[first ? 1 : 0];
  result.scalarMap = maps[first ? 1 : 0];
  if (!result.vectorMap.isProjectedPermutation())
    return std::nullopt;
  return result;
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Copies `source`, read through `from`, into a new buffer. Its element type is
/// `element` and its dimensions are the loops `order`.
static Value pack(ImplicitLocOpBuilder &b, Value source, AffineMap from,
                  ArrayRef<unsigned> order, ArrayRef<int64_t> extents,
                  Type element) {
  SmallVector<int64_t> shape;
  DenseMap<AffineExpr, AffineExpr> renumber;
  for (auto [index, dim] : llvm::enumerate(order)) {
    shape.push_back(extents[dim]);
    renumber[b.getAffineDimExpr(dim)] = b.getAffineDimExpr(index);
  }
  auto type = MemRefType::get(shape, element);
  Value buffer = memref::AllocOp::create(b, type, b.getI64IntegerAttr(64));
  AffineMap read = from.replace(renumber, order.size(), 0);
  SmallVector<utils::IteratorType> iterators(order.size(),
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, source, buffer,
      ArrayRef<AffineMap>{read, b.getMultiDimIdentityMap(order.size())},
      iterators, [&](OpBuilder &builder, Location loc, ValueRange args) {
        Value value = args[0];
        if (value.getType() != element)
          value = arith::ExtFOp::create(builder, loc, element, value);
        linalg::YieldOp::create(builder, loc, value);
      });
  return buffer;
}

SmallVector<Value> mlir::amp::packOperands(ImplicitLocOpBuilder &b,
                                           Contraction &c) {
  SmallVector<Value> buffers;
  Type element = memRefTypeOf(c.result).getElementType();
  MemRefType vectors = memRefTypeOf(c.vectors);
  bool contiguous =
      c.vectorMap.getResults().back() == b.getAffineDimExpr(c.lane) &&
      vectors.isLastDimUnitStride();
  if (vectors.getElementType() != element || !contiguous) {
    SmallVector<unsigned> order;
    for (AffineExpr expr : c.vectorMap.getResults())
      if (unsigned dim = cast<AffineDimExpr>(expr).getPosition(); dim != c.lane)
        order.push_back(dim);
    order.push_back(c.lane);
    c.vectors = pack(b, c.vectors, c.vectorMap, order, c.extents, element);
    c.vectorMap = AffineMap::getMultiDimMapWithTargets(c.extents.size(), order,
                                                       b.getContext());
    buffers.push_back(c.vectors);
  }
  if (memRefTypeOf(c.scalars).getElementType() != element) {
    // Keep the layout but widen the elements.
    int64_t rank = memRefTypeOf(c.scalars).getRank();
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, rank));
    c.scalars = pack(b, c.scalars, b.getMultiDimIdentityMap(rank), order,
                     memRefTypeOf(c.scalars).getShape(), element);
    buffers.push_back(c.scalars);
  }
  return buffers;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct PackContractions
    : mlir::amp::impl::PackContractionsBase<PackContractions> {
  void runOnOperation() override;
};

} // namespace

void PackContractions::runOnOperation() {
  SmallVector<linalg::GenericOp> candidates;
  getOperation()->walk([&](linalg::GenericOp op) { candidates.push_back(op); });
  for (linalg::GenericOp op : candidates) {
    std::optional<Contraction> c = matchContraction(op);
    if (!c)
      continue;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    SmallVector<Value> buffers = packOperands(b, *c);
    if (buffers.empty())
      continue;
    numBuffers += buffers.size();
    linalg::GenericOp::create(
        b, ValueRange{c->scalars, c->vectors}, c->result,
        {c->scalarMap, c->vectorMap, c->resultMap}, c->iterators,
        [&](OpBuilder &builder, Location loc, ValueRange args) {
          Value product = arith::MulFOp::create(builder, loc, args[0], args[1]);
          Value sum = arith::AddFOp::create(builder, loc, args[2], product);
          linalg::YieldOp::create(builder, loc, sum);
        });
    for (Value buffer : buffers)
      memref::DeallocOp::create(b, buffer);
    op.erase();
  }
}

//===- Gathers.cpp - Rows at indices, and gathers of any form -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dimensions of a tensor that indices address become one dimension of rows.
// Each slice that a gather reads, or a scatter writes, is a set of such rows,
// whose places follow from the indices.
//
//===----------------------------------------------------------------------===//

#include "IndexedSlices.h"
#include "StableHLOImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Slices at indices
//===----------------------------------------------------------------------===//

bool IndexedSlices::divide(RankedTensorType whole, RankedTensorType indices,
                           ArrayRef<int64_t> sliceSizes) {
  int64_t rank = whole.getRank();
  extents = llvm::to_vector(whole.getShape());
  sizes = llvm::to_vector(sliceSizes);
  batch = llvm::to_vector(indices.getShape());
  auto isDim = [&](int64_t dim) { return dim >= 0 && dim < rank; };
  auto isIndexDim = [&](int64_t dim) {
    return dim >= 0 && dim < indices.getRank() && dim != vectorDim;
  };
  int64_t vectorSize =
      vectorDim < indices.getRank() ? indices.getDimSize(vectorDim) : 1;
  if (vectorDim < 0 || vectorDim > indices.getRank() ||
      static_cast<int64_t>(sizes.size()) != rank ||
      static_cast<int64_t>(map.size()) != vectorSize ||
      batching.size() != indexBatching.size() || !llvm::all_of(map, isDim) ||
      !llvm::all_of(removed, isDim) || !llvm::all_of(batching, isDim) ||
      !llvm::all_of(indexBatching, isIndexDim))
    return false;
  if (vectorDim < indices.getRank())
    batch.erase(batch.begin() + vectorDim);
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (sizes[dim] < 0 || sizes[dim] > extents[dim] || extents[dim] == 0 ||
        (isRemoved(dim) && sizes[dim] != 1))
      return false;
    bool isWhole = sizes[dim] == extents[dim] && !isRemoved(dim);
    (isWhole ? kept : addressed).push_back(dim);
  }
  return true;
}

Value StableHLOImporter::makeNumbers(Location loc, ArrayRef<int64_t> numbers,
                                     ArrayRef<int64_t> shape) {
  return arith::ConstantOp::create(
      builder, loc,
      DenseIntElementsAttr::get(
          RankedTensorType::get(shape, builder.getI64Type()), numbers));
}

Value StableHLOImporter::widenIntegers(Location loc, Value x, Value original) {
  auto type = typeOf(x).clone(builder.getI64Type());
  Type element = getElementTypeOrSelf(original);
  if (typeOf(x).getElementTypeBitWidth() >= 64)
    return x;
  if (element.isUnsignedInteger() || element.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, x);
  return arith::ExtSIOp::create(builder, loc, type, x);
}

/// The result has the dimensions of batches and then those of the addressed
/// dimensions of a slice. A slice that is not within the tensor is moved
/// into it if `clamps` is set. Otherwise its places are -1.
Value StableHLOImporter::getPlaces(Operation *op, Value indices,
                                   IndexedSlices &s, bool clamps) {
  Location loc = op->getLoc();
  SmallVector<int64_t> window, shape(s.batch), weights(s.extents.size(), 0);
  int64_t weight = 1;
  for (int64_t dim : llvm::reverse(s.addressed)) {
    weights[dim] = weight;
    weight *= s.extents[dim];
  }
  for (int64_t dim : s.addressed)
    window.push_back(s.sizes[dim]);
  llvm::append_range(shape, window);
  auto batchType = RankedTensorType::get(s.batch, builder.getI64Type());
  auto whole = batchType.clone(shape);
  auto splat = [&](int64_t value, RankedTensorType type) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, APInt(64, value, /*isSigned=*/true)));
  };
  Value starts = splat(0, batchType), isInside;
  for (auto [position, dim] : llvm::enumerate(s.map)) {
    Value start = indices;
    if (s.vectorDim < typeOf(indices).getRank()) {
      SmallVector<int64_t> from(typeOf(indices).getRank(), 0),
          size(typeOf(indices).getShape()), step(from.size(), 1);
      from[s.vectorDim] = position;
      size[s.vectorDim] = 1;
      auto toIndices = [&](ArrayRef<int64_t> numbers) {
        return getAsIndexOpFoldResult(builder.getContext(), numbers);
      };
      start = tensor::ExtractSliceOp::create(
          builder, loc, typeOf(indices).clone(size), indices, toIndices(from),
          toIndices(size), toIndices(step));
    }
    start =
        reshapeAny(loc, widenIntegers(loc, start, op->getOperand(1)), s.batch);
    int64_t limit = s.extents[dim] - s.sizes[dim];
    Value clamped = clampComputed(loc, start, limit);
    if (!clamps) {
      Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         start, clamped);
      isInside =
          isInside
              ? arith::AndIOp::create(builder, loc, isInside, fits).getResult()
              : fits;
    }
    if (weights[dim] == 0)
      continue;
    starts = arith::AddIOp::create(
        builder, loc, starts,
        arith::MulIOp::create(builder, loc, clamped,
                              splat(weights[dim], batchType)));
  }
  for (auto [dim, from] : llvm::zip(s.batching, s.indexBatching)) {
    int64_t at = from > s.vectorDim ? from - 1 : from;
    SmallVector<int64_t> numbers;
    for (int64_t i = 0; i < s.batch[at]; ++i)
      numbers.push_back(i * weights[dim]);
    Value line = makeNumbers(loc, numbers, {s.batch[at]});
    starts = arith::AddIOp::create(builder, loc, starts,
                                   broadcastAny(loc, line, batchType, {at}));
  }
  auto batchDims = llvm::to_vector(llvm::seq<int64_t>(0, s.batch.size()));
  Value places = broadcastAny(loc, starts, whole, batchDims);
  for (auto [position, dim] : llvm::enumerate(s.addressed)) {
    if (s.sizes[dim] == 1)
      continue;
    SmallVector<int64_t> numbers;
    for (int64_t i = 0; i < s.sizes[dim]; ++i)
      numbers.push_back(i * weights[dim]);
    Value line = makeNumbers(loc, numbers, {s.sizes[dim]});
    places = arith::AddIOp::create(
        builder, loc, places,
        broadcastAny(loc, line, whole,
                     {static_cast<int64_t>(s.batch.size() + position)}));
  }
  if (!isInside)
    return places;
  isInside =
      broadcastAny(loc, isInside, whole.clone(builder.getI1Type()), batchDims);
  return arith::SelectOp::create(builder, loc, isInside, places,
                                 splat(-1, whole));
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

Value StableHLOImporter::transposeAny(Location loc, Value x,
                                      ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return x;
  if (isFloat(x.getType()))
    return TrainBuilder(builder, loc).transpose(x, permutation);
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(typeOf(x).getDimSize(dim));
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, typeOf(x).getElementType());
  return linalg::TransposeOp::create(builder, loc, x, empty, permutation)
      ->getResult(0);
}

Value StableHLOImporter::gatherAny(Location loc, Value x, Value indices) {
  SmallVector<int64_t> shape(typeOf(indices).getShape());
  int64_t numIndices = shape.size();
  llvm::append_range(shape, typeOf(x).getShape().drop_front());
  auto type = typeOf(x).clone(shape);
  if (isFloat(type))
    return train::GatherOp::create(builder, loc, type, x, indices, 0);
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  MLIRContext *context = builder.getContext();
  SmallVector<AffineMap> maps = {
      AffineMap::getMultiDimIdentityMap(type.getRank(), context)
          .getMajorSubMap(numIndices),
      AffineMap::getMultiDimIdentityMap(type.getRank(), context)};
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange(indices), ValueRange(empty), maps,
             kinds,
             [&](OpBuilder &b, Location l, ValueRange args) {
               SmallVector<Value> at = {
                   arith::IndexCastOp::create(b, l, b.getIndexType(), args[0])};
               for (int64_t dim = numIndices; dim < type.getRank(); ++dim)
                 at.push_back(linalg::IndexOp::create(b, l, dim));
               Value element = tensor::ExtractOp::create(b, l, x, at);
               linalg::YieldOp::create(b, l, element);
             })
      ->getResult(0);
}

bool StableHLOImporter::convertAnyGather(Operation *op) {
  if (op->getNumOperands() != 2)
    return false;
  Value x = getAny(op->getOperand(0)), indices = getComputed(op->getOperand(1));
  auto sizes = getNumbers(op, "slice_sizes");
  std::string text = getText(op, "dimension_numbers");
  if (!x || !indices || !sizes || text.empty())
    return false;
  IndexedSlices s(text, "start_index_map", "collapsed_slice_dims",
                  "operand_batching_dims", "start_indices_batching_dims");
  RankedTensorType type = getComputedType(op->getResult(0).getType());
  if (!s.divide(typeOf(x), typeOf(indices), *sizes) ||
      type.getNumElements() == 0)
    return false;
  Location loc = op->getLoc();
  Value places = getPlaces(op, indices, s, /*clamps=*/true);
  Value rows =
      reshapeAny(loc, transposeAny(loc, x, s.getOrder()), s.getRowShape());
  Value result = gatherAny(loc, rows, places);
  // Drops the dimensions that slices lack, and brings the others in order.
  SmallVector<int64_t> shape(s.batch), dims;
  for (int64_t dim : s.getOrder())
    if (!s.isRemoved(dim)) {
      shape.push_back(s.sizes[dim]);
      dims.push_back(dim);
    }
  auto offsets = getField(text, "offset_dims");
  if (offsets.size() != dims.size() ||
      static_cast<int64_t>(shape.size()) != type.getRank())
    return false;
  SmallVector<int64_t> sorted(dims), order;
  llvm::sort(sorted);
  size_t nextOffset = 0;
  int64_t nextBatch = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    order.push_back(llvm::is_contained(offsets, dim) &&
                            nextOffset < sorted.size()
                        ? static_cast<int64_t>(s.batch.size()) +
                              IndexedSlices::find(dims, sorted[nextOffset++])
                        : nextBatch++);
  if (!isPermutationVector(order))
    return false;
  result = transposeAny(loc, reshapeAny(loc, result, shape), order);
  return typeOf(result) == type && set(op, result);
}

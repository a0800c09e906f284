//===- Places.cpp - Gathers and scatters of any form ----------------------===//
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

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Slices at indices
//===----------------------------------------------------------------------===//

namespace mlir::amp {

/// How indices address slices of a tensor.
struct IndexedSlices {
  /// Reads the numbers of dimensions from `text`. `removed` is the name of the
  /// list of dimensions that slices lack, `batching` of those that batches
  /// share.
  IndexedSlices(StringRef text, StringRef map, StringRef removed,
                StringRef batching, StringRef indexBatching)
      : map(getField(text, map)), removed(getField(text, removed)),
        batching(getField(text, batching)),
        indexBatching(getField(text, indexBatching)) {
    StringRef rest = text.split("index_vector_dim = ").second;
    if (rest.consumeInteger(10, vectorDim))
      vectorDim = 0;
  }

  /// Divides the dimensions of a tensor of type `whole` into addressed and
  /// whole ones, for slices of `sizes` at `indices`. Returns false if they do
  /// not fit.
  bool divide(RankedTensorType whole, RankedTensorType indices,
              ArrayRef<int64_t> sizes);

  /// The place of `dim` in `map` or `batching`, or -1.
  static int64_t find(ArrayRef<int64_t> list, int64_t dim) {
    auto it = llvm::find(list, dim);
    return it == list.end() ? -1 : it - list.begin();
  }
  bool isRemoved(int64_t dim) const {
    return llvm::is_contained(removed, dim) ||
           llvm::is_contained(batching, dim);
  }
  /// The addressed dimensions, and then the others.
  SmallVector<int64_t> getOrder() const {
    SmallVector<int64_t> order(addressed);
    llvm::append_range(order, kept);
    return order;
  }
  /// The shape of the tensor as rows.
  SmallVector<int64_t> getRowShape() const {
    SmallVector<int64_t> shape = {1};
    for (int64_t dim : addressed)
      shape[0] *= extents[dim];
    for (int64_t dim : kept)
      shape.push_back(extents[dim]);
    return shape;
  }

  SmallVector<int64_t> map, removed, batching, indexBatching;
  int64_t vectorDim = 0;
  /// The extents of the tensor, and of a slice.
  SmallVector<int64_t> extents, sizes;
  /// The shape of the indices without the dimension of vectors.
  SmallVector<int64_t> batch;
  SmallVector<int64_t> addressed, kept;
};

} // namespace mlir::amp

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

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

static std::optional<Combination> getCombination(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return std::nullopt;
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != 2 || body.empty() ||
      body.back().getNumOperands() != 1)
    return std::nullopt;
  Value result = body.back().getOperand(0);
  if (result == body.getArgument(1))
    return Combination::Set;
  Operation *only = result.getDefiningOp();
  if (!only || llvm::range_size(body) != 2 || only->getNumOperands() != 2 ||
      only->getOperand(0) == only->getOperand(1))
    return std::nullopt;
  StringRef name = only->getName().stripDialect();
  return llvm::StringSwitch<std::optional<Combination>>(name)
      .Case("add", Combination::Add)
      .Case("multiply", Combination::Multiply)
      .Case("maximum", Combination::Maximum)
      .Case("minimum", Combination::Minimum)
      .Case("and", Combination::And)
      .Case("or", Combination::Or)
      .Default(std::nullopt);
}

/// `old` combined with `update`, integers.
static Value combineIntegers(OpBuilder &b, Location loc, Combination how,
                             bool isNatural, Value old, Value update) {
  switch (how) {
  case Combination::Set:
    return update;
  case Combination::Add:
    return arith::AddIOp::create(b, loc, old, update);
  case Combination::Multiply:
    return arith::MulIOp::create(b, loc, old, update);
  case Combination::Maximum:
    return isNatural ? arith::MaxUIOp::create(b, loc, old, update).getResult()
                     : arith::MaxSIOp::create(b, loc, old, update).getResult();
  case Combination::Minimum:
    return isNatural ? arith::MinUIOp::create(b, loc, old, update).getResult()
                     : arith::MinSIOp::create(b, loc, old, update).getResult();
  case Combination::And:
    return arith::AndIOp::create(b, loc, old, update);
  case Combination::Or:
    return arith::OrIOp::create(b, loc, old, update);
  }
  llvm_unreachable("unknown combination");
}

/// Passes through the elements of the line `places` in order. `combine` takes
/// the old element of `line` at such a place and the number of the update. A
/// place of -1 changes nothing.
static Value updateInOrder(
    OpBuilder &builder, Location loc, Value line, Value places,
    function_ref<Value(OpBuilder &, Value old, Value number)> combine) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  int64_t count = typeOf(places).getNumElements();
  auto body = [&](OpBuilder &b, Location, Value number, ValueRange carried) {
    Value place = arith::IndexCastOp::create(
        b, loc, b.getIndexType(),
        tensor::ExtractOp::create(b, loc, places, number));
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, place, zero);
    Value at = arith::MaxSIOp::create(b, loc, place, zero);
    Value old = tensor::ExtractOp::create(b, loc, carried[0], at);
    Value next =
        arith::SelectOp::create(b, loc, isInside, combine(b, old, number), old);
    Value updated = tensor::InsertOp::create(b, loc, next, carried[0], at);
    scf::YieldOp::create(b, loc, updated);
  };
  return scf::ForOp::create(builder, loc, index(0), index(count), index(1),
                            line, body)
      ->getResult(0);
}

bool StableHLOImporter::convertAnyScatter(Operation *op) {
  advice = "expected an update of one tensor by set, add, max or min";
  if (op->getNumOperands() != 3 || op->getNumResults() != 1)
    return false;
  Value x = getAny(op->getOperand(0)), indices = getComputed(op->getOperand(1)),
        updates = getAny(op->getOperand(2));
  std::string text = getText(op, "scatter_dimension_numbers");
  std::optional<Combination> how = getCombination(op);
  if (!x || !indices || !updates || text.empty() || !how)
    return false;
  IndexedSlices s(text, "scatter_dims_to_operand_dims", "inserted_window_dims",
                  "input_batching_dims", "scatter_indices_batching_dims");
  auto type = typeOf(x);
  // The dimensions of slices in the updates, and the size of a slice.
  auto windows = getField(text, "update_window_dims");
  SmallVector<int64_t> sizes;
  size_t next = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isThere = !s.isRemoved(dim);
    if (isThere && (next >= windows.size() || windows[next] < 0 ||
                    windows[next] >= typeOf(updates).getRank()))
      return false;
    sizes.push_back(isThere ? typeOf(updates).getDimSize(windows[next++]) : 1);
  }
  if (next != windows.size() || !s.divide(type, typeOf(indices), sizes) ||
      typeOf(updates).getNumElements() == 0)
    return false;
  Location loc = op->getLoc();
  // Brings the updates into the order batches, addressed, kept.
  SmallVector<int64_t> order, wanted;
  for (int64_t dim = 0; dim < typeOf(updates).getRank(); ++dim)
    if (!llvm::is_contained(windows, dim))
      order.push_back(dim);
  if (order.size() != s.batch.size())
    return false;
  for (int64_t dim : s.getOrder()) {
    wanted.push_back(s.sizes[dim]);
    if (s.isRemoved(dim))
      continue;
    int64_t position = 0;
    for (int64_t before = 0; before < dim; ++before)
      position += !s.isRemoved(before);
    order.push_back(windows[position]);
  }
  if (!isPermutationVector(order))
    return false;
  SmallVector<int64_t> shape(s.batch);
  llvm::append_range(shape, wanted);
  updates = reshapeAny(loc, transposeAny(loc, updates, order), shape);
  Value places = getPlaces(op, indices, s, /*clamps=*/false);
  Value rows =
      reshapeAny(loc, transposeAny(loc, x, s.getOrder()), s.getRowShape());
  Value result = scatterRows(op, rows, places, updates, *how);
  if (!result)
    return false;
  // The inverse of the transposition.
  SmallVector<int64_t> ordered;
  for (int64_t dim : s.getOrder())
    ordered.push_back(s.extents[dim]);
  result = transposeAny(loc, reshapeAny(loc, result, ordered),
                        invertPermutationVector(s.getOrder()));
  return set(op, result);
}

Value StableHLOImporter::scatterRows(Operation *op, Value rows, Value places,
                                     Value updates, Combination how) {
  Location loc = op->getLoc();
  TrainBuilder b = at(op);
  auto type = typeOf(rows);
  if (isFloat(type) && how == Combination::Add) {
    Value sums =
        train::ScatterAddOp::create(builder, loc, type, updates, places, 0);
    return getNumber(op->getOperand(0)) == 0.0 ? sums : b.add(rows, sums);
  }
  // From here on each element has a separate place.
  int64_t width = type.getNumElements() / type.getDimSize(0);
  if (width != 1) {
    auto wide = typeOf(places).clone(typeOf(updates).getShape());
    auto dims =
        llvm::to_vector(llvm::seq<int64_t>(0, typeOf(places).getRank()));
    SmallVector<int64_t> columns;
    for (int64_t i = 0; i < width; ++i)
      columns.push_back(i);
    Value line = makeNumbers(loc, columns, type.getShape().drop_front());
    SmallVector<int64_t> last = llvm::to_vector(
        llvm::seq<int64_t>(dims.size(), typeOf(updates).getRank()));
    auto splat = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(wide, APInt(64, value, /*isSigned=*/true)));
    };
    Value row = broadcastAny(loc, places, wide, dims);
    Value place = arith::AddIOp::create(
        builder, loc, arith::MulIOp::create(builder, loc, row, splat(width)),
        broadcastAny(loc, line, wide, last));
    Value isInside = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::sge, row, splat(0));
    places = arith::SelectOp::create(builder, loc, isInside, place, splat(-1));
  }
  int64_t count = typeOf(updates).getNumElements(),
          whole = type.getNumElements();
  places = reshapeAny(loc, places, {count});
  updates = reshapeAny(loc, updates, {count});
  Value line = reshapeAny(loc, rows, {whole});
  if (!isFloat(type)) {
    Type element = getElementTypeOrSelf(op->getOperand(0));
    bool isNatural = element.isUnsignedInteger() || element.isInteger(1);
    Value result = updateInOrder(
        builder, loc, line, places,
        [&](OpBuilder &in, Value old, Value number) {
          Value update = tensor::ExtractOp::create(in, loc, updates, number);
          return combineIntegers(in, loc, how, isNatural, old, update);
        });
    return reshapeAny(loc, result, type.getShape());
  }
  if (how != Combination::Set && how != Combination::Maximum &&
      how != Combination::Minimum)
    return {};
  // Finds the update that each element keeps, as an integer, and takes it.
  Value none = makeNumbers(loc, {-1}, {1});
  none = broadcastAny(
      loc, none, RankedTensorType::get({whole}, builder.getI64Type()), {0});
  Value kept = updateInOrder(
      builder, loc, none, places, [&](OpBuilder &in, Value old, Value number) {
        Value self =
            arith::IndexCastOp::create(in, loc, in.getI64Type(), number);
        if (how == Combination::Set)
          return self;
        Value zero = arith::ConstantIndexOp::create(in, loc, 0);
        Value before =
            arith::IndexCastOp::create(in, loc, in.getIndexType(), old);
        Value isFirst = arith::CmpIOp::create(
            in, loc, arith::CmpIPredicate::slt, before, zero);
        Value best = tensor::ExtractOp::create(
            in, loc, updates,
            arith::MaxSIOp::create(in, loc, before, zero).getResult());
        Value update = tensor::ExtractOp::create(in, loc, updates, number);
        // An update that is not a number stays.
        Value isBetter = arith::OrIOp::create(
            in, loc,
            arith::CmpFOp::create(in, loc,
                                  how == Combination::Maximum
                                      ? arith::CmpFPredicate::OGT
                                      : arith::CmpFPredicate::OLT,
                                  update, best),
            arith::CmpFOp::create(in, loc, arith::CmpFPredicate::UNO, update,
                                  update));
        return arith::SelectOp::create(
                   in, loc, arith::OrIOp::create(in, loc, isFirst, isBetter),
                   self, old)
            .getResult();
      });
  Value zeros = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(typeOf(kept), APInt(64, 0)));
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                        kept, zeros);
  Value taken =
      gatherAny(loc, updates,
                arith::MaxSIOp::create(builder, loc, kept, zeros).getResult());
  if (how == Combination::Maximum)
    taken = b.maximum(line, taken);
  else if (how == Combination::Minimum)
    taken = b.minimum(line, taken);
  return reshapeAny(loc, b.select(isThere, taken, line), type.getShape());
}

//===- Scatters.cpp - Scatters of any form ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexedSlices.h"
#include "StableHLOImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

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

/// The places of the elements of updates of type `updates` in an array of the
/// type `row`, whose rows are at `places`. -1 outside of the array.
Value StableHLOImporter::getPlacesOfElements(Location loc, RankedTensorType row,
                                             Value places,
                                             RankedTensorType updates) {
  int64_t width = row.getNumElements() / row.getDimSize(0);
  auto wide = typeOf(places).clone(updates.getShape());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(places).getRank()));
  SmallVector<int64_t> columns;
  for (int64_t i = 0; i < width; ++i)
    columns.push_back(i);
  Value line = makeNumbers(loc, columns, row.getShape().drop_front());
  SmallVector<int64_t> last =
      llvm::to_vector(llvm::seq<int64_t>(dims.size(), updates.getRank()));
  auto splat = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(wide, APInt(64, value, /*isSigned=*/true)));
  };
  Value first = broadcastAny(loc, places, wide, dims);
  Value place = arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, first, splat(width)),
      broadcastAny(loc, line, wide, last));
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::sge, first, splat(0));
  return arith::SelectOp::create(builder, loc, isInside, place, splat(-1));
}

/// The number of the update that each element of `line` keeps, or -1.
Value StableHLOImporter::findKeptUpdates(Location loc, Value line, Value places,
                                         Value updates, Combination how) {
  Value none = makeNumbers(loc, {-1}, {1});
  none = broadcastAny(
      loc, none,
      RankedTensorType::get(typeOf(line).getShape(), builder.getI64Type()),
      {0});
  return updateInOrder(
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
}

/// `line` with the updates `kept`.
Value StableHLOImporter::takeUpdates(TrainBuilder &b, Value line, Value kept,
                                     Value updates, Combination how) {
  Location loc = b.getLoc();
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
  return b.select(isThere, taken, line);
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
  if (type.getNumElements() != type.getDimSize(0))
    places = getPlacesOfElements(loc, type, places, typeOf(updates));
  int64_t count = typeOf(updates).getNumElements();
  places = reshapeAny(loc, places, {count});
  updates = reshapeAny(loc, updates, {count});
  Value line = reshapeAny(loc, rows, {type.getNumElements()});
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
  Value kept = findKeptUpdates(loc, line, places, updates, how);
  return reshapeAny(loc, takeUpdates(b, line, kept, updates, how),
                    type.getShape());
}

/// Converts `x.at[i].set(y)` and `x.at[i].add(y)` at one index.
bool StableHLOImporter::convertScatter(Operation *op) {
  advice = "expected an update at one index: set or add";
  if (op->getNumOperands() != 3)
    return false;
  Value x = get(op->getOperand(0)), update = get(op->getOperand(2));
  std::string text = getText(op, "scatter_dimension_numbers");
  auto map = getField(text, "scatter_dims_to_operand_dims");
  Value index = op->getOperand(1);
  if (!x || !update || map.size() != 1 ||
      getField(text, "inserted_window_dims") != map ||
      typeOf(index).getNumElements() != 1 || op->getNumRegions() != 1 ||
      !op->getRegion(0).hasOneBlock())
    return false;
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != 2 || body.empty() ||
      body.back().getNumOperands() != 1 || map[0] < 0 ||
      map[0] >= typeOf(x).getRank() || typeOf(x).getDimSize(map[0]) == 0)
    return false;
  bool isSet = body.back().getOperand(0) == body.getArgument(1);
  if (!isSet && getBody(op) != "add")
    return false;
  Location loc = op->getLoc();
  TrainBuilder b = at(op);
  auto type = typeOf(x);
  SmallVector<int64_t> shape(type.getShape());
  int64_t extent = shape[map[0]];
  shape[map[0]] = 1;
  if (typeOf(update).getNumElements() != type.clone(shape).getNumElements())
    return false;
  update = reshape(b, update, shape);
  SmallVector<OpFoldResult> place;
  if (!getOffsets(op, index, {extent - 1}, place))
    return false;
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)), sizes;
  offsets[map[0]] = place[0];
  for (int64_t size : shape)
    sizes.push_back(builder.getIndexAttr(size));
  // An update out of range changes nothing.
  Value isInside;
  auto counter = known.lookup(index).counter;
  std::optional<double> number = getNumber(index);
  bool isCertain =
      (counter && counter->getMin() >= 0 && counter->getMax() < extent) ||
      (number && *number >= 0 && *number < extent);
  if (!isCertain) {
    Value computed = reshapeAny(loc, getComputed(index), {});
    isInside =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, computed,
                              clampComputed(loc, computed, extent - 1));
  }
  Value old;
  if (!isSet || !isCertain)
    old = tensor::ExtractSliceOp::create(builder, loc, type.clone(shape), x,
                                         offsets, sizes, strides);
  if (!isSet)
    update = b.add(old, update);
  if (!isCertain)
    update = b.select(isInside, update, old);
  return set(op, tensor::InsertSliceOp::create(builder, loc, update, x, offsets,
                                               sizes, strides));
}

//===- Indexing.cpp - Selections and indexing -----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The import assumes that an index is valid: not negative and less than the
// extent. The operations of the train dialect and the check of the data assume
// the same.
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

bool StableHLOImporter::convertSelect(Operation *op) {
  TrainBuilder b = at(op);
  Value yes = get(op->getOperand(1));
  if (std::optional<double> chosen = getNumber(op->getOperand(0))) {
    Value value = *chosen != 0 ? yes : get(op->getOperand(2));
    return value && set(op, value);
  }
  if (!yes)
    return false;
  Value condition = known.lookup(op->getOperand(0)).value;
  if (!condition) {
    auto integers = getIntegers(op->getOperand(0));
    // A value selected by a range check is used only where the index is in
    // range.
    if (integers && integers->kind == Kind::InRange) {
      auto it = taken.find(yes);
      if (it != taken.end() && it->second.first == integers->index &&
          it->second.second <= integers->bound)
        return set(op, yes);
    }
    if (integers)
      condition = getCondition(b, *integers);
    if (!condition)
      condition = getComputed(op->getOperand(0));
  }
  Value no = get(op->getOperand(2));
  return condition && no && set(op, b.select(condition, yes, no));
}

bool StableHLOImporter::convertConvert(Operation *op) {
  TrainBuilder b = at(op);
  auto type = typeOf(op->getResult(0));
  Value x = known.lookup(op->getOperand(0)).value;
  // The program rounds here, so this is not a cast that a pass inserted.
  if (x && isFloat(x.getType()))
    return set(op, b.castTo(x, type.getElementType(), /*inserted=*/false));
  if (x && typeOf(x).getElementType().isInteger(1))
    return set(op, b.select(x, b.scalar(1, type), b.scalar(0, type)));
  auto integers = getIntegers(op->getOperand(0));
  Value result;
  auto wide = type.clone(builder.getF32Type());
  if (integers && integers->kind == Kind::Constant)
    result = makeConstant(op->getLoc(), *integers, wide);
  else if (integers && integers->kind == Kind::OneHot &&
           ArrayRef<int64_t>(integers->shape) == type.getShape())
    result = makeOneHot(b, *integers);
  if (!result)
    return computeConversion(op);
  return set(op, b.castTo(result, type.getElementType(), /*inserted=*/false));
}

bool StableHLOImporter::convertGather(Operation *op) {
  Value x = get(op->getOperand(0));
  auto index = getIntegers(op->getOperand(1));
  if (!x)
    return false;
  std::string text = getText(op, "dimension_numbers");
  auto map = getField(text, "start_index_map");
  auto sizes = getNumbers(op, "slice_sizes");
  if (map.size() != 1 || !sizes ||
      static_cast<int64_t>(sizes->size()) != typeOf(x).getRank() ||
      map[0] < 0 || map[0] >= typeOf(x).getRank() || (*sizes)[map[0]] != 1 ||
      getField(text, "collapsed_slice_dims") != map)
    return false;
  int64_t extent = typeOf(x).getDimSize(map[0]);
  if (extent == 0)
    return false;
  // Each element is a separate index. A negative one may count from the end.
  auto type = typeOf(op->getOperand(1));
  bool isArgument = index &&
                    ArrayRef<int64_t>(index->shape) == type.getShape() &&
                    (index->kind == Kind::Index ||
                     (index->kind == Kind::Wrapped && index->bound == extent));
  if (index && index->kind == Kind::Constant) {
    std::vector<int64_t> inside;
    for (int64_t each : *index->elements)
      inside.push_back(std::clamp<int64_t>(each, 0, extent - 1));
    index->elements =
        std::make_shared<const std::vector<int64_t>>(std::move(inside));
    index->index = makeConstant(op->getLoc(), *index, type);
    if (!index->index || type.getElementTypeBitWidth() < 32)
      return false;
  } else if (!isArgument) {
    Value computed = getComputed(op->getOperand(1));
    if (!computed)
      return false;
    index = KnownIntegers{Kind::Index, llvm::to_vector(type.getShape()),
                          clampComputed(op->getLoc(), computed, extent - 1), 0,
                          nullptr};
  }
  if (getField(text, "operand_batching_dims").empty()
          ? !convertRows(op, x, *index)
          : !convertPick(op, x, *index))
    return false;
  if (isArgument)
    taken[known.lookup(op->getResult(0)).value] = {index->index, extent};
  return true;
}

/// Converts a gather of slices to e[t].
bool StableHLOImporter::convertRows(Operation *op, Value x,
                                    const KnownIntegers &index) {
  TrainBuilder b = at(op);
  std::string text = getText(op, "dimension_numbers");
  int64_t axis = getField(text, "start_index_map")[0];
  auto offsets = getField(text, "offset_dims");
  auto indices = typeOf(op->getOperand(1)), type = typeOf(op->getResult(0));
  int64_t rank = typeOf(x).getRank(), numIndices = type.getRank() - rank + 1;
  // The dimension of index vectors has one element. It is last or absent.
  SmallVector<int64_t> extents(indices.getShape());
  if (static_cast<int64_t>(extents.size()) == numIndices + 1 &&
      extents.back() == 1 &&
      StringRef(text).contains("index_vector_dim = " +
                               std::to_string(numIndices)))
    extents.pop_back();
  SmallVector<int64_t> whole(typeOf(x).getShape());
  whole[axis] = 1;
  if (static_cast<int64_t>(extents.size()) != numIndices ||
      *getNumbers(op, "slice_sizes") != whole ||
      static_cast<int64_t>(offsets.size()) != rank - 1)
    return false;
  auto shapeWith = [&](ArrayRef<int64_t> inner) {
    SmallVector<int64_t> shape(typeOf(x).getShape().take_front(axis));
    llvm::append_range(shape, inner);
    llvm::append_range(shape, typeOf(x).getShape().drop_front(axis + 1));
    return shape;
  };
  Value result = train::GatherOp::create(
      builder, op->getLoc(),
      typeOf(x).clone(shapeWith(typeOf(index.index).getShape())), x,
      index.index, axis);
  result = reshape(b, result, shapeWith(extents));
  // The dimensions of slices may come between those of indices.
  SmallVector<int64_t> order;
  int64_t nextOffset = 0, nextIndex = axis;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!llvm::is_contained(offsets, dim)) {
      order.push_back(nextIndex++);
      continue;
    }
    order.push_back(nextOffset < axis ? nextOffset : nextOffset + numIndices);
    ++nextOffset;
  }
  result = transpose(b, result, order);
  return typeOf(result) == type && set(op, result);
}

/// Converts a gather of one element per row, at a label, as in take_along_axis.
bool StableHLOImporter::convertPick(Operation *op, Value x,
                                    const KnownIntegers &index) {
  TrainBuilder b = at(op);
  std::string text = getText(op, "dimension_numbers");
  int64_t last = typeOf(x).getRank() - 1;
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, last));
  auto type = typeOf(op->getOperand(1)), result = typeOf(op->getResult(0));
  int64_t rows = typeOf(x).getNumElements() / typeOf(x).getDimSize(last);
  if (getField(text, "start_index_map")[0] != last ||
      getField(text, "operand_batching_dims") != batch ||
      getField(text, "start_indices_batching_dims") != batch ||
      type.getNumElements() != rows || result.getNumElements() != rows ||
      llvm::any_of(*getNumbers(op, "slice_sizes"),
                   [](int64_t size) { return size != 1; }))
    return false;
  SmallVector<int64_t> shape(typeOf(index.index).getShape());
  shape.push_back(typeOf(x).getDimSize(last));
  Value chosen = train::OneHotOp::create(builder, op->getLoc(),
                                         typeOf(x).clone(shape), index.index);
  chosen = reshape(b, chosen, typeOf(x).getShape());
  Value picked = b.sum(b.mul(x, chosen), last);
  return set(op, reshape(b, picked, result.getShape()));
}

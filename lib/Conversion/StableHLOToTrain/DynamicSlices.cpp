//===- DynamicSlices.cpp - Slices at computed indices ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

bool StableHLOImporter::getOffsets(Operation *op, ValueRange indices,
                                   ArrayRef<int64_t> limits,
                                   SmallVectorImpl<OpFoldResult> &offsets) {
  Location loc = op->getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  for (auto [value, limit] : llvm::zip_equal(indices, limits)) {
    if (std::optional<double> number = getNumber(value)) {
      offsets.push_back(builder.getIndexAttr(
          std::clamp<int64_t>(static_cast<int64_t>(*number), 0, limit)));
      continue;
    }
    Value place;
    bool isInside = false;
    if (auto counter = known.lookup(value).counter) {
      place = counter->iteration;
      if (counter->scale != 1)
        place = arith::MulIOp::create(builder, loc, place,
                                      constant(counter->scale));
      if (counter->offset != 0)
        place = arith::AddIOp::create(builder, loc, place,
                                      constant(counter->offset));
      isInside = counter->getMin() >= 0 && counter->getMax() <= limit;
    } else {
      Value computed = getComputed(value);
      if (!computed)
        return false;
      place = arith::IndexCastOp::create(
          builder, loc, builder.getIndexType(),
          tensor::ExtractOp::create(builder, loc, reshapeAny(loc, computed, {}),
                                    ValueRange()));
    }
    if (!isInside) {
      place = arith::MaxSIOp::create(builder, loc, place, constant(0));
      place = arith::MinSIOp::create(builder, loc, place, constant(limit));
    }
    offsets.push_back(place);
  }
  return true;
}

bool StableHLOImporter::convertDynamicSlice(Operation *op) {
  Value x = getAny(op->getOperand(0));
  auto sizes = getNumbers(op, "slice_sizes");
  if (!x || !sizes)
    return false;
  auto type = typeOf(x);
  if (sizes->size() != static_cast<size_t>(type.getRank()) ||
      op->getNumOperands() != sizes->size() + 1)
    return false;
  SmallVector<int64_t> limits;
  for (auto [extent, size] : llvm::zip(type.getShape(), *sizes)) {
    limits.push_back(extent - size);
    if (size < 0 || limits.back() < 0)
      return false;
  }
  SmallVector<OpFoldResult> offsets, extents;
  if (!getOffsets(op, op->getOperands().drop_front(), limits, offsets))
    return false;
  SmallVector<OpFoldResult> strides(sizes->size(), builder.getIndexAttr(1));
  auto places = getConstantIntValues(offsets);
  if (places && isFloat(type))
    return set(op, train::SliceOp::create(
                       builder, op->getLoc(), type.clone(*sizes), x, *places,
                       *sizes, SmallVector<int64_t>(sizes->size(), 1)));
  for (int64_t size : *sizes)
    extents.push_back(builder.getIndexAttr(size));
  return set(op, tensor::ExtractSliceOp::create(builder, op->getLoc(),
                                                type.clone(*sizes), x, offsets,
                                                extents, strides));
}

bool StableHLOImporter::convertDynamicUpdate(Operation *op) {
  if (op->getNumOperands() < 2)
    return false;
  Value x = getAny(op->getOperand(0)), update = getAny(op->getOperand(1));
  if (!x || !update ||
      x.getType() != getComputedType(op->getResult(0).getType()))
    return false;
  auto type = typeOf(x), part = typeOf(update);
  if (op->getNumOperands() != static_cast<size_t>(type.getRank()) + 2 ||
      part.getRank() != type.getRank())
    return false;
  SmallVector<int64_t> limits;
  SmallVector<OpFoldResult> offsets, extents;
  for (auto [extent, size] : llvm::zip(type.getShape(), part.getShape())) {
    limits.push_back(extent - size);
    if (limits.back() < 0)
      return false;
    extents.push_back(builder.getIndexAttr(size));
  }
  SmallVector<OpFoldResult> strides(limits.size(), builder.getIndexAttr(1));
  return getOffsets(op, op->getOperands().drop_front(2), limits, offsets) &&
         set(op, tensor::InsertSliceOp::create(builder, op->getLoc(), update, x,
                                               offsets, extents, strides));
}

//===- ComputedValues.cpp - Values of integers that the graph computes --===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

RankedTensorType StableHLOImporter::getComputedType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return {};
  auto integer = dyn_cast<IntegerType>(tensor.getElementType());
  return integer ? tensor.clone(
                       IntegerType::get(type.getContext(), integer.getWidth()))
                 : tensor;
}

Value StableHLOImporter::reshapeAny(Location loc, Value x,
                                    ArrayRef<int64_t> shape) {
  auto type = typeOf(x);
  if (type.getShape() == shape)
    return x;
  if (isFloat(type)) {
    TrainBuilder b(builder, loc);
    return b.reshape(x, shape);
  }
  auto all = [](int64_t rank) {
    auto dims = llvm::seq<int64_t>(0, rank);
    return ReassociationIndices(dims.begin(), dims.end());
  };
  // Goes through one dimension, if the tensor has any.
  auto flat = type.clone({type.getNumElements()});
  if (type.getRank() == 0)
    x = tensor::ExpandShapeOp::create(builder, loc, flat, x,
                                      ArrayRef<ReassociationIndices>());
  else if (type.getRank() > 1)
    x = tensor::CollapseShapeOp::create(
        builder, loc, flat, x,
        SmallVector<ReassociationIndices>{all(type.getRank())});
  auto result = type.clone(shape);
  if (result.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, loc, result, x,
                                           ArrayRef<ReassociationIndices>());
  if (result.getRank() == 1)
    return x;
  return tensor::ExpandShapeOp::create(
      builder, loc, result, x,
      SmallVector<ReassociationIndices>{all(result.getRank())});
}

/// Places dimension i of `x` at `dims[i]` of `type` and repeats it.
Value StableHLOImporter::broadcastAny(Location loc, Value x,
                                      RankedTensorType type,
                                      ArrayRef<int64_t> dims) {
  DenseElementsAttr constant;
  if (matchPattern(x, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(builder, loc, constant.resizeSplat(type));
  SmallVector<int64_t> kept, repeated;
  for (int64_t dim = 0, next = 0; dim < type.getRank(); ++dim) {
    bool isThere =
        next < static_cast<int64_t>(dims.size()) && dims[next] == dim;
    int64_t extent = isThere ? typeOf(x).getDimSize(next++) : 1;
    if (extent == type.getDimSize(dim))
      kept.push_back(extent);
    else
      repeated.push_back(dim);
  }
  x = reshapeAny(loc, x, kept);
  if (repeated.empty())
    return x;
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  return linalg::BroadcastOp::create(builder, loc, x, empty, repeated)
      ->getResult(0);
}

Value StableHLOImporter::clampComputed(Location loc, Value x, int64_t limit) {
  auto type = typeOf(x);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            type,
            builder.getIntegerAttr(type.getElementType(), value).getValue()));
  };
  x = arith::MaxSIOp::create(builder, loc, x, constant(0));
  return arith::MinSIOp::create(builder, loc, x, constant(limit));
}

/// Computes what `x` describes from its index.
Value StableHLOImporter::getComputed(const KnownIntegers &x, Location loc,
                                     RankedTensorType type) {
  if (x.kind == Kind::Constant)
    return makeConstant(loc, x, type);
  TrainBuilder b(builder, loc);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (x.kind == Kind::OneHot)
    return broadcastAny(loc, getCondition(b, x), type, dims);
  Value index = reshapeAny(loc, x.index, x.shape);
  auto integers = typeOf(index);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            integers, builder.getIntegerAttr(integers.getElementType(), value)
                          .getValue()));
  };
  auto compare = [&](arith::CmpIPredicate how, int64_t bound) -> Value {
    return arith::CmpIOp::create(builder, loc, how, index, constant(bound));
  };
  Value result;
  switch (x.kind) {
  case Kind::Index:
    result = index;
    break;
  case Kind::Shifted:
    result = arith::AddIOp::create(builder, loc, index, constant(x.bound));
    break;
  case Kind::Wrapped:
    result = arith::SelectOp::create(
        builder, loc, compare(arith::CmpIPredicate::slt, 0),
        arith::AddIOp::create(builder, loc, index, constant(x.bound)), index);
    break;
  case Kind::Negative:
    result = compare(arith::CmpIPredicate::slt, 0);
    break;
  case Kind::AtLeast0:
    result = compare(arith::CmpIPredicate::sge, 0);
    break;
  case Kind::Below:
    result = compare(arith::CmpIPredicate::slt, x.bound);
    break;
  case Kind::InRange:
    result = arith::AndIOp::create(builder, loc,
                                   compare(arith::CmpIPredicate::sge, 0),
                                   compare(arith::CmpIPredicate::slt, x.bound));
    break;
  case Kind::Constant:
  case Kind::OneHot:
    break;
  }
  if (!result || typeOf(result).getElementType() != type.getElementType())
    return {};
  return broadcastAny(loc, result, type, dims);
}

Value StableHLOImporter::getComputed(Value value) {
  RankedTensorType type = getComputedType(value.getType());
  auto it = known.find(value);
  if (!type || isFloat(type) || it == known.end())
    return {};
  const Known &entry = it->second;
  if (entry.value)
    return entry.value;
  Location loc = value.getLoc();
  if (entry.counter) {
    auto scalar = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, number);
    };
    Value place = arith::MulIOp::create(builder, loc, entry.counter->iteration,
                                        scalar(entry.counter->scale));
    place = arith::AddIOp::create(builder, loc, place,
                                  scalar(entry.counter->offset));
    place =
        arith::IndexCastOp::create(builder, loc, type.getElementType(), place);
    return tensor::FromElementsOp::create(builder, loc, type, place);
  }
  if (entry.number) {
    auto number = static_cast<int64_t>(*entry.number);
    APInt bits(type.getElementTypeBitWidth(), number, /*isSigned=*/true,
               /*implicitTrunc=*/true);
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, bits));
  }
  if (!entry.integers)
    return {};
  return getComputed(*entry.integers, loc, type);
}

Value StableHLOImporter::getAny(Value value) {
  return isFloat(value.getType()) ? get(value) : getComputed(value);
}

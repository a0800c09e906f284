//===- TrainBuilder.cpp - Writing train IR by formula ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/TrainBuilder.h"

using namespace mlir;
using namespace mlir::train;

Value TrainBuilder::scalar(double value, Type like) {
  Type element = getElementTypeOrSelf(like);
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(
      b, loc, type,
      DenseElementsAttr::get(type, b.getFloatAttr(element, value).getValue()));
}

Value TrainBuilder::zeros(RankedTensorType type) {
  return ConstantOp::create(
      b, loc, type,
      cast<ElementsAttr>(static_cast<Attribute>(b.getZeroAttr(type))));
}

SmallVector<int64_t> TrainBuilder::joinShapes(Value lhs, Value rhs) {
  auto shape = broadcastShapes(typeOf(lhs).getShape(), typeOf(rhs).getShape());
  assert(succeeded(shape) && "rule emitted operands that do not broadcast");
  return *shape;
}

Value TrainBuilder::compare(ComparePredicate predicate, Value lhs, Value rhs) {
  auto type = RankedTensorType::get(joinShapes(lhs, rhs), b.getI1Type());
  return CompareOp::create(b, loc, type, predicate, lhs, rhs);
}

Value TrainBuilder::select(Value condition, Value onTrue, Value onFalse) {
  auto inner = broadcastShapes(joinShapes(onTrue, onFalse),
                               typeOf(condition).getShape());
  assert(succeeded(inner) && "rule emitted operands that do not broadcast");
  return SelectOp::create(b, loc, typeOf(onTrue).clone(*inner), condition,
                          onTrue, onFalse);
}

RankedTensorType TrainBuilder::reducedType(Value x, ArrayRef<int64_t> dims,
                                           bool keepDims) {
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(typeOf(x).getShape())) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(extent);
    else if (keepDims)
      shape.push_back(1);
  }
  return typeOf(x).clone(shape);
}

Value TrainBuilder::broadcast(Value x, Value like, ArrayRef<int64_t> dims,
                              bool mean) {
  auto type = typeOf(x).clone(typeOf(like).getShape());
  // `like` is only needed for dynamic extents.
  Value reference = type.hasStaticShape() ? Value() : like;
  return BroadcastOp::create(b, loc, type, x, reference, dims, mean);
}

Value TrainBuilder::unsqueeze(Value x, ArrayRef<int64_t> dims,
                              RankedTensorType full) {
  SmallVector<int64_t> shape(full.getShape());
  for (int64_t dim : dims)
    shape[dim] = 1;
  return reshape(x, shape);
}

Value TrainBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  if (typeOf(x).getShape() == shape)
    return x;
  return ReshapeOp::create(b, loc, typeOf(x).clone(shape), x);
}

Value TrainBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(typeOf(x).getDimSize(dim));
  return TransposeOp::create(b, loc, typeOf(x).clone(shape), x, permutation);
}

Value TrainBuilder::castTo(Value x, Type elementType, bool inserted) {
  if (getElementTypeOrSelf(x) == elementType)
    return x;
  return amp::CastOp::create(b, loc, x, cast<FloatType>(elementType), inserted);
}

SmallVector<int64_t> TrainBuilder::allDims(Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, typeOf(x).getRank()));
}

//===- LinalgBuilder.cpp - Construction of linalg operations --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/LinalgCommon/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Type mlir::amp::getScalarComputeType(Type type) {
  if (type.isF16() || type.isBF16())
    return Float32Type::get(type.getContext());
  return type;
}

Value mlir::amp::widenScalar(ImplicitLocOpBuilder &b, Value value) {
  Type type = getScalarComputeType(value.getType());
  if (type == value.getType())
    return value;
  return arith::ExtFOp::create(b, type, value);
}

/// Rounds f64 to f32 such that a second rounding, to a type at least two bits
/// narrower, is correct: an inexact result gets an odd last bit.
static Value roundToOdd(ImplicitLocOpBuilder &b, Value value) {
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value nearest = arith::TruncFOp::create(b, f32, value);
  Value back = arith::ExtFOp::create(b, value.getType(), nearest);
  // Round towards zero first: the bits of a float order its magnitude.
  Value away = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                     math::AbsFOp::create(b, back),
                                     math::AbsFOp::create(b, value));
  Value bits = arith::BitcastOp::create(b, i32, nearest);
  bits = arith::SubIOp::create(b, bits, arith::ExtUIOp::create(b, i32, away));
  Value inexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, back, value);
  bits = arith::OrIOp::create(b, bits, arith::ExtUIOp::create(b, i32, inexact));
  return arith::BitcastOp::create(b, f32, bits);
}

Value mlir::amp::roundScalar(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(b, type, value);
  if (from == 64 && to == 16)
    value = roundToOdd(b, value);
  else if (from == to) // Between f16 and bf16: widening is exact.
    value = widenScalar(b, value);
  return arith::TruncFOp::create(b, type, value);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value LinalgBuilder::constant(double value, Type type) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(type, static_cast<int64_t>(value)));
}

Value LinalgBuilder::empty(ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(b, shape, element);
}

Value LinalgBuilder::filled(RankedTensorType type, Value value) {
  Value destination = empty(type.getShape(), type.getElementType());
  return linalg::FillOp::create(b, value, destination).getResult(0);
}

AffineMap mlir::amp::getBroadcastMap(ArrayRef<int64_t> from,
                                     ArrayRef<int64_t> to,
                                     MLIRContext *context) {
  SmallVector<AffineExpr> exprs;
  size_t missing = to.size() - from.size();
  for (auto [index, extent] : llvm::enumerate(from)) {
    size_t dim = missing + index;
    if (extent == 1 && to[dim] != 1)
      exprs.push_back(getAffineConstantExpr(0, context));
    else
      exprs.push_back(getAffineDimExpr(dim, context));
  }
  return AffineMap::get(to.size(), 0, exprs, context);
}

/// The extent of dimension `dim` of the loops over `inputs`.
static Value getExtent(ImplicitLocOpBuilder &b, ValueRange inputs,
                       ArrayRef<AffineMap> maps, unsigned dim) {
  for (auto [input, map] : llvm::zip_equal(inputs, maps))
    for (auto [position, expr] : llvm::enumerate(map.getResults()))
      if (expr == b.getAffineDimExpr(dim))
        return tensor::DimOp::create(b, input, position);
  llvm_unreachable("each extent of an elementwise operation is an input's");
}

Value LinalgBuilder::elementwise(RankedTensorType type, ValueRange inputs,
                                 ScalarBody body) {
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(getBroadcastMap(typeOf(input).getShape(), type.getShape(),
                                   b.getContext()));
  return elementwise(type, inputs, maps, body);
}

Value LinalgBuilder::elementwise(RankedTensorType type, ValueRange inputs,
                                 ArrayRef<AffineMap> maps, ScalarBody body) {
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  SmallVector<Value> extents;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(extent))
      extents.push_back(getExtent(b, inputs, maps, dim));
  Value destination = tensor::EmptyOp::create(b, type, extents);
  auto generic = linalg::GenericOp::create(
      b, type, inputs, destination, allMaps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        ImplicitLocOpBuilder inner(loc, builder);
        SmallVector<Value> widened;
        for (Value arg : args.drop_back())
          widened.push_back(widenScalar(inner, arg));
        Value result = body(inner, widened);
        linalg::YieldOp::create(
            inner, roundScalar(inner, result, type.getElementType()));
      });
  return generic.getResult(0);
}

Value LinalgBuilder::accumulate(Value init, ValueRange inputs,
                                ArrayRef<AffineMap> maps,
                                ArrayRef<utils::IteratorType> iterators,
                                ScalarBody body) {
  auto generic = linalg::GenericOp::create(
      b, init.getType(), inputs, init, maps, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        ImplicitLocOpBuilder inner(loc, builder);
        SmallVector<Value> widened;
        for (Value arg : args.drop_back())
          widened.push_back(widenScalar(inner, arg));
        widened.push_back(args.back());
        linalg::YieldOp::create(inner, body(inner, widened));
      });
  return generic.getResult(0);
}

Value LinalgBuilder::reduce(Value input, ArrayRef<int64_t> dims,
                            Type accumulator, double init, ScalarBody body) {
  auto type = typeOf(input);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> kept;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (llvm::is_contained(dims, static_cast<int64_t>(dim))) {
      iterators[dim] = utils::IteratorType::reduction;
      continue;
    }
    shape.push_back(extent);
    kept.push_back(b.getAffineDimExpr(dim));
  }
  Value start = filled(RankedTensorType::get(shape, accumulator), init);
  AffineMap inputMap = b.getMultiDimIdentityMap(type.getRank());
  AffineMap outputMap = AffineMap::get(type.getRank(), 0, kept, b.getContext());
  return accumulate(start, input, {inputMap, outputMap}, iterators, body);
}

Value LinalgBuilder::castTo(Value value, Type element) {
  auto type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  // Round to the stored type itself, not to its widened form.
  return elementwise(
      type.clone(element), value,
      [&](ImplicitLocOpBuilder &, ValueRange args) { return args[0]; });
}

Value LinalgBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  auto from = typeOf(value);
  if (from.getShape() == shape)
    return value;
  auto to = from.clone(shape);
  if (from.getRank() > to.getRank()) {
    if (auto map = getReassociationIndicesForReshape(from, to))
      return tensor::CollapseShapeOp::create(b, to, value, *map);
  } else if (from.getRank() < to.getRank()) {
    if (auto map = getReassociationIndicesForReshape(from, to))
      return tensor::ExpandShapeOp::create(b, to, value, *map);
  }
  // Reshape through one dimension.
  auto flat = from.clone({from.getNumElements()});
  SmallVector<ReassociationIndices> all(1);
  if (from.getRank() != 1) {
    llvm::append_range(all[0], llvm::seq<int64_t>(0, from.getRank()));
    if (from.getRank() == 0)
      all.clear();
    value = from.getRank() == 0
                ? Value(tensor::ExpandShapeOp::create(b, flat, value, all))
                : Value(tensor::CollapseShapeOp::create(b, flat, value, all));
  }
  if (to == flat)
    return value;
  if (to.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, to, value,
                                           ArrayRef<ReassociationIndices>());
  all.assign(1, {});
  llvm::append_range(all[0], llvm::seq<int64_t>(0, to.getRank()));
  return tensor::ExpandShapeOp::create(b, to, value, all);
}

static SmallVector<OpFoldResult> toAttrs(OpBuilder &b,
                                         ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) -> OpFoldResult {
    return b.getIndexAttr(value);
  });
}

Value LinalgBuilder::slice(Value value, ArrayRef<int64_t> offsets,
                           ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  return tensor::ExtractSliceOp::create(b, value, toAttrs(b, offsets),
                                        toAttrs(b, sizes), toAttrs(b, strides));
}

Value LinalgBuilder::insert(Value value, Value destination,
                            ArrayRef<int64_t> offsets,
                            ArrayRef<int64_t> strides) {
  return tensor::InsertSliceOp::create(
      b, value, destination, toAttrs(b, offsets),
      toAttrs(b, typeOf(value).getShape()), toAttrs(b, strides));
}

Value LinalgBuilder::pad(Value value, ArrayRef<int64_t> low,
                         ArrayRef<int64_t> high, ArrayRef<int64_t> interior,
                         double constant) {
  auto type = typeOf(value);
  SmallVector<int64_t> shape, offsets, strides, skipped, kept;
  bool same = true, whole = true;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    int64_t stride = interior[dim] + 1;
    int64_t spread = extent == 0 ? 0 : (extent - 1) * stride + 1;
    int64_t result = std::max<int64_t>(0, low[dim] + spread + high[dim]);
    // Select the elements that land in [0, result): index i lands on low + i *
    // stride.
    int64_t first = low[dim] < 0 ? llvm::divideCeil(-low[dim], stride) : 0;
    int64_t last = result - 1 - low[dim] < 0
                       ? -1
                       : std::min(extent - 1, (result - 1 - low[dim]) / stride);
    shape.push_back(result);
    strides.push_back(stride);
    skipped.push_back(first);
    kept.push_back(std::max<int64_t>(0, last - first + 1));
    offsets.push_back(low[dim] + first * stride);
    same &= result == extent && low[dim] == 0 && stride == 1;
    whole &= kept.back() == extent;
  }
  if (same)
    return value;
  Value destination = filled(type.clone(shape), constant);
  if (llvm::is_contained(kept, 0))
    return destination;
  if (!whole)
    value =
        slice(value, skipped, kept, SmallVector<int64_t>(type.getRank(), 1));
  return insert(value, destination, offsets, strides);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult mlir::amp::verifyStaticShapes(Operation *root,
                                            StringRef dialect) {
  auto isDynamic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  };
  WalkResult result = root->walk([&](Operation *op) {
    if (op->getDialect() && op->getDialect()->getNamespace() != dialect)
      return WalkResult::advance();
    for (TypeRange types :
         {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      for (Type type : types)
        if (isDynamic(type)) {
          op->emitOpError("has the dynamic shape ")
              << type << ", expected a static one; 'train-set-batch' gives the "
              << "batch dimension its size";
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

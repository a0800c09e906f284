//===- Reductions.cpp - Reductions, scans, orders and reversals -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

/// `size` elements of dimension `dim` of `x`, from `offset` on.
static Value takePart(TrainBuilder &b, Value x, int64_t dim, int64_t offset,
                      int64_t size, int64_t step = 1) {
  auto type = typeOf(x);
  SmallVector<int64_t> offsets(type.getRank(), 0), steps(type.getRank(), 1),
      sizes(type.getShape());
  offsets[dim] = offset;
  sizes[dim] = size;
  steps[dim] = step;
  return SliceOp::create(b.getBuilder(), b.getLoc(), type.clone(sizes), x,
                         offsets, sizes, steps);
}

/// `x` with `low` elements before and `high` elements after those of `dim`.
static Value surround(TrainBuilder &b, Value x, int64_t dim, int64_t low,
                      int64_t high, double value) {
  auto type = typeOf(x);
  SmallVector<int64_t> zeros(type.getRank(), 0), before = zeros, after = zeros,
                                                 shape(type.getShape());
  before[dim] = low;
  after[dim] = high;
  shape[dim] += low + high;
  return PadOp::create(b.getBuilder(), b.getLoc(), type.clone(shape), x, before,
                       after, zeros, APFloat(value));
}

/// Whether `dims` are dimensions of `type`.
static bool areDims(ArrayRef<int64_t> dims, RankedTensorType type) {
  return llvm::all_of(
      dims, [&](int64_t dim) { return dim >= 0 && dim < type.getRank(); });
}

Value StableHLOImporter::multiplyAll(TrainBuilder &b, Value x,
                                     ArrayRef<int64_t> dims) {
  for (int64_t dim : dims) {
    for (int64_t size = typeOf(x).getDimSize(dim); size > 1;
         size = (size + 1) / 2) {
      if (size % 2 != 0)
        x = surround(b, x, dim, 0, 1, 1.0);
      int64_t half = (size + 1) / 2;
      x = b.mul(takePart(b, x, dim, 0, half), takePart(b, x, dim, half, half));
    }
  }
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(typeOf(x).getShape()))
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(extent);
  return b.reshape(x, shape);
}

bool StableHLOImporter::convertReduce(Operation *op) {
  if (op->getNumOperands() != 2)
    return false;
  TrainBuilder b = at(op);
  Value x = get(op->getOperand(0)), start = get(op->getOperand(1));
  auto dims = getNumbers(op, "dimensions");
  StringRef body = getBody(op);
  if (!x || !dims || !start || !areDims(*dims, typeOf(x)))
    return false;
  double first = getNumber(op->getOperand(1)).value_or(NAN);
  bool isEmpty = llvm::any_of(
      *dims, [&](int64_t dim) { return typeOf(x).getDimSize(dim) == 0; });
  if (isEmpty && body == "multiply")
    return false;
  // A start other than the neutral element takes part once.
  if (body == "add") {
    Value sum = b.sum(x, *dims);
    return set(op, first == 0 ? sum : b.add(sum, start));
  }
  if (body == "maximum") {
    Value most = b.max(x, *dims);
    return set(op, first == -INFINITY ? most : b.maximum(most, start));
  }
  if (body == "minimum") {
    Value least = b.neg(b.max(b.neg(x), *dims));
    return set(op, first == INFINITY ? least : b.minimum(least, start));
  }
  if (body == "multiply") {
    Value product = multiplyAll(b, x, *dims);
    return set(op, first == 1 ? product : b.mul(product, start));
  }
  advice = "expected a sum, product, maximum or minimum";
  return false;
}

/// Each step doubles the number of elements that each element combines.
bool StableHLOImporter::convertRunning(Operation *op, StringRef body,
                                       ArrayRef<int64_t> window,
                                       ArrayRef<int64_t> padding) {
  Value x = getAny(op->getOperand(0));
  std::optional<double> start = getNumber(op->getOperand(1));
  if (!x || !start || typeOf(op->getOperand(0)) != typeOf(op->getResult(0)) ||
      typeOf(x).getRank() != static_cast<int64_t>(window.size()))
    return false;
  std::optional<int64_t> dim;
  for (auto [index, extent] : llvm::enumerate(window)) {
    if (extent == 1 && padding[2 * index] == 0 && padding[2 * index + 1] == 0)
      continue;
    if (dim || extent != typeOf(x).getDimSize(index))
      return false;
    dim = index;
  }
  if (!dim)
    return false;
  int64_t size = window[*dim], low = padding[2 * *dim],
          high = padding[2 * *dim + 1];
  bool isForward = low == size - 1 && high == 0;
  bool isBackward = high == size - 1 && low == 0;
  bool isNeutral = body == "add"        ? *start == 0
                   : body == "multiply" ? *start == 1
                   : body == "maximum"  ? std::isinf(*start) && *start < 0
                   : body == "minimum"  ? std::isinf(*start) && *start > 0
                                        : false;
  if (!isForward && !isBackward)
    return false;
  if (!isFloat(x.getType())) {
    Value result = computeRunning(op, body, *dim, size, isForward);
    return result && set(op, result);
  }
  if (!isNeutral)
    return false;
  TrainBuilder b = at(op);
  for (int64_t step = 1; step < size; step *= 2) {
    Value kept = takePart(b, x, *dim, isForward ? 0 : step, size - step);
    Value other = surround(b, kept, *dim, isForward ? step : 0,
                           isForward ? 0 : step, *start);
    x = body == "add"        ? b.add(x, other)
        : body == "multiply" ? b.mul(x, other)
        : body == "maximum"  ? b.maximum(x, other)
                             : b.minimum(x, other);
  }
  return set(op, x);
}

/// The same for integers. Null if the start may count more than once.
Value StableHLOImporter::computeRunning(Operation *op, StringRef body,
                                        int64_t dim, int64_t size,
                                        bool isForward) {
  Location loc = op->getLoc();
  Value x = getComputed(op->getOperand(0));
  auto type = typeOf(x);
  double start = *getNumber(op->getOperand(1));
  Type element = getElementTypeOrSelf(op->getOperand(0));
  bool isNatural = element.isUnsignedInteger() || element.isInteger(1);
  auto combine = [&](Value lhs, Value rhs) -> Value {
    if (body == "add" && start == 0)
      return arith::AddIOp::create(builder, loc, lhs, rhs);
    if (body == "multiply" && start == 1)
      return arith::MulIOp::create(builder, loc, lhs, rhs);
    if (body == "maximum")
      return isNatural
                 ? arith::MaxUIOp::create(builder, loc, lhs, rhs).getResult()
                 : arith::MaxSIOp::create(builder, loc, lhs, rhs).getResult();
    if (body == "minimum")
      return isNatural
                 ? arith::MinUIOp::create(builder, loc, lhs, rhs).getResult()
                 : arith::MinSIOp::create(builder, loc, lhs, rhs).getResult();
    return {};
  };
  APInt bits(type.getElementTypeBitWidth(), static_cast<int64_t>(start),
             /*isSigned=*/true, /*implicitTrunc=*/true);
  auto toIndices = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  for (int64_t step = 1; step < size; step *= 2) {
    SmallVector<int64_t> from(type.getRank(), 0),
        to = from, ones(type.getRank(), 1), sizes(type.getShape());
    sizes[dim] = size - step;
    (isForward ? to : from)[dim] = step;
    Value part = tensor::ExtractSliceOp::create(
        builder, loc, type.clone(sizes), x, toIndices(from), toIndices(sizes),
        toIndices(ones));
    Value fill = arith::ConstantOp::create(builder, loc,
                                           DenseElementsAttr::get(type, bits));
    Value other =
        tensor::InsertSliceOp::create(builder, loc, part, fill, toIndices(to),
                                      toIndices(sizes), toIndices(ones));
    x = combine(x, other);
    if (!x)
      return {};
  }
  return x;
}

bool StableHLOImporter::convertReverse(Operation *op) {
  Value x = get(op->getOperand(0));
  auto dims = getNumbers(op, "dimensions");
  if (!x || !dims || !areDims(*dims, typeOf(x)))
    return false;
  for (int64_t dim : *dims) {
    int64_t extent = typeOf(x).getDimSize(dim);
    SmallVector<int64_t> order;
    for (int64_t i = extent; i-- > 0;)
      order.push_back(i);
    Value indices = train::ConstantOp::create(
        builder, op->getLoc(),
        DenseIntElementsAttr::get(
            RankedTensorType::get({extent}, builder.getI64Type()), order));
    x = train::GatherOp::create(builder, op->getLoc(), x.getType(), x, indices,
                                dim);
  }
  return set(op, x);
}

//===----------------------------------------------------------------------===//
// The largest elements
//===----------------------------------------------------------------------===//

Value StableHLOImporter::argMax(TrainBuilder &b, Value x) {
  Location loc = b.getLoc();
  auto type = typeOf(x);
  int64_t last = type.getRank() - 1, extent = type.getShape().back();
  Value isLargest =
      b.compare(ComparePredicate::EQ, x, b.max(x, last, /*keepDims=*/true));
  auto integers = type.clone(builder.getI32Type());
  SmallVector<int32_t> counts(extent);
  for (int64_t i = 0; i < extent; ++i)
    counts[i] = i;
  Value line = arith::ConstantOp::create(
      builder, loc,
      DenseIntElementsAttr::get(integers.clone({extent}), counts));
  Value places = broadcastAny(loc, line, integers, {last});
  auto splat = [&](RankedTensorType type) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, static_cast<int32_t>(extent - 1)));
  };
  places =
      arith::SelectOp::create(builder, loc, isLargest, places, splat(integers));
  auto result = integers.clone(integers.getShape().drop_back());
  return linalg::ReduceOp::create(
             builder, loc, ValueRange(places), ValueRange(splat(result)), last,
             [&](OpBuilder &inner, Location, ValueRange args) {
               linalg::YieldOp::create(
                   inner, loc,
                   arith::MinSIOp::create(inner, loc, args[0], args[1])
                       .getResult());
             })
      ->getResult(0);
}

/// Selects the first largest element along the last dimension k times.
bool StableHLOImporter::convertTopK(Operation *op) {
  auto k = op->getAttrOfType<IntegerAttr>("k");
  Value x = op->getNumResults() == 2 && isFloat(op->getOperand(0).getType())
                ? get(op->getOperand(0))
                : Value();
  if (!x || !k || typeOf(x).getRank() == 0 || k.getInt() < 1 ||
      k.getInt() > typeOf(x).getShape().back() ||
      !typeOf(op->getResult(1)).getElementType().isInteger(32))
    return false;
  TrainBuilder b = at(op);
  Location loc = op->getLoc();
  auto type = typeOf(x);
  int64_t last = type.getRank() - 1;
  SmallVector<int64_t> column(type.getShape());
  column[last] = 1;
  RankedTensorType places = getComputedType(op->getResult(1).getType());
  Value indices = tensor::EmptyOp::create(builder, loc, places.getShape(),
                                          places.getElementType());
  SmallVector<Value> values;
  auto toIndices = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  for (int64_t i = 0; i < k.getInt(); ++i) {
    Value index = argMax(b, x);
    Value chosen = train::OneHotOp::create(builder, loc, type, index);
    Value isChosen =
        b.compare(ComparePredicate::NE, chosen, b.scalar(0, chosen));
    values.push_back(
        b.reshape(b.sum(b.select(isChosen, x, b.scalar(0, x)), last), column));
    x = b.select(isChosen, b.scalar(-INFINITY, x), x);
    SmallVector<int64_t> offsets(type.getRank(), 0), ones(type.getRank(), 1);
    offsets[last] = i;
    indices = tensor::InsertSliceOp::create(
        builder, loc, reshapeAny(loc, index, column), indices,
        toIndices(offsets), toIndices(column), toIndices(ones));
  }
  if (values.empty())
    return false;
  Value joined =
      values.size() == 1
          ? values[0]
          : train::ConcatOp::create(builder, loc, op->getResult(0).getType(),
                                    values, last)
                .getResult();
  known[op->getResult(0)] = {joined, std::nullopt, std::nullopt};
  known[op->getResult(1)] = {indices, std::nullopt, std::nullopt};
  return true;
}

/// An argmax: the reduction of a value together with its place.
bool StableHLOImporter::convertArgReduce(Operation *op) {
  auto dims = getNumbers(op, "dimensions");
  if (op->getNumOperands() != 4 || op->getNumRegions() != 1 || !dims ||
      dims->size() != 1 || !isFloat(op->getOperand(0).getType()))
    return false;
  advice = "expected an argmax or argmin";
  Value x = get(op->getOperand(0));
  auto places = getIntegers(op->getOperand(1));
  if (!x || !places || places->kind != Kind::Constant ||
      !op->getRegion(0).hasOneBlock() || op->getRegion(0).front().empty() ||
      !areDims(*dims, typeOf(x)) ||
      typeOf(op->getOperand(1)).getShape() != typeOf(x).getShape() ||
      typeOf(x).getDimSize(dims->front()) == 0)
    return false;
  int64_t dim = dims->front(), rank = typeOf(x).getRank();
  // Counts along the dimension, and is the same elsewhere.
  for (auto [i, element] : llvm::enumerate(*places->elements))
    if (element != static_cast<int64_t>(i) ||
        places->shape[dim] != static_cast<int64_t>(places->elements->size()))
      return false;
  Operation &first = op->getRegion(0).front().front();
  StringRef how = first.getName().stripDialect() == "compare"
                      ? getEnum(&first, "comparison_direction")
                      : StringRef();
  std::optional<double> start = getNumber(op->getOperand(2));
  if (!start || !std::isinf(*start) || (how != "GT" && how != "LT") ||
      (how == "GT") != (*start < 0) ||
      getComputedType(op->getResult(1).getType()).getElementTypeBitWidth() !=
          32)
    return false;
  TrainBuilder b = at(op);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim)
      order.push_back(i);
  order.push_back(dim);
  Value ordered = transpose(b, x, order);
  if (how == "LT")
    ordered = b.neg(ordered);
  Value largest = b.max(ordered, rank - 1);
  known[op->getResult(0)] = {how == "LT" ? b.neg(largest) : largest,
                             std::nullopt, std::nullopt};
  known[op->getResult(1)] = {argMax(b, ordered), std::nullopt, std::nullopt};
  return true;
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// Approximates the inverse of erf by polynomials in -ln(1 - x²), after Giles,
/// "Approximating the erfinv function" (2010), single precision.
bool StableHLOImporter::convertErfInv(Operation *op) {
  Value x = get(op->getOperand(0));
  if (!x || !typeOf(x).getElementType().isF32())
    return false;
  static constexpr double kCentre[] = {
      2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
      -4.39150654e-06, 0.00021858087,  -0.00125372503,
      -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double kTail[] = {
      -0.000200214257, 0.000100950558, 0.00134934322,
      -0.00367342844,  0.00573950773,  -0.0076224613,
      0.00943887047,   1.00167406,     2.83297682};
  TrainBuilder b = at(op);
  auto log1p = [&](Value y) -> Value {
    return Log1pOp::create(builder, op->getLoc(), y.getType(), y);
  };
  Value w = b.neg(log1p(b.neg(b.mul(x, x))));
  Value isCentre = b.compare(ComparePredicate::LT, w, b.scalar(5, w));
  w = b.select(isCentre, b.add(w, -2.5), b.add(b.sqrt(w), -3.0));
  Value sum;
  for (auto [centre, tail] : llvm::zip(kCentre, kTail)) {
    Value term = b.select(isCentre, b.scalar(centre, w), b.scalar(tail, w));
    sum = sum ? b.add(b.mul(sum, w), term) : term;
  }
  Value isEdge = b.compare(ComparePredicate::EQ, b.abs(x), b.scalar(1, x));
  return set(op, b.mul(b.select(isEdge, b.scalar(INFINITY, x), sum), x));
}

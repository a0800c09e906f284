//===- ComputedIntegers.cpp - Integers that the graph computes ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers, booleans and bits of floats that are neither constants nor indices
// of the data become operations of arith, tensor and linalg.
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

static bool isUnsigned(Value value) {
  Type type = getElementTypeOrSelf(value);
  return type.isUnsignedInteger() || type.isInteger(1);
}

bool StableHLOImporter::convertComputed(Operation *op) {
  if (!isa<IntegerType>(getElementTypeOrSelf(op->getResult(0))))
    return false;
  StringRef name = op->getName().stripDialect();
  if (name == "dynamic_slice")
    return convertDynamicSlice(op);
  if (name == "dynamic_update_slice")
    return convertDynamicUpdate(op);
  if (name == "gather")
    return convertAnyGather(op);
  if (name == "scatter")
    return convertAnyScatter(op);
  if (name == "reduce_window")
    return convertPool(op);
  return computeCounter(op) || computeConstant(op) || computeConversion(op) ||
         computeMovement(op) || computeReduce(op) || computeElementwise(op);
}

bool StableHLOImporter::computeConstant(Operation *op) {
  StringRef name = op->getName().stripDialect();
  RankedTensorType type = getComputedType(op->getResult(0).getType());
  if (name == "constant") {
    auto elements =
        dyn_cast_or_null<DenseIntElementsAttr>(op->getAttr("value"));
    if (!elements)
      return false;
    return set(
        op, arith::ConstantOp::create(builder, op->getLoc(),
                                      elements.bitcast(type.getElementType())));
  }
  auto dim = op->getAttrOfType<IntegerAttr>("iota_dimension");
  if (name != "iota" || !dim || dim.getInt() < 0 ||
      dim.getInt() >= type.getRank())
    return false;
  // Counts along one dimension, and repeats that.
  SmallVector<APInt> elements;
  for (int64_t i = 0, e = type.getDimSize(dim.getInt()); i < e; ++i)
    elements.emplace_back(type.getElementTypeBitWidth(), i, /*isSigned=*/false,
                          /*implicitTrunc=*/true);
  auto line = type.clone({type.getDimSize(dim.getInt())});
  Value counts = arith::ConstantOp::create(
      builder, op->getLoc(), DenseElementsAttr::get(line, elements));
  return set(op, broadcastAny(op->getLoc(), counts, type, {dim.getInt()}));
}

/// Conversions between integers, and between them and floats or their bits.
bool StableHLOImporter::computeConversion(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name != "convert" && name != "bitcast_convert")
    return false;
  Value operand = op->getOperand(0), x = getAny(operand);
  RankedTensorType type = getComputedType(op->getResult(0).getType());
  Location loc = op->getLoc();
  if (!x)
    return false;
  auto from = typeOf(x);
  unsigned width = type.getElementTypeBitWidth(),
           old = from.getElementTypeBitWidth();
  auto emit = [&](auto tag) {
    using OpTy = decltype(tag);
    return set(op, OpTy::create(builder, loc, type, x));
  };
  if (name == "bitcast_convert") {
    if (width != old || from.getShape() != type.getShape())
      return false;
    return from == type ? set(op, x) : emit(arith::BitcastOp());
  }
  bool toUnsigned = isUnsigned(op->getResult(0));
  if (isFloat(from) && isFloat(type))
    return false;
  if (isFloat(type))
    return isUnsigned(operand) ? emit(arith::UIToFPOp())
                               : emit(arith::SIToFPOp());
  if (isFloat(from)) {
    // A number that fits would have been folded.
    if (getNumber(operand))
      return false;
    if (width == 1) {
      TrainBuilder b = at(op);
      return set(op, b.compare(ComparePredicate::NE, x, b.scalar(0, x)));
    }
    return toUnsigned ? emit(arith::FPToUIOp()) : emit(arith::FPToSIOp());
  }
  if (width == 1) {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(from));
    return set(op, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                         x, zero));
  }
  if (width == old)
    return set(op, x);
  if (width < old)
    return emit(arith::TruncIOp());
  return isUnsigned(operand) ? emit(arith::ExtUIOp()) : emit(arith::ExtSIOp());
}

bool StableHLOImporter::computeMovement(Operation *op) {
  StringRef name = op->getName().stripDialect();
  RankedTensorType type = getComputedType(op->getResult(0).getType());
  Location loc = op->getLoc();
  if (op->getNumOperands() == 0)
    return false;
  auto empty = [&]() -> Value {
    return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                   type.getElementType());
  };
  auto toIndices = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  if (name == "concatenate") {
    auto dimension = op->getAttrOfType<IntegerAttr>("dimension");
    if (!dimension || dimension.getInt() < 0 ||
        dimension.getInt() >= type.getRank())
      return false;
    int64_t dim = dimension.getInt();
    Value result = empty();
    SmallVector<int64_t> place(type.getRank(), 0), ones(type.getRank(), 1);
    for (Value operand : op->getOperands()) {
      Value part = getComputed(operand);
      if (!part || typeOf(part).getRank() != type.getRank())
        return false;
      result = tensor::InsertSliceOp::create(
          builder, loc, part, result, toIndices(place),
          toIndices(typeOf(part).getShape()), toIndices(ones));
      place[dim] += typeOf(part).getDimSize(dim);
    }
    return set(op, result);
  }
  if (name == "reverse")
    return computeReverse(op);
  if (name == "pad")
    return computePad(op);
  if (name != "reshape" && name != "transpose" && name != "slice" &&
      name != "broadcast_in_dim")
    return false;
  Value x = getComputed(op->getOperand(0));
  if (!x)
    return false;
  if (name == "reshape" && typeOf(x).getNumElements() != type.getNumElements())
    return false;
  if (name == "reshape")
    return set(op, reshapeAny(loc, x, type.getShape()));
  if (name == "transpose") {
    auto permutation = getNumbers(op, "permutation");
    return permutation && set(op, linalg::TransposeOp::create(
                                      builder, loc, x, empty(), *permutation)
                                      ->getResult(0));
  }
  if (name == "slice") {
    auto from = getNumbers(op, "start_indices");
    auto steps = getNumbers(op, "strides");
    return from && steps &&
           set(op, tensor::ExtractSliceOp::create(
                       builder, loc, type, x, toIndices(*from),
                       toIndices(type.getShape()), toIndices(*steps)));
  }
  auto dims = getNumbers(op, "broadcast_dimensions");
  return dims && llvm::is_sorted(*dims) &&
         static_cast<int64_t>(dims->size()) == typeOf(x).getRank() &&
         set(op, broadcastAny(loc, x, type, *dims));
}

bool StableHLOImporter::computeReverse(Operation *op) {
  Value x = getComputed(op->getOperand(0));
  auto dims = getNumbers(op, "dimensions");
  if (!x || !dims)
    return false;
  Location loc = op->getLoc();
  auto type = typeOf(x);
  for (int64_t dim : *dims) {
    if (dim < 0 || dim >= type.getRank())
      return false;
    // Rows along the dimension, in the other order.
    SmallVector<int64_t> order = {dim}, shape = {type.getDimSize(dim)}, numbers;
    for (int64_t other = 0; other < type.getRank(); ++other)
      if (other != dim)
        order.push_back(other);
    for (int64_t i = type.getDimSize(dim); i-- > 0;)
      numbers.push_back(i);
    x = gatherAny(loc, transposeAny(loc, x, order),
                  makeNumbers(loc, numbers, shape));
    x = transposeAny(loc, x, invertPermutationVector(order));
  }
  return set(op, x);
}

/// Padding with an element of any value. Negative padding removes elements.
bool StableHLOImporter::computePad(Operation *op) {
  auto low = getNumbers(op, "edge_padding_low");
  auto high = getNumbers(op, "edge_padding_high");
  auto interior = getNumbers(op, "interior_padding");
  if (op->getNumOperands() != 2)
    return false;
  Value x = getComputed(op->getOperand(0)),
        element = getComputed(op->getOperand(1));
  if (!x || !element || !low || !high || !interior)
    return false;
  Location loc = op->getLoc();
  RankedTensorType type = getComputedType(op->getResult(0).getType());
  size_t rank = type.getRank();
  if (low->size() != rank || high->size() != rank || interior->size() != rank ||
      typeOf(x).getRank() != type.getRank())
    return false;
  SmallVector<int64_t> from, to, sizes, steps, whole;
  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t before = (*low)[dim], after = (*high)[dim];
    from.push_back(std::max<int64_t>(-before, 0));
    to.push_back(std::max<int64_t>(before, 0));
    steps.push_back((*interior)[dim] + 1);
    whole.push_back(type.getDimSize(dim) + from.back() +
                    std::max<int64_t>(-after, 0));
  }
  auto toIndices = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(builder.getContext(), numbers);
  };
  Value wide =
      broadcastAny(loc, reshapeAny(loc, element, {}), type.clone(whole), {});
  Value result = tensor::InsertSliceOp::create(
      builder, loc, x, wide, toIndices(to), toIndices(typeOf(x).getShape()),
      toIndices(steps));
  if (whole != type.getShape())
    result = tensor::ExtractSliceOp::create(
        builder, loc, type, result, toIndices(from), toIndices(type.getShape()),
        toIndices(SmallVector<int64_t>(rank, 1)));
  return set(op, result);
}

/// A reduction of integers or booleans.
bool StableHLOImporter::computeReduce(Operation *op) {
  auto dims = getNumbers(op, "dimensions");
  if (op->getName().stripDialect() != "reduce" || op->getNumOperands() != 2 ||
      !dims)
    return false;
  Value x = getComputed(op->getOperand(0)),
        start = getComputed(op->getOperand(1));
  RankedTensorType type = getComputedType(op->getResult(0).getType());
  StringRef body = getBody(op);
  Location loc = op->getLoc();
  bool isNatural = isUnsigned(op->getOperand(0));
  auto combine = [&](OpBuilder &b, Value lhs, Value rhs) -> Value {
    if (body == "add")
      return arith::AddIOp::create(b, loc, lhs, rhs);
    if (body == "multiply")
      return arith::MulIOp::create(b, loc, lhs, rhs);
    if (body == "and")
      return arith::AndIOp::create(b, loc, lhs, rhs);
    if (body == "or")
      return arith::OrIOp::create(b, loc, lhs, rhs);
    if (body == "xor")
      return arith::XOrIOp::create(b, loc, lhs, rhs);
    if (body == "maximum")
      return isNatural ? arith::MaxUIOp::create(b, loc, lhs, rhs).getResult()
                       : arith::MaxSIOp::create(b, loc, lhs, rhs).getResult();
    return isNatural ? arith::MinUIOp::create(b, loc, lhs, rhs).getResult()
                     : arith::MinSIOp::create(b, loc, lhs, rhs).getResult();
  };
  if (!x || !start || typeOf(start).getRank() != 0 ||
      !llvm::is_contained(
          {"add", "multiply", "and", "or", "xor", "maximum", "minimum"}, body))
    return false;
  auto init = broadcastAny(loc, start, type, {});
  auto result = linalg::ReduceOp::create(
      builder, loc, ValueRange(x), ValueRange(init), *dims,
      [&](OpBuilder &b, Location, ValueRange args) {
        linalg::YieldOp::create(b, loc, combine(b, args[0], args[1]));
      });
  return set(op, result->getResult(0));
}

/// The predicate of a comparison `how`.
static std::optional<arith::CmpIPredicate> getPredicate(StringRef how,
                                                        bool isNatural) {
  using Predicate = arith::CmpIPredicate;
  if (how == "EQ")
    return Predicate::eq;
  if (how == "NE")
    return Predicate::ne;
  if (how == "LT")
    return isNatural ? Predicate::ult : Predicate::slt;
  if (how == "LE")
    return isNatural ? Predicate::ule : Predicate::sle;
  if (how == "GT")
    return isNatural ? Predicate::ugt : Predicate::sgt;
  if (how == "GE")
    return isNatural ? Predicate::uge : Predicate::sge;
  return std::nullopt;
}

/// A quotient by 0 has all bits set, the remainder is the dividend. The least
/// integer divided by -1 is itself.
Value StableHLOImporter::divideComputed(Location loc, Value x, Value y,
                                        bool isNatural, bool isRemainder) {
  auto type = typeOf(y);
  auto constant = [&](int64_t value) -> Value {
    APInt bits(type.getElementTypeBitWidth(), value, /*isSigned=*/true,
               /*implicitTrunc=*/true);
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, bits));
  };
  auto isEqual = [&](Value value, int64_t number) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 constant(number));
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  };
  Value isZero = isEqual(y, 0), isMinusOne = isEqual(y, -1);
  Value safe = select(isZero, constant(1), y);
  if (isNatural) {
    Value result =
        isRemainder ? arith::RemUIOp::create(builder, loc, x, safe).getResult()
                    : arith::DivUIOp::create(builder, loc, x, safe).getResult();
    return select(isZero, isRemainder ? x : constant(-1), result);
  }
  safe = select(isMinusOne, constant(1), safe);
  if (isRemainder)
    return select(isZero, x,
                  arith::RemSIOp::create(builder, loc, x, safe).getResult());
  Value negated = arith::SubIOp::create(builder, loc, constant(0), x);
  Value result = arith::DivSIOp::create(builder, loc, x, safe);
  return select(isZero, constant(-1), select(isMinusOne, negated, result));
}

bool StableHLOImporter::computeElementwise(Operation *op) {
  StringRef name = op->getName().stripDialect();
  RankedTensorType type = getComputedType(op->getResult(0).getType());
  Location loc = op->getLoc();
  SmallVector<Value> x;
  for (Value operand : op->getOperands()) {
    x.push_back(getComputed(operand));
    if (!x.back())
      return false;
    if (typeOf(x.back()).getRank() == 0 && type.getRank() != 0)
      x.back() = broadcastAny(
          loc, x.back(), type.clone(typeOf(x.back()).getElementType()), {});
  }
  if (x.empty() || typeOf(x[0]).getShape() != type.getShape())
    return false;
  bool isNatural = isUnsigned(op->getOperand(0));
  auto constant = [&](int64_t value) -> Value {
    APInt bits(type.getElementTypeBitWidth(), value, /*isSigned=*/true,
               /*implicitTrunc=*/true);
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, bits));
  };
  auto emit = [&](auto tag) {
    using OpTy = decltype(tag);
    return set(op, OpTy::create(builder, loc, x[0], x[1]));
  };
  if (name == "optimization_barrier")
    return set(op, x[0]);
  if (name == "not" && x.size() == 1)
    return set(op, arith::XOrIOp::create(builder, loc, x[0], constant(-1)));
  if (name == "negate" && x.size() == 1)
    return set(op, arith::SubIOp::create(builder, loc, constant(0), x[0]));
  if (name == "select" && x.size() == 3)
    return set(op, arith::SelectOp::create(builder, loc, x[0], x[1], x[2]));
  auto limit = [&](Value value, Value bound, bool fromAbove) -> Value {
    if (fromAbove)
      return isNatural ? arith::MinUIOp::create(builder, loc, value, bound)
                             .getResult()
                       : arith::MinSIOp::create(builder, loc, value, bound)
                             .getResult();
    return isNatural
               ? arith::MaxUIOp::create(builder, loc, value, bound).getResult()
               : arith::MaxSIOp::create(builder, loc, value, bound).getResult();
  };
  if (name == "clamp" && x.size() == 3)
    return set(op, limit(limit(x[1], x[0], false), x[2], true));
  if (name == "abs" && x.size() == 1)
    return set(op, limit(x[0],
                         arith::SubIOp::create(builder, loc, constant(0), x[0]),
                         false));
  if (name == "sign" && x.size() == 1)
    return set(op, limit(limit(x[0], constant(-1), false), constant(1), true));
  if (x.size() != 2)
    return false;
  if (!type.getElementType().isInteger(1) &&
      (name == "divide" || name == "remainder"))
    return set(op,
               divideComputed(loc, x[0], x[1], isNatural, name == "remainder"));
  if (name == "compare") {
    auto predicate =
        getPredicate(getEnum(op, "comparison_direction"), isNatural);
    return predicate &&
           set(op, arith::CmpIOp::create(builder, loc, *predicate, x[0], x[1]));
  }
  if (name == "and")
    return emit(arith::AndIOp());
  if (name == "or")
    return emit(arith::OrIOp());
  if (name == "xor")
    return emit(arith::XOrIOp());
  if (type.getElementType().isInteger(1))
    return false;
  if (name == "add")
    return emit(arith::AddIOp());
  if (name == "subtract")
    return emit(arith::SubIOp());
  if (name == "multiply")
    return emit(arith::MulIOp());
  if (name == "maximum")
    return isNatural ? emit(arith::MaxUIOp()) : emit(arith::MaxSIOp());
  if (name == "minimum")
    return isNatural ? emit(arith::MinUIOp()) : emit(arith::MinSIOp());
  if (!name.starts_with("shift_"))
    return false;
  // A shift by the width or more gives zero, or the sign.
  int64_t width = type.getElementTypeBitWidth();
  if (name == "shift_right_arithmetic") {
    x[1] = arith::MinUIOp::create(builder, loc, x[1], constant(width - 1));
    return emit(arith::ShRSIOp());
  }
  Value isInside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, x[1], constant(width));
  Value by = arith::MinUIOp::create(builder, loc, x[1], constant(width - 1));
  Value result =
      name == "shift_left"
          ? arith::ShLIOp::create(builder, loc, x[0], by).getResult()
          : arith::ShRUIOp::create(builder, loc, x[0], by).getResult();
  return set(
      op, arith::SelectOp::create(builder, loc, isInside, result, constant(0)));
}

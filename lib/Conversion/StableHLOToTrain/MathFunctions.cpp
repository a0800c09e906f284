//===- MathFunctions.cpp - Functions without an operation of their own ----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function is written with operations whose derivatives together are its
// derivative. Steps (floor, round) go through integers, through which no
// gradient flows.
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {

/// Formulas over `x`, a tensor of floats.
class Functions {
public:
  explicit Functions(TrainBuilder &b)
      : b(b), builder(b.getBuilder()), loc(b.getLoc()) {}

  Value truncate(Value x) {
    return step(x, [](Value n) { return n; });
  }
  Value floor(Value x);
  Value roundToEven(Value x);
  Value roundAwayFromZero(Value x);
  /// -1 where the sign bit of `x` is set, else 1.
  Value signOf(Value x);
  Value atan2(Value y, Value x);
  Value sinh(Value x);
  Value cosh(Value x);
  Value asinh(Value x);
  Value acosh(Value x);
  Value atanh(Value x);
  Value cbrt(Value x);
  /// A constant of the type of `x`.
  Value like(double value, Value x) {
    auto type = typeOf(x);
    return ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            type,
            builder.getFloatAttr(type.getElementType(), value).getValue()));
  }

private:
  /// The float of `change(n)`, where n is the integer that `x` is without its
  /// fraction. Numbers from 2^62 on, infinities and NaN stay.
  Value step(Value x, function_ref<Value(Value)> change);
  Value expm1(Value x) { return Expm1Op::create(builder, loc, x.getType(), x); }
  Value log1p(Value x) { return Log1pOp::create(builder, loc, x.getType(), x); }
  Value toFloat(Value n, Type type) {
    return arith::SIToFPOp::create(builder, loc, type, n);
  }
  Value splat(int64_t value, Value n) {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(typeOf(n), APInt(64, value, /*isSigned=*/true)));
  }

  TrainBuilder &b;
  OpBuilder &builder;
  Location loc;
};

} // namespace

Value Functions::step(Value x, function_ref<Value(Value)> change) {
  Value fits = b.compare(ComparePredicate::LT, b.abs(x), b.scalar(0x1p62, x));
  Value inside = b.select(fits, x, b.scalar(0, x));
  Value n = arith::FPToSIOp::create(
      builder, loc, typeOf(x).clone(builder.getI64Type()), inside);
  return b.select(fits, toFloat(change(n), x.getType()), x);
}

Value Functions::floor(Value x) {
  return step(x, [&](Value n) -> Value {
    Value isAbove = b.compare(ComparePredicate::GT, toFloat(n, x.getType()), x);
    return arith::SelectOp::create(
        builder, loc, isAbove,
        arith::SubIOp::create(builder, loc, n, splat(1, n)), n);
  });
}

Value Functions::roundAwayFromZero(Value x) {
  return step(x, [&](Value n) -> Value {
    Value rest = b.sub(x, toFloat(n, x.getType()));
    Value up = b.compare(ComparePredicate::GE, rest, b.scalar(0.5, x));
    Value down = b.compare(ComparePredicate::LE, rest, b.scalar(-0.5, x));
    n = arith::SelectOp::create(
        builder, loc, up, arith::AddIOp::create(builder, loc, n, splat(1, n)),
        n);
    return arith::SelectOp::create(
        builder, loc, down, arith::SubIOp::create(builder, loc, n, splat(1, n)),
        n);
  });
}

Value Functions::roundToEven(Value x) {
  return step(x, [&](Value n) -> Value {
    Value rest = b.sub(x, toFloat(n, x.getType()));
    Value size = b.abs(rest), half = b.scalar(0.5, x);
    Value one = splat(1, n);
    Value isOdd = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(builder, loc, n, one), splat(0, n));
    Value moves = arith::OrIOp::create(
        builder, loc, b.compare(ComparePredicate::GT, size, half),
        arith::AndIOp::create(
            builder, loc, b.compare(ComparePredicate::EQ, size, half), isOdd));
    Value isNegative = b.compare(ComparePredicate::LT, rest, b.scalar(0, x));
    Value by =
        arith::SelectOp::create(builder, loc, isNegative, splat(-1, n), one);
    return arith::AddIOp::create(
        builder, loc, n,
        arith::SelectOp::create(builder, loc, moves, by, splat(0, n)));
  });
}

Value Functions::signOf(Value x) {
  auto type = typeOf(x);
  auto integers =
      type.clone(builder.getIntegerType(type.getElementTypeBitWidth()));
  Value bits = arith::BitcastOp::create(builder, loc, integers, x);
  Value zero = arith::ConstantOp::create(
      builder, loc, cast<TypedAttr>(builder.getZeroAttr(integers)));
  Value isNegative = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, bits, zero);
  return b.select(isNegative, like(-1, x), like(1, x));
}

//===----------------------------------------------------------------------===//
// Inverse and hyperbolic functions
//===----------------------------------------------------------------------===//

/// The angle of the smaller of |x| and |y| over the larger. Halving the angle
/// twice leaves a tangent of at most 0.2, for which five terms of the series
/// suffice.
Value Functions::atan2(Value y, Value x) {
  Value signX = signOf(x), signY = signOf(y);
  // Not |x|, whose derivative at zero is zero.
  Value sizeX = b.mul(x, signX), sizeY = b.mul(y, signY);
  Value isSteep = b.compare(ComparePredicate::GT, sizeY, sizeX);
  Value low = b.select(isSteep, sizeX, sizeY),
        high = b.select(isSteep, sizeY, sizeX);
  // Both zero or both infinite: 0 or 45 degrees.
  Value isZero = b.compare(ComparePredicate::EQ, high, b.scalar(0, x));
  Value isInfinite =
      b.compare(ComparePredicate::EQ, low, b.scalar(INFINITY, x));
  Value one = like(1, x);
  Value divisor = b.select(isZero, one, b.select(isInfinite, one, high));
  Value t = b.div(b.select(isInfinite, one, low), divisor);
  for (int i = 0; i < 2; ++i)
    t = b.div(t, b.add(b.sqrt(b.add(b.square(t), 1.0)), 1.0));
  Value square = b.square(t), sum = like(1.0 / 9, x);
  for (double term : {-1.0 / 7, 1.0 / 5, -1.0 / 3, 1.0})
    sum = b.add(b.mul(sum, square), term);
  Value angle = b.mul(b.mul(t, sum), 4.0);
  angle = b.select(isSteep, b.sub(M_PI_2, angle), angle);
  Value isLeft = b.compare(ComparePredicate::LT, signX, b.scalar(0, x));
  angle = b.select(isLeft, b.sub(M_PI, angle), angle);
  return b.mul(angle, signY);
}

// (e + e / (e + 1)) / 2 with e = exp(x) - 1 does not cancel near 0. The halves
// of exp(|x| - ln 2) do not overflow before the result.
Value Functions::sinh(Value x) {
  Value sign = signOf(x), size = b.mul(x, sign);
  Value isSmall = b.compare(ComparePredicate::LT, size, b.scalar(20, x));
  Value e = expm1(b.select(isSmall, size, like(1, x)));
  Value small = b.mul(b.add(e, b.div(e, b.add(e, 1.0))), 0.5);
  Value large = b.exp(b.add(size, -M_LN2));
  return b.mul(b.select(isSmall, small, large), sign);
}

Value Functions::cosh(Value x) {
  return b.add(b.exp(b.add(x, -M_LN2)), b.exp(b.add(b.neg(x), -M_LN2)));
}

// log1p(|x| + x² / (1 + √(1 + x²))), and log(|x|) + ln 2 where x² overflows.
Value Functions::asinh(Value x) {
  Value sign = signOf(x), size = b.mul(x, sign);
  Value isLarge = b.compare(ComparePredicate::GT, size, b.scalar(1e10, x));
  Value z = b.select(isLarge, like(1, x), size), square = b.square(z);
  Value small =
      log1p(b.add(z, b.div(square, b.add(b.sqrt(b.add(square, 1.0)), 1.0))));
  Value large = b.add(b.log(b.select(isLarge, size, like(1, x))), M_LN2);
  return b.mul(b.select(isLarge, large, small), sign);
}

Value Functions::acosh(Value x) {
  Value isLarge = b.compare(ComparePredicate::GT, x, b.scalar(1e10, x));
  Value z = b.add(b.select(isLarge, like(2, x), x), -1.0);
  Value small = log1p(b.add(z, b.sqrt(b.mul(z, b.add(z, 2.0)))));
  Value large = b.add(b.log(b.select(isLarge, x, like(1, x))), M_LN2);
  return b.select(isLarge, large, small);
}

Value Functions::atanh(Value x) {
  return b.mul(b.sub(log1p(x), log1p(b.neg(x))), 0.5);
}

Value Functions::cbrt(Value x) {
  Value sign = signOf(x), size = b.mul(x, sign);
  Value isZero = b.compare(ComparePredicate::EQ, size, b.scalar(0, x));
  Value y = b.exp(b.mul(b.log(b.select(isZero, like(1, x), size)), 1.0 / 3));
  // A step of Newton's method, to the last bits. Infinity stays.
  Value isInfinite =
      b.compare(ComparePredicate::EQ, size, b.scalar(INFINITY, x));
  Value safe = b.select(isInfinite, like(1, x), y);
  Value refined =
      b.div(b.add(b.mul(safe, 2.0), b.div(size, b.square(safe))), like(3, x));
  return b.mul(b.select(isZero, size, b.select(isInfinite, size, refined)),
               sign);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value StableHLOImporter::makeAtan2(TrainBuilder &b, Value y, Value x) {
  return Functions(b).atan2(y, x);
}

bool StableHLOImporter::convertFunction(Operation *op, StringRef name,
                                        Value x) {
  TrainBuilder b = at(op);
  Functions f(b);
  Value one = b.scalar(1, typeOf(x)), result;
  if (name == "floor")
    result = f.floor(x);
  else if (name == "ceil")
    result = b.neg(f.floor(b.neg(x)));
  else if (name == "round_nearest_even")
    result = f.roundToEven(x);
  else if (name == "round_nearest_afz")
    result = f.roundAwayFromZero(x);
  else if (name == "tan")
    result = b.div(b.sin(x), b.cos(x));
  else if (name == "cbrt")
    result = f.cbrt(x);
  else if (name == "atan")
    result = f.atan2(x, f.like(1, x));
  else if (name == "asin")
    result = f.atan2(x, b.sqrt(b.mul(b.sub(one, x), b.add(x, one))));
  else if (name == "acos")
    result = f.atan2(b.sqrt(b.mul(b.sub(one, x), b.add(x, one))), x);
  else if (name == "sinh")
    result = f.sinh(x);
  else if (name == "cosh")
    result = f.cosh(x);
  else if (name == "asinh")
    result = f.asinh(x);
  else if (name == "acosh")
    result = f.acosh(x);
  else if (name == "atanh")
    result = f.atanh(x);
  return result && set(op, result);
}

/// x - y · trunc(x / y), moved by y where rounding the quotient leaves it on
/// the wrong side of 0.
bool StableHLOImporter::convertRemainder(Operation *op) {
  if (op->getNumOperands() != 2)
    return false;
  Value x = get(op->getOperand(0)), y = get(op->getOperand(1));
  if (!x || !y)
    return false;
  TrainBuilder b = at(op);
  Functions f(b);
  Value rest = b.sub(x, b.mul(y, f.truncate(b.div(x, y))));
  Value sign = f.signOf(x), size = b.abs(y), zero = b.scalar(0, x);
  Value isPast = b.compare(ComparePredicate::LT, b.mul(rest, sign), zero);
  Value isShort = b.compare(ComparePredicate::GE, b.mul(rest, sign), size);
  rest = b.select(isPast, b.add(rest, b.mul(size, sign)), rest);
  return set(op, b.select(isShort, b.sub(rest, b.mul(size, sign)), rest));
}

//===- Elementwise.cpp - Constants and elementwise operations -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StableHLOImporter.h"
#include "amp/Support/StableHLOText.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

/// Rounds `number` to the type of the result, as the operation does.
bool StableHLOImporter::set(Operation *op, double number) {
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (auto type = dyn_cast<FloatType>(element)) {
    if (type.getWidth() > 64)
      return false;
    bool ignored;
    APFloat rounded(number);
    rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &ignored);
    number = rounded.convertToDouble();
  }
  known[op->getResult(0)] = {Value(), number, std::nullopt};
  return true;
}

/// Folds `op` if every operand has one number as all its elements.
bool StableHLOImporter::fold(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (name == "constant") {
    auto elements = dyn_cast_or_null<DenseElementsAttr>(op->getAttr("value"));
    if (!elements)
      return false;
    if (!elements.isSplat())
      return isFloat(elements.getElementType())
                 ? set(op, train::ConstantOp::create(builder, op->getLoc(),
                                                     elements))
                 : convertIntegers(op);
    if (isa<FloatType>(elements.getElementType()))
      return set(op, elements.getSplatValue<APFloat>().convertToDouble());
    if (!elements.getElementType().isSignlessInteger())
      return false;
    APInt value = elements.getSplatValue<APInt>();
    // True is one. All other integers are signed.
    double number = value.getBitWidth() == 1 ? double(value.getZExtValue())
                                             : double(value.getSExtValue());
    return std::abs(number) <= double(1LL << 53) && set(op, number);
  }
  SmallVector<double> x;
  for (Value operand : op->getOperands()) {
    std::optional<double> number = getNumber(operand);
    if (!number)
      return false;
    x.push_back(*number);
  }
  if (x.empty() || op->getNumRegions() != 0)
    return false;
  if (name == "compare") {
    StringRef how = getEnum(op, "comparison_direction");
    return set(op, how == "EQ"   ? x[0] == x[1]
                   : how == "NE" ? x[0] != x[1]
                   : how == "GT" ? x[0] > x[1]
                   : how == "GE" ? x[0] >= x[1]
                   : how == "LT" ? x[0] < x[1]
                                 : x[0] <= x[1]);
  }
  if (name == "select")
    return set(op, x[0] != 0 ? x[1] : x[2]);
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  if (name == "broadcast_in_dim" || name == "reshape" || name == "transpose" ||
      (name == "convert" && isFloat))
    return set(op, x[0]);
  if (name == "convert") {
    auto type = getElementTypeOrSelf(op->getResult(0));
    if (type.isInteger(1))
      return set(op, x[0] != 0);
    // Round towards zero. The result of an overflow is implementation-defined.
    double number = std::trunc(x[0]);
    double end = type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64
                     ? std::ldexp(1, type.getIntOrFloatBitWidth() - 1)
                     : 0;
    return number >= -end && number < end && set(op, number);
  }
  // Integers wrap around.
  if (!isFloat && name != "is_finite")
    return false;
  bool isNaN = llvm::any_of(x, [](double each) { return std::isnan(each); });
  auto result = llvm::StringSwitch<std::optional<double>>(name)
                    .Case("negate", -x[0])
                    .Case("sqrt", std::sqrt(x[0]))
                    .Case("is_finite", std::isfinite(x[0]))
                    .Default(std::nullopt);
  if (!result && x.size() == 2)
    result = llvm::StringSwitch<std::optional<double>>(name)
                 .Case("add", x[0] + x[1])
                 .Case("subtract", x[0] - x[1])
                 .Case("multiply", x[0] * x[1])
                 .Case("maximum", isNaN ? NAN : std::max(x[0], x[1]))
                 .Case("minimum", isNaN ? NAN : std::min(x[0], x[1]))
                 .Default(std::nullopt);
  if (!result && name == "divide" && isFloat)
    result = x[0] / x[1];
  return result && set(op, *result);
}

bool StableHLOImporter::convertElementwise(Operation *op, StringRef name) {
  TrainBuilder b = at(op);
  if (name == "clamp") {
    Value low = get(op->getOperand(0)), x = get(op->getOperand(1)),
          high = get(op->getOperand(2));
    return low && x && high && set(op, b.minimum(b.maximum(x, low), high));
  }
  if (name == "multiply")
    for (Value operand : op->getOperands())
      if (Value gelu = gelus.lookup(operand))
        return set(op, gelu);
  if (name == "divide")
    if (auto it = averages.find(op->getOperand(0));
        it != averages.end() &&
        getNumber(op->getOperand(1)) == double(it->second.second))
      return set(op, it->second.first);
  SmallVector<Value> x;
  for (Value operand : op->getOperands()) {
    Value value = get(operand);
    if (!value)
      return false;
    x.push_back(value);
  }
  if (name == "compare") {
    auto predicate =
        symbolizeComparePredicate(getEnum(op, "comparison_direction").lower());
    return predicate && set(op, b.compare(*predicate, x[0], x[1]));
  }
  Location loc = op->getLoc();
  auto unary = [&](auto tag) {
    using OpTy = decltype(tag);
    return set(op, OpTy::create(builder, loc, x[0].getType(), x[0]));
  };
  if (x.size() == 1) {
    if (name == "is_finite")
      return set(op, b.compare(ComparePredicate::LT, b.abs(x[0]),
                               b.scalar(INFINITY, x[0])));
    if (name == "logistic")
      return unary(SigmoidOp());
    if (name == "log_plus_one")
      return unary(Log1pOp());
    if (name == "exponential_minus_one")
      return unary(Expm1Op());
    Value result;
    if (name == "negate")
      result = b.neg(x[0]);
    else if (name == "abs")
      result = b.abs(x[0]);
    else if (name == "sign")
      result = b.sign(x[0]);
    else if (name == "exponential")
      result = b.exp(x[0]);
    else if (name == "log")
      result = b.log(x[0]);
    else if (name == "sqrt")
      result = b.sqrt(x[0]);
    else if (name == "rsqrt")
      result = b.rsqrt(x[0]);
    else if (name == "tanh")
      result = b.tanh(x[0]);
    else if (name == "sine")
      result = b.sin(x[0]);
    else if (name == "cosine")
      result = b.cos(x[0]);
    else if (name == "erf")
      result = b.erf(x[0]);
    else if (name == "square")
      result = b.square(x[0]);
    else if (name == "optimization_barrier")
      result = x[0];
    return result ? set(op, result) : convertFunction(op, name, x[0]);
  }
  if (x.size() != 2)
    return false;
  // Frameworks define the gradient of relu at 0. A maximum shares its gradient.
  if (name == "maximum" && getNumber(op->getOperand(1)) == 0.0)
    return set(op, ReluOp::create(builder, loc, x[0].getType(), x[0]));
  Value result = name == "add"        ? b.add(x[0], x[1])
                 : name == "subtract" ? b.sub(x[0], x[1])
                 : name == "multiply" ? b.mul(x[0], x[1])
                 : name == "divide"   ? b.div(x[0], x[1])
                 : name == "maximum"  ? b.maximum(x[0], x[1])
                 : name == "minimum"  ? b.minimum(x[0], x[1])
                 : name == "power"    ? b.pow(x[0], x[1])
                 : name == "atan2"    ? makeAtan2(b, x[0], x[1])
                                      : Value();
  return result && set(op, result);
}

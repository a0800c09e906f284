//===- FloatRangeRule.cpp - Intervals of foreign operations ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/FloatRangeRule.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::amp;

static FloatRange getSign(FloatRange) { return FloatRange::get(-1, 1, true); }

/// The interval of a function that rounds to an integer, which is at least
/// `lower` and at most `upper`. Both are monotone.
template <double (*lower)(double), double (*upper)(double)>
static FloatRange roundToInteger(FloatRange range) {
  if (range.hasNoNumber())
    return range;
  return FloatRange::get(lower(range.lo), upper(range.hi), range.mayBeNaN);
}

// The nearest integers. Rules for ties differ: 0.5 becomes 0 or 1.
static double getLowerNearest(double number) { return std::ceil(number - 0.5); }
static double getUpperNearest(double number) {
  return std::floor(number + 0.5);
}

/// Reads the name of a function of one or two operands.
static bool readFunction(StringRef name, FloatRangeRule &rule) {
  rule.unary =
      llvm::StringSwitch<FloatRangeRule::UnaryFunction>(name)
          .Case("abs", interval::abs)
          .Case("ceil", roundToInteger<std::ceil, std::ceil>)
          .Case("erf", interval::erf)
          .Case("exp", interval::exp)
          .Case("expm1", interval::expm1)
          .Case("floor", roundToInteger<std::floor, std::floor>)
          .Case("log", interval::log)
          .Case("log1p", interval::log1p)
          .Case("negate", interval::neg)
          .Case("round", roundToInteger<getLowerNearest, getUpperNearest>)
          .Case("rsqrt", interval::rsqrt)
          .Case("sigmoid", interval::sigmoid)
          .Case("sign", getSign)
          .Case("sqrt", interval::sqrt)
          .Case("square", interval::square)
          .Case("tanh", interval::tanh)
          .Case("wave", interval::wave)
          .Default(nullptr);
  rule.binary = llvm::StringSwitch<FloatRangeRule::BinaryFunction>(name)
                    .Case("add", interval::add)
                    .Case("divide", interval::div)
                    .Case("maximum", interval::max)
                    .Case("minimum", interval::min)
                    .Case("multiply", interval::mul)
                    .Case("power", interval::pow)
                    .Case("subtract", interval::sub)
                    .Default(nullptr);
  rule.kind =
      rule.unary ? FloatRangeRule::Kind::Unary : FloatRangeRule::Kind::Binary;
  return rule.unary || rule.binary;
}

FloatRange FloatRangeRule::infer(Operation *op,
                                 ArrayRef<FloatRange> operands) const {
  auto at = [&](unsigned number) {
    return number < operands.size() && !operands[number].hasNoNumber()
               ? operands[number]
               : FloatRange::unknown();
  };
  switch (kind) {
  case Kind::Unary:
    return unary(at(0));
  case Kind::Binary:
    return binary(at(0), at(1));
  case Kind::Clamp:
    return interval::min(interval::max(at(1), at(0)), at(2));
  case Kind::Convert:
    return op->getNumOperands() == 1 &&
                   getElementTypeOrSelf(op->getOperand(0)).isInteger(1)
               ? FloatRange::get(0, 1)
               : at(0);
  case Kind::Reshape:
  case Kind::Repeat:
    return at(0);
  case Kind::Select:
    return operands.size() == 3 ? operands[1].join(operands[2])
                                : FloatRange::unknown();
  case Kind::Move:
  case Kind::Update: {
    FloatRange range = FloatRange::empty();
    for (auto [value, moved] : llvm::zip(op->getOperands(), operands))
      if (isa<FloatType>(getElementTypeOrSelf(value)))
        range = range.join(moved);
    return range.isEmpty() ? FloatRange::unknown() : range;
  }
  default:
    return FloatRange::unknown();
  }
}

FailureOr<FloatRangeRule> FloatRangeRule::parse(StringRef text,
                                                std::string &expected) {
  FloatRangeRule result;
  FailureOr<StringRef> rest = result.read(text, expected);
  if (failed(rest))
    return failure();
  auto [name, argument] = rest->drop_front(!rest->empty()).split(':');
  result.name = name;
  auto kind = llvm::StringSwitch<std::optional<Kind>>(name)
                  .Case("clamp", Kind::Clamp)
                  .Case("constant", Kind::Constant)
                  .Case("convert", Kind::Convert)
                  .Case("equal", Kind::Equal)
                  .Case("finite", Kind::Finite)
                  .Case("iota", Kind::Iota)
                  .Cases({"less", "less-equal"}, Kind::Order)
                  .Cases({"greater", "greater-equal"}, Kind::Order)
                  .Case("move", Kind::Move)
                  .Case("reduce", Kind::Reduce)
                  .Case("repeat", Kind::Repeat)
                  .Case("reshape", Kind::Reshape)
                  .Case("scatter", Kind::Scatter)
                  .Case("select", Kind::Select)
                  .Case("update", Kind::Update)
                  .Default(std::nullopt);
  bool isValid = kind ? true : readFunction(name, result);
  if (kind)
    result.kind = *kind;
  result.byRows = result.kind == Kind::Scatter && argument == "rows";
  bool needsAttribute = llvm::is_contained(
      {Kind::Constant, Kind::Repeat, Kind::Iota}, result.kind);
  bool mayHaveAttribute = needsAttribute || result.kind == Kind::Reduce ||
                          (result.kind == Kind::Scatter && !result.byRows);
  if (mayHaveAttribute)
    result.attributeName = argument;
  else if (!argument.empty() && !result.byRows)
    isValid = false;
  if (isValid && !(needsAttribute && argument.empty()))
    return result;
  expected =
      "a list of globs with '=' and a rule: abs, add, ceil, clamp, "
      "constant:ATTRIBUTE, convert, divide, equal, erf, exp, expm1, finite, "
      "floor, greater, greater-equal, iota:ATTRIBUTE, less, less-equal, log, "
      "log1p, "
      "maximum, minimum, move, multiply, negate, power, reduce, "
      "reduce:ATTRIBUTE, repeat:ATTRIBUTE, reshape, round, rsqrt, "
      "scatter, "
      "scatter:ATTRIBUTE, scatter:rows, select, sigmoid, sign, sqrt, square, "
      "subtract, tanh, update or wave";
  return failure();
}

//===- LossScaleOpInterface.cpp - How a factor passes through -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/LossScaleOpInterface.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>
#include <complex>
#include <numeric>

using namespace mlir;
using namespace mlir::amp;

#include "amp/Interfaces/LossScaleOpInterface.cpp.inc"

//===----------------------------------------------------------------------===//
// ScaleExponent
//===----------------------------------------------------------------------===//

/// The largest exponent. Larger ones do not occur in practice and saturate,
/// because arithmetic on them must not wrap around to a small exponent.
static constexpr int64_t kLargestExponent = int64_t(1) << 30;

static int64_t clampExponent(int64_t number) {
  return std::clamp(number, -kLargestExponent, kLargestExponent);
}

static void reduce(int64_t &numerator, int64_t &denominator) {
  int64_t divisor = std::gcd(numerator, denominator);
  numerator = clampExponent(numerator / divisor);
  denominator = clampExponent(denominator / divisor);
}

bool ScaleExponent::mentions(Symbol symbol) const {
  return llvm::any_of(
      terms, [symbol](const Term &term) { return term.symbol == symbol; });
}

ScaleExponent ScaleExponent::operator+(const ScaleExponent &other) const {
  if (isZero || other.isZero)
    return any();
  ScaleExponent sum;
  const Term *a = terms.begin(), *b = other.terms.begin();
  while (a != terms.end() || b != other.terms.end()) {
    if (b == other.terms.end() || (a != terms.end() && a->symbol < b->symbol)) {
      sum.terms.push_back(*a++);
      continue;
    }
    if (a == terms.end() || b->symbol < a->symbol) {
      sum.terms.push_back(*b++);
      continue;
    }
    int64_t numerator =
        a->numerator * b->denominator + b->numerator * a->denominator;
    int64_t denominator = a->denominator * b->denominator;
    if (numerator != 0) {
      reduce(numerator, denominator);
      sum.terms.push_back({a->symbol, numerator, denominator});
    }
    ++a, ++b;
  }
  return sum;
}

ScaleExponent ScaleExponent::power(int64_t numerator,
                                   int64_t denominator) const {
  if (numerator == 0)
    return {};
  if (isZero)
    return any();
  ScaleExponent result(*this);
  for (Term &term : result.terms) {
    term.numerator *= clampExponent(numerator);
    term.denominator *= clampExponent(denominator);
    reduce(term.numerator, term.denominator);
  }
  return result;
}

std::optional<ScaleExponent>
ScaleExponent::join(const ScaleExponent &other) const {
  if (isZero)
    return other;
  if (other.isZero || terms == other.terms)
    return *this;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

bool mlir::amp::isScaleInvariant(Attribute constant) {
  auto isFixed = [](const APFloat &number) {
    return number.isZero() || !number.isFinite();
  };
  if (auto number = dyn_cast<FloatAttr>(constant))
    return isFixed(number.getValue());
  auto elements = dyn_cast<DenseElementsAttr>(constant);
  if (!elements)
    return false;
  if (auto complex = dyn_cast<ComplexType>(elements.getElementType()))
    return isa<FloatType>(complex.getElementType()) &&
           llvm::all_of(elements.getValues<std::complex<APFloat>>(),
                        [&](const std::complex<APFloat> &number) {
                          return isFixed(number.real()) &&
                                 isFixed(number.imag());
                        });
  if (!isa<FloatType>(elements.getElementType()))
    return false;
  if (elements.isSplat())
    return isFixed(elements.getSplatValue<APFloat>());
  return llvm::all_of(elements.getValues<APFloat>(), isFixed);
}

void ScaleExponentInference::setResults(const ScaleExponent &exponent) {
  for (unsigned i = 0, e = getOperation()->getNumResults(); i != e; ++i)
    setResult(i, exponent);
}

LogicalResult ScaleExponentInference::requireUnscaled(unsigned index,
                                                      const Twine &why) {
  const ScaleExponent &exponent = getOperand(index);
  if (exponent.isUnscaled())
    return success();
  return fail(index, "operand " + Twine(index) + " is multiplied by " +
                         describe(exponent) +
                         ", expected an unscaled value: " + why);
}

LogicalResult ScaleExponentInference::join(ArrayRef<unsigned> operands,
                                           ScaleExponent &exponent) {
  exponent = ScaleExponent::any();
  unsigned first = 0;
  for (unsigned index : operands) {
    const ScaleExponent &other = getOperand(index);
    std::optional<ScaleExponent> joined = exponent.join(other);
    if (!joined)
      return fail(exponent.isUnscaled() ? index : first,
                  "operand " + Twine(first) + " is multiplied by " +
                      describe(exponent) + ", but operand " + Twine(index) +
                      " by " + describe(other) +
                      ", expected values with one factor");
    if (exponent.isAny() && !other.isAny())
      first = index;
    exponent = *joined;
  }
  return success();
}

/// Returns 0, 1, ... for all operands.
static SmallVector<unsigned> getAllOperands(ScaleExponentInference &inference) {
  return llvm::to_vector(
      llvm::seq<unsigned>(inference.getOperation()->getNumOperands()));
}

LogicalResult mlir::amp::inferJointExponent(ScaleExponentInference &inference,
                                            ArrayRef<unsigned> operands) {
  ScaleExponent exponent;
  if (failed(inference.join(operands.empty()
                                ? ArrayRef<unsigned>(getAllOperands(inference))
                                : operands,
                            exponent)))
    return failure();
  inference.setResults(exponent);
  return success();
}

LogicalResult
mlir::amp::inferProductExponent(ScaleExponentInference &inference) {
  ScaleExponent product = inference.getOperand(0) + inference.getOperand(1);
  for (unsigned i = 2, e = inference.getOperation()->getNumOperands(); i != e;
       ++i) {
    std::optional<ScaleExponent> sum = product.join(inference.getOperand(i));
    if (!sum)
      return inference.fail(inference.getOperand(i).isUnscaled() ? 0 : i,
                            "operand " + Twine(i) + " is multiplied by " +
                                inference.describe(inference.getOperand(i)) +
                                ", but the product that it is added to by " +
                                inference.describe(product));
    product = *sum;
  }
  inference.setResults(product);
  return success();
}

LogicalResult mlir::amp::inferLinearExponent(ScaleExponentInference &inference,
                                             unsigned linear) {
  for (unsigned i : getAllOperands(inference))
    if (i != linear &&
        failed(inference.requireUnscaled(
            i, "the operation is linear only in operand " + Twine(linear))))
      return failure();
  inference.setResults(inference.getOperand(linear));
  return success();
}

LogicalResult mlir::amp::inferPowerExponent(ScaleExponentInference &inference,
                                            int64_t numerator,
                                            int64_t denominator) {
  inference.setResults(inference.getOperand(0).power(numerator, denominator));
  return success();
}

LogicalResult mlir::amp::inferUnscaled(ScaleExponentInference &inference) {
  for (unsigned i : getAllOperands(inference))
    if (failed(inference.requireUnscaled(
            i, "the operation does not commute with a factor")))
      return failure();
  return success();
}

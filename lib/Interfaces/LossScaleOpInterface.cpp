//===- LossScaleOpInterface.cpp - How a factor passes through -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/LossScaleOpInterface.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <numeric>

using namespace mlir;
using namespace mlir::amp;

#include "amp/Interfaces/LossScaleOpInterface.cpp.inc"

//===----------------------------------------------------------------------===//
// ScaleDegree
//===----------------------------------------------------------------------===//

static void reduce(int64_t &numerator, int64_t &denominator) {
  int64_t divisor = std::gcd(numerator, denominator);
  numerator /= divisor;
  denominator /= divisor;
}

bool ScaleDegree::mentions(Symbol symbol) const {
  return llvm::any_of(
      terms, [symbol](const Term &term) { return term.symbol == symbol; });
}

ScaleDegree ScaleDegree::operator+(const ScaleDegree &other) const {
  if (isZero || other.isZero)
    return any();
  ScaleDegree sum;
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

ScaleDegree ScaleDegree::power(int64_t numerator, int64_t denominator) const {
  if (numerator == 0)
    return {};
  if (isZero)
    return numerator > 0 ? any() : ScaleDegree();
  ScaleDegree result(*this);
  for (Term &term : result.terms) {
    term.numerator *= numerator;
    term.denominator *= denominator;
    reduce(term.numerator, term.denominator);
  }
  return result;
}

std::optional<ScaleDegree> ScaleDegree::join(const ScaleDegree &other) const {
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
  auto elements = dyn_cast<DenseFPElementsAttr>(constant);
  if (!elements)
    return false;
  if (elements.isSplat())
    return isFixed(elements.getSplatValue<APFloat>());
  return llvm::all_of(elements.getValues<APFloat>(), isFixed);
}

void ScaleDegreeInference::setResults(const ScaleDegree &degree) {
  for (unsigned i = 0, e = getOperation()->getNumResults(); i != e; ++i)
    setResult(i, degree);
}

LogicalResult ScaleDegreeInference::requireUnscaled(unsigned index,
                                                    const Twine &why) {
  const ScaleDegree &degree = getOperand(index);
  if (degree.isUnscaled())
    return success();
  return fail(index, "operand " + Twine(index) + " is multiplied by " +
                         describe(degree) +
                         ", expected an unscaled value: " + why);
}

LogicalResult ScaleDegreeInference::join(ArrayRef<unsigned> operands,
                                         ScaleDegree &degree) {
  degree = ScaleDegree::any();
  unsigned first = 0;
  for (unsigned index : operands) {
    const ScaleDegree &other = getOperand(index);
    std::optional<ScaleDegree> joined = degree.join(other);
    if (!joined)
      return fail(degree.isUnscaled() ? index : first,
                  "operand " + Twine(first) + " is multiplied by " +
                      describe(degree) + ", but operand " + Twine(index) +
                      " by " + describe(other) +
                      ", expected values with one factor");
    if (degree.isAny() && !other.isAny())
      first = index;
    degree = *joined;
  }
  return success();
}

/// Returns 0, 1, ... for all operands.
static SmallVector<unsigned> getAllOperands(ScaleDegreeInference &inference) {
  return llvm::to_vector(
      llvm::seq<unsigned>(inference.getOperation()->getNumOperands()));
}

LogicalResult mlir::amp::inferJointDegree(ScaleDegreeInference &inference,
                                          ArrayRef<unsigned> operands) {
  ScaleDegree degree;
  if (failed(inference.join(operands.empty()
                                ? ArrayRef<unsigned>(getAllOperands(inference))
                                : operands,
                            degree)))
    return failure();
  inference.setResults(degree);
  return success();
}

LogicalResult mlir::amp::inferProductDegree(ScaleDegreeInference &inference) {
  ScaleDegree product = inference.getOperand(0) + inference.getOperand(1);
  for (unsigned i = 2, e = inference.getOperation()->getNumOperands(); i != e;
       ++i) {
    std::optional<ScaleDegree> sum = product.join(inference.getOperand(i));
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

LogicalResult mlir::amp::inferLinearDegree(ScaleDegreeInference &inference,
                                           unsigned linear) {
  for (unsigned i : getAllOperands(inference))
    if (i != linear &&
        failed(inference.requireUnscaled(
            i, "the operation is linear only in operand " + Twine(linear))))
      return failure();
  inference.setResults(inference.getOperand(linear));
  return success();
}

LogicalResult mlir::amp::inferPowerDegree(ScaleDegreeInference &inference,
                                          int64_t numerator,
                                          int64_t denominator) {
  inference.setResults(inference.getOperand(0).power(numerator, denominator));
  return success();
}

LogicalResult mlir::amp::inferUnscaled(ScaleDegreeInference &inference) {
  for (unsigned i : getAllOperands(inference))
    if (failed(inference.requireUnscaled(
            i, "the operation does not commute with a factor")))
      return failure();
  return success();
}

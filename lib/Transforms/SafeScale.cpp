//===- SafeScale.cpp - The largest loss scale that is safe ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SafeScale.h"

#include "StepIntervals.h"

#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/LossScaling/ScalarEvaluator.h"
#include "amp/LossScaling/ValueOrigins.h"
#include "amp/Precision/Assignment/Ranges.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// The largest number of f16.
static constexpr double kLargestHalf = 65504;

/// The shortest decimal that gives `number` back.
static std::string print(double number) {
  SmallString<16> digits;
  APFloat(number).toString(digits);
  return digits.str().str();
}

/// The power of the loss scale that `exponent` multiplies by, over all scales.
static double getDegree(const ScaleExponent &exponent) {
  double degree = 0;
  for (const ScaleExponent::Term &term : exponent.getTerms())
    degree += static_cast<double>(term.numerator) / term.denominator;
  return degree;
}

std::optional<SafeScale>
mlir::amp::findSafeScale(FunctionOpInterface function,
                         const ScaleExponentAnalysis &exponents,
                         const ForeignRules &rules) {
  // The intervals for the scale 1.
  auto assume = [&](Value value) -> std::optional<FloatRange> {
    if (exponents.isScale(value) ||
        isa_and_nonnull<GradientSeedOpInterface>(value.getDefiningOp()))
      return FloatRange::get(1);
    // A constant that some operation scales by.
    if (matchPattern(value, m_Constant()) &&
        llvm::any_of(value.getUses(), [](OpOperand &use) {
          auto iface = dyn_cast<LossScaleOpInterface>(use.getOwner());
          return iface && iface.getLossScaleOperand() ==
                              static_cast<int>(use.getOperandNumber());
        }))
      return FloatRange::get(1);
    return std::nullopt;
  };
  ValueRanges ranges(function, assume);
  StepIntervals intervals(function, rules, assume);
  std::optional<SafeScale> found;
  function->walk([&](Operation *op) {
    for (OpResult result : op->getResults()) {
      if (!getElementTypeOrSelf(result).isF16() || !exponents.knows(result))
        continue;
      double degree = getDegree(exponents.getExponent(result));
      if (degree <= 0)
        continue;
      FloatRange range = intervals.get(result);
      bool isTight = !intervals.isLoose(result);
      if (range.hasNoNumber() || range.mayBeInfinite()) {
        range = ranges.get(result);
        isTight = true;
      }
      double magnitude = range.getMaxAbs();
      if (range.hasNoNumber() || range.mayBeInfinite() || magnitude == 0)
        continue;
      double scale = std::pow(kLargestHalf / magnitude, 1 / degree);
      int exponent = static_cast<int>(std::floor(std::log2(scale)));
      if (!found || exponent < found->exponent)
        found = {exponent, result, magnitude, isTight};
    }
  });
  return found;
}

/// Returns the initial value of the dynamic scale that multiplies `value`, if
/// there is one.
static std::optional<double>
getInitialScale(Value value, const ScaleExponentAnalysis &exponents) {
  const ScaleExponent exponent = exponents.getExponent(value);
  for (const ScaleExponent::Term &term : exponent.getTerms())
    if (term.numerator > 0)
      if (Value scale = exponents.getScale(term.symbol);
          isa<BlockArgument>(scale))
        return getInitialNumber(scale);
  return std::nullopt;
}

void mlir::amp::reportSafeScale(FunctionOpInterface function,
                                const ScaleExponentAnalysis &exponents,
                                const ForeignRules &rules) {
  std::optional<SafeScale> safe = findSafeScale(function, exponents, rules);
  if (!safe)
    return;
  {
    auto report = remark::analysis(safe->limiting.getLoc(),
                                   remark::RemarkOpts::name("SafeLossScale")
                                       .category("amp")
                                       .function(function.getName()));
    std::string text = "up to a loss scale of 2^" +
                       std::to_string(safe->exponent) +
                       ", all scaled f16 values that have a bound are finite "
                       "for any data";
    double largest = std::ldexp(1.0, safe->exponent);
    std::optional<double> initial = getInitialScale(safe->limiting, exponents);
    if (safe->isTight && initial && *initial > largest)
      text +=
          "; the initial scale " + print(*initial) +
          " may skip the first steps, expected 'init-scale=" + print(largest) +
          "' of amp-insert-loss-scaling";
    report << text << remark::metric("Exponent", safe->exponent);
  }
  // Only a constant scale cannot follow an overflow.
  const ScaleExponent exponent = exponents.getExponent(safe->limiting);
  for (const ScaleExponent::Term &term : exponent.getTerms()) {
    Attribute constant;
    if (!safe->isTight || term.numerator <= 0 ||
        !matchPattern(exponents.getScale(term.symbol), m_Constant(&constant)))
      continue;
    std::optional<double> scale = getNumber(constant);
    if (!scale || *scale <= std::ldexp(1.0, safe->exponent))
      continue;
    safe->limiting.getOwner()->emitWarning()
        << "values of up to " << print(safe->magnitude)
        << " times the loss scale can overflow in 'f16' with the constant "
           "loss scale "
        << print(*scale) << "; expected one of at most 2^" << safe->exponent
        << ", or a dynamic scale";
    return;
  }
}

//===- ExponentInference.cpp - By rules of a policy, and unknown effects --===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExponentInference.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/LossScaling/ScalarEvaluator.h"
#include "amp/Support/OperationAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace mlir::amp;

/// Whether `attribute` is the integer 0, of more than one bit, in all elements.
static bool isIntegerZero(Attribute attribute) {
  auto elements = dyn_cast<DenseIntElementsAttr>(attribute);
  return elements && elements.isSplat() &&
         !elements.getElementType().isInteger(1) &&
         elements.getSplatValue<APInt>().isZero();
}

const LinearRule *ScaleExponentAnalysis::findRule(Operation *op) {
  if (linear.empty())
    return nullptr;
  auto [it, isNew] = rules.try_emplace(op->getName());
  if (isNew)
    for (const LinearRule &rule : linear)
      if (rule.pattern.match(op->getName().getStringRef()))
        it->second.push_back(&rule);
  const auto *rule = llvm::find_if(it->second, [op](const LinearRule *rule) {
    return rule->isSatisfiedBy(op);
  });
  return rule == it->second.end() ? nullptr : *rule;
}

LogicalResult ScaleExponentAnalysis::visitUnknown(Operation *op) {
  bool isZero = matchPattern(op, m_AnyZeroFloat());
  for (Value result : op->getResults())
    set(result, isZero ? ScaleExponent::any() : ScaleExponent());
  // The parent or the caller handles the values that a region forwards. An
  // unregistered terminator is known only by its place.
  bool isLast = !op->isRegistered() && op->getNumResults() == 0 &&
                !op->getNextNode() && findRule(op->getParentOp());
  if (isLast || op->hasTrait<OpTrait::IsTerminator>())
    return success();

  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() != 0)
    getUsedValuesDefinedAbove(op->getRegions(), read);
  const LinearRule *rule = findRule(op);
  if (rule &&
      (rule->isControlFlow() ||
       (op->getNumRegions() != 0 && rule->kind != LinearRule::Kind::Joint)))
    rule = nullptr;
  if (rule && rule->kind == LinearRule::Kind::Constant)
    return applyRule(op, *rule);
  auto it = llvm::find_if(
      read, [&](Value value) { return !getExponent(value).isUnscaled(); });
  // Zeros stay zeros.
  bool isFromZero = rule && llvm::any_of(read, [&](Value value) {
                      return getExponent(value).isAny();
                    });
  if (it == read.end() && isFromZero)
    return applyRule(op, *rule);
  if (it == read.end()) {
    // A constant scale may enter in a region.
    Operation *scaling = nullptr;
    for (Region &region : op->getRegions())
      region.walk([&](LossScaleOpInterface nested) {
        if (nested.getLossScaleOperand() >= 0)
          scaling = nested;
      });
    if (!scaling)
      return success();
    InFlightDiagnostic diagnostic = op->emitOpError(
        "has a region that uses a loss scale, and its effect on the factor is "
        "unknown: it does not implement LossScaleOpInterface; if it "
        "commutes with a factor, name it under the policy's key 'linear'");
    diagnostic.attachNote(scaling->getLoc()) << "the loss scale enters here";
    return diagnostic;
  }
  // An operation that a pass inserted as a cast is a cast in any dialect.
  if (CastLike cast{op}; cast && op->getNumRegions() == 0) {
    set(cast.getResult(), getExponent(cast.getInput()));
    return success();
  }
  if (rule)
    return applyRule(op, *rule);
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "has an operand that is multiplied by "
                        << symbols.describe(getExponent(*it))
                        << ", and its effect on the factor is unknown: it "
                           "does not implement LossScaleOpInterface; if it "
                           "commutes with a factor, name it under the "
                           "policy's key 'linear'";
  explain(*it, *diagnostic.getUnderlyingDiagnostic());
  return diagnostic;
}

/// Whether `op` can only repeat the one number that it reads, because its rule
/// is linear and its result has another shape.
static bool repeatsNumber(Operation *op, const LinearRule *rule) {
  if (!rule || rule->kind != LinearRule::Kind::Joint ||
      op->getNumRegions() != 0 || op->getNumOperands() != 1 ||
      op->getNumResults() != 1)
    return false;
  auto from = dyn_cast<ShapedType>(op->getOperand(0).getType()),
       to = dyn_cast<ShapedType>(op->getResult(0).getType());
  return from && to && from.hasStaticShape() && to.hasRank() &&
         from.getNumElements() == 1 && from.getShape() != to.getShape();
}

/// Returns the number of `value`, a constant that may be repeated, as a
/// fraction with a small denominator, or nothing.
std::optional<std::pair<int64_t, int64_t>>
ScaleExponentAnalysis::findFraction(Value value) {
  constexpr int limit = 8;
  std::optional<double> number;
  for (int depth = 0; depth < limit && !number; ++depth) {
    Operation *op = value.getDefiningOp();
    const LinearRule *rule = op ? findRule(op) : nullptr;
    if (Attribute constant; matchPattern(value, m_Constant(&constant))) {
      number = getNumber(constant);
    } else if (rule && rule->kind == LinearRule::Kind::Constant) {
      for (NamedAttribute attribute : getAllAttributes(op))
        if (std::optional<double> found = getNumber(attribute.getValue()))
          number = found;
    } else if (!op || !repeatsNumber(op, rule)) {
      return std::nullopt;
    }
    if (op && op->getNumOperands() == 1)
      value = op->getOperand(0);
  }
  constexpr int64_t largest = 12;
  if (number && std::abs(*number) <= largest)
    for (int64_t denominator = 1; denominator <= largest; ++denominator) {
      double numerator = *number * denominator;
      if (numerator != 0 && std::abs(numerator - std::round(numerator)) <= 1e-6)
        return std::pair(static_cast<int64_t>(std::round(numerator)),
                         denominator);
    }
  return std::nullopt;
}

LogicalResult ScaleExponentAnalysis::applyRule(Operation *op,
                                               const LinearRule &rule,
                                               bool quiet) {
  using Kind = LinearRule::Kind;
  Inference inference(*this, op, quiet);
  auto require = [&](StringRef what, unsigned count) -> LogicalResult {
    if (op->getNumOperands() >= count)
      return success();
    return inference.refuse("is declared a " + what +
                            " in 'linear', expected " +
                            (count == 1 ? "an operand" : "two operands") +
                            ", got " + Twine(op->getNumOperands()));
  };
  switch (rule.kind) {
  case Kind::Product:
    if (failed(require("product", 2)))
      return failure();
    return inferProductExponent(inference);
  case Kind::Quotient:
    if (failed(require("quotient", 2)))
      return failure();
    inference.setResults(inference.getOperand(0) +
                         inference.getOperand(1).power(-1));
    return success();
  case Kind::Power:
    if (failed(require("power", 1)))
      return failure();
    return inferPowerExponent(inference, rule.numerator, rule.denominator);
  case Kind::ConstantPower: {
    if (failed(require("power", 2)))
      return failure();
    auto power = findFraction(op->getOperand(1));
    // A power of 0 is 0 or 1. An optimizer without decay computes such a power.
    if (!power && getExponent(op->getOperand(0)).isAny() &&
        getExponent(op->getOperand(1)).isUnscaled()) {
      inference.setResults(ScaleExponent());
      return success();
    }
    if (!power)
      return inference.fail(getExponent(op->getOperand(0)).isUnscaled() ? 1 : 0,
                            "has an exponent that is not known, expected a "
                            "constant with one number");
    return inferPowerExponent(inference, power->first, power->second);
  }
  case Kind::Each:
    if (op->getNumOperands() != op->getNumResults())
      return inference.refuse("is declared to keep each operand in 'linear', "
                              "expected as many results, got " +
                              Twine(op->getNumOperands()) + " and " +
                              Twine(op->getNumResults()));
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      inference.setResult(i, inference.getOperand(i));
    return success();
  case Kind::Constant: {
    SmallVector<NamedAttribute> attributes = getAllAttributes(op);
    if (llvm::any_of(attributes, [](NamedAttribute attribute) {
          return isScaleInvariant(attribute.getValue()) ||
                 isIntegerZero(attribute.getValue());
        }))
      inference.setResults(ScaleExponent::any());
    return success();
  }
  case Kind::Joint:
  case Kind::Order:
    return applyJointRule(op, rule, quiet);
  case Kind::Branch:
  case Kind::Loop:
  case Kind::Body:
    break;
  }
  llvm_unreachable("control flow has no factor of its own");
}

/// Applies one factor to the operands, the results, and the elements in
/// regions.
LogicalResult ScaleExponentAnalysis::applyJointRule(Operation *op,
                                                    const LinearRule &rule,
                                                    bool quiet) {
  Inference inference(*this, op, quiet);
  SmallVector<unsigned> operands(rule.operands.begin(), rule.operands.end());
  for (unsigned index : operands)
    if (index >= op->getNumOperands())
      return inference.refuse("is declared linear in operand " + Twine(index) +
                              ", but has " + Twine(op->getNumOperands()));
  for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i) {
    if (rule.operands.empty()) {
      if (holdsNumbers(op->getOperand(i).getType()))
        operands.push_back(i);
    } else if (!llvm::is_contained(rule.operands, i)) {
      std::string named;
      llvm::raw_string_ostream os(named);
      llvm::interleave(rule.operands, os, " and ");
      if (failed(inference.requireUnscaled(
              i, "the operation is linear only in operand " + named)))
        return failure();
    }
  }
  ScaleExponent exponent;
  if (!operands.empty() && failed(inference.join(operands, exponent)))
    return failure();
  // A conversion of the integer 0 is zero.
  if (operands.empty() && op->getNumOperands() != 0 &&
      llvm::all_of(op->getOperands(),
                   [&](Value operand) { return getExponent(operand).isAny(); }))
    exponent = ScaleExponent::any();
  if (rule.kind == LinearRule::Kind::Order)
    return success();

  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    auto scaled = llvm::find_if(captured, [&](Value value) {
      return !getExponent(value).isUnscaled();
    });
    if (scaled != captured.end() || !region.hasOneBlock()) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("is declared linear, expected regions of one block "
                          "that read nothing scaled from outside");
      if (scaled != captured.end())
        explain(*scaled, *diagnostic.getUnderlyingDiagnostic());
      return diagnostic;
    }
    // The body is visited twice if all operands are zeros and its results are
    // not. The results of an earlier visit hold in this one.
    for (BlockArgument argument : region.getArguments())
      if (auto it = exponents.find(argument);
          it != exponents.end() && holdsNumbers(argument.getType()))
        exponent = exponent.join(it->second).value_or(exponent);
    for (bool changed = true; std::exchange(changed, false);) {
      for (BlockArgument argument : region.getArguments())
        set(argument,
            holdsNumbers(argument.getType()) ? exponent : ScaleExponent());
      if (failed(visit(region.front())))
        return failure();
      if (!region.front().mightHaveTerminator())
        continue;
      for (Value yielded : region.front().getTerminator()->getOperands()) {
        if (!holdsNumbers(yielded.getType()))
          continue;
        std::optional<ScaleExponent> joined =
            exponent.join(getExponent(yielded));
        if (!joined) {
          InFlightDiagnostic diagnostic =
              op->emitOpError("has a region that computes a value that is "
                              "multiplied by ")
              << symbols.describe(getExponent(yielded))
              << " from elements that "
              << "are multiplied by " << symbols.describe(exponent)
              << ", expected one factor";
          explain(yielded, *diagnostic.getUnderlyingDiagnostic());
          return diagnostic;
        }
        changed |= *joined != exponent;
        exponent = *joined;
      }
    }
  }
  bool isHeld = false;
  for (Value result : op->getResults())
    if (holdsNumbers(result.getType())) {
      set(result, exponent);
      isHeld = true;
    }
  if (isHeld || exponent.isUnscaled())
    return success();
  return inference.fail(operands.front(),
                        "loses a factor: it gives no float that could have it");
}

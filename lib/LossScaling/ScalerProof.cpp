//===- ScalerProof.cpp - How a step updates its loss scales ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ScalerProof.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/LossScaling/ValueOrigins.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::amp;

ScalerProof::ScalerProof(FunctionOpInterface function,
                         const ScaleExponentAnalysis &exponents,
                         FiniteFlags &flags,
                         const SmallVectorImpl<LossScaleOpInterface> &updates,
                         bool allowUnverified)
    : function(function), exponents(exponents), flags(flags), updates(updates),
      allowUnverified(allowUnverified) {}

//===----------------------------------------------------------------------===//
// Operations that update
//===----------------------------------------------------------------------===//

/// Returns the operand whose new value is result `result` of `op`, or -1.
static int getStateOperand(LossScaleOpInterface op, unsigned result) {
  for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
    if (op.getNewStateResult(i) == static_cast<int>(result))
      return i;
  return op.getFiniteFlagOperand() >= 0 &&
                 op.getLossScaleResult() == static_cast<int>(result)
             ? op.getLossScaleOperand()
             : -1;
}

bool ScalerProof::isSame(Value value, Value old) const {
  if (skipMoves(value) == old)
    return true;
  // A scale that was moved is the same scale.
  return exponents.isScale(old) && !exponents.getExponent(value).isUnscaled() &&
         exponents.getSymbol(value) == exponents.getSymbol(old);
}

ScalerProof::Origin ScalerProof::trace(Value value, Value old, bool isUpdated,
                                       Value &other) {
  value = skipMoves(value);
  if (value == old)
    return isUpdated ? Origin::Updated : Origin::Old;
  if (std::optional<Choice> choice = getChoice(value)) {
    Value first, second;
    Origin good = trace(choice->good, old, isUpdated, first);
    Origin bad = trace(choice->bad, old, isUpdated, second);
    // The old state stays if a condition that does not depend on overflows
    // skips the whole update, such as within a window of micro-batches.
    Operation *branch = value.getDefiningOp();
    if (!flags.readsFlag(choice->condition) &&
        llvm::any_of(updates, [&](Operation *update) {
          return branch->isProperAncestor(update);
        })) {
      good = good == Origin::Old ? Origin::Updated : good;
      bad = bad == Origin::Old ? Origin::Updated : bad;
    }
    // Return the worse origin of the two.
    if (good < bad)
      std::swap(good, bad), std::swap(first, second);
    other = first;
    return good;
  }
  if (std::optional<Carried> carried = getCarried(value)) {
    Origin origin = trace(carried->yielded, carried->argument, false, other);
    if (origin != Origin::Updated || skipMoves(carried->init) == old)
      return origin;
    return trace(carried->init, old, true, other);
  }
  if (auto op = dyn_cast_or_null<LossScaleOpInterface>(value.getDefiningOp()))
    if (int index =
            getStateOperand(op, cast<OpResult>(value).getResultNumber());
        index >= 0)
      return isSame(op->getOperand(index), old)
                 ? Origin::Updated
                 : trace(op->getOperand(index), old, true, other);
  other = value;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && (getRole(value) == Role::ScalerState ||
                      argument.getOwner()->getParentOp() != function)
             ? Origin::Other
             : Origin::ByHand;
}

StringAttr ScalerProof::getName(Value state) {
  auto argument = dyn_cast<BlockArgument>(state);
  if (!argument)
    return {};
  if (argument.getOwner() == &function.getFunctionBody().front())
    return function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                 AMPDialect::kNameAttr);
  Operation *parent = argument.getOwner()->getParentOp();
  for (Value result : parent->getResults())
    if (std::optional<Carried> carried = getCarried(result);
        carried && carried->argument == argument)
      return getName(skipMoves(carried->init));
  return {};
}

static LogicalResult failExchanged(const ScalerProof::State &state,
                                   StringAttr other, StringRef what) {
  InFlightDiagnostic diagnostic = emitError(state.value.getLoc())
                                  << "the update of " << state.name
                                  << " is the new value of ";
  if (other)
    diagnostic << other;
  else
    diagnostic << "another " << what;
  diagnostic << ", expected the new value of its own " << what;
  return diagnostic;
}

LogicalResult ScalerProof::checkScale(const State &state) {
  Value other;
  switch (trace(state.value, state.old, false, other)) {
  case Origin::Updated:
    return success();
  case Origin::Old:
    // GuardAnalysis proves that this does not happen after an overflow.
    return success();
  case Origin::Other:
    return failExchanged(state, getName(other), "scale");
  case Origin::ByHand:
    return checkByHand(state);
  }
  llvm_unreachable("unknown origin");
}

LogicalResult ScalerProof::checkTracker(const State &state) {
  // The values that an update reads, directly or through a loop.
  auto isRead = [&](Value value) {
    while (true) {
      value = skipMoves(value);
      if (value == state.old)
        return true;
      auto argument = dyn_cast<BlockArgument>(value);
      Value init;
      if (argument && argument.getOwner()->getParentOp() != function)
        for (Value result : argument.getOwner()->getParentOp()->getResults())
          if (std::optional<Carried> carried = getCarried(result);
              carried && carried->argument == argument)
            init = carried->init;
      if (!init)
        return false;
      value = init;
    }
  };
  bool isTracker = read.contains(state.old);
  bool isByHand = isTracker;
  for (LossScaleOpInterface update : updates)
    for (OpOperand &operand : update->getOpOperands())
      if (update.getNewStateResult(operand.getOperandNumber()) >= 0 &&
          isRead(operand.get())) {
        isTracker = true;
        isByHand = false;
      }
  Value other;
  Origin origin = trace(state.value, state.old, false, other);
  if (!isTracker && origin != Origin::Other)
    return success();
  switch (origin) {
  case Origin::Updated:
    return success();
  case Origin::Old:
    return emitError(state.value.getLoc())
           << "the update of " << state.name
           << " gives the old value back, expected the new one, which is "
              "computed with the new scale";
  case Origin::Other:
    return failExchanged(state, getName(other), "tracker");
  case Origin::ByHand:
    return isByHand ? success()
                    : failUnverified(state, "it is not what the operation that "
                                            "updates the scale returns");
  }
  llvm_unreachable("unknown origin");
}

//===----------------------------------------------------------------------===//
// Updates that are written by hand
//===----------------------------------------------------------------------===//

LogicalResult ScalerProof::failUnverified(const State &state, StringRef why) {
  ++numUnverified;
  InFlightDiagnostic diagnostic = allowUnverified
                                      ? emitWarning(state.value.getLoc())
                                      : emitError(state.value.getLoc());
  diagnostic << "unverified scaler: the update of " << state.name
             << " cannot be proved, because " << why
             << "; expected 'amp.update_scale', arithmetic that folds on the "
                "finite flags, or the option 'allow-unverified-scaler'";
  return success(allowUnverified);
}

SmallVector<llvm::BitVector> ScalerProof::getOverflows(Value old) {
  SmallVector<llvm::BitVector> overflows;
  for (LossScaleOpInterface check : flags.getChecks()) {
    Value scale = check->getOperand(check.getLossScaleOperand());
    if (exponents.dependsOn(exponents.getSymbol(scale),
                            exponents.getSymbol(old)))
      overflows.push_back(*flags.find(check));
  }
  return overflows;
}

std::optional<SmallVector<double>>
ScalerProof::evaluate(Value value, Value old, double scale,
                      const llvm::BitVector &off) {
  auto isOld = [&](Value other) {
    if (other == old)
      return true;
    // The result of an update of the old scale is another scale.
    auto op = dyn_cast_or_null<LossScaleOpInterface>(other.getDefiningOp());
    Value origin;
    return op && trace(other, old, false, origin) == Origin::Updated;
  };
  ScalarEvaluator evaluator(
      [&](Value other) -> std::optional<ScalarEvaluator::Set> {
        if (isOld(other)) {
          auto element = cast<FloatType>(getElementTypeOrSelf(other));
          auto type = dyn_cast<RankedTensorType>(other.getType());
          if (!type)
            return ScalarEvaluator::Set{FloatAttr::get(element, scale)};
          if (!type.hasStaticShape())
            return ScalarEvaluator::Set();
          return ScalarEvaluator::Set{DenseElementsAttr::get(
              type, ArrayRef<Attribute>(FloatAttr::get(element, scale)))};
        }
        // A bound that the caller passes.
        if (auto type = dyn_cast<RankedTensorType>(other.getType());
            type && type.hasStaticShape() &&
            getRole(other) == Role::Hyperparameter)
          if (isa<FloatType>(type.getElementType()))
            return ScalarEvaluator::getSplat(
                type, getInitialNumber(other).value_or(65536));
        Operation *op = other.getDefiningOp();
        const llvm::BitVector *gradients = op ? flags.find(op) : nullptr;
        if (!gradients ||
            op->getResult(
                cast<LossScaleOpInterface>(op).getFiniteFlagResult()) != other)
          return std::nullopt;
        bool isOff = gradients->anyCommon(off);
        // After one check overflows, the other checks may see no overflow.
        Attribute known = getBoolean(other.getType(), !isOff);
        if (!known || (off.any() && !isOff))
          return std::nullopt;
        return ScalarEvaluator::Set{known};
      },
      [&](Operation *loop) {
        return llvm::any_of(flags.getChecks(), [&](Operation *check) {
          return loop->isProperAncestor(check);
        });
      });
  SmallVector<double> numbers;
  for (Attribute attribute : evaluator.get(value)) {
    if (auto elements = dyn_cast<DenseFPElementsAttr>(attribute)) {
      if (!elements.isSplat())
        return std::nullopt;
      attribute = elements.getSplatValue<Attribute>();
    }
    auto number = dyn_cast<FloatAttr>(attribute);
    if (!number)
      return std::nullopt;
    numbers.push_back(number.getValueAsDouble());
  }
  // A condition on the scale may choose between these numbers.
  if (evaluator.hasSkipped())
    return std::nullopt;
  return numbers.empty() ? std::nullopt : std::optional(numbers);
}

LogicalResult ScalerProof::checkByHand(const State &state) {
  Value value = skipMoves(state.value);
  Value old = state.old;
  for (std::optional<Carried> carried = getCarried(value);
       carried && skipMoves(carried->init) == old;
       carried = getCarried(value)) {
    value = skipMoves(carried->yielded);
    old = carried->argument;
  }
  // Record the values that it is computed from, for the proof of the trackers.
  SmallVector<Value> worklist = {value};
  llvm::DenseSet<Value> seen;
  bool isOfUpdate = false;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (auto iface = dyn_cast_or_null<LossScaleOpInterface>(op);
        iface && iface.getFiniteFlagOperand() >= 0) {
      isOfUpdate = true;
      continue;
    }
    if (!op || flags.find(op))
      continue;
    llvm::append_range(worklist, op->getOperands());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          llvm::append_range(worklist, block.getTerminator()->getOperands());
  }
  read.insert(seen.begin(), seen.end());
  if (isOfUpdate && seen.contains(old))
    return failUnverified(state, "it mixes the old scale with what "
                                 "'amp.update_scale' returns");

  return checkNumbers(state, value, old, isOfUpdate);
}

/// Returns whether `a` is below `b` by more than rounding errors, such as those
/// of exp(log(b)).
static bool isBelow(double a, double b) { return a < b * (1 - 0x1p-20); }

/// The new scales that an update by hand computes.
struct ScalerProof::NewScales {
  bool isBad = false, isSensitive = false;
  /// New scales below the old one after a clean step. A cap gives one number.
  std::set<double> fallen;
  /// New scales after an overflow, above and below the old one. A floor gives
  /// one number above it.
  std::set<double> grownAfter, fallenAfter;
  /// Old scales that can fall after an overflow, and others.
  std::set<double> falling, kept;

  void addClean(double scale, ArrayRef<double> clean) {
    for (double number : clean) {
      isBad |= !(number > 0) || !std::isfinite(number);
      if (isBelow(number, scale))
        fallen.insert(number);
    }
  }

  void addAfter(double scale, ArrayRef<double> after) {
    bool falls = false;
    for (double number : after) {
      isBad |= !(number > 0) || !std::isfinite(number);
      falls |= isBelow(number, scale);
      if (isBelow(number, scale))
        fallenAfter.insert(number);
      if (isBelow(scale, number))
        grownAfter.insert(number);
    }
    (falls ? falling : kept).insert(scale);
  }
};

bool ScalerProof::collect(Value value, Value old, ArrayRef<double> scales,
                          NewScales &found) {
  SmallVector<llvm::BitVector> overflows = getOverflows(old);
  if (overflows.empty())
    overflows.push_back(llvm::BitVector(flags.size()));
  const llvm::BitVector none(flags.size());
  for (double scale : scales) {
    auto clean = evaluate(value, old, scale, none);
    if (!clean)
      return false;
    found.addClean(scale, *clean);
    for (const llvm::BitVector &off : overflows) {
      auto after = evaluate(value, old, scale, off);
      if (!after)
        return false;
      found.isSensitive |= *after != *clean;
      found.addAfter(scale, *after);
    }
  }
  return true;
}

bool ScalerProof::isCap(double cap, Value value, Value old,
                        SmallVector<double> scales) {
  scales.append({1.25 * cap, 1.75 * cap, 2 * cap});
  return llvm::all_of(scales, [&](double scale) {
    if (scale <= cap)
      return true;
    auto clean = evaluate(value, old, scale, llvm::BitVector(flags.size()));
    // A condition on other values may skip the update.
    return clean && llvm::is_contained(*clean, cap) &&
           llvm::all_of(*clean, [&](double number) {
             return number == cap ||
                    !(isBelow(number, scale) || isBelow(scale, number));
           });
  });
}

/// Returns the number of `value`, a constant with one number.
static std::optional<double> getConstantNumber(Value value) {
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return std::nullopt;
  if (auto elements = dyn_cast<DenseElementsAttr>(constant);
      elements && elements.isSplat())
    constant = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(constant))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(constant);
      number && number.getValue().getSignificantBits() <= 64)
    return static_cast<double>(number.getInt());
  return std::nullopt;
}

SmallVector<double>
ScalerProof::getOldScales(std::optional<double> initial) const {
  constexpr double lowest = 0x1p-8, highest = 0x1p30;
  constexpr size_t maxConstants = 16;
  std::set<double> scales, constants;
  for (double scale = lowest; scale <= highest; scale *= 2)
    scales.insert({scale, scale * 1.5});
  for (Value value : read)
    if (std::optional<double> number = getConstantNumber(value))
      constants.insert(std::abs(*number));
  scales.insert(constants.begin(), constants.end());
  if (initial)
    scales.insert(*initial);
  // A threshold may be for a multiple of the scale.
  if (constants.size() <= maxConstants)
    for (double a : constants)
      for (double b : constants)
        scales.insert({a * b, a / b});
  SmallVector<double> all;
  for (double scale : scales) {
    if (!(scale >= lowest && scale <= highest) && scale != initial)
      continue;
    // Nothing between two scales may differ from both.
    if (!all.empty())
      all.push_back(std::sqrt(all.back() * scale));
    all.push_back(scale);
  }
  return all;
}

LogicalResult ScalerProof::checkNumbers(const State &state, Value value,
                                        Value old, bool isOfUpdate) {
  std::optional<double> initial = getInitialNumber(state.old);
  if (initial && !(*initial > 0 && std::isfinite(*initial)))
    initial = std::nullopt;
  SmallVector<double> scales = getOldScales(initial);
  // Updates of the operation keep powers of 2 times the initial scale, which a
  // cast to bf16 may keep too.
  if (isOfUpdate)
    llvm::erase_if(scales, [&](double scale) {
      int exponent;
      return std::frexp(scale, &exponent) !=
             std::frexp(initial.value_or(1), &exponent);
    });
  NewScales found;
  found.isSensitive = isOfUpdate;
  if (!collect(value, old, scales, found))
    return failUnverified(state, "it is not known what it computes");

  auto fail = [&](const Twine &what) {
    return emitError(state.value.getLoc())
           << "the update of " << state.name << ' ' << what;
  };
  if (found.isBad)
    return fail("can become 0, negative or infinite, expected a scale that is "
                "positive and finite");
  bool isAlways = found.fallen.empty() || found.grownAfter.empty();
  if (!found.isSensitive && !isAlways)
    return failUnverified(state, "it does not depend on a finite flag");
  if (isOfUpdate)
    return found.fallen.size() > 1 || found.grownAfter.size() > 1
               ? failUnverified(state, "it changes what 'amp.update_scale' "
                                       "returns")
               : success();
  if (found.fallen.size() > 1 ||
      (found.fallen.size() == 1 &&
       !isCap(*found.fallen.begin(), value, old, scales)))
    return fail("falls where all gradients are finite, expected it to stay or "
                "to grow");
  // A floor above the initial scale raises the scale after the first overflow.
  std::optional<double> floor;
  if (!found.grownAfter.empty())
    floor = *found.grownAfter.begin();
  if (found.grownAfter.size() > 1 || (floor && initial && *floor > *initial))
    return fail("grows where gradients are not finite, expected it to fall");
  // Only scales up to the floor may stay. Without a floor, only the smallest
  // scales may stay, and not the initial one.
  bool isStuck =
      floor ? !found.kept.empty() && isBelow(*floor, *found.kept.rbegin())
            : !found.falling.count(initial.value_or(0x1p16));
  if (isStuck || found.fallenAfter.size() < 2 ||
      (!found.kept.empty() && *found.kept.rbegin() > *found.falling.begin()))
    return fail("stays as it is where gradients are not finite, expected it to "
                "fall");
  return success();
}

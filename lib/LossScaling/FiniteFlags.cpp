//===- FiniteFlags.cpp - Which gradients a condition tests ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/FiniteFlags.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/LossScaling/ValueOrigins.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

#include <set>

using namespace mlir;
using namespace mlir::amp;

void FiniteFlags::add(LossScaleOpInterface check,
                      const ScaleExponentAnalysis &exponents) {
  checks.push_back(check);
  int scale = check.getLossScaleOperand();
  ScaleExponent::Symbol symbol = exponents.getSymbol(check->getOperand(scale));
  SmallVector<unsigned> found;
  for (OpOperand &operand : check->getOpOperands()) {
    if (static_cast<int>(operand.getOperandNumber()) == scale)
      continue;
    Value gradient = skipWidening(operand.get());
    auto [it, isNew] = numbers.try_emplace(
        {gradient.getAsOpaquePointer(), symbol,
         DictionaryAttr(check->getAttrDictionary()).getAsOpaquePointer()},
        firstCheck.size());
    if (isNew) {
      firstCheck.push_back(check);
      same.push_back({gradient.getAsOpaquePointer(), symbol});
      byValue.try_emplace(gradient, it->second);
    }
    found.push_back(it->second);
  }
  llvm::BitVector &bits = gradientsOf[check];
  bits.resize(firstCheck.size());
  for (unsigned gradient : found)
    bits.set(gradient);
}

void FiniteFlags::addSame(llvm::BitVector &gradients) const {
  std::set<std::pair<void *, ScaleExponent::Symbol>> found;
  for (unsigned gradient : gradients.set_bits())
    found.insert(same[gradient]);
  for (auto [gradient, key] : llvm::enumerate(same))
    if (found.count(key))
      gradients.set(gradient);
}

const llvm::BitVector *FiniteFlags::find(Operation *check) {
  auto *it = gradientsOf.find(check);
  if (it == gradientsOf.end())
    return nullptr;
  it->second.resize(size());
  return &it->second;
}

std::optional<unsigned> FiniteFlags::findGradient(Value value) const {
  auto it = byValue.find(skipWidening(value));
  return it == byValue.end() ? std::nullopt : std::optional(it->second);
}

ScalarEvaluator::Assumption
FiniteFlags::makeAssumption(const llvm::BitVector &off) {
  return [this, off](Value value) -> std::optional<ScalarEvaluator::Set> {
    Operation *op = value.getDefiningOp();
    const llvm::BitVector *gradients = op ? find(op) : nullptr;
    if (!gradients || !gradients->anyCommon(off) ||
        op->getResult(cast<LossScaleOpInterface>(op).getFiniteFlagResult()) !=
            value)
      return std::nullopt;
    Attribute no = getBoolean(value.getType(), false);
    return no ? ScalarEvaluator::Set{no} : ScalarEvaluator::Set();
  };
}

std::unique_ptr<ScalarEvaluator>
FiniteFlags::makeEvaluator(const llvm::BitVector &off,
                           ScalarEvaluator::Assumption assumption) {
  auto concerns = [this, off](Operation *loop) {
    return llvm::any_of(gradientsOf, [&](auto &entry) {
      return loop->isProperAncestor(entry.first) &&
             find(entry.first)->anyCommon(off);
    });
  };
  return std::make_unique<ScalarEvaluator>(std::move(assumption), concerns);
}

/// Returns numbers that `value` may have if it is a single hyperparameter or
/// scale, or nothing. No comparison with a usual number has one outcome for all
/// of them.
static std::optional<ScalarEvaluator::Set> getNumbers(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (type && (!type.hasStaticShape() || type.getNumElements() != 1))
    return std::nullopt;
  std::optional<Role> role = getRole(value);
  SmallVector<double> numbers;
  if (role == Role::Hyperparameter)
    numbers = {-1e30, 0, 1e-30, 1e30};
  else if (role == Role::ScalerState)
    numbers = {1e-30, 1e30};
  ScalarEvaluator::Set set;
  for (double number : numbers)
    llvm::append_range(set, ScalarEvaluator::getSplat(value.getType(), number));
  return set.empty() ? std::nullopt : std::optional(set);
}

ArrayRef<FiniteFlags::Group> FiniteFlags::getGroups() {
  if (!groups.empty())
    return groups;
  std::vector<std::vector<unsigned>> checksOf(size());
  for (auto [number, check] : llvm::enumerate(checks))
    for (unsigned gradient : find(check)->set_bits())
      checksOf[gradient].push_back(number);
  std::map<std::vector<unsigned>, unsigned> found;
  for (unsigned gradient = 0, e = size(); gradient != e; ++gradient) {
    auto [it, isNew] = found.try_emplace(checksOf[gradient], groups.size());
    if (isNew) {
      llvm::BitVector one(size());
      one.set(gradient);
      auto isOff = makeAssumption(one);
      auto withNumbers = [isOff](Value value) {
        std::optional<ScalarEvaluator::Set> known = isOff(value);
        return known ? known : getNumbers(value);
      };
      groups.push_back({llvm::BitVector(size()), makeEvaluator(one, isOff),
                        makeEvaluator(one, withNumbers)});
    }
    groups[it->second].gradients.set(gradient);
  }
  return groups;
}

std::optional<bool> FiniteFlags::evaluateGroup(const Group &group,
                                               Value condition) {
  if (std::optional<bool> known = group.evaluator->getBool(condition))
    return known;
  // A flag that is read twice has one value. Try all values of a few flags.
  constexpr unsigned kMostFlags = 4;
  SmallVector<LossScaleOpInterface> others;
  for (LossScaleOpInterface check : checks) {
    if (check->getParentOfType<LoopLikeOpInterface>())
      return std::nullopt;
    if (!find(check)->anyCommon(group.gradients))
      others.push_back(check);
  }
  if (others.empty() || others.size() > kMostFlags)
    return std::nullopt;
  std::optional<bool> found;
  for (unsigned values = 0; values != 1u << others.size(); ++values) {
    auto isOff = makeAssumption(group.gradients);
    ScalarEvaluator evaluator(
        [&](Value value) -> std::optional<ScalarEvaluator::Set> {
          for (auto [bit, check] : llvm::enumerate(others))
            if (value == check->getResult(check.getFiniteFlagResult()))
              if (Attribute flag =
                      getBoolean(value.getType(), values >> bit & 1))
                return ScalarEvaluator::Set{flag};
          return isOff(value);
        });
    std::optional<bool> known = evaluator.getBool(condition);
    if (!known || (found && *found != *known))
      return std::nullopt;
    found = known;
  }
  return found;
}

const llvm::BitVector &FiniteFlags::getForcing(Value condition, bool value) {
  auto [it, isNew] = forcing.try_emplace(condition);
  if (isNew) {
    llvm::BitVector no(size()), yes(size());
    if (readsFlag(condition))
      for (const Group &group : getGroups())
        if (std::optional<bool> known = evaluateGroup(group, condition))
          (*known ? yes : no) |= group.gradients;
    it->second = {no, yes};
  }
  return value ? it->second.second : it->second.first;
}

std::optional<bool> FiniteFlags::evaluate(Value condition,
                                          const llvm::BitVector &off) {
  if (!readsFlag(condition))
    return std::nullopt;
  for (auto &[known, evaluator] : evaluators)
    if (known == off)
      return evaluator->getBool(condition);
  evaluators.emplace_back(off, makeEvaluator(off, makeAssumption(off)));
  return evaluators.back().second->getBool(condition);
}

/// Returns `number` in all elements of `type`, or null.
static Attribute getNumberOf(Type type, double number) {
  ScalarEvaluator::Set splat = ScalarEvaluator::getSplat(type, number);
  if (!splat.empty())
    return splat.front();
  Type element = getElementTypeOrSelf(type);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!element.isInteger() || element.isInteger(1) ||
      (tensor && !tensor.hasStaticShape()) || (!tensor && type != element))
    return {};
  auto scalar = IntegerAttr::get(element, static_cast<int64_t>(number));
  return tensor ? Attribute(DenseElementsAttr::get(tensor,
                                                   ArrayRef<Attribute>(scalar)))
                : Attribute(scalar);
}

/// Numbers to try a function on. Only the identity returns each of them
/// unchanged.
static constexpr double kSamples[] = {0, 1, 3, 37, -5, 1000};

llvm::BitVector FiniteFlags::getIdentity(OpOperand &operand) {
  llvm::BitVector found(size());
  Operation *op = operand.getOwner();
  Value other = op->getOperand(1 - operand.getOperandNumber());
  Value result = op->getResult(0);
  if (!readsFlag(other))
    return found;
  // Whether the operation returns `sample` if the other operand is `zero`.
  auto returns = [&](Attribute sample, Attribute zero) {
    ScalarEvaluator evaluator(
        [&](Value value) -> std::optional<ScalarEvaluator::Set> {
          if (value == operand.get())
            return ScalarEvaluator::Set{sample};
          if (value == other)
            return ScalarEvaluator::Set{zero};
          return std::nullopt;
        });
    return sample && evaluator.get(result) == ScalarEvaluator::Set{sample};
  };
  // Zeros of both signs are possible.
  for (const Group &group : getGroups()) {
    ScalarEvaluator::Set known = group.withNumbers->get(other);
    if (!known.empty() && llvm::all_of(known, [&](Attribute zero) {
          return llvm::all_of(kSamples, [&](double number) {
            return returns(getNumberOf(operand.get().getType(), number), zero);
          });
        }))
      found |= group.gradients;
  }
  return found;
}

bool FiniteFlags::keepsNumber(Value value, Value old,
                              const llvm::BitVector &off) {
  auto type = dyn_cast<ShapedType>(old.getType());
  if (value.getType() != old.getType() || !readsFlag(value) ||
      (type && (!type.hasStaticShape() || type.getNumElements() != 1)))
    return false;
  return llvm::all_of(kSamples, [&](double number) {
    Attribute sample = getNumberOf(old.getType(), number);
    auto isOff = makeAssumption(off);
    ScalarEvaluator evaluator(
        [&](Value other) -> std::optional<ScalarEvaluator::Set> {
          return other == old ? ScalarEvaluator::Set{sample} : isOff(other);
        });
    return sample && evaluator.get(value) == ScalarEvaluator::Set{sample};
  });
}

bool FiniteFlags::readsFlag(Value condition) {
  if (!hasDependents) {
    hasDependents = true;
    SmallVector<Value> worklist;
    auto push = [&](Value value) {
      if (dependents.insert(value).second)
        worklist.push_back(value);
    };
    auto pushAll = [&](Operation *op) {
      llvm::for_each(op->getResults(), push);
      for (Region &region : op->getRegions())
        llvm::for_each(region.getArguments(), push);
    };
    for (LossScaleOpInterface check : checks)
      push(check->getResult(check.getFiniteFlagResult()));
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val().getUsers()) {
        pushAll(user);
        // The operands of a return do not mark the function.
        if (Operation *parent = user->getParentOp();
            user->hasTrait<OpTrait::IsTerminator>() &&
            parent->getNumResults() != 0)
          pushAll(parent);
      }
  }
  return dependents.contains(condition);
}

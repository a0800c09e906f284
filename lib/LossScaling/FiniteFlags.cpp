//===- FiniteFlags.cpp - Which gradients a condition tests ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/FiniteFlags.h"

#include "amp/LossScaling/ValueOrigins.h"

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
      byValue.try_emplace(gradient, it->second);
    }
    found.push_back(it->second);
  }
  llvm::BitVector &bits = gradientsOf[check];
  bits.resize(firstCheck.size());
  for (unsigned gradient : found)
    bits.set(gradient);
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

std::unique_ptr<ScalarEvaluator>
FiniteFlags::makeEvaluator(const llvm::BitVector &off) {
  auto assume = [this,
                 off](Value value) -> std::optional<ScalarEvaluator::Set> {
    Operation *op = value.getDefiningOp();
    const llvm::BitVector *gradients = op ? find(op) : nullptr;
    if (!gradients || !gradients->anyCommon(off) ||
        op->getResult(cast<LossScaleOpInterface>(op).getFiniteFlagResult()) !=
            value)
      return std::nullopt;
    Attribute no = getBoolean(value.getType(), false);
    return no ? ScalarEvaluator::Set{no} : ScalarEvaluator::Set();
  };
  auto concerns = [this, off](Operation *loop) {
    return llvm::any_of(gradientsOf, [&](auto &entry) {
      return loop->isProperAncestor(entry.first) &&
             find(entry.first)->anyCommon(off);
    });
  };
  return std::make_unique<ScalarEvaluator>(assume, concerns);
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
      groups.push_back({llvm::BitVector(size()), makeEvaluator(one)});
    }
    groups[it->second].gradients.set(gradient);
  }
  return groups;
}

const llvm::BitVector &FiniteFlags::getForcing(Value condition, bool value) {
  auto [it, isNew] = forcing.try_emplace(condition);
  if (isNew) {
    llvm::BitVector no(size()), yes(size());
    if (readsFlag(condition))
      for (const Group &group : getGroups())
        if (std::optional<bool> known = group.evaluator->getBool(condition))
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
  evaluators.emplace_back(off, makeEvaluator(off));
  return evaluators.back().second->getBool(condition);
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

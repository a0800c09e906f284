//===- GuardSources.cpp - Where gradients may not be finite ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations that a guard must protect the state from: those that unscale
// gradients, with or without a check, and those that compute an infinity from
// checked gradients.
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/GuardAnalysis.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

void GuardAnalysis::findChecks() {
  function->walk([&](LossScaleOpInterface op) {
    if (op.getFiniteFlagResult() >= 0 && isDynamic(getScale(op)))
      flags.add(op, exponents);
  });
  for (LossScaleOpInterface check : flags.getChecks())
    sources[check] = *flags.find(check);
}

std::optional<llvm::BitVector>
GuardAnalysis::getCheckedOperands(Operation *op) {
  llvm::BitVector found(flags.size());
  SmallVector<Operation *> worklist = {op};
  DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    bool isScaled = false;
    for (Value operand : next->getOperands()) {
      if (exponents.isScale(operand) ||
          !isDynamic(exponents.getExponent(operand)) ||
          exponents.isOfScaler(operand))
        continue;
      isScaled = true;
      if (std::optional<unsigned> gradient = flags.findGradient(operand)) {
        found.set(*gradient);
        continue;
      }
      Operation *definer = operand.getDefiningOp();
      if (!definer || definer->getNumRegions() != 0)
        return std::nullopt;
      worklist.push_back(definer);
    }
    // A quotient by a scale alone, such as of a learning rate, is finite.
    if (!isScaled &&
        (next == op || llvm::any_of(next->getResults(), [&](Value result) {
           return llvm::any_of(exponents.getExponent(result).getTerms(),
                               [](const ScaleExponent::Term &term) {
                                 return term.numerator > 0;
                               });
         })))
      return std::nullopt;
  }
  return found;
}

void GuardAnalysis::findSources() {
  std::vector<std::pair<Operation *, unsigned>> bits;
  function->walk([&](Operation *op) {
    if (flags.find(op) || op == function || isa<RegionBranchOpInterface>(op) ||
        op->hasTrait<OpTrait::IsTerminator>())
      return;
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    if (llvm::none_of(read, [&](Value value) {
          return !exponents.isOfScaler(value) &&
                 isDynamic(exponents.getExponent(value));
        }))
      return;
    // Zeros and loss scales are not gradients.
    if (llvm::none_of(op->getResults(), [&](Value value) {
          return isa<FloatType>(getElementTypeOrSelf(value)) &&
                 exponents.knows(value) && !exponents.isScale(value) &&
                 !exponents.getExponent(value).isAny() &&
                 !isDynamic(exponents.getExponent(value));
        }))
      return;
    // The flags of gradients also guard the values that are computed from them.
    std::optional<llvm::BitVector> checked;
    if (read.size() ==
        llvm::SetVector<Value>(op->operand_begin(), op->operand_end()).size())
      checked = getCheckedOperands(op);
    if (checked) {
      sources[op] = *checked;
      return;
    }
    bits.push_back({op, flags.size() + unchecked.size()});
    unchecked.push_back({op});
  });
  for (auto [op, bit] : bits) {
    llvm::BitVector &of = sources[op];
    of.resize(bit + 1);
    of.set(bit);
  }
}

/// Whether `attribute` holds an infinity or NaN. Returns std::nullopt if it is
/// not a float.
static std::optional<bool> isFinite(Attribute attribute) {
  if (auto elements = dyn_cast_or_null<DenseFPElementsAttr>(attribute)) {
    if (elements.isSplat())
      return elements.getSplatValue<APFloat>().isFinite();
    return llvm::all_of(
        elements.getValues<APFloat>(),
        [](const APFloat &number) { return number.isFinite(); });
  }
  if (auto number = dyn_cast_or_null<FloatAttr>(attribute))
    return number.getValue().isFinite();
  return std::nullopt;
}

bool GuardAnalysis::isFiniteIn(ScalarEvaluator &example, Value value) {
  const ScalarEvaluator::Set &known = example.get(value);
  return !known.empty() && llvm::all_of(known, [](Attribute attribute) {
    return isFinite(attribute) == true;
  });
}

llvm::DenseSet<Value> GuardAnalysis::getNewParameters() const {
  llvm::DenseSet<Value> found;
  SmallVector<Value> worklist;
  for (const Update &update : results)
    if (getRole(update.old) == Role::Parameter)
      worklist.push_back(update.value);
  while (!worklist.empty()) {
    auto result = dyn_cast<OpResult>(worklist.pop_back_val());
    if (!result || !found.insert(result).second)
      continue;
    Operation *op = result.getOwner();
    for (Region &region : op->getRegions()) {
      if (!region.hasOneBlock() || !region.front().mightHaveTerminator())
        continue;
      Operation *last = region.front().getTerminator();
      if (last->getNumOperands() == op->getNumResults())
        worklist.push_back(last->getOperand(result.getResultNumber()));
    }
  }
  return found;
}

/// Whether `op` only rounds a tensor or number to a narrower type of floats.
static bool isNarrowing(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  auto wide = dyn_cast<FloatType>(getElementTypeOrSelf(from));
  auto narrow = dyn_cast<FloatType>(getElementTypeOrSelf(to));
  return wide && narrow && narrow.getWidth() < wide.getWidth() &&
         succeeded(verifyCompatibleShape(from, to));
}

void GuardAnalysis::findInfinities() {
  // The operations on checked gradients.
  llvm::SetVector<Operation *> users;
  SmallVector<Operation *> worklist;
  auto visitUser = [&](Operation *user) {
    if (!flags.find(user) && users.insert(user))
      worklist.push_back(user);
  };
  for (LossScaleOpInterface check : flags.getChecks()) {
    llvm::for_each(check->getUsers(), visitUser);
    for (Value gradient : check->getOperands())
      if (flags.findGradient(gradient))
        llvm::for_each(gradient.getUsers(), visitUser);
  }
  while (!worklist.empty())
    llvm::for_each(worklist.pop_back_val()->getUsers(), visitUser);
  llvm::DenseSet<Value> newParameters = getNewParameters();
  // Rounding a new parameter to its low copy overflows if the parameter is too
  // large for the low type. The gradients cannot tell.
  auto isLowCopy = [&](Operation *op) {
    return isa<MasterCopyOp>(op) || ((CastLike(op) || isNarrowing(op)) &&
                                     newParameters.contains(op->getOperand(0)));
  };
  // Zero gradients, and large ones: within the range of f16, or beyond it for
  // wider types.
  for (double size : {0.0, 1.0, -1.0}) {
    auto assume = [this,
                   size](Value value) -> std::optional<ScalarEvaluator::Set> {
      Operation *op = value.getDefiningOp();
      if (op && flags.find(op)) {
        auto check = cast<LossScaleOpInterface>(op);
        unsigned index = cast<OpResult>(value).getResultNumber();
        if (static_cast<int>(index) == check.getFiniteFlagResult()) {
          Attribute yes = getBoolean(value.getType(), true);
          return yes ? ScalarEvaluator::Set{yes} : ScalarEvaluator::Set();
        }
        bool isHalf = index < op->getNumOperands() &&
                      getElementTypeOrSelf(op->getOperand(index)).isF16();
        return ScalarEvaluator::getSplat(value.getType(),
                                         size * (isHalf ? 6.0e4 : 7.0e4));
      }
      if (flags.findGradient(value))
        return ScalarEvaluator::getSplat(
            value.getType(),
            size * (getElementTypeOrSelf(value).isF16() ? 6.0e4 : 7.0e4));
      // Use the values at the beginning of a training run.
      std::optional<Role> role = getRole(value);
      if (role == Role::OptimizerState)
        return ScalarEvaluator::getSplat(value.getType(), 0);
      if (role == Role::Parameter || role == Role::Hyperparameter)
        return ScalarEvaluator::getSplat(value.getType(), 0.125);
      if (role == Role::ScalerState && exponents.isScale(value))
        return ScalarEvaluator::getSplat(value.getType(), 1024);
      return std::nullopt;
    };
    examples.push_back(std::make_unique<ScalarEvaluator>(assume));
    ScalarEvaluator &example = *examples.back();
    for (Operation *op : users) {
      if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
          isLowCopy(op) || llvm::any_of(unchecked, [&](const Unchecked &of) {
            return of.op == op;
          }))
        continue;
      const ScalarEvaluator::Set &result = example.get(op->getResult(0));
      if (result.size() != 1 || isFinite(result.front()) != false)
        continue;
      if (llvm::any_of(op->getOperands(), [&](Value operand) {
            return !matchPattern(operand, m_Constant()) &&
                   llvm::any_of(example.get(operand), [](Attribute attribute) {
                     return isFinite(attribute) == false;
                   });
          }))
        continue;
      unsigned bit = this->size();
      llvm::BitVector &bits = sources[op];
      bits.resize(bit + 1);
      bits.set(bit);
      unchecked.push_back({op, &example});
    }
  }
}

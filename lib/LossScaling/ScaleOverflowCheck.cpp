//===- ScaleOverflowCheck.cpp - Scaled constants in narrow types ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/ScaleOverflowCheck.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/LossScaling/ScalarEvaluator.h"
#include "amp/LossScaling/ValueOrigins.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// A scale without a maximum. Products of it with constants fit in f32.
static constexpr double kUnlimited = 0x1p100;

SmallVector<OpResult> ScaleOverflowCheck::findCandidates() {
  // An argument of a region is the value that the operation passes to it. The
  // evaluation decides.
  llvm::DenseSet<Value> free;
  auto isFree = [&](Value value) {
    // Conditions only choose.
    if (!isa<FloatType>(getElementTypeOrSelf(value)))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner()->getParentOp() != function ||
             exponents.isScale(value);
    return free.contains(value);
  };
  SmallVector<OpResult> found;
  function->walk([&](Operation *op) {
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          read.insert(block.getTerminator()->operand_begin(),
                      block.getTerminator()->operand_end());
    auto iface = dyn_cast<LossScaleOpInterface>(op);
    bool isSource = isa<GradientSeedOpInterface>(op) ||
                    op->hasTrait<OpTrait::ConstantLike>() ||
                    (iface && iface.getLossScaleResult() >= 0);
    if (!isSource && (read.empty() || !llvm::all_of(read, isFree)))
      return;
    free.insert(op->result_begin(), op->result_end());
    for (OpResult result : op->getResults())
      if (getElementTypeOrSelf(result).isF16() &&
          llvm::any_of(exponents.getExponent(result).getTerms(),
                       [](const ScaleExponent::Term &term) {
                         return term.numerator > 0;
                       }))
        found.push_back(result);
  });
  return found;
}

std::optional<double> ScaleOverflowCheck::getMaximum(Value scale) {
  Attribute constant;
  if (matchPattern(scale, m_Constant(&constant)))
    return getNumber(constant).value_or(kUnlimited);
  auto argument = dyn_cast<BlockArgument>(scale);
  if (!argument || argument.getOwner()->getParentOp() != function)
    return kUnlimited;
  auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    AMPDialect::kNameAttr);
  std::optional<double> maximum = getInitialNumber(argument);
  Operation *last = function.getFunctionBody().back().getTerminator();
  for (OpOperand &operand : last->getOpOperands()) {
    unsigned index = operand.getOperandNumber();
    if (!name || index >= function.getNumResults() ||
        function.getResultAttr(index, AMPDialect::kUpdatesAttr) != name ||
        operand.get() == scale)
      continue;
    // The largest new value for any old one.
    ScalarEvaluator evaluator(
        [&](Value value) -> std::optional<ScalarEvaluator::Set> {
          Operation *op = value.getDefiningOp();
          if (auto update = dyn_cast_or_null<UpdateScaleOp>(op);
              update && update.getNewScale() == value)
            return ScalarEvaluator::getSplat(
                value.getType(),
                std::min<double>(update.getScaler().getRules().maxScale,
                                 kUnlimited));
          if (auto adapt = dyn_cast_or_null<AdaptScaleOp>(op))
            return ScalarEvaluator::getSplat(
                value.getType(), adapt.getScaler().getRules().maxScale);
          if (isa<BlockArgument>(value) && exponents.isScale(value))
            return ScalarEvaluator::getSplat(value.getType(), kUnlimited);
          return std::nullopt;
        });
    const ScalarEvaluator::Set &values = evaluator.get(operand.get());
    if (values.empty())
      return kUnlimited;
    for (Attribute value : values)
      maximum =
          std::max(maximum.value_or(0), getNumber(value).value_or(kUnlimited));
  }
  return maximum ? std::optional(std::min(*maximum, kUnlimited)) : maximum;
}

/// Whether `value` is a constant factor of an operation that scales.
static bool isConstantScale(Value value) {
  return matchPattern(value, m_Constant()) &&
         llvm::any_of(value.getUses(), [](OpOperand &use) {
           auto iface = dyn_cast<LossScaleOpInterface>(use.getOwner());
           return iface && iface.getLossScaleOperand() ==
                               static_cast<int>(use.getOperandNumber());
         });
}

OpResult ScaleOverflowCheck::findOverflow(ArrayRef<OpResult> candidates,
                                          double limit) {
  llvm::DenseMap<Value, std::optional<double>> maxima;
  ScalarEvaluator evaluator(
      [&](Value value) -> std::optional<ScalarEvaluator::Set> {
        Operation *op = value.getDefiningOp();
        if (isa_and_nonnull<GradientSeedOpInterface>(op))
          return ScalarEvaluator::getSplat(value.getType(), 1);
        auto iface = dyn_cast_or_null<LossScaleOpInterface>(op);
        bool isScale = exponents.isScale(value) &&
                       (isa<BlockArgument>(value) ||
                        (iface && iface.getLossScaleResult() >= 0));
        if (!isScale && !isConstantScale(value))
          return std::nullopt;
        auto [it, isNew] = maxima.try_emplace(value);
        if (isNew)
          it->second = getMaximum(
              isScale ? exponents.getScale(exponents.getSymbol(value)) : value);
        return it->second ? ScalarEvaluator::getSplat(
                                value.getType(), std::min(*it->second, limit))
                          : ScalarEvaluator::Set();
      });
  auto overflows = [&](Value value) {
    return llvm::any_of(evaluator.get(value), [](Attribute attribute) {
      std::optional<double> number = getNumber(attribute);
      return number && !std::isfinite(*number);
    });
  };
  for (OpResult candidate : candidates)
    if (overflows(candidate) &&
        llvm::none_of(candidate.getOwner()->getOperands(), overflows))
      return candidate;
  return {};
}

bool ScaleOverflowCheck::isOfPass(OpResult value) {
  CastLike cast(value.getOwner());
  if (!cast || !cast.isInserted())
    return false;
  return llvm::none_of(exponents.getExponent(value).getTerms(),
                       [&](const ScaleExponent::Term &term) {
                         return matchPattern(exponents.getScale(term.symbol),
                                             m_Constant());
                       });
}

LogicalResult ScaleOverflowCheck::check() {
  SmallVector<OpResult> candidates = findCandidates();
  OpResult found = findOverflow(candidates, kUnlimited);
  if (!found)
    return success();
  double limit = 0x1p40;
  while (limit > 0x1p-40 && findOverflow(candidates, limit))
    limit /= 2;
  // A strategy that follows a framework narrows where the framework does. A
  // dynamic scale then loses a step where it grows too far.
  bool isWarning = isOfPass(found);
  InFlightDiagnostic diagnostic = isWarning ? found.getOwner()->emitWarning()
                                            : found.getOwner()->emitOpError();
  diagnostic
      << "computes the loss scale times constants in 'f16', which overflows "
         "for the scales that the step may have, expected ";
  if (limit > 0x1p-40)
    diagnostic << "a scale of at most 2^" << std::ilogb(limit)
               << ", or these values in f32";
  else
    diagnostic << "these values in f32";
  exponents.explain(found, *diagnostic.getUnderlyingDiagnostic());
  return failure(!isWarning);
}

//===- GuardProof.cpp - Proof that guards keep the state ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/GuardAnalysis.h"

#include "amp/LossScaling/ValueOrigins.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

LogicalResult GuardAnalysis::failUnguarded(const Update &update,
                                           unsigned source) {
  InFlightDiagnostic diagnostic = emitError(update.value.getLoc())
                                  << "the update of " << update.name
                                  << " depends on gradients that may not be "
                                     "finite, ";
  if (source < flags.size()) {
    diagnostic << "expected it within an 'scf.if' on the conjunction of their "
                  "finite flags";
    diagnostic.attachNote(flags.getCheck(source)->getLoc())
        << "these gradients are unscaled and checked here";
    return diagnostic;
  }
  const Unchecked &of = unchecked[source - flags.size()];
  if (of.isExchange) {
    diagnostic << "expected it within an 'scf.if' on the conjunction of the "
                  "finite flags of all ranks";
    diagnostic.attachNote(of.op->getLoc())
        << "this combines gradients that other ranks have checked";
    return diagnostic;
  }
  if (of.example) {
    diagnostic << "expected no operation after their check that computes an "
                  "infinity from finite gradients";
    diagnostic.attachNote(of.op->getLoc())
        << "what this computes can be infinite although the gradients are not";
    return diagnostic;
  }
  diagnostic << "expected it within an 'scf.if' on the conjunction of their "
                "finite flags";
  diagnostic.attachNote(of.op->getLoc())
      << "they are unscaled here without a check, expected an operation that "
         "gives a flag, such as 'amp.unscale'";
  return diagnostic;
}

LogicalResult GuardAnalysis::checkUpdate(const Update &update) {
  const Dependence &of = get(update.value);
  Location loc = update.value.getLoc();
  if (int index = of.unguarded.find_first(); index >= 0)
    return failUnguarded(update, index);
  if (flags.size() == 0 || update.value == update.old)
    return success();

  llvm::BitVector needed = of.all;
  needed.resize(flags.size());
  if (needed.any()) {
    needed.reset(getKeepers(update.value, update.old));
    int index = needed.find_first();
    if (index < 0)
      return success();
    InFlightDiagnostic diagnostic =
        emitError(loc) << "the update of " << update.name
                       << " does not give the old value back where gradients "
                          "are not finite, expected the argument from the "
                          "'else' branch of its guard";
    diagnostic.attachNote(flags.getCheck(index)->getLoc())
        << "these gradients are unscaled and checked here";
    return diagnostic;
  }
  // A count of steps, or decay without a gradient.
  auto *it = byOptimizer.find(update.optimizer);
  keptIfOff.clear();
  if (isKept(update.value, update.old,
             it != byOptimizer.end() && it->second.any()
                 ? it->second
                 : llvm::BitVector(flags.size(), true)))
    return success();
  return emitError(loc)
         << "the update of " << update.name
         << " is made even if no gradient of its optimizer is finite, expected "
            "it within the guard";
}

bool GuardAnalysis::goesThrough(Value value, Operation *loop) const {
  llvm::SetVector<Value> reached;
  reached.insert(skipMoves(value));
  for (size_t next = 0; next < reached.size(); ++next) {
    value = reached[next];
    if (std::optional<Choice> choice = getChoice(value)) {
      reached.insert(skipMoves(choice->good));
      reached.insert(skipMoves(choice->bad));
    } else if (std::optional<Carried> carried = getCarried(value)) {
      if (carried->loop == loop)
        return true;
      reached.insert(skipMoves(carried->yielded));
      reached.insert(skipMoves(carried->init));
    } else if (CastLike cast{value.getDefiningOp()}) {
      reached.insert(skipMoves(cast.getInput()));
    }
  }
  return false;
}

LogicalResult GuardAnalysis::checkOnce(LossScaleOpInterface update) {
  Operation *loop = update->getParentOp();
  while (loop != function && !isa<LoopLikeOpInterface>(loop))
    loop = loop->getParentOp();
  ScaleExponent::Symbol symbol = getScale(update);
  bool isChecked =
      llvm::any_of(flags.getChecks(), [&](LossScaleOpInterface check) {
        return exponents.dependsOn(getScale(check), symbol) &&
               (loop == function || loop->isProperAncestor(check));
      });
  auto first = dyn_cast_or_null<LossScaleOpInterface>(
      skipMoves(exponents.getScale(symbol)).getDefiningOp());
  if (std::optional<Carried> carried = getCarried(exponents.getScale(symbol)))
    first = dyn_cast_or_null<LossScaleOpInterface>(
        skipMoves(carried->yielded).getDefiningOp());
  if (!isChecked && first && first.getFiniteFlagOperand() >= 0) {
    InFlightDiagnostic diagnostic = update->emitOpError(
        "updates a scale that was updated before, expected one update of each "
        "scale in a step");
    diagnostic.attachNote(first->getLoc()) << "it is updated here";
    return diagnostic;
  }
  if (loop == function)
    return success();
  bool steps = false, isStep = false;
  for (const Update &of : results)
    if (std::optional<Role> role = getRole(of.old);
        role == Role::Parameter || role == Role::OptimizerState) {
      isStep = true;
      steps |= goesThrough(of.value, loop);
    }
  if (isChecked && (steps || !isStep))
    return success();
  InFlightDiagnostic diagnostic =
      update->emitOpError("updates a scale in each iteration of a loop that ");
  diagnostic << (isChecked ? "updates no parameter"
                           : "unscales no gradients by it")
             << ", expected one update of each scale in a step";
  diagnostic.attachNote(loop->getLoc()) << "this is the loop";
  return diagnostic;
}

LogicalResult GuardAnalysis::checkUpdateOp(LossScaleOpInterface update) {
  if (failed(checkOnce(update)))
    return failure();
  ScaleExponent::Symbol symbol = getScale(update);
  // The scale must learn of every overflow.
  llvm::BitVector known = flags.getForcing(
      update->getOperand(update.getFiniteFlagOperand()), false);
  flags.addSame(known);
  LogicalResult result = success();
  for (LossScaleOpInterface check : flags.getChecks()) {
    llvm::BitVector missing = *flags.find(check);
    missing.reset(known);
    if (!exponents.dependsOn(getScale(check), symbol) || missing.none())
      continue;
    InFlightDiagnostic diagnostic =
        update->emitOpError("does not see the finite flag of all gradients "
                            "that its scale divides, expected their "
                            "conjunction");
    diagnostic.attachNote(check->getLoc()) << "this one is missing";
    result = diagnostic;
  }
  return succeeded(result) ? checkFlag(update) : result;
}

LogicalResult GuardAnalysis::checkStates() {
  if (llvm::none_of(results, [&](const Update &update) {
        return exponents.isScale(update.old);
      }))
    return success();
  bool failed = false;
  for (LossScaleOpInterface update : updates)
    for (OpOperand &operand : update->getOpOperands()) {
      auto old = dyn_cast<BlockArgument>(skipMoves(operand.get()));
      if (!old || old.getOwner()->getParentOp() != function ||
          update.getNewStateResult(operand.getOperandNumber()) < 0 ||
          llvm::any_of(results,
                       [&](const Update &of) { return of.old == old; }))
        continue;
      auto name = function.getArgAttrOfType<StringAttr>(old.getArgNumber(),
                                                        AMPDialect::kNameAttr);
      if (!name || getRole(old) != Role::ScalerState)
        continue;
      InFlightDiagnostic diagnostic =
          emitError(old.getLoc())
          << "the state " << name
          << " of the scaler is not updated, expected a result with "
             "'amp.updates' that names it";
      diagnostic.attachNote(update->getLoc()) << "its new value is here";
      failed = true;
    }
  return failure(failed);
}

LogicalResult GuardAnalysis::checkScalers() {
  bool failed = false;
  auto isScale = [&](const Update &update) {
    return exponents.isScale(update.old) &&
           dynamic.contains(exponents.getSymbol(update.old));
  };
  for (const Update &update : results) {
    if (getRole(update.old) != Role::ScalerState || !isScale(update))
      continue;
    // A scale that an overflow does not change never falls. The next step
    // overflows too.
    llvm::BitVector keepers = getMayKeep(update.value, update.old);
    LossScaleOpInterface kept;
    for (LossScaleOpInterface check : flags.getChecks())
      if (flags.find(check)->anyCommon(keepers) &&
          exponents.dependsOn(getScale(check), exponents.getSymbol(update.old)))
        kept = kept ? kept : check;
    if (!kept) {
      failed |= mlir::failed(
          scalers.checkScale({update.name, update.old, update.value}));
      continue;
    }
    InFlightDiagnostic diagnostic =
        emitError(update.value.getLoc())
        << "the update of " << update.name
        << " gives the old scale back where gradients are not finite, expected "
           "the new one, which is updated outside of the guard";
    diagnostic.attachNote(kept->getLoc())
        << "these gradients are unscaled and checked here";
    failed = true;
  }
  failed |= mlir::failed(checkStates());
  for (const Update &update : results)
    if (getRole(update.old) == Role::ScalerState && !isScale(update))
      failed |= mlir::failed(
          scalers.checkTracker({update.name, update.old, update.value}));
  return failure(failed);
}

LogicalResult GuardAnalysis::check() {
  if (dynamic.empty())
    return success();
  // Repeat until the values that loops carry are stable.
  do {
    hasChanged = false;
    for (Block &block : function.getFunctionBody())
      for (Operation &op : block)
        visit(&op);
  } while (hasChanged);
  bool failed = mlir::failed(checkScalers());
  llvm::erase_if(results, [&](const Update &update) {
    std::optional<Role> role = getRole(update.old);
    return role != Role::Parameter && role != Role::OptimizerState;
  });
  for (const Update &update : results) {
    llvm::BitVector &of = byOptimizer[update.optimizer];
    of.resize(flags.size());
    llvm::BitVector all = get(update.value).all;
    all.resize(flags.size());
    of |= all;
  }
  for (const Update &update : results)
    failed |= mlir::failed(checkUpdate(update));
  for (LossScaleOpInterface update : updates)
    failed |= mlir::failed(checkUpdateOp(update));
  return failure(failed);
}

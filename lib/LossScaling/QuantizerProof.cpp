//===- QuantizerProof.cpp - Proof that histories are kept right -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/LossScaling/QuantizerProof.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/LossScaling/ValueOrigins.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

class QuantizerProof {
public:
  explicit QuantizerProof(FunctionOpInterface function) : function(function) {}

  LogicalResult check();

private:
  StringRef getName(BlockArgument state) {
    auto name = function.getArgAttrOfType<StringAttr>(state.getArgNumber(),
                                                      AMPDialect::kNameAttr);
    return name ? name.getValue() : "";
  }
  /// The operands of the step's return that replace `state`.
  SmallVector<OpOperand *> getReplacements(BlockArgument state);
  LogicalResult checkUpdate(UpdateQuantizerOp update);
  LogicalResult checkState(UpdateQuantizerOp update, OpOperand &operand,
                           Value result);
  LogicalResult checkMagnitude(UpdateQuantizerOp update);
  LogicalResult checkUnwritten(BlockArgument state);
  /// Whether both values are one, or are computed by equal operations.
  bool isEqual(Value first, Value second);

  FunctionOpInterface function;
  /// The update that writes each state.
  llvm::DenseMap<Value, UpdateQuantizerOp> writers;
  llvm::DenseMap<std::pair<Value, Value>, bool> equal;
};

} // namespace

SmallVector<OpOperand *> QuantizerProof::getReplacements(BlockArgument state) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand :
       function.getFunctionBody().back().getTerminator()->getOpOperands())
    if (operand.getOperandNumber() < function.getNumResults())
      if (auto name = function.getResultAttrOfType<StringAttr>(
              operand.getOperandNumber(), AMPDialect::kUpdatesAttr);
          name && name.getValue() == getName(state))
        operands.push_back(&operand);
  return operands;
}

/// Checks one state that `update` reads as `operand` and replaces by `result`.
LogicalResult QuantizerProof::checkState(UpdateQuantizerOp update,
                                         OpOperand &operand, Value result) {
  StringRef kind = operand.getOperandNumber() == 0 ? "scale" : "history";
  auto state = dyn_cast<BlockArgument>(operand.get());
  if (!state || state.getOwner() != &function.getFunctionBody().front() ||
      getRole(state) != Role::QuantizerState)
    return update.emitOpError("expected the ")
           << kind << " to be an argument of the step of role "
           << "'quantizer_state'";
  auto [it, isFirst] = writers.try_emplace(state, update);
  if (!isFirst) {
    InFlightDiagnostic diagnostic = update.emitOpError("writes the ")
                                    << kind << " '" << getName(state)
                                    << "', expected one update in each step";
    diagnostic.attachNote(it->second.getLoc()) << "it is written here too";
    return diagnostic;
  }
  SmallVector<OpOperand *> replacements = getReplacements(state);
  for (OpOperand &use : result.getUses()) {
    if (llvm::is_contained(replacements, &use))
      continue;
    if (use.getOwner() == function.getFunctionBody().back().getTerminator())
      return update.emitOpError("gives the new ")
             << kind << " of '" << getName(state)
             << "', which leaves the step as another value, expected it to "
                "update '"
             << getName(state) << "' alone";
    return use.getOwner()->emitOpError("reads the new ")
           << kind << " of '" << getName(state)
           << "', expected the one with which the step began";
  }
  if (!result.use_empty())
    return success();
  return update.emitOpError("gives a new ")
         << kind << " of '" << getName(state)
         << "', expected a result of the step with 'amp.updates' that names it";
}

bool QuantizerProof::isEqual(Value first, Value second) {
  first = skipWidening(first);
  second = skipWidening(second);
  if (first == second)
    return true;
  Operation *a = first.getDefiningOp(), *b = second.getDefiningOp();
  if (!a || !b || a->getNumRegions() != 0 || !isMemoryEffectFree(a))
    return false;
  auto [it, isNew] = equal.try_emplace({first, second}, false);
  if (!isNew)
    return it->second;
  bool areEqual =
      cast<OpResult>(first).getResultNumber() ==
          cast<OpResult>(second).getResultNumber() &&
      OperationEquivalence::isEquivalentTo(
          a, b, [&](Value x, Value y) { return success(isEqual(x, y)); },
          /*markEquivalent=*/nullptr,
          OperationEquivalence::IgnoreLocations |
              OperationEquivalence::IgnoreDiscardableAttrs);
  equal[{first, second}] = areEqual;
  return areEqual;
}

/// Returns whether `op` computes scalars from scalars, as a division by the
/// loss scale does.
static bool isScalar(Operation *op) {
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && tensor.getRank() == 0;
         });
}

/// Returns the magnitudes from which the scalar `value` is computed.
static llvm::SetVector<AmaxOp> findMagnitudes(Value value) {
  llvm::SetVector<AmaxOp> found;
  llvm::SetVector<Value> worklist;
  worklist.insert(value);
  for (size_t i = 0; i != worklist.size(); ++i) {
    Operation *op = worklist[i].getDefiningOp();
    if (auto amax = dyn_cast_or_null<AmaxOp>(op))
      found.insert(amax);
    else if (isScalar(op))
      worklist.insert(op->operand_begin(), op->operand_end());
  }
  return found;
}

/// Returns the quantisations by `scale`, or by scalars computed from it.
static SmallVector<QuantizeOp> findQuantizations(Value scale) {
  SmallVector<QuantizeOp> found;
  llvm::SetVector<Value> worklist;
  worklist.insert(scale);
  for (size_t i = 0; i != worklist.size(); ++i)
    for (Operation *user : worklist[i].getUsers()) {
      if (auto quantize = dyn_cast<QuantizeOp>(user))
        found.push_back(quantize);
      else if (isScalar(user) && !isa<UpdateQuantizerOp>(user))
        worklist.insert(user->getResult(0));
    }
  return found;
}

/// Checks that the history belongs to the tensors that the scale multiplies.
LogicalResult QuantizerProof::checkMagnitude(UpdateQuantizerOp update) {
  llvm::SetVector<AmaxOp> magnitudes = findMagnitudes(update.getAmax());
  if (magnitudes.empty())
    return update.emitOpError("expected the magnitude of an 'amp.amax'");
  for (QuantizeOp quantize : findQuantizations(update.getScale())) {
    if (llvm::any_of(magnitudes, [&](AmaxOp amax) {
          return isEqual(amax.getInput(), quantize.getInput());
        }))
      continue;
    InFlightDiagnostic diagnostic =
        quantize.emitOpError("multiplies a tensor by the scale '")
        << getName(cast<BlockArgument>(update.getScale()))
        << "', whose history gets the magnitude of another tensor";
    diagnostic.attachNote(magnitudes.front()->getLoc())
        << "the magnitude is computed here";
    return diagnostic;
  }
  return success();
}

LogicalResult QuantizerProof::checkUpdate(UpdateQuantizerOp update) {
  if (update->getBlock() != &function.getFunctionBody().front())
    return update.emitOpError("is in a region, expected one update in each "
                              "step, outside of regions");
  if (failed(
          checkState(update, update.getScaleMutable(), update.getNewScale())) ||
      failed(checkState(update, update.getHistoryMutable(),
                        update.getNewHistory())))
    return failure();
  return checkMagnitude(update);
}

/// Checks a state that no update reads.
LogicalResult QuantizerProof::checkUnwritten(BlockArgument state) {
  SmallVector<OpOperand *> replacements = getReplacements(state);
  if (!replacements.empty() && llvm::all_of(replacements, [&](OpOperand *use) {
        return use->get() == state;
      }))
    return success();
  return function->emitError("argument ")
         << state.getArgNumber() << ", '" << getName(state)
         << "', has 'amp.role' = \"quantizer_state\", expected an "
            "'amp.update_quantizer' that writes it";
}

LogicalResult QuantizerProof::check() {
  if (!function.getFunctionBody().hasOneBlock())
    return success();
  bool isRight = true;
  function->walk([&](UpdateQuantizerOp update) {
    isRight &= succeeded(checkUpdate(update));
  });
  if (!isRight)
    return failure();
  for (BlockArgument argument : function.getArguments())
    if (getRole(argument) == Role::QuantizerState &&
        !writers.contains(argument))
      isRight &= succeeded(checkUnwritten(argument));
  return success(isRight);
}

LogicalResult mlir::amp::checkQuantizers(FunctionOpInterface function) {
  return QuantizerProof(function).check();
}

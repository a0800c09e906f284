//===- InsertMasterWeights.cpp - f32 masters, low-precision copies --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepParameters.h"
#include "StepTransaction.h"
#include "UpdateRounder.h"
#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::amp {
#define GEN_PASS_DEF_INSERTMASTERWEIGHTSPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

class InsertMasterWeightsPass final
    : public amp::impl::InsertMasterWeightsPassBase<InsertMasterWeightsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (failed(checkOptions()))
      return signalPassFailure();
    if (mode == "cast" && moments == "f32")
      return;
    StepTransaction transaction;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (function.isExternal() || !isStepFunction(function))
            return WalkResult::skip();
          transaction.begin(function);
          return succeeded(rewriteFunction(function)) ? WalkResult::skip()
                                                      : WalkResult::interrupt();
        });
    if (!result.wasInterrupted())
      return;
    transaction.rollBack();
    signalPassFailure();
  }

private:
  LogicalResult checkOptions();
  LogicalResult rewriteFunction(FunctionOpInterface function);
  LogicalResult addCopies(StepRewriter &step);
  LogicalResult readHalves(StepRewriter &step);
  LogicalResult dropMasters(StepRewriter &step, CastChooser &casts,
                            UpdateRounder &rounder);
  void storeLow(FunctionOpInterface function);
};

} // namespace

LogicalResult InsertMasterWeightsPass::checkOptions() {
  auto check = [&](StringRef option, StringRef value,
                   ArrayRef<StringRef> choices) -> LogicalResult {
    if (llvm::is_contained(choices, value))
      return success();
    return emitError(getOperation()->getLoc())
           << "amp-insert-master-weights: unknown " << option << " '" << value
           << "', expected " << llvm::join(choices.drop_back(), ", ") << " or "
           << choices.back();
  };
  if (failed(check("mode", mode,
                   {"cast", "copy", "split", "none", "inference"})) ||
      failed(check("update-rounding", updateRounding,
                   {"nearest", "stochastic", "kahan"})) ||
      failed(check("moments", moments, {"f32", "bf16"})))
    return failure();
  if ((updateRounding == "kahan" && mode != "none") ||
      (updateRounding == "stochastic" && mode != "none" && moments == "f32"))
    return emitError(getOperation()->getLoc())
           << "amp-insert-master-weights: update-rounding=" << updateRounding
           << " is for weights without a master, expected mode=none, got mode="
           << mode;
  return success();
}

LogicalResult
InsertMasterWeightsPass::rewriteFunction(FunctionOpInterface function) {
  if (mode == "inference") {
    storeLow(function);
    return success();
  }
  FailureOr<StepRewriter> step = StepRewriter::get(function);
  if (failed(step))
    return failure();
  CastChooser casts(function);
  UpdateRounder rounder(*step, casts, updateRounding == "stochastic");
  if (mode != "cast" && !step->getGradients().empty() &&
      failed(step->checkUpdates()))
    return failure();
  if ((mode == "none" && failed(dropMasters(*step, casts, rounder))) ||
      (mode == "copy" && failed(addCopies(*step))) ||
      (mode == "split" && failed(readHalves(*step))))
    return failure();
  if (moments == "f32")
    return success();
  FailureOr<unsigned> count = rounder.narrowMoments();
  if (failed(count))
    return failure();
  numLowMoments += *count;
  return success();
}

/// Checks that a state has a static shape, because it is allocated before the
/// first step.
static LogicalResult checkStaticShape(FunctionOpInterface function,
                                      BlockArgument parameter,
                                      StringRef state) {
  auto type = dyn_cast<ShapedType>(parameter.getType());
  if (!type || type.hasStaticShape())
    return success();
  return function->emitError("parameter ")
         << function.getArgAttr(parameter.getArgNumber(), AMPDialect::kNameAttr)
         << " has type " << Type(type) << ", but " << state
         << " is kept from step to step, expected a static shape";
}

/// Gives each parameter that is read low the low type, rounds its update, and
/// widens it for readers in f32, such as updates.
LogicalResult InsertMasterWeightsPass::dropMasters(StepRewriter &step,
                                                   CastChooser &casts,
                                                   UpdateRounder &rounder) {
  FunctionOpInterface function = step.getFunction();
  SmallVector<std::pair<BlockArgument, FloatType>> parameters =
      getParameters(function);
  llvm::erase_if(parameters, [](const auto &entry) { return !entry.second; });
  if (parameters.empty())
    return success();
  for (auto &[parameter, low] : parameters)
    if ((updateRounding == "kahan" &&
         failed(checkStaticShape(function, parameter,
                                 "what its updates leave over"))) ||
        failed(checkCasts(function, casts, parameter, low,
                          /*narrows=*/updateRounding != "stochastic")))
      return failure();
  StepRewriter::OpSet forwardAndBackward = getForwardAndBackward(step);
  for (auto &[parameter, low] : parameters)
    if (updateRounding == "stochastic" && !low.isBF16())
      return function->emitError("stochastic rounding is to bf16, but "
                                 "parameter ")
             << function.getArgAttr(parameter.getArgNumber(),
                                    AMPDialect::kNameAttr)
             << " is read in " << low;
  if (failed(rounder.prepare()))
    return failure();
  SmallVector<Type> argumentTypes(function.getArgumentTypes());
  SmallVector<Type> resultTypes(function.getResultTypes());
  for (auto [parameter, low] : parameters) {
    unsigned index = parameter.getArgNumber();
    Type lowType = getWithElementType(parameter.getType(), low);
    parameter.setType(lowType);
    argumentTypes[index] = lowType;
    ++numLowParameters;

    Value widened;
    SmallVector<Operation *> readers = getWideReaders(parameter, lowType);
    for (OpOperand &use : llvm::make_early_inc_range(parameter.getUses())) {
      if (CastLike cast{use.getOwner()}; cast && cast.getType() == lowType) {
        cast.getResult().replaceAllUsesWith(parameter);
        cast->erase();
        continue;
      }
      if (!widened) {
        OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody());
        widened = casts.build(builder, function.getLoc(), parameter,
                              builder.getF32Type(), readers);
      }
      use.set(widened);
    }

    Attribute name = function.getArgAttr(index, AMPDialect::kNameAttr);
    for (OpOperand &operand : step.getReturn()->getOpOperands()) {
      unsigned result = operand.getOperandNumber();
      if (function.getResultAttr(result, AMPDialect::kUpdatesAttr) != name)
        continue;
      OpBuilder builder(step.getReturn());
      if (Operation *producer = operand.get().getDefiningOp())
        builder.setInsertionPointAfter(producer);
      operand.set(rounder.round(builder, operand.get(), low));
      resultTypes[result] = lowType;
    }
  }
  function.setFunctionTypeAttr(
      TypeAttr::get(function.cloneTypeWith(argumentTypes, resultTypes)));
  if (updateRounding == "kahan")
    for (auto &[parameter, low] : parameters)
      if (failed(rounder.addCompensation(parameter, forwardAndBackward)))
        return failure();
  return success();
}

/// Gives a parameter the low type if the step does not update it and reads it
/// only through casts to one low type.
void InsertMasterWeightsPass::storeLow(FunctionOpInterface function) {
  auto isUpdated = [&](Attribute name) {
    for (unsigned i = 0, e = function.getNumResults(); i != e; ++i)
      if (function.getResultAttr(i, AMPDialect::kUpdatesAttr) == name)
        return true;
    return false;
  };
  SmallVector<Type> argumentTypes(function.getArgumentTypes());
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    Attribute name = function.getArgAttr(index, AMPDialect::kNameAttr);
    if (getRole(argument) != Role::Parameter || argument.use_empty() ||
        isUpdated(name))
      continue;
    Type low = (*argument.user_begin())->getResultTypes().empty()
                   ? Type()
                   : (*argument.user_begin())->getResult(0).getType();
    bool onlyCasts = llvm::all_of(argument.getUsers(), [&](Operation *user) {
      CastLike cast(user);
      return cast && cast.isInserted() && cast.getType() == low;
    });
    if (!onlyCasts)
      continue;
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers())) {
      user->getResult(0).replaceAllUsesWith(argument);
      user->erase();
    }
    argument.setType(low);
    argumentTypes[index] = low;
    ++numCopies;
  }
  function.setFunctionTypeAttr(TypeAttr::get(
      function.cloneTypeWith(argumentTypes, function.getResultTypes())));
}

static remark::RemarkOpts getRemarkOptions(FunctionOpInterface function,
                                           StringRef name) {
  return remark::RemarkOpts::name(name).category("amp").function(
      function.getName());
}

/// Reports that the forward and backward pass do not read `parameter` low.
static void reportWideOnly(FunctionOpInterface function, StringRef remarkName,
                           StringAttr parameter) {
  remark::missed(function.getLoc(), getRemarkOptions(function, remarkName))
      << remark::metric("Parameter", parameter.getValue())
      << remark::reason("forward and backward read it in f32 only, or it "
                        "has a copy already");
}

/// Makes the forward and backward pass read the upper half of each parameter
/// where they read it low.
LogicalResult InsertMasterWeightsPass::readHalves(StepRewriter &step) {
  FunctionOpInterface function = step.getFunction();
  SmallVector<std::pair<BlockArgument, FloatType>> parameters =
      getParameters(function);
  for (auto [master, low] : parameters)
    if (low && !low.isBF16())
      return function->emitError("the upper half of an f32 is a bf16, but "
                                 "parameter ")
             << function.getArgAttr(master.getArgNumber(),
                                    AMPDialect::kNameAttr)
             << " is read in " << low
             << "; expected precision bf16, or master-weights=copy";
  StepRewriter::OpSet forwardAndBackward = getForwardAndBackward(step);
  for (auto [master, low] : parameters) {
    auto name = function.getArgAttrOfType<StringAttr>(master.getArgNumber(),
                                                      AMPDialect::kNameAttr);
    if (!low) {
      reportWideOnly(function, "NotSplit", name);
      continue;
    }
    bool isSplit = false;
    for (Operation *user : llvm::make_early_inc_range(master.getUsers())) {
      CastLike cast{user};
      if (!cast || !cast.isInserted() ||
          !forwardAndBackward.contains(step.getAncestor(user)))
        continue;
      OpBuilder builder(user);
      auto half =
          UpperHalfOp::create(builder, user->getLoc(), cast.getType(), master);
      cast.getResult().replaceAllUsesWith(half);
      user->erase();
      isSplit = true;
    }
    if (!isSplit) {
      reportWideOnly(function, "NotSplit", name);
      continue;
    }
    ++numSplit;
    remark::passed(function.getLoc(), getRemarkOptions(function, "Split"))
        << remark::metric("Parameter", name.getValue());
  }
  return success();
}

/// Adds a low copy of each parameter that is read low. The forward and the
/// backward pass then read the copy, and the update writes it.
LogicalResult InsertMasterWeightsPass::addCopies(StepRewriter &step) {
  FunctionOpInterface function = step.getFunction();
  StepRewriter::OpSet forwardAndBackward = getForwardAndBackward(step);
  for (auto [master, low] : getParameters(function))
    if (low && failed(checkStaticShape(function, master, "a low copy of it")))
      return failure();

  for (auto [master, low] : getParameters(function)) {
    auto name = function.getArgAttrOfType<StringAttr>(master.getArgNumber(),
                                                      AMPDialect::kNameAttr);
    if (!low) {
      reportWideOnly(function, "NoCopy", name);
      continue;
    }

    FailureOr<BlockArgument> copy = step.addArgument(
        (name.getValue() + ".low").str(), Role::Parameter,
        getWithElementType(master.getType(), low),
        InitAttr::get(&getContext(), InitKind::CopyOf, {}, {}, name),
        /*like=*/master);
    if (failed(copy))
      return failure();
    ++numCopies;
    remark::passed(function.getLoc(), getRemarkOptions(function, "Copy"))
        << remark::metric("Parameter", name.getValue());

    // Readers in f32 still read the master, which has full precision.
    for (OpOperand &use : llvm::make_early_inc_range(master.getUses())) {
      CastLike cast{use.getOwner()};
      if (!cast || cast.getType() != copy->getType() ||
          !forwardAndBackward.contains(step.getAncestor(use.getOwner())))
        continue;
      cast.getResult().replaceAllUsesWith(*copy);
      cast->erase();
    }

    // Add the new copy next to the new master.
    for (OpOperand &operand : step.getReturn()->getOpOperands()) {
      if (function.getResultAttr(operand.getOperandNumber(),
                                 AMPDialect::kUpdatesAttr) != name)
        continue;
      OpBuilder builder(step.getReturn());
      if (Operation *producer = operand.get().getDefiningOp())
        builder.setInsertionPointAfter(producer);
      auto newCopy = MasterCopyOp::create(builder, operand.get().getLoc(),
                                          copy->getType(), operand.get());
      if (failed(step.addResult(newCopy, AMPDialect::kUpdatesAttr,
                                (name.getValue() + ".low").str())))
        return failure();
      break;
    }
  }
  return success();
}

//===- InsertMasterWeights.cpp - f32 masters, low-precision copies --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepRewriter.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"

namespace mlir::amp {
#define GEN_PASS_DEF_INSERTMASTERWEIGHTSPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// Returns the operations of the forward and the backward pass: those on which
/// a gradient, a prediction, a metric or a model state depends, without what
/// depends on gradients in turn (the update).
static StepRewriter::OpSet getForwardAndBackward(const StepRewriter &step) {
  SmallVector<Value> gradients = step.getGradients();
  SmallVector<Operation *> roots;
  for (Value gradient : gradients)
    roots.push_back(gradient.getDefiningOp());
  StepRewriter::OpSet slice;
  step.addBackwardSlice(roots, slice);

  StepRewriter::OpSet update = step.getDependents(gradients, slice);
  FunctionOpInterface function = step.getFunction();
  roots.clear();
  for (OpOperand &operand : step.getReturn()->getOpOperands()) {
    Operation *op = operand.get().getDefiningOp();
    auto updates = function.getResultAttrOfType<StringAttr>(
        operand.getOperandNumber(), AMPDialect::kUpdatesAttr);
    bool isModelState = false;
    for (unsigned i = 0; updates && i < function.getNumArguments(); ++i) {
      auto role =
          function.getArgAttrOfType<StringAttr>(i, AMPDialect::kRoleAttr);
      isModelState |=
          function.getArgAttr(i, AMPDialect::kNameAttr) == updates && role &&
          symbolizeRole(role.getValue()) == Role::ModelState;
    }
    if (op && (!updates || isModelState))
      roots.push_back(op);
  }
  step.addBackwardSlice(roots, slice, update);
  return slice;
}

namespace {

class InsertMasterWeightsPass final
    : public amp::impl::InsertMasterWeightsPassBase<InsertMasterWeightsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    static constexpr StringLiteral modes[] = {"cast", "copy", "none",
                                              "inference"};
    if (!llvm::is_contained(modes, StringRef(mode))) {
      emitError(getOperation()->getLoc())
          << "amp-insert-master-weights: unknown mode '" << mode
          << "', expected cast, copy, none or inference";
      return signalPassFailure();
    }
    if (mode == "cast")
      return;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (function.isExternal() || !isStepFunction(function))
            return WalkResult::skip();
          if (mode == "inference")
            storeLow(function);
          else if (mode == "none")
            return succeeded(dropMasters(function)) ? WalkResult::skip()
                                                    : WalkResult::interrupt();
          else if (failed(rewriteStep(function)))
            return WalkResult::interrupt();
          return WalkResult::skip();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult rewriteStep(FunctionOpInterface function);
  LogicalResult dropMasters(FunctionOpInterface function);
  void storeLow(FunctionOpInterface function);
};

} // namespace

/// Returns the f32 parameters of a step, with the low type in which some
/// operation reads them, or null.
static SmallVector<std::pair<BlockArgument, FloatType>>
getParameters(FunctionOpInterface function) {
  SmallVector<std::pair<BlockArgument, FloatType>> parameters;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto role =
        function.getArgAttrOfType<StringAttr>(index, AMPDialect::kRoleAttr);
    if (!role || symbolizeRole(role.getValue()) != Role::Parameter ||
        !function.getArgAttrOfType<StringAttr>(index, AMPDialect::kNameAttr) ||
        !isPrecisionTensor(argument.getType()) ||
        !getElementTypeOrSelf(argument.getType()).isF32())
      continue;
    FloatType low;
    for (Operation *user : argument.getUsers())
      if (CastLike cast{user}; cast && cast.isInserted())
        low = mlir::cast<FloatType>(getElementTypeOrSelf(cast.getType()));
    parameters.push_back({argument, low});
  }
  return parameters;
}

/// Reports a parameter of which the low version `low` cannot be widened again,
/// or, for `narrows`, the update not be rounded.
static LogicalResult checkCasts(FunctionOpInterface function,
                                BlockArgument parameter, FloatType low,
                                bool narrows) {
  Type type = parameter.getType();
  Type narrow = getWithElementType(type, low);
  if (canBuildInsertedCast(narrow, Float32Type::get(type.getContext())) &&
      (!narrows || canBuildInsertedCast(type, low)))
    return success();
  return function->emitError("parameter ")
         << function.getArgAttr(parameter.getArgNumber(), AMPDialect::kNameAttr)
         << " is needed as " << type << " and as " << narrow
         << ", but the dialect '" << type.getDialect().getNamespace()
         << "' has no cast between them; expected a "
            "CastMaterializationInterface";
}

/// Gives each parameter that is read low the low type, rounds its update, and
/// widens it where it is read in f32, as updates do.
LogicalResult
InsertMasterWeightsPass::dropMasters(FunctionOpInterface function) {
  FailureOr<StepRewriter> step = StepRewriter::get(function);
  if (failed(step))
    return failure();
  SmallVector<Type> argumentTypes(function.getArgumentTypes());
  SmallVector<Type> resultTypes(function.getResultTypes());
  for (auto [parameter, low] : getParameters(function))
    if (low && failed(checkCasts(function, parameter, low, /*narrows=*/true)))
      return failure();
  for (auto [parameter, low] : getParameters(function)) {
    if (!low)
      continue;
    unsigned index = parameter.getArgNumber();
    Type lowType = getWithElementType(parameter.getType(), low);
    parameter.setType(lowType);
    argumentTypes[index] = lowType;
    ++numLowParameters;

    Value widened;
    for (OpOperand &use : llvm::make_early_inc_range(parameter.getUses())) {
      if (CastLike cast{use.getOwner()}; cast && cast.getType() == lowType) {
        cast.getResult().replaceAllUsesWith(parameter);
        cast->erase();
        continue;
      }
      if (!widened) {
        OpBuilder builder = OpBuilder::atBlockBegin(&step->getBody());
        widened = buildInsertedCast(builder, function.getLoc(), parameter,
                                    builder.getF32Type());
      }
      use.set(widened);
    }

    Attribute name = function.getArgAttr(index, AMPDialect::kNameAttr);
    for (OpOperand &operand : step->getReturn()->getOpOperands()) {
      unsigned result = operand.getOperandNumber();
      if (function.getResultAttr(result, AMPDialect::kUpdatesAttr) != name)
        continue;
      OpBuilder builder(step->getReturn());
      if (Operation *producer = operand.get().getDefiningOp())
        builder.setInsertionPointAfter(producer);
      operand.set(buildInsertedCast(builder, operand.get().getLoc(),
                                    operand.get(), low));
      resultTypes[result] = lowType;
    }
  }
  function.setFunctionTypeAttr(
      TypeAttr::get(function.cloneTypeWith(argumentTypes, resultTypes)));
  return success();
}

/// Gives each parameter that is only read through casts to one low type, and
/// that nothing updates, that type.
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
    auto role =
        function.getArgAttrOfType<StringAttr>(index, AMPDialect::kRoleAttr);
    Attribute name = function.getArgAttr(index, AMPDialect::kNameAttr);
    if (!role || symbolizeRole(role.getValue()) != Role::Parameter ||
        argument.use_empty() || isUpdated(name))
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

LogicalResult
InsertMasterWeightsPass::rewriteStep(FunctionOpInterface function) {
  FailureOr<StepRewriter> step = StepRewriter::get(function);
  if (failed(step))
    return failure();
  if (!step->getGradients().empty() && failed(step->checkUpdates()))
    return failure();
  StepRewriter::OpSet forwardAndBackward = getForwardAndBackward(*step);
  // Forward and backward read the copy, widened where they want f32.
  for (auto [master, low] : getParameters(function)) {
    if (!low)
      continue;
    Type lowType = getWithElementType(master.getType(), low);
    bool widens = llvm::any_of(master.getUsers(), [&](Operation *user) {
      CastLike cast(user);
      return forwardAndBackward.contains(step->getAncestor(user)) &&
             !(cast && cast.getType() == lowType);
    });
    if (widens && failed(checkCasts(function, master, low, /*narrows=*/false)))
      return failure();
  }

  for (auto [master, low] : getParameters(function)) {
    auto name = function.getArgAttrOfType<StringAttr>(master.getArgNumber(),
                                                      AMPDialect::kNameAttr);
    auto remarkOptions = [&](StringRef remarkName) {
      return remark::RemarkOpts::name(remarkName)
          .category("amp")
          .function(function.getName());
    };
    if (!low) {
      remark::missed(function.getLoc(), remarkOptions("NoCopy"))
          << remark::metric("Parameter", name.getValue())
          << remark::reason("forward and backward read it in f32 only, or it "
                            "has a copy already");
      continue;
    }

    FailureOr<BlockArgument> copy = step->addArgument(
        (name.getValue() + ".low").str(), Role::Parameter,
        getWithElementType(master.getType(), low),
        InitAttr::get(&getContext(), InitKind::CopyOf, {}, {}, name));
    if (failed(copy))
      return failure();
    ++numCopies;
    remark::passed(function.getLoc(), remarkOptions("Copy"))
        << remark::metric("Parameter", name.getValue());

    Value widened;
    for (OpOperand &use : llvm::make_early_inc_range(master.getUses())) {
      Operation *user = use.getOwner();
      if (!forwardAndBackward.contains(step->getAncestor(user)))
        continue;
      if (CastLike cast{user}; cast && cast.getType() == copy->getType()) {
        cast.getResult().replaceAllUsesWith(*copy);
        cast->erase();
        continue;
      }
      if (!widened) {
        OpBuilder builder = OpBuilder::atBlockBegin(&step->getBody());
        widened = buildInsertedCast(builder, function.getLoc(), *copy,
                                    builder.getF32Type());
      }
      use.set(widened);
    }

    // The new copy, beside the new master.
    for (OpOperand &operand : step->getReturn()->getOpOperands()) {
      if (function.getResultAttr(operand.getOperandNumber(),
                                 AMPDialect::kUpdatesAttr) != name)
        continue;
      OpBuilder builder(step->getReturn());
      if (Operation *producer = operand.get().getDefiningOp())
        builder.setInsertionPointAfter(producer);
      auto newCopy = MasterCopyOp::create(builder, operand.get().getLoc(),
                                          copy->getType(), operand.get());
      if (failed(step->addResult(newCopy, AMPDialect::kUpdatesAttr,
                                 (name.getValue() + ".low").str())))
        return failure();
      break;
    }
  }
  return success();
}

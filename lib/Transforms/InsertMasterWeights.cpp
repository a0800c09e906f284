//===- InsertMasterWeights.cpp - f32 masters, low-precision copies --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepRewriter.h"
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
    if (failed(checkOptions()))
      return signalPassFailure();
    if (mode == "cast" && moments == "f32")
      return;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (function.isExternal() || !isStepFunction(function))
            return WalkResult::skip();
          return succeeded(rewriteFunction(function)) ? WalkResult::skip()
                                                      : WalkResult::interrupt();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult checkOptions();
  LogicalResult rewriteFunction(FunctionOpInterface function);
  LogicalResult addRoundingState(StepRewriter &step);
  LogicalResult narrowMoments(FunctionOpInterface function);
  LogicalResult addCompensation(StepRewriter &step, BlockArgument parameter,
                                const StepRewriter::OpSet &forwardAndBackward);
  Value roundUpdate(OpBuilder &builder, Value value, FloatType low);
  LogicalResult rewriteStep(FunctionOpInterface function);
  LogicalResult dropMasters(FunctionOpInterface function);
  void storeLow(FunctionOpInterface function);

  /// The random number state of the step, where updates are rounded
  /// stochastically, and how many roundings have a key.
  Value rounding;
  uint32_t numRoundings = 0;
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
  if (failed(check("mode", mode, {"cast", "copy", "none", "inference"})) ||
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

/// Returns the name of the argument that result `index` updates, or null.
static StringAttr getUpdated(FunctionOpInterface function, unsigned index) {
  return function.getResultAttrOfType<StringAttr>(index,
                                                  AMPDialect::kUpdatesAttr);
}

LogicalResult
InsertMasterWeightsPass::rewriteFunction(FunctionOpInterface function) {
  if (mode == "inference") {
    storeLow(function);
    return success();
  }
  rounding = {};
  numRoundings = 0;
  if ((mode == "none" && failed(dropMasters(function))) ||
      (mode == "copy" && failed(rewriteStep(function))))
    return failure();
  return moments == "f32" ? success() : narrowMoments(function);
}

/// Adds the random number state, once, and advances it.
LogicalResult InsertMasterWeightsPass::addRoundingState(StepRewriter &step) {
  if (rounding)
    return success();
  OpBuilder builder(step.getReturn());
  Type i64 = builder.getI64Type();
  FailureOr<BlockArgument> state = step.addArgument(
      "update_rounding", Role::ModelState, RankedTensorType::get({2}, i64),
      InitAttr::get(&getContext(), InitKind::RngState, {}, {}, {}));
  if (failed(state))
    return failure();
  rounding = *state;
  Location loc = step.getFunction().getLoc();
  Value at = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = tensor::ExtractOp::create(builder, loc, rounding, at);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  Value next = arith::AddIOp::create(builder, loc, count, one);
  Value advanced = tensor::InsertOp::create(builder, loc, next, rounding, at);
  return step.addResult(advanced, AMPDialect::kUpdatesAttr, "update_rounding");
}

/// Rounds what an update gives as `update-rounding` says.
Value InsertMasterWeightsPass::roundUpdate(OpBuilder &builder, Value value,
                                           FloatType low) {
  if (!rounding)
    return buildInsertedCast(builder, value.getLoc(), value, low);
  auto type = cast<RankedTensorType>(value.getType()).clone(low);
  return MasterCopyOp::create(builder, value.getLoc(), type, value, rounding,
                              numRoundings++);
}

/// Stores optimizer states in bf16: all but scalars, which count steps.
LogicalResult
InsertMasterWeightsPass::narrowMoments(FunctionOpInterface function) {
  FailureOr<StepRewriter> step = StepRewriter::get(function);
  if (failed(step))
    return failure();
  SmallVector<BlockArgument> states;
  for (BlockArgument argument : function.getArguments()) {
    auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      AMPDialect::kRoleAttr);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (role && symbolizeRole(role.getValue()) == Role::OptimizerState &&
        type && type.getElementType().isF32() && type.getRank() != 0)
      states.push_back(argument);
  }
  if (states.empty())
    return success();
  if (updateRounding == "stochastic" && failed(addRoundingState(*step)))
    return failure();
  SmallVector<Type> argumentTypes(function.getArgumentTypes());
  SmallVector<Type> resultTypes(function.getResultTypes());
  FloatType low = BFloat16Type::get(&getContext());
  for (BlockArgument state : states) {
    unsigned index = state.getArgNumber();
    argumentTypes[index] = getWithElementType(state.getType(), low);
    state.setType(argumentTypes[index]);
    Attribute name = function.getArgAttr(index, AMPDialect::kNameAttr);
    if (!state.use_empty()) {
      OpBuilder builder = OpBuilder::atBlockBegin(&step->getBody());
      Value widened = buildInsertedCast(builder, function.getLoc(), state,
                                        builder.getF32Type());
      state.replaceAllUsesExcept(widened, widened.getDefiningOp());
    }
    for (OpOperand &operand : step->getReturn()->getOpOperands()) {
      unsigned result = operand.getOperandNumber();
      if (getUpdated(function, result) != name)
        continue;
      OpBuilder builder(step->getReturn());
      if (Operation *producer = operand.get().getDefiningOp())
        builder.setInsertionPointAfter(producer);
      operand.set(roundUpdate(builder, operand.get(), low));
      resultTypes[result] = argumentTypes[index];
    }
    ++numLowMoments;
  }
  function.setFunctionTypeAttr(
      TypeAttr::get(function.cloneTypeWith(argumentTypes, resultTypes)));
  return success();
}

/// Keeps beside `parameter` what rounding lost of it: the update reads and
/// writes both together.
LogicalResult InsertMasterWeightsPass::addCompensation(
    StepRewriter &step, BlockArgument parameter,
    const StepRewriter::OpSet &forwardAndBackward) {
  FunctionOpInterface function = step.getFunction();
  auto name = function.getArgAttrOfType<StringAttr>(parameter.getArgNumber(),
                                                    AMPDialect::kNameAttr);
  std::string residualName = (name.getValue() + ".compensation").str();
  FailureOr<BlockArgument> residual = step.addArgument(
      residualName, Role::OptimizerState, parameter.getType(),
      InitAttr::get(&getContext(), InitKind::Zeros, {}, {}, {}));
  if (failed(residual))
    return failure();
  if (auto optimizer = function.getArgAttrOfType<StringAttr>(
          parameter.getArgNumber(), AMPDialect::kOptimizerAttr))
    function.setArgAttr(residual->getArgNumber(), AMPDialect::kOptimizerAttr,
                        optimizer);

  // What the update reads, widened, is more exact than what the model reads.
  OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody());
  auto wide =
      cast<RankedTensorType>(parameter.getType()).clone(builder.getF32Type());
  Value sum = CompensateOp::create(builder, function.getLoc(), wide, parameter,
                                   *residual);
  SmallVector<Operation *> widenings;
  for (Operation *user : parameter.getUsers())
    if (CastLike cast{user}; cast && cast.getType() == wide)
      widenings.push_back(user);
  for (Operation *widening : widenings)
    widening->getResult(0).replaceUsesWithIf(sum, [&](OpOperand &use) {
      Operation *user = step.getAncestor(use.getOwner());
      return user && !forwardAndBackward.contains(user);
    });

  for (OpOperand &operand : step.getReturn()->getOpOperands()) {
    if (getUpdated(function, operand.getOperandNumber()) != name)
      continue;
    // The update was rounded by a cast.
    Operation *rounding = operand.get().getDefiningOp();
    if (!CastLike(rounding))
      return function->emitError("the update of ")
             << name << " is not rounded by a cast, expected one";
    builder.setInsertionPointAfter(rounding);
    Value lost =
        ResidualOp::create(builder, rounding->getLoc(), residual->getType(),
                           rounding->getOperand(0), operand.get());
    return step.addResult(lost, AMPDialect::kUpdatesAttr, residualName);
  }
  return function->emitError("nothing updates ")
         << name << ", expected a result with 'amp.updates'";
}

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

/// Gives each parameter that is read low the low type, rounds its update, and
/// widens it where it is read in f32, as updates do.
LogicalResult
InsertMasterWeightsPass::dropMasters(FunctionOpInterface function) {
  FailureOr<StepRewriter> step = StepRewriter::get(function);
  if (failed(step))
    return failure();
  SmallVector<std::pair<BlockArgument, FloatType>> parameters =
      getParameters(function);
  llvm::erase_if(parameters, [](const auto &entry) { return !entry.second; });
  if (parameters.empty())
    return success();
  StepRewriter::OpSet forwardAndBackward = getForwardAndBackward(*step);
  if (updateRounding == "stochastic") {
    for (auto &[parameter, low] : parameters)
      if (!low.isBF16())
        return function->emitError("stochastic rounding is to bf16, but "
                                   "argument ")
               << parameter.getArgNumber() << " is read in " << low;
    if (failed(addRoundingState(*step)))
      return failure();
  }
  SmallVector<Type> argumentTypes(function.getArgumentTypes());
  SmallVector<Type> resultTypes(function.getResultTypes());
  for (auto [parameter, low] : parameters) {
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
      operand.set(roundUpdate(builder, operand.get(), low));
      resultTypes[result] = lowType;
    }
  }
  function.setFunctionTypeAttr(
      TypeAttr::get(function.cloneTypeWith(argumentTypes, resultTypes)));
  if (updateRounding == "kahan")
    for (auto &[parameter, low] : parameters)
      if (failed(addCompensation(*step, parameter, forwardAndBackward)))
        return failure();
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
  StepRewriter::OpSet forwardAndBackward = getForwardAndBackward(*step);

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

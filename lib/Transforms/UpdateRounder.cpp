//===- UpdateRounder.cpp - Rounding of low updates ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UpdateRounder.h"
#include "StepParameters.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::amp;

LogicalResult UpdateRounder::prepare() {
  if (!stochastic || random)
    return success();
  OpBuilder builder(step.getReturn());
  Type i64 = builder.getI64Type();
  FailureOr<BlockArgument> state = step.addArgument(
      "update_rounding", Role::ModelState, RankedTensorType::get({2}, i64),
      InitAttr::get(builder.getContext(), InitKind::RngState, {}, {}, {}));
  if (failed(state))
    return failure();
  random = *state;
  Location loc = step.getFunction().getLoc();
  Value at = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = tensor::ExtractOp::create(builder, loc, random, at);
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  Value next = arith::AddIOp::create(builder, loc, count, one);
  Value advanced = tensor::InsertOp::create(builder, loc, next, random, at);
  return step.addResult(advanced, AMPDialect::kUpdatesAttr, "update_rounding");
}

Value UpdateRounder::round(OpBuilder &builder, Value value, FloatType low) {
  if (!random)
    return casts.build(builder, value.getLoc(), value, low,
                       value.getDefiningOp());
  Type type = getWithElementType(value.getType(), low);
  return MasterCopyOp::create(builder, value.getLoc(), type, value, random,
                              numRoundings++);
}

FailureOr<unsigned> UpdateRounder::narrowMoments() {
  FunctionOpInterface function = step.getFunction();
  SmallVector<BlockArgument> states;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (getRole(argument) == Role::OptimizerState && type &&
        type.getElementType().isF32() && type.getRank() != 0)
      states.push_back(argument);
  }
  if (states.empty())
    return 0;
  FloatType low = BFloat16Type::get(function.getContext());
  for (BlockArgument state : states)
    if (failed(checkCasts(function, casts, state, low, !stochastic)))
      return failure();
  if (failed(prepare()))
    return failure();
  SmallVector<Type> argumentTypes(function.getArgumentTypes());
  SmallVector<Type> resultTypes(function.getResultTypes());
  for (BlockArgument state : states) {
    unsigned index = state.getArgNumber();
    argumentTypes[index] = getWithElementType(state.getType(), low);
    state.setType(argumentTypes[index]);
    Attribute name = function.getArgAttr(index, AMPDialect::kNameAttr);
    if (!state.use_empty()) {
      OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody());
      Value widened =
          casts.build(builder, function.getLoc(), state, builder.getF32Type(),
                      getWideReaders(state, state.getType()));
      state.replaceAllUsesExcept(widened, widened.getDefiningOp());
    }
    for (OpOperand &operand : step.getReturn()->getOpOperands()) {
      unsigned result = operand.getOperandNumber();
      if (getUpdated(function, result) != name)
        continue;
      OpBuilder builder(step.getReturn());
      if (Operation *producer = operand.get().getDefiningOp())
        builder.setInsertionPointAfter(producer);
      operand.set(round(builder, operand.get(), low));
      resultTypes[result] = argumentTypes[index];
    }
  }
  function.setFunctionTypeAttr(
      TypeAttr::get(function.cloneTypeWith(argumentTypes, resultTypes)));
  return static_cast<unsigned>(states.size());
}

LogicalResult
UpdateRounder::addCompensation(BlockArgument parameter,
                               const StepRewriter::OpSet &forwardAndBackward) {
  FunctionOpInterface function = step.getFunction();
  auto name = function.getArgAttrOfType<StringAttr>(parameter.getArgNumber(),
                                                    AMPDialect::kNameAttr);
  std::string residualName = (name.getValue() + ".compensation").str();
  FailureOr<BlockArgument> residual = step.addArgument(
      residualName, Role::OptimizerState, parameter.getType(),
      InitAttr::get(function.getContext(), InitKind::Zeros, {}, {}, {}),
      /*like=*/parameter);
  if (failed(residual))
    return failure();
  if (auto optimizer = function.getArgAttrOfType<StringAttr>(
          parameter.getArgNumber(), AMPDialect::kOptimizerAttr))
    function.setArgAttr(residual->getArgNumber(), AMPDialect::kOptimizerAttr,
                        optimizer);

  // The widened value that the update reads is more exact than the value that
  // the model reads.
  OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody());
  Type wide = getWithElementType(parameter.getType(), builder.getF32Type());
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
    // A cast has rounded the update.
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

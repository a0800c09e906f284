//===- OptimizerUpdate.cpp - Updates of parameters ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OptimizerUpdate.h"

#include <cassert>

using namespace mlir;
using namespace mlir::cuda;

Value mlir::cuda::skipWidening(Value gradient) {
  auto cast = gradient.getDefiningOp<mlir::amp::CastOp>();
  if (!cast || !cast.getType().getElementType().isF32())
    return gradient;
  Type element = cast.getInput().getType().getElementType();
  return element.isF16() || element.isBF16() ? Value(cast.getInput())
                                             : gradient;
}

/// Returns the operation that rounds the new value `result` to the low type in
/// which the old value is stored, or null. `wide` is the old value in f32.
static Operation *findRounding(Value wide, Value result) {
  auto widening = wide.getDefiningOp<mlir::amp::CastOp>();
  if (!widening || !result.hasOneUse())
    return nullptr;
  Type stored = widening.getInput().getType();
  Operation *user = *result.user_begin();
  auto copied = dyn_cast<mlir::amp::MasterCopyOp>(user);
  bool rounds = isa<mlir::amp::CastOp>(user) || (copied && copied.getRng());
  return rounds && user->getResult(0).getType() == stored &&
                 getElementTypeOrSelf(stored).getIntOrFloatBitWidth() == 16
             ? user
             : nullptr;
}

/// Finds the rounding of a parameter whose rounding error is kept, and what
/// computes the new error.
static void readCompensation(Update &update) {
  auto sum = update.parameter.getDefiningOp<mlir::amp::CompensateOp>();
  if (!sum)
    return;
  mlir::amp::CastOp rounding;
  mlir::amp::ResidualOp residual;
  for (Operation *user : update.op->getResult(0).getUsers()) {
    auto cast = dyn_cast<mlir::amp::CastOp>(user);
    auto lost = dyn_cast<mlir::amp::ResidualOp>(user);
    if ((cast && rounding) || (lost && residual) || (!cast && !lost))
      return;
    rounding = cast ? cast : rounding;
    residual = lost ? lost : residual;
  }
  if (!rounding || !residual || residual.getCopy() != rounding.getResult() ||
      rounding.getType() != sum.getCopy().getType() ||
      residual.getType() != sum.getResidual().getType() ||
      residual.getType() != rounding.getType())
    return;
  update.roundings.front() = rounding;
  update.residual = residual;
}

/// Finds the roundings of the results. All stochastic roundings must use the
/// same generator.
static void readRoundings(Update &update) {
  update.roundings = {findRounding(update.parameter, update.op->getResult(0))};
  readCompensation(update);
  for (auto [index, state] : llvm::enumerate(update.states)) {
    Operation *rounding = findRounding(state, update.op->getResult(index + 1));
    // Moments are f32 or bf16.
    if (rounding &&
        !getElementTypeOrSelf(rounding->getResult(0).getType()).isBF16())
      rounding = nullptr;
    update.roundings.push_back(rounding);
  }
  Value random = update.getRandomState();
  for (Operation *&rounding : update.roundings)
    if (auto copied = dyn_cast_or_null<mlir::amp::MasterCopyOp>(rounding);
        copied && copied.getRng() != random)
      rounding = nullptr;
}

static std::optional<Update> readOptimizer(Operation *op) {
  Update update;
  update.op = op;
  auto readAdam = [&](auto adam, OptimizerKind kind) {
    update.kind = kind;
    update.parameter = adam.getParameter();
    update.gradient = skipWidening(adam.getGrad());
    update.learningRate = adam.getLearningRate();
    update.step = adam.getStep();
    update.states = {adam.getExpAvg(), adam.getExpAvgSq()};
    update.weightDecay = adam.getWeightDecay().convertToDouble();
  };
  if (auto sgd = dyn_cast<train::SGDOp>(op)) {
    update.kind = OptimizerKind::SGD;
    update.parameter = sgd.getParameter();
    update.gradient = skipWidening(sgd.getGrad());
    update.learningRate = sgd.getLearningRate();
    if (sgd.getVelocity())
      update.states = {sgd.getVelocity()};
    update.weightDecay = sgd.getWeightDecay().convertToDouble();
    return update;
  }
  if (auto adam = dyn_cast<train::AdamOp>(op)) {
    readAdam(adam, OptimizerKind::Adam);
    return update;
  }
  if (auto adam = dyn_cast<train::AdamWOp>(op)) {
    readAdam(adam, OptimizerKind::AdamW);
    return update;
  }
  return std::nullopt;
}

std::optional<Update> mlir::cuda::readUpdate(Operation *op) {
  std::optional<Update> update = readOptimizer(op);
  if (update)
    readRoundings(*update);
  return update;
}

void mlir::cuda::readAgain(Update &update) {
  std::optional<Update> now = readUpdate(update.op);
  assert(now && "an optimizer operation");
  update.parameter = now->parameter;
  update.learningRate = now->learningRate;
  update.step = now->step;
  update.states = now->states;
  update.roundings = now->roundings;
  update.residual = now->residual;
  // The gradient of a check is the one before unscaling and clipping.
  update.gradient = update.check
                        ? update.check.getGradients()[update.gradientIndex]
                        : now->gradient;
  if (!update.choices.empty())
    update.guard = update.choices.front().getCondition();
}

/// The selection by a scalar flag between `value` and `old` if it is the only
/// use of `value`. A null `old` matches any value.
static train::SelectOp getChoice(Value value, Value old) {
  if (!value.hasOneUse())
    return {};
  auto choice = dyn_cast<train::SelectOp>(*value.user_begin());
  if (!choice || choice.getOnTrue() != value ||
      choice.getCondition().getType().getRank() != 0 ||
      choice.getType() != value.getType() ||
      (old && choice.getOnFalse() != old))
    return {};
  return choice;
}

void mlir::cuda::readSurroundings(Update &update) {
  Value parameter = update.getNew(0);
  SmallVector<Operation *> users(parameter.getUsers());
  // Expect a copy and one other user.
  for (Operation *user : users)
    if (auto copy = dyn_cast<mlir::amp::MasterCopyOp>(user);
        copy && !copy.getRng())
      update.copy = copy;
  bool guarded = true;
  Value flag;
  SmallVector<train::SelectOp> choices;
  auto read = [&](Value value, Value old) {
    if (value.use_empty())
      return;
    train::SelectOp choice = getChoice(value, old);
    if (!choice || (flag && choice.getCondition() != flag)) {
      guarded = false;
      return;
    }
    flag = choice.getCondition();
    choices.push_back(choice);
  };
  train::SelectOp main;
  for (Operation *user : users) {
    if (user == update.copy.getOperation() ||
        user == update.residual.getOperation())
      continue;
    auto choice = dyn_cast<train::SelectOp>(user);
    if (!choice || main || choice.getOnTrue() != parameter ||
        choice.getOnFalse() != update.getOld(0) ||
        choice.getCondition().getType().getRank() != 0) {
      guarded = false;
      continue;
    }
    main = choice;
  }
  if (main) {
    flag = main.getCondition();
    choices.push_back(main);
  }
  for (unsigned index = 1; index <= update.states.size(); ++index)
    read(update.getNew(index), update.getOld(index));
  if (update.residual)
    read(update.residual.getResidual(), update.getSum().getResidual());
  if (update.copy)
    read(update.copy.getCopy(), Value());
  if (!guarded || !flag)
    return;
  update.guard = flag;
  update.choices = choices;
  // A copy without readers is not kept.
  if (update.copy && !update.getOldCopy()) {
    update.copy.erase();
    update.copy = {};
  }
}

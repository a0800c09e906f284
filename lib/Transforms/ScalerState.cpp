//===- ScalerState.cpp - The state and the metrics of loss scaling --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalerState.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::amp;

LogicalResult mlir::amp::addScalerState(StepRewriter &step,
                                        const LossScaler &lossScaler,
                                        MutableArrayRef<Scaling> scalings) {
  MLIRContext *context = step.getFunction().getContext();
  Builder builder(context);
  auto f32Type = RankedTensorType::get({}, builder.getF32Type());
  auto i32Type = RankedTensorType::get({}, builder.getI32Type());
  auto constant = [&](double value) {
    return InitAttr::get(context, InitKind::Constant,
                         builder.getF64FloatAttr(value), {}, {});
  };
  auto zeros = InitAttr::get(context, InitKind::Zeros, {}, {}, {});
  for (Scaling &scaling : scalings) {
    for (auto [name, type, init] :
         {std::tuple("loss_scale", f32Type, constant(lossScaler.initScale)),
          std::tuple("growth_tracker", i32Type, zeros),
          std::tuple("hysteresis_tracker", i32Type,
                     constant(lossScaler.rules.hysteresis))}) {
      FailureOr<BlockArgument> argument = step.addArgument(
          name + scaling.suffix, Role::ScalerState, type, init);
      if (failed(argument))
        return failure();
      scaling.state.push_back(*argument);
    }
    scaling.scale = scaling.state.front();
  }
  return success();
}

LogicalResult mlir::amp::addScaleUpdate(StepRewriter &step,
                                        const LossScaler &lossScaler,
                                        const Scaling &scaling, Value allFinite,
                                        bool trackers) {
  OpBuilder builder(step.getResultPoint());
  ArrayRef<BlockArgument> state = scaling.state;
  auto update = UpdateScaleOp::create(builder, allFinite.getLoc(), state[0],
                                      state[1], state[2], allFinite);
  update.setScalerAttr(builder.getAttr<ScalerAttr>(lossScaler.rules));

  constexpr StringLiteral updates = AMPDialect::kUpdatesAttr;
  for (auto [name, value] :
       {std::pair("loss_scale", update.getNewScale()),
        std::pair("growth_tracker", update.getNewGrowthTracker()),
        std::pair("hysteresis_tracker", update.getNewHysteresisTracker())})
    if (failed(step.addResult(value, updates, name + scaling.suffix)))
      return failure();
  if (failed(step.addResult(state[0], AMPDialect::kMetricAttr,
                            "loss_scale" + scaling.suffix)))
    return failure();
  if (!trackers)
    return success();
  for (auto [index, name] :
       {std::pair(1, "growth_tracker"), std::pair(2, "hysteresis_tracker")})
    if (failed(step.addResult(state[index], AMPDialect::kMetricAttr,
                              name + scaling.suffix)))
      return failure();
  return success();
}

static Value wrapScalar(OpBuilder &builder, Value value) {
  return tensor::FromElementsOp::create(
      builder, value.getLoc(), RankedTensorType::get({}, value.getType()),
      value);
}

/// Returns whether `passed` is false, as a scalar.
static Value buildSkipped(StepRewriter &step, Value passed) {
  Location loc = passed.getLoc();
  OpBuilder builder(step.getResultPoint());
  Value finite = tensor::ExtractOp::create(builder, loc, passed, ValueRange());
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  return arith::XOrIOp::create(builder, loc, finite, yes);
}

LogicalResult mlir::amp::addSkipMetric(StepRewriter &step, StringRef name,
                                       Value passed) {
  Value skipped = buildSkipped(step, passed);
  OpBuilder builder(step.getResultPoint());
  return step.addResult(wrapScalar(builder, skipped), AMPDialect::kMetricAttr,
                        name);
}

LogicalResult mlir::amp::addSkipMetrics(StepRewriter &step,
                                        ArrayRef<GradientGroup> groups,
                                        Value passed, bool count) {
  constexpr StringLiteral metric = AMPDialect::kMetricAttr;
  llvm::MapVector<StringAttr, SmallVector<Value>> byOptimizer;
  for (GradientGroup group : groups)
    byOptimizer[group.optimizer].push_back(group.unscale.getAllFinite());
  for (auto &[optimizer, flags] : byOptimizer)
    if (optimizer && byOptimizer.size() > 1 &&
        failed(addSkipMetric(step, "skipped." + optimizer.str(),
                             buildConjunction(step, flags))))
      return failure();
  Value overflow = buildSkipped(step, passed);
  OpBuilder builder(step.getResultPoint());
  if (failed(step.addResult(wrapScalar(builder, overflow), metric, "skipped")))
    return failure();

  if (count) {
    auto type = RankedTensorType::get({}, builder.getI32Type());
    FailureOr<BlockArgument> counter = step.addArgument(
        "skipped_steps", Role::ScalerState, type,
        InitAttr::get(builder.getContext(), InitKind::Zeros, {}, {}, {}));
    if (failed(counter))
      return failure();
    builder.setInsertionPoint(step.getResultPoint());
    Location loc = overflow.getLoc();
    Value old = tensor::ExtractOp::create(builder, loc, *counter, ValueRange());
    Value one =
        arith::ExtUIOp::create(builder, loc, builder.getI32Type(), overflow);
    Value sum =
        wrapScalar(builder, arith::AddIOp::create(builder, loc, old, one));
    if (failed(
            step.addResult(sum, AMPDialect::kUpdatesAttr, "skipped_steps")) ||
        failed(step.addResult(sum, metric, "skipped_steps")))
      return failure();
  }
  return success();
}

/// Returns `value` in f32 or wider, or null if arith does not support its type.
static Value widen(OpBuilder &builder, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto element =
      type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
  if (!element)
    return {};
  if (element.getWidth() >= 32)
    return value;
  return arith::ExtFOp::create(builder, value.getLoc(),
                               type.clone(builder.getF32Type()), value);
}

LogicalResult mlir::amp::addGradientNorm(StepRewriter &step,
                                         ArrayRef<Value> gradients,
                                         ArrayRef<Value> named) {
  OpBuilder builder(step.getResultPoint());
  SmallVector<Location> locs;
  // Compute the norm as soon as all gradients exist. At the end of the step it
  // would keep them alive.
  Operation *last = nullptr;
  llvm::MapVector<StringAttr, SmallVector<Value, 1>> byParameter;
  for (auto [gradient, name] : llvm::zip_equal(gradients, named)) {
    locs.push_back(gradient.getLoc());
    Operation *op = gradient.getDefiningOp();
    if (op && op->getBlock() == builder.getInsertionBlock() &&
        (!last || last->isBeforeInBlock(op)))
      last = op;
    byParameter[StepRewriter::getParameterOf(name)].push_back(gradient);
  }
  if (last)
    builder.setInsertionPointAfter(last);
  SmallVector<Value> sums;
  for (auto &[name, parts] : byParameter) {
    Value sum = parts.front();
    if (parts.size() > 1)
      sum = widen(builder, sum);
    for (Value part : ArrayRef<Value>(parts).drop_front()) {
      part = widen(builder, part);
      if (!sum || !part || sum.getType() != part.getType())
        return parts.back().getDefiningOp()->emitOpError(
                   "is one of several gradients of ")
               << name
               << " that cannot be added for 'gradient-norm', expected tensors "
                  "of one shape";
      sum = arith::AddFOp::create(builder, part.getLoc(), sum, part);
    }
    sums.push_back(sum);
  }
  Value norm = GlobalNormOp::create(builder, builder.getFusedLoc(locs), sums);
  return step.addResult(norm, AMPDialect::kMetricAttr, "gradient_norm");
}

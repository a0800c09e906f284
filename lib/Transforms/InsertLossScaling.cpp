//===- InsertLossScaling.cpp - Scale, unscale, guard ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The operations of a step fall into those on which some gradient depends (the
// forward and the backward pass) and those that depend on a gradient otherwise
// (the update, reported norms). The former keep the scaled values, the latter
// see unscaled ones. Of the latter, what only feeds updates of parameters and
// optimizer state moves into the overflow guard.
//
//===----------------------------------------------------------------------===//

#include "OverflowGuard.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

#include <cmath>

namespace mlir::amp {
#define GEN_PASS_DEF_INSERTLOSSSCALINGPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

class InsertLossScalingPass final
    : public amp::impl::InsertLossScalingPassBase<InsertLossScalingPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (mode == "none")
      return;
    if (failed(checkOptions()))
      return signalPassFailure();
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (!function.isExternal() && failed(rewriteStep(function)))
            return WalkResult::interrupt();
          return WalkResult::skip();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult checkOptions();
  LogicalResult checkRoles(FunctionOpInterface function);
  LogicalResult checkBackwardPass(const StepRewriter &step,
                                  ArrayRef<Operation *> seeds,
                                  ArrayRef<Value> gradients,
                                  const StepRewriter::OpSet &backward);
  LogicalResult rewriteStep(FunctionOpInterface function);
  Value unscaleGradients(StepRewriter &step, ArrayRef<Value> gradients,
                         Value scale, const StepRewriter::OpSet &backward);
  LogicalResult addScaleUpdate(StepRewriter &step,
                               ArrayRef<BlockArgument> state, Value allFinite);

  bool isDynamic() const { return mode == "dynamic"; }
  double constantScale = 0;
};

} // namespace

LogicalResult InsertLossScalingPass::checkOptions() {
  Location loc = getOperation()->getLoc();
  auto error = [&] { return emitError(loc) << "amp-insert-loss-scaling: "; };
  // What counts is the f32 that an option rounds to. Gradients are multiplied
  // by the reciprocal of the scale.
  auto isScale = [](double value) {
    auto scale = static_cast<float>(value);
    return scale > 0 && std::isfinite(scale) && std::isfinite(1 / scale);
  };
  if (!isDynamic()) {
    if (StringRef(mode).getAsDouble(constantScale))
      return error() << "unknown mode '" << mode
                     << "', expected dynamic, none or a number";
    if (!isScale(constantScale))
      return error() << "the scale must be positive, and it and its reciprocal "
                        "finite in f32, got "
                     << mode;
    return success();
  }
  auto growth = static_cast<float>(growthFactor.getValue());
  auto backoff = static_cast<float>(backoffFactor.getValue());
  if (!isScale(initScale))
    return error() << "'init-scale' must be positive, and it and its "
                      "reciprocal finite in f32, got "
                   << initScale;
  if (!(growth > 1 && std::isfinite(growth)))
    return error() << "'growth-factor' must be greater than 1 and finite in "
                      "f32, got "
                   << growthFactor;
  if (!(backoff > 0 && backoff < 1))
    return error() << "'backoff-factor' must be between 0 and 1, got "
                   << backoffFactor;
  if (growthInterval < 1)
    return error() << "'growth-interval' must be at least 1, got "
                   << growthInterval.getValue();
  if (hysteresis < 1)
    return error() << "'hysteresis' must be at least 1, got "
                   << hysteresis.getValue();
  if (!(minScale >= 0 && minScale <= maxScale))
    return error() << "'min-scale' must be between 0 and 'max-scale', got "
                   << minScale << " and " << maxScale;
  if (!(initScale >= minScale && initScale <= maxScale))
    return error() << "'init-scale' must be between 'min-scale' and "
                      "'max-scale', got "
                   << initScale << ", " << minScale << " and " << maxScale;
  return success();
}

/// Checks that the guard can tell what belongs to the optimizer: every argument
/// that the step updates needs a role.
LogicalResult InsertLossScalingPass::checkRoles(FunctionOpInterface function) {
  bool updatesParameter = false;
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    auto updates = function.getResultAttrOfType<StringAttr>(
        result, AMPDialect::kUpdatesAttr);
    for (unsigned i = 0; updates && i < function.getNumArguments(); ++i) {
      if (function.getArgAttr(i, AMPDialect::kNameAttr) != updates)
        continue;
      auto role =
          function.getArgAttrOfType<StringAttr>(i, AMPDialect::kRoleAttr);
      if (!role)
        return function->emitError("the step updates argument ")
               << i << ", " << updates
               << ", which has no 'amp.role'; expected one that says whether "
                  "an overflow guards it";
      updatesParameter |= symbolizeRole(role.getValue()) == Role::Parameter;
    }
  }
  if (!updatesParameter)
    return function->emitError(
        "the step has gradients but updates no parameter; expected a result "
        "with 'amp.updates' that names an argument with 'amp.role' = "
        "\"parameter\"");
  return success();
}

/// Checks that gradients are float tensors, and that nothing but gradients
/// leaves the backward pass: it would leave it scaled.
LogicalResult InsertLossScalingPass::checkBackwardPass(
    const StepRewriter &step, ArrayRef<Operation *> seeds,
    ArrayRef<Value> gradients, const StepRewriter::OpSet &backward) {
  for (Value gradient : gradients)
    if (!isPrecisionTensor(gradient.getType()))
      return gradient.getDefiningOp()->emitOpError(
                 "expected a gradient to be a ranked tensor of floats, got ")
             << gradient.getType();

  // What reads a low gradient behind the backward pass reads the unscaled one,
  // rounded to that type again.
  for (Value gradient : gradients) {
    Type type = gradient.getType();
    if (canBuildInsertedCast(type, cast<FloatType>(getElementTypeOrSelf(type))))
      continue;
    for (Operation *user : gradient.getUsers()) {
      CastLike widening(user);
      if (backward.contains(step.getAncestor(user)) ||
          getElementTypeOrSelf(type).isF32() ||
          getElementTypeOrSelf(type).isF64() ||
          (widening && getElementTypeOrSelf(widening.getType()).isF32()))
        continue;
      return user->emitOpError("reads a gradient as ")
             << type << ", for which the dialect '"
             << type.getDialect().getNamespace()
             << "' has no cast; expected a CastMaterializationInterface";
    }
  }

  // What the results of the step depend on; the rest is dead.
  StepRewriter::OpSet live;
  step.addBackwardSlice({step.getReturn()}, live);
  SmallVector<Value> worklist;
  for (Operation *seed : seeds)
    worklist.push_back(seed->getResult(0));
  llvm::DenseSet<Value> seen(gradients.begin(), gradients.end());
  StepRewriter::OpSet visited;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *nested : value.getUsers()) {
      Operation *user = step.getAncestor(nested);
      if (backward.contains(user)) {
        if (visited.insert(user).second)
          for (Value result : user->getResults())
            worklist.push_back(result);
        continue;
      }
      if (seen.contains(value) || !live.contains(user))
        continue;
      auto diag = value.getDefiningOp()->emitOpError(
          "depends on a gradient seed and is used outside of the backward "
          "pass, where it would still be scaled; expected "
          "'amp.gradient_of' here, or on the gradient that is computed "
          "from it");
      diag.attachNote(user->getLoc()) << "used here";
      return diag;
    }
  }
  return success();
}

LogicalResult InsertLossScalingPass::rewriteStep(FunctionOpInterface function) {
  auto remarkOptions = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category("amp").function(
        function.getName());
  };
  SmallVector<Operation *> seeds;
  bool hasGradients = false, alreadyScaled = false;
  function.getFunctionBody().walk([&](Operation *op) {
    if (isa<GradientSeedOpInterface>(op))
      seeds.push_back(op);
    alreadyScaled |= isa<UnscaleOp>(op);
    hasGradients |= op->hasAttr(AMPDialect::kGradientOfAttr);
  });
  if (alreadyScaled) {
    remark::missed(function.getLoc(), remarkOptions("AlreadyScaled"))
        << remark::reason("the step has an amp.unscale");
    return success();
  }
  if (seeds.empty() && !hasGradients) {
    remark::missed(function.getLoc(), remarkOptions("NoBackwardPass"))
        << remark::reason("the function has neither a gradient seed nor "
                          "'amp.gradient_of'");
    return success();
  }
  FailureOr<StepRewriter> step = StepRewriter::get(function);
  if (failed(step))
    return failure();
  SmallVector<Value> gradients = step->getGradients();
  if (seeds.empty())
    return function->emitError("the step has gradients but no gradient seed; "
                               "expected an amp.gradient_seed where the "
                               "backward pass starts");
  if (gradients.empty())
    return function->emitError("the step has a gradient seed but no gradients; "
                               "expected 'amp.gradient_of' on the operations "
                               "that give the gradients of parameters");
  for (Operation *seed : seeds) {
    Value value = seed->getResult(0);
    if (seed->getBlock() != &step->getBody())
      return seed->emitOpError(
          "must stand in the body of the step, not in a nested region");
    if (value.getType() !=
        RankedTensorType::get({}, Float32Type::get(&getContext())))
      return seed->emitOpError("loss scaling needs a seed of type tensor<f32>, "
                               "got ")
             << value.getType();
  }

  // Everything on which a gradient depends keeps the scaled values.
  SmallVector<Operation *> roots;
  for (Value gradient : gradients)
    roots.push_back(gradient.getDefiningOp());
  StepRewriter::OpSet backward;
  step->addBackwardSlice(roots, backward);
  if (failed(checkBackwardPass(*step, seeds, gradients, backward)) ||
      (isDynamic() && failed(checkRoles(function))) ||
      failed(step->checkUpdates()))
    return failure();

  // The scale: state of the step, or a constant.
  OpBuilder builder(&getContext());
  auto f32Type = RankedTensorType::get({}, builder.getF32Type());
  auto i32Type = RankedTensorType::get({}, builder.getI32Type());
  SmallVector<BlockArgument> state;
  Value scale;
  if (isDynamic()) {
    auto constant = [&](double value) {
      return InitAttr::get(&getContext(), InitKind::Constant,
                           builder.getF64FloatAttr(value), {}, {});
    };
    auto zeros = InitAttr::get(&getContext(), InitKind::Zeros, {}, {}, {});
    auto add = [&](StringRef name, RankedTensorType type, InitAttr init) {
      auto argument = step->addArgument(name, Role::ScalerState, type, init);
      if (succeeded(argument))
        state.push_back(*argument);
      return LogicalResult(argument);
    };
    if (failed(add("loss_scale", f32Type, constant(initScale))) ||
        failed(add("growth_tracker", i32Type, zeros)) ||
        failed(add("hysteresis_tracker", i32Type, constant(hysteresis))))
      return failure();
    scale = state[0];
  } else {
    builder.setInsertionPointToStart(&step->getBody());
    scale = arith::ConstantOp::create(
        builder, function.getLoc(),
        DenseElementsAttr::get(f32Type, static_cast<float>(constantScale)));
  }

  for (Operation *seed : seeds) {
    builder.setInsertionPointAfter(seed);
    auto scaled =
        ScaleOp::create(builder, seed->getLoc(), seed->getResult(0), scale);
    seed->getResult(0).replaceAllUsesExcept(scaled, scaled);
    backward.insert(scaled);
  }
  Value allFinite = unscaleGradients(*step, gradients, scale, backward);
  backward.insert(allFinite.getDefiningOp());
  if (!isDynamic())
    return success();
  numGuarded += guardUpdates(*step, allFinite, backward);
  return addScaleUpdate(*step, state, allFinite);
}

/// Inserts the unscale operation after the last gradient, moves what needs true
/// gradients behind it, and returns the finite flag.
Value InsertLossScalingPass::unscaleGradients(
    StepRewriter &step, ArrayRef<Value> gradients, Value scale,
    const StepRewriter::OpSet &backward) {
  OpBuilder builder(&getContext());
  Operation *last = gradients.back().getDefiningOp();
  builder.setInsertionPointAfter(last);
  SmallVector<Type> types;
  for (Value gradient : gradients) {
    Type type = gradient.getType();
    types.push_back(getElementTypeOrSelf(type).isF64()
                        ? type
                        : getWithElementType(type, builder.getF32Type()));
  }
  types.push_back(RankedTensorType::get({}, builder.getI1Type()));
  SmallVector<Location> locs;
  for (Value gradient : gradients)
    locs.push_back(gradient.getLoc());
  auto unscale = UnscaleOp::create(builder, builder.getFusedLoc(locs), types,
                                   gradients, scale);
  numGradients += gradients.size();

  step.moveDependentsAfter(unscale, gradients, backward);
  builder.setInsertionPointAfter(unscale);
  for (auto [gradient, unscaled] :
       llvm::zip(unscale.getGradients(), unscale.getUnscaled())) {
    Value narrowed;
    for (OpOperand &use : llvm::make_early_inc_range(gradient.getUses())) {
      Operation *user = step.getAncestor(use.getOwner());
      if (user == unscale || backward.contains(user))
        continue;
      // What was widened before is wide now.
      if (CastLike cast{use.getOwner()};
          cast && cast.getType() == unscaled.getType()) {
        cast.getResult().replaceAllUsesWith(unscaled);
        cast->erase();
        continue;
      }
      if (gradient.getType() == unscaled.getType()) {
        use.set(unscaled);
        continue;
      }
      if (!narrowed)
        narrowed =
            buildInsertedCast(builder, unscale.getLoc(), unscaled,
                              cast<FloatType>(getElementTypeOrSelf(gradient)));
      use.set(narrowed);
    }
  }
  return unscale.getAllFinite();
}

/// Updates the scaler state, and publishes the scale and whether the step was
/// skipped.
LogicalResult InsertLossScalingPass::addScaleUpdate(
    StepRewriter &step, ArrayRef<BlockArgument> state, Value allFinite) {
  // Before the casts of what the step returns, which stay last: where
  // auto-mixed-precision puts them when it decides anew.
  Operation *before = step.getReturn();
  while (Operation *previous = before->getPrevNode()) {
    CastLike cast(previous);
    if (!cast || !cast.isInserted() ||
        llvm::any_of(previous->getUsers(),
                     [&](Operation *user) { return user != step.getReturn(); }))
      break;
    before = previous;
  }
  OpBuilder builder(before);
  Location loc = allFinite.getLoc();
  auto update = UpdateScaleOp::create(builder, loc, state[0], state[1],
                                      state[2], allFinite);
  update.setGrowthFactorAttr(builder.getF32FloatAttr(growthFactor));
  update.setBackoffFactorAttr(builder.getF32FloatAttr(backoffFactor));
  update.setGrowthInterval(growthInterval);
  update.setMinScaleAttr(builder.getF32FloatAttr(minScale));
  update.setMaxScaleAttr(builder.getF32FloatAttr(maxScale));
  update.setHysteresis(hysteresis);

  Value finite =
      tensor::ExtractOp::create(builder, loc, allFinite, ValueRange());
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value overflow = arith::XOrIOp::create(builder, loc, finite, yes);
  Value skipped = tensor::FromElementsOp::create(
      builder, loc, cast<RankedTensorType>(allFinite.getType()), overflow);

  constexpr StringLiteral updates = AMPDialect::kUpdatesAttr;
  constexpr StringLiteral metric = AMPDialect::kMetricAttr;
  if (failed(step.addResult(update.getNewScale(), updates, "loss_scale")) ||
      failed(step.addResult(update.getNewGrowthTracker(), updates,
                            "growth_tracker")) ||
      failed(step.addResult(update.getNewHysteresisTracker(), updates,
                            "hysteresis_tracker")) ||
      failed(step.addResult(state[0], metric, "loss_scale")) ||
      failed(step.addResult(skipped, metric, "skipped")))
    return failure();
  return success();
}

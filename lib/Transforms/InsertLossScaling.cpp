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

#include "BackwardPass.h"
#include "OverflowGuard.h"
#include "amp/Precision/LossScaler.h"
#include "amp/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

namespace mlir::amp {
#define GEN_PASS_DEF_INSERTLOSSSCALINGPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

namespace {

/// A loss scale with the losses that it multiplies.
struct Scaling {
  /// Empty, or a dot and the name of the only loss.
  std::string suffix;
  SmallVector<Operation *> seeds;
  Value scale;
  /// The scale, the growth tracker and the hysteresis tracker, if the step
  /// updates the scale.
  SmallVector<BlockArgument> state;
};

/// The gradients of one optimizer that one scale multiplies.
struct GradientGroup {
  unsigned scaling;
  StringAttr optimizer;
  SmallVector<Value> gradients;
  UnscaleOp unscale;
};

class InsertLossScalingPass final
    : public amp::impl::InsertLossScalingPassBase<InsertLossScalingPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (failed(readOptions()))
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
  LogicalResult readOptions();
  LogicalResult rewriteStep(FunctionOpInterface function);
  LogicalResult addScales(StepRewriter &step, SmallVector<Scaling> &scalings);
  LogicalResult groupGradients(const StepRewriter &step,
                               ArrayRef<Scaling> scalings,
                               SmallVector<GradientGroup> &groups);
  UnscaleOp unscaleGradients(StepRewriter &step, ArrayRef<Value> gradients,
                             Value scale, const StepRewriter::OpSet &backward);
  void guardAll(StepRewriter &step, ArrayRef<GradientGroup> groups,
                StepRewriter::OpSet &backward);
  LogicalResult addScaleUpdate(StepRewriter &step, const Scaling &scaling,
                               Value allFinite);
  LogicalResult addMetrics(StepRewriter &step, ArrayRef<GradientGroup> groups);
  LogicalResult addGradientNorm(StepRewriter &step, ArrayRef<Value> gradients);

  bool isDynamic() const { return mode == "dynamic"; }
  double constantScale = 0;
  LossScaler machine;
};

} // namespace

/// All gradients, unscaled.
static SmallVector<Value> getUnscaled(ArrayRef<GradientGroup> groups) {
  SmallVector<Value> unscaled;
  for (GradientGroup group : groups)
    llvm::append_range(unscaled, group.unscale.getUnscaled());
  return unscaled;
}

/// Returns whether all of `flags`, each a tensor<i1>, are set, as another one
/// that is computed as early as they are.
static Value buildConjunction(StepRewriter &step, ArrayRef<Value> flags) {
  if (flags.size() == 1)
    return flags.front();
  Operation *last = flags.front().getDefiningOp();
  for (Value flag : flags.drop_front())
    if (last->isBeforeInBlock(flag.getDefiningOp()))
      last = flag.getDefiningOp();
  OpBuilder builder(step.getFunction().getContext());
  builder.setInsertionPointAfter(last);
  Value all;
  for (Value flag : flags) {
    Value one =
        tensor::ExtractOp::create(builder, flag.getLoc(), flag, ValueRange());
    all = all ? arith::AndIOp::create(builder, flag.getLoc(), all, one) : one;
  }
  return tensor::FromElementsOp::create(builder, last->getLoc(),
                                        flags.front().getType(), all);
}

LogicalResult InsertLossScalingPass::readOptions() {
  Location loc = getOperation()->getLoc();
  auto error = [&] { return emitError(loc) << "amp-insert-loss-scaling: "; };
  if (mode == "none")
    return success();
  if (!isDynamic()) {
    if (StringRef(mode).getAsDouble(constantScale))
      return error() << "unknown mode '" << mode
                     << "', expected dynamic, none or a number";
    if (!isLossScale(constantScale))
      return error() << "the scale must be positive, and it and its reciprocal "
                        "finite in f32, got "
                     << mode;
    return success();
  }
  std::optional<LossScaler> named = getLossScaler(scaler);
  if (!named)
    return error() << "unknown scaler '" << scaler << "', expected "
                   << llvm::join(getLossScalerNames(), ", ");
  machine = *named;
  // The defaults of options stand for the scaler's, and are no valid values.
  auto readNumber = [](auto option, auto &value) {
    if (option != std::numeric_limits<decltype(option)>::lowest())
      value = option;
  };
  readNumber(initScale.getValue(), machine.initScale);
  readNumber(growthFactor.getValue(), machine.growthFactor);
  readNumber(backoffFactor.getValue(), machine.backoffFactor);
  readNumber(growthInterval.getValue(), machine.growthInterval);
  readNumber(minScale.getValue(), machine.minScale);
  readNumber(maxScale.getValue(), machine.maxScale);
  readNumber(hysteresis.getValue(), machine.hysteresis);
  auto readWord = [](const std::string &option, std::string &value) {
    if (!option.empty())
      value = option;
  };
  readWord(hysteresisRefill, machine.hysteresisRefill);
  readWord(afterBackoff, machine.afterBackoff);
  readWord(growthGuard, machine.growthGuard);
  readWord(intervalRule, machine.intervalRule);
  readWord(check, machine.check);
  return machine.verify([&](StringRef key, const Twine &message) {
    error() << "'" << key << "' " << message;
  });
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
  if (mode == "none" && (!gradientNorm || !hasGradients))
    return success();
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
  if (mode == "none")
    return addGradientNorm(*step, gradients);
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
      (isDynamic() && failed(checkRolesOfUpdates(function))))
    return failure();

  llvm::MapVector<StringRef, Scaling> byLoss;
  for (Operation *seed : seeds) {
    StringRef loss = cast<GradientSeedOpInterface>(seed).getLossName();
    byLoss[perLoss && isDynamic() ? loss : ""].seeds.push_back(seed);
  }
  SmallVector<Scaling> scalings;
  for (auto &[loss, scaling] : byLoss) {
    if (byLoss.size() > 1)
      scaling.suffix = ("." + loss).str();
    scalings.push_back(std::move(scaling));
  }
  SmallVector<GradientGroup> groups;
  if (failed(groupGradients(*step, scalings, groups)) ||
      failed(addScales(*step, scalings)))
    return failure();

  OpBuilder builder(&getContext());
  for (const Scaling &scaling : scalings)
    for (Operation *seed : scaling.seeds) {
      builder.setInsertionPointAfter(seed);
      auto scaled = ScaleOp::create(builder, seed->getLoc(), seed->getResult(0),
                                    scaling.scale);
      seed->getResult(0).replaceAllUsesExcept(scaled, scaled);
      backward.insert(scaled);
    }
  for (GradientGroup &group : groups) {
    group.unscale = unscaleGradients(*step, group.gradients,
                                     scalings[group.scaling].scale, backward);
    backward.insert(group.unscale);
  }
  if (!isDynamic())
    return addGradientNorm(*step, getUnscaled(groups));
  guardAll(*step, groups, backward);
  for (auto [index, scaling] : llvm::enumerate(scalings)) {
    SmallVector<Value> flags;
    for (GradientGroup &group : groups)
      if (group.scaling == index)
        flags.push_back(group.unscale.getAllFinite());
    if (flags.empty())
      return scaling.seeds.front()->emitOpError(
          "has a scale of its own, but no gradient depends on it alone");
    if (failed(addScaleUpdate(*step, scaling, buildConjunction(*step, flags))))
      return failure();
  }
  return addMetrics(*step, groups);
}

/// The scales: state of the step, or a constant.
LogicalResult InsertLossScalingPass::addScales(StepRewriter &step,
                                               SmallVector<Scaling> &scalings) {
  OpBuilder builder(&getContext());
  auto f32Type = RankedTensorType::get({}, builder.getF32Type());
  auto i32Type = RankedTensorType::get({}, builder.getI32Type());
  if (!isDynamic()) {
    builder.setInsertionPointToStart(&step.getBody());
    scalings.front().scale = arith::ConstantOp::create(
        builder, step.getFunction().getLoc(),
        DenseElementsAttr::get(f32Type, static_cast<float>(constantScale)));
    return success();
  }
  auto constant = [&](double value) {
    return InitAttr::get(&getContext(), InitKind::Constant,
                         builder.getF64FloatAttr(value), {}, {});
  };
  auto zeros = InitAttr::get(&getContext(), InitKind::Zeros, {}, {}, {});
  for (Scaling &scaling : scalings) {
    for (auto [name, type, init] :
         {std::tuple("loss_scale", f32Type, constant(machine.initScale)),
          std::tuple("growth_tracker", i32Type, zeros),
          std::tuple("hysteresis_tracker", i32Type,
                     constant(machine.hysteresis))}) {
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

/// Puts gradients that are unscaled together into groups: those of one
/// optimizer and one scale.
LogicalResult
InsertLossScalingPass::groupGradients(const StepRewriter &step,
                                      ArrayRef<Scaling> scalings,
                                      SmallVector<GradientGroup> &groups) {
  // The operations that depend on the seeds of each scale.
  SmallVector<StepRewriter::OpSet> dependents;
  for (const Scaling &scaling : scalings) {
    SmallVector<Value> values;
    StepRewriter::OpSet holders;
    for (Operation *seed : scaling.seeds) {
      Operation *ancestor = step.getAncestor(seed);
      holders.insert(ancestor);
      llvm::append_range(values, ancestor->getResults());
    }
    dependents.push_back(step.getDependents(values, {}));
    dependents.back().insert(holders.begin(), holders.end());
  }
  for (Value gradient : step.getGradients()) {
    Operation *op = gradient.getDefiningOp();
    SmallVector<unsigned> of;
    for (unsigned i = 0, e = scalings.size(); i != e; ++i)
      if (dependents[i].contains(op))
        of.push_back(i);
    if (of.size() > 1) {
      InFlightDiagnostic diagnostic = op->emitOpError(
          "gives a gradient of several losses that have a scale each, expected "
          "gradients of one loss that are added behind 'amp.gradient_of'");
      for (unsigned i : of)
        diagnostic.attachNote(scalings[i].seeds.front()->getLoc())
            << "it depends on this seed";
      return diagnostic;
    }
    auto names = op->getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    StringAttr optimizer = step.getOptimizer(
        cast<StringAttr>(names[cast<OpResult>(gradient).getResultNumber()]));
    unsigned scaling = of.empty() ? 0 : of.front();
    auto group = llvm::find_if(groups, [&](const GradientGroup &other) {
      return other.scaling == scaling && other.optimizer == optimizer;
    });
    if (group == groups.end()) {
      groups.push_back({scaling, optimizer, {}, {}});
      group = std::prev(groups.end());
    }
    group->gradients.push_back(gradient);
  }
  return success();
}

/// Inserts the unscale operation after the last gradient, moves what needs true
/// gradients behind it, and returns the finite flag.
UnscaleOp
InsertLossScalingPass::unscaleGradients(StepRewriter &step,
                                        ArrayRef<Value> gradients, Value scale,
                                        const StepRewriter::OpSet &backward) {
  OpBuilder builder(&getContext());
  Operation *last = gradients.back().getDefiningOp();
  builder.setInsertionPointAfter(last);
  SmallVector<Type> types;
  for (Value gradient : gradients) {
    auto type = cast<RankedTensorType>(gradient.getType());
    types.push_back(type.getElementType().isF64()
                        ? type
                        : type.clone(builder.getF32Type()));
  }
  types.push_back(RankedTensorType::get({}, builder.getI1Type()));
  SmallVector<Location> locs;
  for (Value gradient : gradients)
    locs.push_back(gradient.getLoc());
  auto unscale = UnscaleOp::create(builder, builder.getFusedLoc(locs), types,
                                   gradients, scale, machine.check == "both");
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
      if (auto cast = dyn_cast<CastOp>(use.getOwner());
          cast && cast.getType() == unscaled.getType()) {
        cast.replaceAllUsesWith(unscaled);
        cast.erase();
        continue;
      }
      if (gradient.getType() == unscaled.getType()) {
        use.set(unscaled);
        continue;
      }
      if (!narrowed)
        narrowed = CastOp::create(
            builder, unscale.getLoc(), unscaled,
            cast<FloatType>(getElementTypeOrSelf(gradient)), /*inserted=*/true);
      use.set(narrowed);
    }
  }
  return unscale;
}

/// Guards each update by the flags of all gradients that it depends on, and of
/// those of its own optimizer; one that depends on none, by all flags.
void InsertLossScalingPass::guardAll(StepRewriter &step,
                                     ArrayRef<GradientGroup> groups,
                                     StepRewriter::OpSet &backward) {
  SmallVector<StepRewriter::OpSet> dependents;
  for (const GradientGroup &group : groups) {
    UnscaleOp unscale = group.unscale;
    dependents.push_back(step.getDependents(
        llvm::to_vector_of<Value>(unscale.getUnscaled()), {}));
    dependents.back().insert(unscale);
  }
  FunctionOpInterface function = step.getFunction();
  SmallVector<std::pair<BitVector, SmallVector<GuardedResult>>> guards;
  for (GuardedResult entry : getGuardedResults(step, guardModelState)) {
    auto optimizer = function.getArgAttrOfType<StringAttr>(
        entry.argument.getArgNumber(), AMPDialect::kOptimizerAttr);
    BitVector needed(groups.size());
    Operation *op = entry.result->get().getDefiningOp();
    for (auto [index, group] : llvm::enumerate(groups))
      if (dependents[index].contains(op) ||
          (optimizer && group.optimizer == optimizer))
        needed.set(index);
    if (needed.none())
      needed.set();
    auto it = llvm::find_if(
        guards, [&](const auto &guard) { return guard.first == needed; });
    if (it == guards.end()) {
      guards.push_back({needed, {}});
      it = std::prev(guards.end());
    }
    it->second.push_back(entry);
  }
  for (auto &[needed, guarded] : guards) {
    SmallVector<Value> flags;
    for (unsigned index : needed.set_bits()) {
      UnscaleOp unscale = groups[index].unscale;
      flags.push_back(unscale.getAllFinite());
    }
    guardUpdates(step, buildConjunction(step, flags), guarded, backward);
    numGuarded += guarded.size();
    ++numGuards;
  }
}

/// Updates the state of one scale, and publishes the scale.
LogicalResult InsertLossScalingPass::addScaleUpdate(StepRewriter &step,
                                                    const Scaling &scaling,
                                                    Value allFinite) {
  OpBuilder builder(step.getReturn());
  ArrayRef<BlockArgument> state = scaling.state;
  auto update = UpdateScaleOp::create(builder, allFinite.getLoc(), state[0],
                                      state[1], state[2], allFinite);
  update.setGrowthFactorAttr(builder.getF32FloatAttr(machine.growthFactor));
  update.setBackoffFactorAttr(builder.getF32FloatAttr(machine.backoffFactor));
  update.setGrowthInterval(machine.growthInterval);
  update.setMinScaleAttr(builder.getF32FloatAttr(machine.minScale));
  update.setMaxScaleAttr(builder.getF32FloatAttr(machine.maxScale));
  update.setHysteresis(machine.hysteresis);
  update.setHysteresisRefill(
      *symbolizeHysteresisRefill(machine.hysteresisRefill));
  update.setAfterBackoff(*symbolizeAfterBackoff(machine.afterBackoff));
  update.setFiniteGrowth(machine.growthGuard == "on");
  update.setExactInterval(machine.intervalRule == "equal");

  constexpr StringLiteral updates = AMPDialect::kUpdatesAttr;
  for (auto [name, value] :
       {std::pair("loss_scale", update.getNewScale()),
        std::pair("growth_tracker", update.getNewGrowthTracker()),
        std::pair("hysteresis_tracker", update.getNewHysteresisTracker())})
    if (failed(step.addResult(value, updates, name + scaling.suffix)))
      return failure();
  return step.addResult(state[0], AMPDialect::kMetricAttr,
                        "loss_scale" + scaling.suffix);
}

/// Publishes which updates were skipped, and what else was asked for.
LogicalResult
InsertLossScalingPass::addMetrics(StepRewriter &step,
                                  ArrayRef<GradientGroup> groups) {
  constexpr StringLiteral metric = AMPDialect::kMetricAttr;
  OpBuilder builder(step.getReturn());
  auto scalar = [&](Value value) -> Value {
    return tensor::FromElementsOp::create(
        builder, value.getLoc(), RankedTensorType::get({}, value.getType()),
        value);
  };
  auto addSkipped = [&](StringRef name, ArrayRef<Value> flags,
                        Value &overflow) {
    Value allFinite = buildConjunction(step, flags);
    Location loc = allFinite.getLoc();
    builder.setInsertionPoint(step.getReturn());
    Value finite =
        tensor::ExtractOp::create(builder, loc, allFinite, ValueRange());
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    overflow = arith::XOrIOp::create(builder, loc, finite, yes);
    return step.addResult(scalar(overflow), metric, name);
  };
  Value overflow;
  SmallVector<Value> all;
  llvm::MapVector<StringAttr, SmallVector<Value>> byOptimizer;
  for (GradientGroup group : groups) {
    all.push_back(group.unscale.getAllFinite());
    byOptimizer[group.optimizer].push_back(group.unscale.getAllFinite());
  }
  for (auto &[optimizer, flags] : byOptimizer)
    if (optimizer && byOptimizer.size() > 1 &&
        failed(addSkipped("skipped." + optimizer.str(), flags, overflow)))
      return failure();
  if (failed(addSkipped("skipped", all, overflow)))
    return failure();

  if (countSkipped) {
    auto type = RankedTensorType::get({}, builder.getI32Type());
    FailureOr<BlockArgument> count = step.addArgument(
        "skipped_steps", Role::ScalerState, type,
        InitAttr::get(&getContext(), InitKind::Zeros, {}, {}, {}));
    if (failed(count))
      return failure();
    builder.setInsertionPoint(step.getReturn());
    Location loc = overflow.getLoc();
    Value old = tensor::ExtractOp::create(builder, loc, *count, ValueRange());
    Value one =
        arith::ExtUIOp::create(builder, loc, builder.getI32Type(), overflow);
    Value sum = scalar(arith::AddIOp::create(builder, loc, old, one));
    if (failed(
            step.addResult(sum, AMPDialect::kUpdatesAttr, "skipped_steps")) ||
        failed(step.addResult(sum, metric, "skipped_steps")))
      return failure();
  }
  return addGradientNorm(step, getUnscaled(groups));
}

LogicalResult
InsertLossScalingPass::addGradientNorm(StepRewriter &step,
                                       ArrayRef<Value> gradients) {
  if (!gradientNorm)
    return success();
  OpBuilder builder(step.getReturn());
  SmallVector<Location> locs;
  for (Value gradient : gradients)
    locs.push_back(gradient.getLoc());
  Value norm =
      GlobalNormOp::create(builder, builder.getFusedLoc(locs), gradients);
  return step.addResult(norm, AMPDialect::kMetricAttr, "gradient_norm");
}

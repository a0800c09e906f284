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
#include "LayerScales.h"
#include "ScalerState.h"
#include "StepTransaction.h"
#include "amp/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
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

class InsertLossScalingPass final
    : public amp::impl::InsertLossScalingPassBase<InsertLossScalingPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    if (failed(readOptions()))
      return signalPassFailure();
    StepTransaction transaction;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (!function.isExternal() &&
              failed(rewriteStep(function, transaction)))
            return WalkResult::interrupt();
          return WalkResult::skip();
        });
    if (!result.wasInterrupted())
      return;
    transaction.rollBack();
    signalPassFailure();
  }

private:
  LogicalResult readOptions();
  LogicalResult readLayerOptions();
  LogicalResult rejectOptions(const Twine &mode);
  LogicalResult rewriteStep(FunctionOpInterface function,
                            StepTransaction &transaction);
  LogicalResult guardAndUpdate(StepRewriter &step, ArrayRef<Scaling> scalings,
                               ArrayRef<GradientGroup> groups,
                               const StepRewriter::OpSet &backward);

  bool isByLayer() const { return mode == "layerwise"; }
  bool isDynamic() const { return mode == "dynamic" || isByLayer(); }
  double constantScale = 0;
  LossScaler machine;
  LayerScaler layerMachine;
};

} // namespace

/// The defaults of options stand for the scaler's, and are no valid values. A
/// reproducer has them with six digits.
static bool isGiven(double option) {
  return !(option <= std::numeric_limits<double>::lowest() * (1 - 1e-5));
}
static bool isGiven(int32_t option) {
  return option != std::numeric_limits<int32_t>::lowest();
}

template <typename NumberT>
static void readNumber(NumberT option, NumberT &value) {
  if (isGiven(option))
    value = option;
}

LogicalResult InsertLossScalingPass::readOptions() {
  Location loc = getOperation()->getLoc();
  auto error = [&] { return emitError(loc) << "amp-insert-loss-scaling: "; };
  if (mode == "none")
    return success();
  if (!isDynamic()) {
    if (StringRef(mode).getAsDouble(constantScale))
      return error() << "unknown mode '" << mode
                     << "', expected dynamic, layerwise, none or a number";
    if (!isLossScale(constantScale))
      return error() << "the scale must be positive, and it and its reciprocal "
                        "finite in f32, got "
                     << mode;
    return rejectOptions("a constant scale, which no step changes or checks");
  }
  if (isByLayer())
    return readLayerOptions();
  if (isGiven(layerTarget.getValue()))
    return error() << "'layer-target' is for mode=layerwise";
  std::optional<LossScaler> named = getLossScaler(scaler);
  if (!named)
    return error() << "unknown scaler '" << scaler << "', expected "
                   << llvm::join(getLossScalerNames(), ", ");
  machine = *named;
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

/// Rejects what has no meaning but for the machine of a dynamic scale, or for
/// scales that change at all.
LogicalResult InsertLossScalingPass::rejectOptions(const Twine &mode) {
  bool changes = isByLayer();
  for (auto [key, given] :
       {std::pair("scaler", scaler != "amp"),
        std::pair("growth-interval", isGiven(growthInterval.getValue())),
        std::pair("hysteresis", isGiven(hysteresis.getValue())),
        std::pair("hysteresis-refill", !hysteresisRefill.empty()),
        std::pair("after-backoff", !afterBackoff.empty()),
        std::pair("growth-guard", !growthGuard.empty()),
        std::pair("interval-rule", !intervalRule.empty()),
        std::pair("per-loss", perLoss.getValue()),
        std::pair("init-scale", !changes && isGiven(initScale.getValue())),
        std::pair("growth-factor",
                  !changes && isGiven(growthFactor.getValue())),
        std::pair("backoff-factor",
                  !changes && isGiven(backoffFactor.getValue())),
        std::pair("min-scale", !changes && isGiven(minScale.getValue())),
        std::pair("max-scale", !changes && isGiven(maxScale.getValue())),
        std::pair("layer-target", !changes && isGiven(layerTarget.getValue())),
        std::pair("check", !changes && !check.empty()),
        std::pair("guard-model-state", !changes && guardModelState),
        std::pair("count-skipped", !changes && countSkipped)})
    if (given)
      return emitError(getOperation()->getLoc())
             << "amp-insert-loss-scaling: '" << key << "' does not apply to "
             << mode;
  return success();
}

LogicalResult InsertLossScalingPass::readLayerOptions() {
  if (failed(rejectOptions("mode=layerwise, whose scales follow the gradients "
                           "of their layers")))
    return failure();
  auto error = [&] {
    return emitError(getOperation()->getLoc()) << "amp-insert-loss-scaling: ";
  };
  readNumber(initScale.getValue(), layerMachine.initScale);
  readNumber(growthFactor.getValue(), layerMachine.growthFactor);
  readNumber(backoffFactor.getValue(), layerMachine.backoffFactor);
  readNumber(minScale.getValue(), layerMachine.minScale);
  readNumber(maxScale.getValue(), layerMachine.maxScale);
  readNumber(layerTarget.getValue(), layerMachine.target);
  if (!check.empty())
    machine.check = check;
  auto report = [&](StringRef key, const Twine &message) {
    error() << "'" << key << "' " << message;
  };
  return failure(failed(layerMachine.verify(report)) ||
                 failed(machine.verify(report)));
}

LogicalResult InsertLossScalingPass::rewriteStep(FunctionOpInterface function,
                                                 StepTransaction &transaction) {
  auto remarkOptions = [&](StringRef name) {
    return remark::RemarkOpts::name(name).category("amp").function(
        function.getName());
  };
  SmallVector<Operation *> seeds;
  SmallVector<InnerGradientOp> innerGradients;
  bool hasGradients = false, alreadyScaled = false;
  function.getFunctionBody().walk([&](Operation *op) {
    if (isa<GradientSeedOpInterface>(op))
      seeds.push_back(op);
    if (auto inner = dyn_cast<InnerGradientOp>(op); inner && !inner.getScale())
      innerGradients.push_back(inner);
    alreadyScaled |= isa<UnscaleOp>(op);
    hasGradients |= op->hasAttr(AMPDialect::kGradientOfAttr);
  });
  if (mode == "none" && !hasGradients)
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
  if (mode == "none") {
    if (failed(step->checkUpdates()))
      return failure();
    if (!gradientNorm)
      return success();
    transaction.begin(function);
    return addGradientNorm(*step, gradients, gradients);
  }
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
  CastChooser casts(function);
  if (failed(checkBackwardPass(*step, casts, seeds, gradients, backward)) ||
      (isDynamic() && failed(checkRolesOfUpdates(function))) ||
      failed(step->checkUpdates()))
    return failure();

  SmallVector<Scaling> scalings;
  std::optional<GradientLayers> layers;
  llvm::MapVector<StringRef, Scaling> byLoss;
  if (isByLayer()) {
    layers.emplace(*step, seeds, gradients, backward);
    for (const std::string &name : layers->getNames())
      scalings.emplace_back().suffix = "." + name;
    scalings[layers->getFirstLayer()].seeds = seeds;
  } else {
    for (Operation *seed : seeds) {
      StringRef loss = cast<GradientSeedOpInterface>(seed).getLossName();
      byLoss[perLoss && isDynamic() ? loss : ""].seeds.push_back(seed);
    }
  }
  for (auto &[loss, scaling] : byLoss) {
    if (byLoss.size() > 1)
      scaling.suffix = ("." + loss).str();
    scalings.push_back(std::move(scaling));
  }
  if (!innerGradients.empty() && scalings.size() > 1)
    return innerGradients.front()->emitOpError(
               "is a gradient on which another loss depends, expected one "
               "scale for "
               "all losses instead of one for each")
           << (isByLayer() ? " layer" : "");
  SmallVector<GradientGroup> groups;
  auto getLayer = [&](Value gradient) { return layers->getLayer(gradient); };
  if (failed(isByLayer() ? groupGradients(*step, scalings, groups, getLayer)
                         : groupGradients(*step, scalings, groups)))
    return failure();
  transaction.begin(function);
  if (isByLayer()) {
    if (failed(addLayerScales(*step, layerMachine, scalings)))
      return failure();
  } else if (isDynamic()) {
    if (failed(addScalerState(*step, machine, scalings)))
      return failure();
  } else {
    OpBuilder builder = OpBuilder::atBlockBegin(&step->getBody());
    auto type = RankedTensorType::get({}, builder.getF32Type());
    scalings.front().scale = arith::ConstantOp::create(
        builder, function.getLoc(),
        DenseElementsAttr::get(type, static_cast<float>(constantScale)));
  }

  OpBuilder builder(&getContext());
  for (const Scaling &scaling : scalings)
    for (Operation *seed : scaling.seeds) {
      builder.setInsertionPointAfter(seed);
      auto scaled = ScaleOp::create(builder, seed->getLoc(), seed->getResult(0),
                                    scaling.scale);
      seed->getResult(0).replaceAllUsesExcept(scaled, scaled);
      backward.insert(scaled);
    }
  if (layers)
    layers->insert(*step, scalings, backward);
  numScales += scalings.size();
  for (InnerGradientOp inner : innerGradients)
    inner.getScaleMutable().assign(scalings.front().scale);
  for (GradientGroup &group : groups) {
    unscaleGradients(*step, casts, group, scalings[group.scaling].scale,
                     /*strict=*/machine.check == "both", backward);
    backward.insert(group.unscale);
    numGradients += group.gradients.size();
  }
  if (isDynamic() && failed(guardAndUpdate(*step, scalings, groups, backward)))
    return failure();
  if (isByLayer())
    remark::passed(function.getLoc(), remarkOptions("LayerScales"))
        << remark::metric("Layers", scalings.size());
  if (!gradientNorm)
    return success();
  SmallVector<Value> named;
  for (const GradientGroup &group : groups)
    llvm::append_range(named, group.gradients);
  return addGradientNorm(*step, getUnscaled(groups), named);
}

/// Guards what the optimizers update, and updates the scales.
LogicalResult InsertLossScalingPass::guardAndUpdate(
    StepRewriter &step, ArrayRef<Scaling> scalings,
    ArrayRef<GradientGroup> groups, const StepRewriter::OpSet &backward) {
  auto getFlags = [&](auto belongs) {
    SmallVector<Value> flags;
    for (auto [index, group] : llvm::enumerate(groups))
      if (UnscaleOp unscale = group.unscale; belongs(index))
        flags.push_back(unscale.getAllFinite());
    return flags;
  };
  SmallVector<UpdateGuard> guards =
      getUpdateGuards(step, groups, guardModelState, isByLayer());
  llvm::stable_sort(guards, [](const UpdateGuard &a, const UpdateGuard &b) {
    return a.follows < b.follows;
  });
  SmallVector<std::pair<BitVector, Value>> conditions;
  auto getAny = [&](const BitVector &of) {
    SmallVector<Value> found;
    for (auto &[belongs, condition] : conditions)
      if (belongs.anyCommon(of))
        found.push_back(condition);
    return found;
  };
  SmallVector<GuardedResult> guarded;
  for (const UpdateGuard &guard : guards)
    llvm::append_range(guarded, guard.results);
  StepRewriter::OpSet feedsUpdate = getUpdateSlice(step, guarded, backward);
  for (const UpdateGuard &guard : guards) {
    SmallVector<Value> flags =
        getFlags([&](unsigned index) { return guard.groups.test(index); });
    SmallVector<Value> others;
    if (guard.follows)
      others = getAny(guard.groups);
    Value condition = others.empty() ? buildConjunction(step, flags)
                                     : buildDisjunction(step, others);
    if (!guard.follows)
      conditions.push_back({guard.groups, condition});
    guardUpdates(step, condition, guard.results, backward, feedsUpdate);
    numGuarded += guard.results.size();
    ++numGuards;
  }
  for (unsigned i = 0, e = scalings.size(); i != e; ++i) {
    SmallVector<Value> flags =
        getFlags([&](unsigned index) { return groups[index].scaling == i; });
    if (flags.empty())
      return scalings[i].seeds.front()->emitOpError(
          "has a scale of its own, but no gradient depends on it alone");
    Value allFinite = buildConjunction(step, flags);
    if (failed(isByLayer()
                   ? addLayerUpdate(step, layerMachine, scalings[i], allFinite)
                   : addScaleUpdate(step, machine, scalings[i], allFinite)))
      return failure();
  }
  SmallVector<Value> made;
  if (isByLayer())
    made = getAny(BitVector(groups.size(), true));
  Value passed =
      made.empty()
          ? buildConjunction(step, getFlags([](unsigned) { return true; }))
          : buildDisjunction(step, made);
  return addSkipMetrics(step, groups, passed, countSkipped);
}

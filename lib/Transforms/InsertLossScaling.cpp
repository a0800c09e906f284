//===- InsertLossScaling.cpp - Scale, unscale, guard ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some operations of a step compute gradients (the forward and the backward
// pass). They keep the scaled values. Other operations depend on gradients (the
// update, reported norms). They read unscaled values. Those that only feed
// updates of parameters and optimizer state move into the overflow guard.
//
//===----------------------------------------------------------------------===//

#include "CheckBackwardPass.h"
#include "ForeignRules.h"
#include "ScaledStep.h"
#include "ScalerState.h"
#include "StepTransaction.h"
#include "amp/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

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
    ForeignRules rules;
    if (failed(readOptions()) ||
        failed(rules.read("amp-insert-loss-scaling", getOperation(), policy,
                          linear)))
      return signalPassFailure();
    StepTransaction transaction;
    WalkResult result = getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (!function.isExternal() &&
              failed(rewriteStep(function, transaction, rules)))
            return WalkResult::interrupt();
          return WalkResult::skip();
        });
    if (!result.wasInterrupted())
      return;
    transaction.rollBack();
    signalPassFailure();
  }

private:
  ArrayRef<StringRef> getListOptions() const override {
    static constexpr StringRef names[] = {"linear"};
    return names;
  }
  LogicalResult readOptions();
  SmallVector<std::pair<StringRef, StringRef>> getScalerOptions() const;
  template <typename ScalerT>
  LogicalResult readScaler(ScalerT &scaler, StringRef mode);
  InFlightDiagnostic emitOptionError() {
    return emitError(getOperation()->getLoc()) << "amp-insert-loss-scaling: ";
  }
  InFlightDiagnostic rejectOption(StringRef key, StringRef mode) {
    return emitOptionError() << "'" << key << "' does not apply to " << mode;
  }
  LogicalResult rewriteStep(FunctionOpInterface function,
                            StepTransaction &transaction,
                            const ForeignRules &rules);
  void chooseScalings(ScaledStep &scaled);
  LogicalResult chooseGroups(ScaledStep &scaled);
  LogicalResult addScales(ScaledStep &scaled);
  void scaleSeeds(ScaledStep &scaled);
  void unscaleGroups(ScaledStep &scaled, CastChooser &casts);
  LogicalResult guardAndUpdate(StepRewriter &step, ArrayRef<Scaling> scalings,
                               MutableArrayRef<GradientGroup> groups,
                               const StepRewriter::OpSet &backward);

  bool isByLayer() const { return mode == "layerwise"; }
  bool isDynamic() const { return mode == "dynamic" || isByLayer(); }
  double constantScale = 0;
  LossScaler lossScaler;
  LayerScaler layerScaler;
};

} // namespace

/// The options that replace a value of the scaler. Options that are not given
/// are empty.
SmallVector<std::pair<StringRef, StringRef>>
InsertLossScalingPass::getScalerOptions() const {
  return {{"init-scale", initScale},
          {"growth-factor", growthFactor},
          {"backoff-factor", backoffFactor},
          {"growth-interval", growthInterval},
          {"min-scale", minScale},
          {"max-scale", maxScale},
          {"hysteresis", hysteresis},
          {"hysteresis-refill", hysteresisRefill},
          {"after-backoff", afterBackoff},
          {"growth-guard", growthGuard},
          {"interval-rule", intervalRule},
          {"layer-target", layerTarget},
          {"check", check}};
}

template <typename ScalerT>
LogicalResult InsertLossScalingPass::readScaler(ScalerT &scaler,
                                                StringRef mode) {
  for (auto [key, value] : getScalerOptions()) {
    if (value.empty())
      continue;
    if (!llvm::is_contained(ScalerT::getKeys(), key))
      return rejectOption(key, mode);
    if (std::string expected = scaler.set(key, value); !expected.empty())
      return emitOptionError() << "expected '" << key << "' to be " << expected
                               << ", got '" << value << "'";
  }
  if (std::string message = scaler.findError(); !message.empty())
    return emitOptionError() << message;
  return success();
}

LogicalResult InsertLossScalingPass::readOptions() {
  if (mode == "none")
    return success();
  if (mode == "dynamic") {
    std::optional<LossScaler> named = getLossScaler(scaler);
    if (!named)
      return emitOptionError() << "unknown scaler '" << scaler << "', expected "
                               << llvm::join(getLossScalerNames(), ", ");
    lossScaler = *named;
    return readScaler(lossScaler, "mode=dynamic, which has one scale for all "
                                  "layers");
  }
  StringRef others = "mode=layerwise, whose scales follow the gradients of "
                     "their layers";
  if (!isByLayer()) {
    if (StringRef(mode).getAsDouble(constantScale))
      return emitOptionError()
             << "unknown mode '" << mode
             << "', expected dynamic, layerwise, none or a number";
    if (!isLossScale(constantScale))
      return emitOptionError()
             << "the scale must be positive, and it and its reciprocal finite "
                "in f32, got "
             << mode;
    others = "a constant scale, which no step changes or checks";
  }
  for (auto [key, given] :
       {std::pair("scaler", scaler != "amp"),
        std::pair("per-loss", perLoss.getValue()),
        std::pair("tracker-metrics", trackerMetrics.getValue()),
        std::pair("guard-model-state", !isByLayer() && guardModelState),
        std::pair("count-skipped", !isByLayer() && countSkipped)})
    if (given)
      return rejectOption(key, others);
  if (isByLayer())
    return readScaler(layerScaler, others);
  for (auto [key, value] : getScalerOptions())
    if (!value.empty())
      return rejectOption(key, others);
  return success();
}

/// Assigns the seeds to scales: one for each layer, for each loss, or for all.
void InsertLossScalingPass::chooseScalings(ScaledStep &scaled) {
  if (isByLayer()) {
    scaled.layers.emplace(scaled.step, scaled.seeds, scaled.gradients,
                          scaled.backward);
    for (const std::string &name : scaled.layers->getNames())
      scaled.scalings.emplace_back().suffix = "." + name;
    scaled.scalings[scaled.layers->getFirstLayer()].seeds = scaled.seeds;
    return;
  }
  llvm::MapVector<StringRef, Scaling> byLoss;
  for (Operation *seed : scaled.seeds) {
    StringRef loss = cast<GradientSeedOpInterface>(seed).getLossName();
    byLoss[perLoss && isDynamic() ? loss : ""].seeds.push_back(seed);
  }
  for (auto &[loss, scaling] : byLoss) {
    if (byLoss.size() > 1)
      scaling.suffix = ("." + loss).str();
    scaled.scalings.push_back(std::move(scaling));
  }
}

/// Groups the gradients by scale and optimizer.
LogicalResult InsertLossScalingPass::chooseGroups(ScaledStep &scaled) {
  if (!scaled.innerGradients.empty() && scaled.scalings.size() > 1)
    return scaled.innerGradients.front()->emitOpError(
               "is a gradient on which another loss depends, expected one "
               "scale for "
               "all losses instead of one for each")
           << (isByLayer() ? " layer" : "");
  if (!isByLayer())
    return groupGradients(scaled.step, scaled.scalings, scaled.groups);
  return groupGradients(
      scaled.step, scaled.scalings, scaled.groups,
      [&](Value gradient) { return scaled.layers->getLayer(gradient); });
}

/// Adds the scales: arguments of the step, or a constant.
LogicalResult InsertLossScalingPass::addScales(ScaledStep &scaled) {
  if (isByLayer())
    return addLayerScales(scaled.step, layerScaler, scaled.scalings);
  if (isDynamic())
    return addScalerState(scaled.step, lossScaler, scaled.scalings);
  OpBuilder builder = OpBuilder::atBlockBegin(&scaled.step.getBody());
  auto type = RankedTensorType::get({}, builder.getF32Type());
  scaled.scalings.front().scale = arith::ConstantOp::create(
      builder, scaled.step.getFunction().getLoc(),
      DenseElementsAttr::get(type, static_cast<float>(constantScale)));
  return success();
}

/// Multiplies the seeds by their scales.
void InsertLossScalingPass::scaleSeeds(ScaledStep &scaled) {
  OpBuilder builder(&getContext());
  for (const Scaling &scaling : scaled.scalings)
    for (Operation *seed : scaling.seeds) {
      builder.setInsertionPointAfter(seed);
      auto scale = ScaleOp::create(builder, seed->getLoc(), seed->getResult(0),
                                   scaling.scale);
      seed->getResult(0).replaceAllUsesExcept(scale, scale);
      scaled.backward.insert(scale);
    }
  if (scaled.layers)
    scaled.layers->insert(scaled.step, scaled.scalings, scaled.backward);
  numScales += scaled.scalings.size();
  for (InnerGradientOp inner : scaled.innerGradients)
    inner.getScaleMutable().assign(scaled.scalings.front().scale);
}

/// Divides the gradients of all groups by their scales.
void InsertLossScalingPass::unscaleGroups(ScaledStep &scaled,
                                          CastChooser &casts) {
  for (GradientGroup &group : scaled.groups) {
    unscaleGradients(
        scaled.step, casts, group, scaled.scalings[group.scaling].scale,
        /*strict=*/lossScaler.strict || layerScaler.strict, scaled.backward);
    scaled.backward.insert(group.unscale);
    for (UnscaleOp further : group.further)
      scaled.backward.insert(further);
    numGradients += group.gradients.size();
  }
}

LogicalResult InsertLossScalingPass::rewriteStep(FunctionOpInterface function,
                                                 StepTransaction &transaction,
                                                 const ForeignRules &rules) {
  StepContents contents(function);
  if ((mode == "none" && !contents.hasGradients) ||
      !contents.canScale(function))
    return success();
  FailureOr<StepRewriter> step = StepRewriter::get(function);
  if (failed(step))
    return failure();
  ScaledStep scaled(*step, std::move(contents));
  if (mode == "none") {
    if (failed(step->checkUpdates()))
      return failure();
    if (!gradientNorm)
      return success();
    transaction.begin(function);
    return addGradientNorm(scaled.step, scaled.gradients, scaled.gradients);
  }
  SmallVector<Value> observed;
  CastChooser casts(function);
  if (failed(scaled.checkSeeds()))
    return failure();
  scaled.findBackwardPass();
  if (failed(checkBackwardPass(scaled.step, casts, scaled.seeds,
                               scaled.gradients, scaled.backward, observed)) ||
      (isDynamic() && failed(checkRolesOfUpdates(function))) ||
      failed(step->checkUpdates()))
    return failure();
  chooseScalings(scaled);
  if (failed(chooseGroups(scaled)))
    return failure();
  transaction.begin(function);
  if (failed(addScales(scaled)))
    return failure();
  scaleSeeds(scaled);
  scaled.addObserved(observed, rules.getLinear());
  unscaleGroups(scaled, casts);
  if (isDynamic() && failed(guardAndUpdate(scaled.step, scaled.scalings,
                                           scaled.groups, scaled.backward)))
    return failure();
  if (isByLayer())
    remark::passed(function.getLoc(), remark::RemarkOpts::name("LayerScales")
                                          .category("amp")
                                          .function(function.getName()))
        << remark::metric("Layers", scaled.scalings.size());
  if (!gradientNorm)
    return success();
  SmallVector<Value> named;
  for (const GradientGroup &group : scaled.groups)
    llvm::append_range(named, group.gradients);
  return addGradientNorm(scaled.step, getUnscaled(scaled.groups), named);
}

/// Guards the updates of the optimizers, and updates the scales.
LogicalResult
InsertLossScalingPass::guardAndUpdate(StepRewriter &step,
                                      ArrayRef<Scaling> scalings,
                                      MutableArrayRef<GradientGroup> groups,
                                      const StepRewriter::OpSet &backward) {
  auto getFlags = [&](auto belongs) {
    SmallVector<Value> flags;
    for (auto [index, group] : llvm::enumerate(groups))
      if (belongs(index))
        group.getFlags(flags);
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
                   ? addLayerUpdate(step, layerScaler, scalings[i], allFinite)
                   : addScaleUpdate(step, lossScaler, scalings[i], allFinite,
                                    trackerMetrics)))
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

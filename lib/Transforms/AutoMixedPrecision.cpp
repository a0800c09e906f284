//===- AutoMixedPrecision.cpp - Store values in low precision -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The Precision library decides. This pass reads the options, builds the slot
// graph, requests an assignment, and applies it.
//
//===----------------------------------------------------------------------===//

#include "amp/Transforms/Passes.h"

#include "PrecisionRecord.h"
#include "PrecisionRemarks.h"
#include "RoundOnce.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Precision/Assignment/CastRules.h"
#include "amp/Precision/Assignment/MeasuredValues.h"
#include "amp/Precision/Assignment/Optimal.h"
#include "amp/Precision/Assignment/SharedFunctions.h"
#include "amp/Precision/Assignment/Strategies.h"
#include "amp/Precision/Assignment/WideValues.h"
#include "amp/Precision/Report/Report.h"
#include "amp/Support/PrecisionName.h"
#include "amp/Transforms/PrecisionRewriter.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <memory>
#include <vector>

namespace mlir::amp {
#define GEN_PASS_DEF_AUTOMIXEDPRECISIONPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

#define DEBUG_TYPE "auto-mixed-precision"

using namespace mlir;
using namespace mlir::amp;

namespace {

/// The decisions for functions that are assigned together.
struct Plan {
  Plan(const CallGroup &group, const Policy &policy, FloatType low,
       const WideValues &wide, const CostOptions &options)
      : group(group), graph(group, policy, low, &wide), costs(graph, options),
        casts(policy) {}

  CallGroup group;
  SlotGraph graph;
  CostModel costs;
  Assignment assignment;
  CastRules casts;
};

class AutoMixedPrecisionPass final
    : public amp::impl::AutoMixedPrecisionPassBase<AutoMixedPrecisionPass> {
public:
  using Base::Base;
  AutoMixedPrecisionPass(const AutoMixedPrecisionPassOptions &options,
                         OperationClassifier classifier, ReportHandler onReport)
      : Base(options), classifier(std::move(classifier)),
        onReport(std::move(onReport)) {}

  /// Loads the dialects of the policy's cast operations. Only the policy names
  /// them, and a pass cannot load dialects later.
  LogicalResult initialize(MLIRContext *context) override {
    ScopedDiagnosticHandler handler(context,
                                    [](Diagnostic &) { return success(); });
    FailureOr<Policy> loaded = Policy::load(policy, UnknownLoc::get(context));
    // The pass reports the errors of the policy when it runs.
    if (failed(loaded))
      return success();
    for (const Adapter &adapter : loaded->getAdapters())
      if (adapter.cast) {
        StringRef dialect = StringRef(adapter.cast->op).split('.').first;
        if (!context->getLoadedDialect(dialect))
          (void)context->getOrLoadDialect(dialect);
      }
    return success();
  }

  void runOnOperation() override {
    Location loc = getOperation()->getLoc();
    FailureOr<Policy> loaded = Policy::load(policy, loc);
    if (failed(loaded))
      return signalPassFailure();
    loaded->classifier = classifier;
    const PolicySettings &settings = loaded->settings;
    StringRef name = !precision.empty()            ? StringRef(precision)
                     : !settings.precision.empty() ? settings.precision
                                                   : StringRef("fp16");
    FloatType low = parsePrecision(name, &getContext());
    if (!low) {
      emitError(loc) << "auto-mixed-precision: unknown precision '" << name
                     << "', expected fp16, bf16 or f32, or fp8 as a precision "
                        "of amp-training-pipeline";
      return signalPassFailure();
    }
    if (failed(readStrategy(settings, loc)) ||
        failed(readTarget(*loaded, low, loc)) || failed(readRanges(loc)))
      return signalPassFailure();
    keepsRoundings = settings.roundings == Roundings::Keep;
    warnOfIdleOptions(loc);
    if (loaded->hasSlotTypes() && chosenStrategy != Strategy::Optimal)
      emitWarning(loc)
          << "auto-mixed-precision: 'slot-types' of the policy has "
             "no effect with strategy="
          << stringifyStrategy(chosenStrategy) << ", expected strategy=optimal";
    for (const std::string &report : reports)
      if (failed(PrecisionReport::checkPath(report, loc)))
        return signalPassFailure();
    if (failed(loaded->checkRejected(getOperation())) ||
        failed(checkOtherPrecision(low)))
      return signalPassFailure();
    if (!low.isF32() && chosenStrategy == Strategy::Optimal)
      splitFunctions();
    // Write the reports first. If one cannot be written, nothing has changed.
    if ((!reports.empty() || onReport) && failed(writeReports(low, *loaded)))
      return signalPassFailure();
    restoreFunctions();
    if (low.isF32())
      return;

    WideValues wide = WideValues::find(getOperation(), *loaded);
    std::optional<MeasuredValues> measured;
    if (failed(findMeasured(getOperation(), low, *loaded, measured)))
      return signalPassFailure();
    wide.measured = measured ? &*measured : nullptr;
    SmallVector<KeptSignature> kept;
    std::vector<std::unique_ptr<Plan>> plans;
    for (const CallGroup &group : findCallGroups(getOperation(), kept)) {
      // Functions that could not be restored still carry the mark.
      if (llvm::any_of(group.functions, getRecordedPrecision))
        continue;
      plans.push_back(plan(group, low, *loaded, wide));
      if (!plans.back())
        return signalPassFailure();
    }
    if (failed(loaded->checkUse(getOperation())))
      return signalPassFailure();
    warnOfNothingLow(plans);
    // All errors are found before anything changes.
    for (std::unique_ptr<Plan> &plan : plans) {
      if (failed(rewrite(*plan, low)))
        return signalPassFailure();
      plan.reset();
    }
    for (KeptSignature &entry : kept)
      remark::missed(entry.function->getLoc(),
                     remark::RemarkOpts::name("SignatureKept")
                         .category("amp")
                         .function(entry.function.getName()))
          << "what calls pass and get keeps its type"
          << remark::reason("{0}", entry.reason);
  }

private:
  ArrayRef<StringRef> getListOptions() const override {
    static constexpr StringRef names[] = {"report"};
    return names;
  }
  LogicalResult readStrategy(const PolicySettings &settings, Location loc);
  LogicalResult readTarget(const Policy &policy, FloatType low, Location loc);
  LogicalResult readRanges(Location loc);
  LogicalResult findMeasured(Operation *root, FloatType low,
                             const Policy &policy,
                             std::optional<MeasuredValues> &measured) const;
  void warnOfIdleOptions(Location loc) const;
  void warnOfNothingLow(ArrayRef<std::unique_ptr<Plan>> plans);
  Assignment decide(const SlotGraph &graph, const CostModel &costs,
                    Strategy strategy) const;
  LogicalResult checkOtherPrecision(FloatType low);
  LogicalResult writeReports(FloatType low, Policy &policy);
  void restoreFunctions();
  void splitFunctions();
  std::unique_ptr<Plan> plan(const CallGroup &group, FloatType low,
                             const Policy &policy,
                             const WideValues &wide) const;
  LogicalResult rewrite(Plan &plan, FloatType low);

  Strategy chosenStrategy = Strategy::Optimal;
  bool keepsRoundings = false;
  std::optional<Target> chosenTarget;
  CostOptions costOptions;
  std::vector<MeasuredRange> measuredRanges;
  OperationClassifier classifier;
  ReportHandler onReport;
};

} // namespace

std::unique_ptr<Pass> mlir::amp::createAutoMixedPrecisionPass(
    const AutoMixedPrecisionPassOptions &options,
    OperationClassifier classifier, ReportHandler onReport) {
  return std::make_unique<AutoMixedPrecisionPass>(
      options, std::move(classifier), std::move(onReport));
}

LogicalResult
AutoMixedPrecisionPass::readStrategy(const PolicySettings &settings,
                                     Location loc) {
  StringRef masters = !masterWeights.empty() ? StringRef(masterWeights)
                                             : settings.masterWeights;
  if (!masters.empty() &&
      !llvm::is_contained({"cast", "copy", "split", "none"}, masters))
    return emitError(loc) << "auto-mixed-precision: unknown master-weights '"
                          << masters << "', expected cast, copy, split or none";
  // Reading a parameter that is stored low, or its upper half, costs the same
  // as reading a copy.
  costOptions.masterCopies = !masters.empty() && masters != "cast";
  if (strategy.empty()) {
    chosenStrategy = settings.strategy.value_or(Strategy::Optimal);
    return success();
  }
  std::optional<Strategy> found = symbolizeStrategy(strategy);
  if (!found)
    return emitError(loc) << "auto-mixed-precision: unknown strategy '"
                          << strategy
                          << "', expected autocast, grappler or optimal";
  chosenStrategy = *found;
  return success();
}

LogicalResult AutoMixedPrecisionPass::readTarget(const Policy &policy,
                                                 FloatType low, Location loc) {
  chosenTarget = target.empty() ? policy.settings.target : getTarget(target);
  if (!chosenTarget && target.empty())
    return success();
  if (!chosenTarget)
    return emitError(loc) << "auto-mixed-precision: unknown target '" << target
                          << "', expected one of " << listTargets();
  StringRef name = low.isF16() ? "f16" : low.isBF16() ? "bf16" : "";
  if (!name.empty() && !llvm::is_contained(chosenTarget->lowTypes, name))
    return emitError(target.empty() ? policy.lowTypesLoc.value_or(loc) : loc)
           << "auto-mixed-precision: the target has no products of " << name
           << ", expected one of " << llvm::join(chosenTarget->lowTypes, ", ");
  costOptions.target = &*chosenTarget;
  return success();
}

LogicalResult AutoMixedPrecisionPass::readRanges(Location loc) {
  measuredRanges.clear();
  auto fail = [&](StringRef option, double value, StringRef expected) {
    return emitError(loc) << "auto-mixed-precision: wrong value of '" << option
                          << "': " << value << ", expected " << expected;
  };
  if (!(rangesMargin >= 1 && std::isfinite(rangesMargin)))
    return fail("ranges-margin", rangesMargin, "a number of at least 1");
  if (!(rangesTolerance > 0 && std::isfinite(rangesTolerance)))
    return fail("ranges-tolerance", rangesTolerance, "a positive number");
  if (!(rangesScale >= 0 && std::isfinite(rangesScale)))
    return fail("ranges-scale", rangesScale, "a positive number or 0");
  if (ranges.empty())
    return success();
  llvm::Expected<std::vector<MeasuredRange>> read = readMeasuredRanges(ranges);
  if (!read)
    return emitError(loc) << "auto-mixed-precision: "
                          << llvm::toString(read.takeError());
  measuredRanges = std::move(*read);
  return success();
}

/// Finds the values of `root` that were measured. Fails if the file belongs to
/// another step: its ranges would decide for other values of the same names.
LogicalResult AutoMixedPrecisionPass::findMeasured(
    Operation *root, FloatType low, const Policy &policy,
    std::optional<MeasuredValues> &measured) const {
  if (ranges.empty() || low.isF32())
    return success();
  measured.emplace(measuredRanges,
                   MeasuredOptions{rangesMargin, rangesTolerance, rangesScale},
                   low);
  measured->find(root);
  // Passes before this one may have moved transposes and their like.
  std::string misfit = measured->describeMisfit([&](StringRef op) {
    return policy.classify(OperationName(op, root->getContext())) ==
           OpClass::Clear;
  });
  if (misfit.empty())
    return success();
  return emitError(root->getLoc())
         << "auto-mixed-precision: the ranges of '" << ranges
         << "' are from another module: " << misfit
         << "; expected a calibration of the same file";
}

/// Warns of options that the chosen strategy does not use. A report shows all
/// strategies.
void AutoMixedPrecisionPass::warnOfIdleOptions(Location loc) const {
  if (!reports.empty() || onReport)
    return;
  auto warn = [&](StringRef option, Strategy user) {
    if (chosenStrategy != user)
      emitWarning(loc) << "auto-mixed-precision: '" << option
                       << "' has no effect with strategy="
                       << stringifyStrategy(chosenStrategy)
                       << ", expected strategy=" << stringifyStrategy(user);
  };
  if (sinkRule)
    warn("sink-rule", Strategy::Grappler);
  if (!target.empty())
    warn("target", Strategy::Optimal);
}

Assignment AutoMixedPrecisionPass::decide(const SlotGraph &graph,
                                          const CostModel &costs,
                                          Strategy strategy) const {
  switch (strategy) {
  case Strategy::Autocast:
    return assignAutocast(graph);
  case Strategy::Grappler:
    return assignGrappler(graph, {sinkRule});
  case Strategy::Optimal:
    return assignOptimal(graph, costs);
  }
  llvm_unreachable("every strategy is handled");
}

/// Returns whether a function in `root` has been rewritten before.
static bool hasMixedFunctions(Operation *root) {
  return root
      ->walk<WalkOrder::PreOrder>([](FunctionOpInterface function) {
        return getRecordedPrecision(function) ? WalkResult::interrupt()
                                              : WalkResult::skip();
      })
      .wasInterrupted();
}

/// Checks that functions in another precision can be restored. Otherwise the
/// rest of the first precision would run in the second.
LogicalResult AutoMixedPrecisionPass::checkOtherPrecision(FloatType low) {
  auto isOther = [&](FunctionOpInterface function) {
    FloatType recorded = getRecordedPrecision(function);
    return recorded && recorded != low;
  };
  auto refuse = [&](FunctionOpInterface function, const Twine &reason) {
    return function->emitError()
           << "already in mixed precision with "
           << getRecordedPrecision(function)
           << ", and later passes built on it: " << reason
           << "; expected the module as it was before, since "
              "amp-strip-precision undoes the low types alone";
  };
  bool found = false;
  WalkResult result =
      getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
        auto function = dyn_cast<FunctionOpInterface>(op);
        if (!function)
          return WalkResult::advance();
        if (!isOther(function))
          return WalkResult::skip();
        found = true;
        WalkResult scaling =
            function.getFunctionBody().walk([&](Operation *nested) {
              if (!isa<UnscaleOp, UpdateScaleOp>(nested))
                return WalkResult::advance();
              (void)refuse(function,
                           "it has '" + nested->getName().getStringRef() + "'");
              return WalkResult::interrupt();
            });
        return scaling.wasInterrupted() ? scaling : WalkResult::skip();
      });
  if (result.wasInterrupted())
    return failure();
  if (!found)
    return success();
  OwningOpRef<Operation *> copy = getOperation()->clone();
  SmallVector<KeptSignature> ignored;
  for (const CallGroup &group : findCallGroups(*copy, ignored)) {
    std::string reason;
    RestoreCounts restored;
    FunctionOpInterface culprit;
    if (llvm::any_of(group.functions, isOther) &&
        failed(restoreInput(group.functions, culprit, reason, restored)))
      return refuse(culprit, reason);
  }
  return success();
}

LogicalResult AutoMixedPrecisionPass::writeReports(FloatType low,
                                                   Policy &policy) {
  Operation *root = getOperation();
  Location loc = root->getLoc();
  if (root->getParentOp())
    return emitError(loc) << "auto-mixed-precision: a report needs the pass to "
                             "run on a whole module, got '"
                          << root->getName() << "'";
  PrecisionReport report(
      {this->policy,
       chosenStrategy,
       {Strategy::Autocast, Strategy::Grappler, Strategy::Optimal},
       low,
       costOptions},
      [&](const SlotGraph &graph, const CostModel &costs, Strategy strategy) {
        return decide(graph, costs, strategy);
      });
  // Undo an earlier run on a copy. The module must not change before the
  // reports exist.
  OwningOpRef<Operation *> copy;
  if (!low.isF32() && hasMixedFunctions(root)) {
    copy = root->clone();
    root = *copy;
  }
  WideValues wide = WideValues::find(root, policy);
  std::optional<MeasuredValues> measured;
  if (failed(findMeasured(root, low, policy, measured)))
    return failure();
  wide.measured = measured ? &*measured : nullptr;
  SmallVector<KeptSignature> ignored;
  for (const CallGroup &group : findCallGroups(root, ignored)) {
    std::string obstacle;
    RestoreCounts restored;
    FunctionOpInterface culprit;
    if (low.isF32())
      report.addUntouched(group, "the low type is f32");
    else if (failed(restoreInput(group.functions, culprit, obstacle, restored)))
      report.addUntouched(
          group, "already in mixed precision, and later passes built on it: " +
                     obstacle);
    else if (failed(report.addGroup(group, policy, wide)))
      return failure();
  }
  root->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (function.isExternal())
      report.addUntouched(CallGroup(function), "a declaration");
    return WalkResult::skip();
  });
  // The queries of a report for other classes may also find a contradiction.
  if (policy.isContradictory())
    return failure();
  for (const std::string &path : reports)
    if (failed(report.write(path, loc)))
      return failure();
  if (onReport)
    onReport(report);
  return success();
}

/// Restores functions that were rewritten before, unless later passes have
/// built on their types.
void AutoMixedPrecisionPass::restoreFunctions() {
  if (!hasMixedFunctions(getOperation()))
    return;
  SmallVector<KeptSignature> ignored;
  for (const CallGroup &group : findCallGroups(getOperation(), ignored)) {
    std::string obstacle;
    RestoreCounts restored;
    FunctionOpInterface culprit;
    if (failed(restoreInput(group.functions, culprit, obstacle, restored)))
      remark::missed(culprit->getLoc(), remark::RemarkOpts::name("AlreadyMixed")
                                            .category("amp")
                                            .function(culprit.getName()))
          << "already in mixed precision, and later passes built on it"
          << remark::reason("{0}", obstacle);
  }
}

/// Gives updates copies of the functions that they share with the computation
/// of gradients.
void AutoMixedPrecisionPass::splitFunctions() {
  for (FunctionOpInterface copy : splitFunctionsOfUpdates(getOperation()))
    remark::analysis(copy->getLoc(),
                     remark::RemarkOpts::name("Split").category("amp").function(
                         copy.getName()))
        << "the update calls a copy of a function that the computation of "
           "gradients calls too, so that only the copy stays f32";
}

/// Gives `function` the types of its current arguments and returned values, and
/// records its previous type.
static void updateSignature(FunctionOpInterface function) {
  auto before = dyn_cast<FunctionType>(function.getFunctionType());
  if (!before)
    return;
  SmallVector<Type> results(before.getResults());
  for (Block &block : function.getFunctionBody())
    if (block.mightHaveTerminator() &&
        block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
      results.assign(block.getTerminator()->operand_type_begin(),
                     block.getTerminator()->operand_type_end());
  SmallVector<Type> arguments(ValueRange(function.getArguments()).getTypes());
  auto after = FunctionType::get(function.getContext(), arguments, results);
  if (after == before)
    return;
  function->setAttr(AMPDialect::kInputSignatureAttr, TypeAttr::get(before));
  function.setType(after);
}

/// Plans the rewrite of `group` without changing it. Returns null after an
/// error.
std::unique_ptr<Plan>
AutoMixedPrecisionPass::plan(const CallGroup &group, FloatType low,
                             const Policy &policy,
                             const WideValues &wide) const {
  auto plan = std::make_unique<Plan>(group, policy, low, wide, costOptions);
  if (plan->graph.isInvalid())
    return nullptr;
  plan->assignment = decide(plan->graph, plan->costs, chosenStrategy);
  if (failed(plan->casts.choose(plan->graph, plan->assignment, low)))
    return nullptr;
  return plan;
}

/// Returns whether some slot of `plan` becomes low.
static bool makesLow(const Plan &plan) {
  // Slot 0 represents everything that keeps its type.
  for (size_t v = 1, e = plan.assignment.low.size(); v != e; ++v)
    if (plan.assignment.low[v])
      return true;
  return false;
}

/// Returns whether an operation of a step computes a tensor of f64.
static bool computesInF64(Operation *root) {
  auto isF64 = [](Type type) {
    return isa<RankedTensorType>(type) && getElementTypeOrSelf(type).isF64();
  };
  return root
      ->walk([&](PrecisionOpInterface op) {
        return llvm::any_of(op->getResultTypes(), isF64)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns an operation within `root` with a value of a type of a dialect that
/// is not registered, or null.
static Operation *findUnknownType(Operation *root) {
  Operation *found = nullptr;
  root->walk([&](Operation *op) {
    auto isUnknown = [](Type type) { return isa<OpaqueType>(type); };
    if (!op->isRegistered() && (llvm::any_of(op->getResultTypes(), isUnknown) ||
                                llvm::any_of(op->getOperandTypes(), isUnknown)))
      found = op;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Warns, once, if there are f32 tensors and all of them stay f32, if the
/// tensors are f64, or if types are unknown. Most likely the policy is not made
/// for the dialect.
void AutoMixedPrecisionPass::warnOfNothingLow(
    ArrayRef<std::unique_ptr<Plan>> plans) {
  if (llvm::any_of(plans, [](const auto &plan) { return makesLow(*plan); }))
    return;
  Operation *example = nullptr;
  size_t unlisted = 0;
  bool hasSlots = false, hasProduct = false;
  for (const std::unique_ptr<Plan> &plan : plans) {
    for (const SlotVertex &vertex :
         llvm::drop_begin(plan->graph.getVertices())) {
      // A pin is a wish.
      if (vertex.pinned || vertex.isConstant)
        continue;
      hasSlots = true;
      hasProduct |= vertex.opClass == OpClass::Allow;
    }
    for (Operation *op : plan->graph.getUnlisted()) {
      if (unlisted++ == 0)
        example = op;
    }
  }
  bool isEmpty = !hasSlots && unlisted == 0 && !plans.empty();
  bool isWide = isEmpty && computesInF64(getOperation());
  if (isEmpty && !isWide)
    example = findUnknownType(getOperation());
  if (!hasSlots && unlisted == 0 && !isWide && !example)
    return;
  InFlightDiagnostic warning = emitWarning(getOperation()->getLoc())
                               << "auto-mixed-precision: nothing became low: ";
  if (isWide)
    warning << "the tensors are f64, expected f32";
  else if (isEmpty)
    warning << "the type of a value of '" << example->getName()
            << "' is not registered, expected tensors of f32";
  else if (unlisted != 0 && !hasProduct)
    warning << "the policy lists none of the " << unlisted
            << " operations such as '" << example->getName() << "'";
  else if (!hasProduct)
    warning << "the policy allows none of the operations";
  else
    warning << "a rule or the cost keeps each product f32, and remarks say why "
               "(--remarks-filter=amp)";
}

LogicalResult AutoMixedPrecisionPass::rewrite(Plan &plan, FloatType low) {
  ArrayRef<FunctionOpInterface> functions = plan.group.functions;
  // The warnings refer to the unchanged functions.
  warnOfForcedLow(plan.graph, plan.assignment, low);
  if (getContext().getRemarkEngine())
    emitPrecisionRemarks(functions, plan.graph, plan.costs, plan.assignment,
                         chosenStrategy);
  numUnlisted += plan.graph.getUnlisted().size();
  if (!makesLow(plan))
    return success();
  for (FunctionOpInterface function : functions)
    recordInput(function, low);
  if (keepsRoundings)
    for (FunctionOpInterface function : functions)
      function->setAttr(kKeepRoundingsAttr, UnitAttr::get(&getContext()));
  FailureOr<RewriteCounts> counts =
      rewritePrecision(plan.graph, plan.assignment, plan.casts, low,
                       keepsRoundings && chosenStrategy == Strategy::Autocast
                           ? CastSharing::Parameter
                           : CastSharing::Value);
  if (failed(counts))
    return failure();
  if (chosenStrategy == Strategy::Autocast)
    for (FunctionOpInterface function : functions)
      numCasts += roundOnce(function, low);
  if (!plan.group.callees.empty())
    for (FunctionOpInterface function : functions)
      updateSignature(function);
  numLowSlots += counts->lowSlots;
  numCasts += counts->casts;
  numWideProducts += counts->wideProducts;
  return success();
}

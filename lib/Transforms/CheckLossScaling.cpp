//===- CheckLossScaling.cpp - Prove correct handling of loss scales -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass makes two proofs. The proof by loss-scale exponents shows that no
// value is used with a wrong factor. The proof of guards shows that no
// parameter and no optimizer state changes when a gradient is not finite.
//
//===----------------------------------------------------------------------===//

#include "ForeignRules.h"
#include "InlineCalls.h"
#include "SafeScale.h"
#include "amp/LossScaling/GuardAnalysis.h"
#include "amp/LossScaling/HiddenOverflowCheck.h"
#include "amp/LossScaling/QuantizerProof.h"
#include "amp/LossScaling/ScaleOverflowCheck.h"
#include "amp/Support/DependentValues.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Support/CheckedFunctions.h"
#include "amp/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::amp {
#define GEN_PASS_DEF_CHECKLOSSSCALINGPASS
#include "amp/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Guidance
//===----------------------------------------------------------------------===//

/// Warns of a backward pass that computes in f16 without a loss scale, at the
/// first operation that does.
static void warnOfUnscaledBackwardPass(FunctionOpInterface function,
                                       const ScaleExponentAnalysis &analysis) {
  SmallVector<Value> seeds;
  function->walk([&](GradientSeedOpInterface seed) {
    llvm::append_range(seeds, seed->getResults());
  });
  // Operations on gradients of parameters, and operations of optimizers, belong
  // to the update. A value that an inner gradient divides by the scale is
  // unscaled on purpose.
  auto follows = [](OpOperand &use) {
    Operation *op = use.get().getDefiningOp();
    auto inner = dyn_cast_or_null<InnerGradientOp>(op);
    return !op || (!op->hasAttr(AMPDialect::kGradientOfAttr) &&
                   !isa<GradientConsumerOpInterface>(op) &&
                   !(inner && inner.getScale()));
  };
  llvm::DenseSet<Value> fromSeed = findDependentValues(seeds, follows);
  auto isUnscaled = [&](Value value) {
    if (!fromSeed.contains(value) || !getElementTypeOrSelf(value).isF16() ||
        !analysis.knows(value))
      return false;
    const ScaleExponent exponent = analysis.getExponent(value);
    return exponent.isUnscaled() && !exponent.isAny();
  };
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (llvm::none_of(op->getResults(), isUnscaled))
      return WalkResult::advance();
    op->emitWarning("the backward pass computes in f16 without a loss scale: "
                    "gradients below 2^-25 become zero; expected a dynamic or "
                    "constant loss scale, or bf16");
    return WalkResult::interrupt();
  });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class CheckLossScalingPass final
    : public amp::impl::CheckLossScalingPassBase<CheckLossScalingPass> {
public:
  using Base::Base;

  void runOnOperation() override;

private:
  ArrayRef<StringRef> getListOptions() const override {
    static constexpr StringRef names[] = {"linear", "intervals"};
    return names;
  }
  LogicalResult checkFunction(FunctionOpInterface function,
                              SymbolTableCollection &tables,
                              const ForeignRules &rules);
  LogicalResult checkGuards(FunctionOpInterface function,
                            ScaleExponentAnalysis &analysis,
                            SymbolTableCollection &tables,
                            const ForeignRules &rules, unsigned &visited);
  /// Checks that `function`, whose guards are proved, replaces no overflow, and
  /// reports its largest safe scale.
  LogicalResult inspectValues(FunctionOpInterface function,
                              const ScaleExponentAnalysis &analysis,
                              SymbolTableCollection &tables,
                              const ForeignRules &rules);
};

} // namespace

/// Proves the guards of `function`. A called function is checked at its calls.
LogicalResult CheckLossScalingPass::checkGuards(FunctionOpInterface function,
                                                ScaleExponentAnalysis &analysis,
                                                SymbolTableCollection &tables,
                                                const ForeignRules &rules,
                                                unsigned &visited) {
  auto prove = [&](FunctionOpInterface step, ScaleExponentAnalysis &of) {
    GuardAnalysis guards(step, of, allowUnverifiedScaler);
    LogicalResult result = failure(
        mlir::failed(ScaleOverflowCheck(step, of).check()) ||
        mlir::failed(guards.check()) || mlir::failed(checkQuantizers(step)));
    numUnverified += guards.getNumUnverified();
    return result;
  };
  FailureOr<OwningOpRef<FunctionOpInterface>> inlined =
      cloneInlined(function, tables);
  if (failed(inlined))
    return failure();
  if (!*inlined)
    return prove(function, analysis);
  ScaleSymbols symbols;
  ScaleExponentAnalysis exponents(tables, symbols, rules.getLinear());
  SmallVector<ScaleExponent> arguments(function.getNumArguments());
  LogicalResult result = exponents.run(**inlined, arguments, function);
  visited += exponents.getNumVisited();
  return failure(failed(result) || failed(prove(**inlined, exponents)));
}

/// Returns the exponent of a loss scale that result `index` replaces, or none.
static std::optional<ScaleExponent>
getExponentOfUpdated(FunctionOpInterface function, unsigned index,
                     const ScaleExponentAnalysis &analysis) {
  auto name =
      function.getResultAttrOfType<StringAttr>(index, AMPDialect::kUpdatesAttr);
  for (unsigned i = 0, e = function.getNumArguments(); name && i != e; ++i)
    if (function.getArgAttr(i, AMPDialect::kNameAttr) == name &&
        analysis.isScale(function.getArgument(i)))
      return analysis.getExponent(function.getArgument(i));
  return std::nullopt;
}

/// Returns whether the value that leaves the step by `operand` may depend on
/// the scale, like a metric or the state of the scaler.
static bool tellsOfScale(FunctionOpInterface function, OpOperand &operand,
                         const ScaleExponentAnalysis &analysis) {
  if (!analysis.isOfScaler(operand.get()))
    return false;
  unsigned index = operand.getOperandNumber();
  if (function.getResultAttr(index, AMPDialect::kMetricAttr))
    return true;
  if (function.getResultAttr(index, AMPDialect::kPredictionAttr))
    return false;
  auto name =
      function.getResultAttrOfType<StringAttr>(index, AMPDialect::kUpdatesAttr);
  for (unsigned i = 0, e = function.getNumArguments(); name && i != e; ++i)
    if (std::optional<Role> role = getRole(function.getArgument(i));
        role && function.getArgAttr(i, AMPDialect::kNameAttr) == name)
      return role == Role::ScalerState;
  return analysis.isScale(operand.get());
}

LogicalResult CheckLossScalingPass::checkFunction(FunctionOpInterface function,
                                                  SymbolTableCollection &tables,
                                                  const ForeignRules &rules) {
  ScaleSymbols symbols;
  ScaleExponentAnalysis analysis(tables, symbols, rules.getLinear());
  SmallVector<ScaleExponent> arguments(function.getNumArguments());
  LogicalResult result = analysis.run(function, arguments);
  unsigned visited = analysis.getNumVisited();
  if (mlir::failed(result))
    return failure();

  // Values that leave the step are unscaled, except the scales themselves.
  bool failed = false;
  for (Block &block : function.getFunctionBody()) {
    Operation *last = block.getTerminator();
    if (!last->hasTrait<OpTrait::ReturnLike>())
      continue;
    for (OpOperand &operand : last->getOpOperands()) {
      ScaleExponent exponent = analysis.getExponent(operand.get());
      unsigned index = operand.getOperandNumber();
      if (exponent.isUnscaled() || tellsOfScale(function, operand, analysis) ||
          exponent == getExponentOfUpdated(function, index, analysis))
        continue;
      StringRef kind = "result";
      StringAttr name;
      for (auto [attribute, word] :
           {std::pair(AMPDialect::kUpdatesAttr, "update"),
            std::pair(AMPDialect::kMetricAttr, "metric"),
            std::pair(AMPDialect::kPredictionAttr, "prediction")})
        if (auto found =
                function.getResultAttrOfType<StringAttr>(index, attribute)) {
          kind = word;
          name = found;
        }
      InFlightDiagnostic diagnostic = emitError(operand.get().getLoc());
      diagnostic << "the " << kind << ' ';
      if (name)
        diagnostic << name;
      else
        diagnostic << index;
      diagnostic << " is multiplied by " << symbols.describe(exponent)
                 << ", expected an unscaled value";
      analysis.explain(operand.get(), *diagnostic.getUnderlyingDiagnostic());
      failed = true;
    }
  }
  if (failed)
    return failure();

  warnOfUnscaledBackwardPass(function, analysis);
  if (mlir::failed(checkGuards(function, analysis, tables, rules, visited)))
    return failure();
  if (mlir::failed(inspectValues(function, analysis, tables, rules)))
    return failure();
  numVisited += visited;

  unsigned scaled = 0, unscaled = 0;
  function->walk([&](Operation *op) {
    if (auto iface = dyn_cast<LossScaleOpInterface>(op))
      if (iface.getFiniteFlagResult() >= 0)
        unscaled += op->getNumResults() - 1;
    for (Value result : op->getResults())
      scaled += !analysis.getExponent(result).isUnscaled() &&
                !analysis.isScale(result);
  });
  numScaled += scaled;
  numUnscaled += unscaled;
  if (scaled != 0)
    remark::analysis(function.getLoc(),
                     remark::RemarkOpts::name("LossScaleProved")
                         .category("amp")
                         .function(function.getName()))
        << remark::metric("ScaledValues", scaled)
        << remark::metric("UnscaledGradients", unscaled)
        << remark::metric("VisitedOperations", visited);
  return success();
}

LogicalResult CheckLossScalingPass::inspectValues(
    FunctionOpInterface function, const ScaleExponentAnalysis &analysis,
    SymbolTableCollection &tables, const ForeignRules &rules) {
  auto inspect = [&](FunctionOpInterface step,
                     const ScaleExponentAnalysis &of) -> LogicalResult {
    if (failed(HiddenOverflowCheck(step, of, rules.getIntervals()).check()))
      return failure();
    reportSafeScale(step, of, rules);
    return success();
  };
  // The bounds of values may be known only from their functions.
  OwningOpRef<FunctionOpInterface> copy = cloneWithoutCalls(function, tables);
  if (!copy)
    return inspect(function, analysis);
  ScaleSymbols symbols;
  ScaleExponentAnalysis exponents(tables, symbols, rules.getLinear());
  SmallVector<ScaleExponent> arguments(function.getNumArguments());
  if (failed(exponents.run(*copy, arguments, function)))
    return success();
  return inspect(*copy, exponents);
}

void CheckLossScalingPass::runOnOperation() {
  Operation *module = getOperation();
  ForeignRules rules;
  if (mlir::failed(rules.read("amp-check-loss-scaling", module, policy, linear,
                              intervals)))
    return signalPassFailure();
  // The analysis enters a private function from its calls.
  SymbolTableCollection tables;
  unsigned rejected =
      forEachCheckedFunction(module, tables, [&](FunctionOpInterface function) {
        return checkFunction(function, tables, rules);
      });
  numRejected += rejected;
  if (rejected != 0)
    signalPassFailure();
  markAllAnalysesPreserved();
}

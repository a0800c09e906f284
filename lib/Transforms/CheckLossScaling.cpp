//===- CheckLossScaling.cpp - Prove that the loss scale is handled right --===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two proofs. The degrees: no value is used with a factor that it should not
// have. The guards: nothing that depends on an unscaled gradient reaches a
// parameter or an optimizer state when a gradient is not finite.
//
//===----------------------------------------------------------------------===//

#include "GuardAnalysis.h"
#include "InlineCalls.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/Precision/Policy.h"
#include "amp/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

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
                                       const ScaleDegreeAnalysis &analysis) {
  DenseSet<Value> fromSeed;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isSeed = isa<GradientSeedOpInterface>(op);
    // A body may read what is no operand.
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    if (op->getNumRegions() != 0)
      getUsedValuesDefinedAbove(op->getRegions(), read);
    // What is computed from gradients of parameters, or reads gradients as an
    // optimizer does, is the update.
    if (!isSeed && llvm::none_of(read, [&](Value value) {
          return fromSeed.contains(value);
        }))
      return WalkResult::advance();
    for (Value result : op->getResults())
      if (getElementTypeOrSelf(result).isF16() && analysis.knows(result) &&
          analysis.getDegree(result).isUnscaled() &&
          !analysis.getDegree(result).isAny()) {
        InFlightDiagnostic diagnostic = op->emitWarning(
            "the backward pass computes in f16 without a loss "
            "scale: gradients below 2^-25 become zero; expected "
            "a dynamic or constant loss scale, or bf16");
        return WalkResult::interrupt();
      }
    // What an inner gradient divides by the scale has none on purpose.
    auto inner = dyn_cast<InnerGradientOp>(op);
    if (!op->hasAttr(AMPDialect::kGradientOfAttr) &&
        !isa<GradientConsumerOpInterface>(op) && !(inner && inner.getScale()))
      fromSeed.insert(op->result_begin(), op->result_end());
    return WalkResult::advance();
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
  LogicalResult checkFunction(FunctionOpInterface function,
                              SymbolTableCollection &tables,
                              ArrayRef<LinearRule> linear);
};

} // namespace

/// Proves what the guards of `function` must give. A called function is looked
/// at where it is called.
static LogicalResult checkGuards(FunctionOpInterface function,
                                 ScaleDegreeAnalysis &analysis,
                                 SymbolTableCollection &tables,
                                 ArrayRef<LinearRule> linear) {
  OwningOpRef<FunctionOpInterface> inlined = cloneInlined(function, tables);
  if (!inlined)
    return GuardAnalysis(function, analysis).check();
  ScaleSymbols symbols;
  ScaleDegreeAnalysis degrees(tables, symbols, linear);
  SmallVector<ScaleDegree> arguments(function.getNumArguments());
  return failure(failed(degrees.run(*inlined, arguments)) ||
                 failed(GuardAnalysis(*inlined, degrees).check()));
}

/// Returns the degree of a loss scale that result `index` replaces, or none.
static std::optional<ScaleDegree>
getDegreeOfUpdated(FunctionOpInterface function, unsigned index,
                   const ScaleDegreeAnalysis &analysis) {
  auto name =
      function.getResultAttrOfType<StringAttr>(index, AMPDialect::kUpdatesAttr);
  for (unsigned i = 0, e = function.getNumArguments(); name && i != e; ++i)
    if (function.getArgAttr(i, AMPDialect::kNameAttr) == name &&
        analysis.isScale(function.getArgument(i)))
      return analysis.getDegree(function.getArgument(i));
  return std::nullopt;
}

LogicalResult CheckLossScalingPass::checkFunction(FunctionOpInterface function,
                                                  SymbolTableCollection &tables,
                                                  ArrayRef<LinearRule> linear) {
  ScaleSymbols symbols;
  ScaleDegreeAnalysis analysis(tables, symbols, linear);
  SmallVector<ScaleDegree> arguments(function.getNumArguments());
  if (failed(analysis.run(function, arguments)))
    return failure();

  // What leaves the step is unscaled, but for the scales themselves.
  bool failed = false;
  for (Block &block : function.getFunctionBody()) {
    Operation *last = block.getTerminator();
    if (!last->hasTrait<OpTrait::ReturnLike>())
      continue;
    for (OpOperand &operand : last->getOpOperands()) {
      ScaleDegree degree = analysis.getDegree(operand.get());
      unsigned index = operand.getOperandNumber();
      if (degree.isUnscaled() || analysis.isScale(operand.get()) ||
          degree == getDegreeOfUpdated(function, index, analysis))
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
      diagnostic << " is multiplied by " << symbols.describe(degree)
                 << ", expected an unscaled value";
      analysis.explain(operand.get(), *diagnostic.getUnderlyingDiagnostic());
      failed = true;
    }
  }
  if (failed)
    return failure();

  warnOfUnscaledBackwardPass(function, analysis);
  if (mlir::failed(checkGuards(function, analysis, tables, linear)))
    return failure();

  unsigned scaled = 0, unscaled = 0;
  function->walk([&](Operation *op) {
    if (auto iface = dyn_cast<LossScaleOpInterface>(op))
      if (iface.getFiniteFlagResult() >= 0)
        unscaled += op->getNumResults() - 1;
    for (Value result : op->getResults())
      scaled +=
          !analysis.getDegree(result).isUnscaled() && !analysis.isScale(result);
  });
  numScaled += scaled;
  numUnscaled += unscaled;
  if (scaled != 0)
    remark::analysis(function.getLoc(),
                     remark::RemarkOpts::name("LossScaleProved")
                         .category("amp")
                         .function(function.getName()))
        << remark::metric("ScaledValues", scaled)
        << remark::metric("UnscaledGradients", unscaled);
  return success();
}

void CheckLossScalingPass::runOnOperation() {
  Operation *module = getOperation();
  std::vector<std::string> entries(linear.begin(), linear.end());
  if (!policy.empty()) {
    FailureOr<Policy> loaded = Policy::load(policy, module->getLoc());
    if (mlir::failed(loaded))
      return signalPassFailure();
    llvm::append_range(entries, loaded->settings.linear);
  }
  SmallVector<LinearRule> rules;
  for (const std::string &entry : entries) {
    std::string expected;
    FailureOr<LinearRule> rule = LinearRule::parse(entry, expected);
    if (mlir::failed(rule)) {
      module->emitError() << "amp-check-loss-scaling: expected 'linear' to be "
                          << expected << ", got '" << entry << "'";
      return signalPassFailure();
    }
    rules.push_back(std::move(*rule));
  }
  // A private function that is called is followed from its calls.
  SymbolTableCollection tables;
  // Calls tell more than uses of symbols, which are not known where an
  // unregistered operation might be a symbol table.
  DenseSet<Operation *> called;
  module->walk([&](CallOpInterface call) {
    Operation *callee = call.resolveCallableInTable(&tables);
    if (callee && !callee->isAncestor(call))
      called.insert(callee);
  });
  bool failed = false;
  module->walk<WalkOrder::PreOrder>([&](FunctionOpInterface function) {
    if (!function.isExternal() &&
        (!function.isPrivate() || !called.contains(function)))
      failed |= mlir::failed(checkFunction(function, tables, rules));
    return WalkResult::skip();
  });
  if (failed)
    signalPassFailure();
  markAllAnalysesPreserved();
}

//===- ScaledStep.cpp - A step on its way to scaled gradients -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaledStep.h"

#include "amp/Interfaces/GradientInterfaces.h"
#include "amp/LossScaling/ScaleExponentAnalysis.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::amp;

StepContents::StepContents(FunctionOpInterface function) {
  function.getFunctionBody().walk([&](Operation *op) {
    if (isa<GradientSeedOpInterface>(op))
      seeds.push_back(op);
    if (auto inner = dyn_cast<InnerGradientOp>(op); inner && !inner.getScale())
      innerGradients.push_back(inner);
    isScaled |= isa<UnscaleOp>(op);
    hasGradients |= op->hasAttr(AMPDialect::kGradientOfAttr);
  });
}

bool StepContents::canScale(FunctionOpInterface function) const {
  auto refuse = [&](StringRef name, StringRef reason) {
    remark::missed(function.getLoc(),
                   remark::RemarkOpts::name(name).category("amp").function(
                       function.getName()))
        << remark::reason("{0}", reason);
    return false;
  };
  if (isScaled)
    return refuse("AlreadyScaled", "the step has an amp.unscale");
  if (seeds.empty() && !hasGradients)
    return refuse("NoBackwardPass",
                  "the function has neither a gradient seed nor "
                  "'amp.gradient_of'");
  return true;
}

LogicalResult ScaledStep::checkSeeds() const {
  FunctionOpInterface function = step.getFunction();
  if (seeds.empty())
    return function->emitError("the step has gradients but no gradient seed; "
                               "expected an amp.gradient_seed where the "
                               "backward pass starts, and a loss that depends "
                               "on parameters");
  if (gradients.empty())
    return function->emitError("the step has a gradient seed but no gradients; "
                               "expected 'amp.gradient_of' on the operations "
                               "that give the gradients of parameters");
  auto scalar =
      RankedTensorType::get({}, Float32Type::get(function.getContext()));
  for (Operation *seed : seeds)
    if (seed->getResult(0).getType() != scalar)
      return seed->emitOpError("loss scaling needs a seed of type tensor<f32>, "
                               "got ")
             << seed->getResult(0).getType();
  return success();
}

void ScaledStep::findBackwardPass() {
  SmallVector<Operation *> roots;
  for (Value gradient : gradients)
    roots.push_back(gradient.getDefiningOp());
  step.addBackwardSlice(roots, backward);
}

/// Returns n if `exponent` is exactly the n-th power of `symbol`, or 0.
static unsigned getPower(const ScaleExponent &exponent,
                         ScaleExponent::Symbol symbol) {
  ArrayRef<ScaleExponent::Term> terms = exponent.getTerms();
  if (exponent.isAny() || terms.size() != 1 || terms[0].symbol != symbol ||
      terms[0].denominator != 1 || terms[0].numerator < 1)
    return 0;
  return static_cast<unsigned>(terms[0].numerator);
}

void ScaledStep::addObserved(ArrayRef<Value> observed,
                             ArrayRef<LinearRule> linear) {
  if (observed.empty())
    return;
  FunctionOpInterface function = step.getFunction();
  ScopedDiagnosticHandler quiet(function.getContext(),
                                [](Diagnostic &) { return success(); });
  SymbolTableCollection tables;
  ScaleSymbols symbols;
  ScaleExponentAnalysis analysis(tables, symbols, linear);
  SmallVector<ScaleExponent> arguments(function.getNumArguments());
  // The updates still read scaled gradients, where the analysis stops.
  (void)analysis.run(function, arguments);
  Operation *stopped = analysis.getStopped();
  auto findPower = [&](Value value, const Scaling &scaling) -> unsigned {
    Operation *definer = value.getDefiningOp();
    if (analysis.knows(value) &&
        (!stopped || definer->isBeforeInBlock(stopped)))
      return getPower(analysis.getExponent(value),
                      analysis.getSymbol(scaling.scale));
    return scalings.size() == 1 && llvm::none_of(seeds, [&](Operation *seed) {
             return step.getAncestor(seed) == definer;
           });
  };
  for (Value value : observed)
    for (GradientGroup &group : groups)
      if (unsigned power = findPower(value, scalings[group.scaling])) {
        group.observed.push_back({value, power});
        break;
      }
}

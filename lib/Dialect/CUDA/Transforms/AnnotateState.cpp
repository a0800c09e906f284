//===- AnnotateState.cpp - Identity of steps ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/StepIdentity.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Dialect/CUDA/Transforms/Passes.h"
#include "amp/Support/PrecisionName.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::amp {
#define GEN_PASS_DEF_ANNOTATESTEP
#define GEN_PASS_DEF_ANNOTATESCALER
#include "amp/Dialect/CUDA/Transforms/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::cuda;

namespace {

struct AnnotateStep : mlir::amp::impl::AnnotateStepBase<AnnotateStep> {
  using AnnotateStepBase::AnnotateStepBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // The attributes of one step must not become part of another.
    SmallVector<std::pair<FunctionOpInterface, StateAttr>> attributes;
    for (auto step : module.getOps<FunctionOpInterface>()) {
      if (step.isExternal() || !mlir::amp::isStepFunction(step))
        continue;
      auto attribute = StateAttr::getChecked(
          [&] { return emitError(module.getLoc(), "cuda-annotate-step "); },
          &getContext(), mlir::amp::canonicalizePrecision(precision),
          mlir::amp::computeFingerprint(module, step.getName()),
          ArrayAttr::get(&getContext(), {}));
      if (!attribute)
        return signalPassFailure();
      attributes.emplace_back(step, attribute);
    }
    for (auto [step, attribute] : attributes)
      step->setAttr(kStateAttr, attribute);
  }
};

struct AnnotateScaler : mlir::amp::impl::AnnotateScalerBase<AnnotateScaler> {
  using AnnotateScalerBase::AnnotateScalerBase;

  void runOnOperation() override {
    for (auto step : getOperation().getOps<FunctionOpInterface>()) {
      auto attribute = step->getAttrOfType<StateAttr>(kStateAttr);
      if (!attribute)
        continue;
      SmallVector<Attribute> rules;
      const std::string text = mlir::amp::describeScalerRules(step);
      for (StringRef rule : llvm::split(StringRef(text), '\n'))
        if (!rule.empty())
          rules.push_back(StringAttr::get(&getContext(), rule));
      step->setAttr(kStateAttr,
                    StateAttr::get(&getContext(), attribute.getPrecision(),
                                   attribute.getFingerprint(),
                                   ArrayAttr::get(&getContext(), rules)));
    }
  }
};

} // namespace

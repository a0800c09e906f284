//===- CUDANoteState.cpp - What the states of a program are of ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/StepIdentity.h"
#include "amp/Conversion/Passes.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::amp {
#define GEN_PASS_DEF_NOTESTEP
#define GEN_PASS_DEF_NOTESCALER
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::cuda;

namespace {

struct NoteStep : mlir::amp::impl::NoteStepBase<NoteStep> {
  using NoteStepBase::NoteStepBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A note of one step is not to be part of another one.
    SmallVector<std::pair<FunctionOpInterface, StateAttr>> notes;
    for (auto step : module.getOps<FunctionOpInterface>()) {
      if (step.isExternal() || !mlir::amp::isStepFunction(step))
        continue;
      auto note = StateAttr::getChecked(
          [&] { return emitError(module.getLoc(), "cuda-note-step "); },
          &getContext(), mlir::amp::canonicalizePrecision(precision),
          mlir::amp::computeFingerprint(module, step.getName()),
          ArrayAttr::get(&getContext(), {}));
      if (!note)
        return signalPassFailure();
      notes.emplace_back(step, note);
    }
    for (auto [step, note] : notes)
      step->setAttr(kStateNote, note);
  }
};

struct NoteScaler : mlir::amp::impl::NoteScalerBase<NoteScaler> {
  using NoteScalerBase::NoteScalerBase;

  void runOnOperation() override {
    for (auto step : getOperation().getOps<FunctionOpInterface>()) {
      auto note = step->getAttrOfType<StateAttr>(kStateNote);
      if (!note)
        continue;
      SmallVector<Attribute> rules;
      const std::string text = mlir::amp::describeScalerRules(step);
      for (StringRef rule : llvm::split(StringRef(text), '\n'))
        if (!rule.empty())
          rules.push_back(StringAttr::get(&getContext(), rule));
      step->setAttr(kStateNote,
                    StateAttr::get(&getContext(), note.getPrecision(),
                                   note.getFingerprint(),
                                   ArrayAttr::get(&getContext(), rules)));
    }
  }
};

} // namespace

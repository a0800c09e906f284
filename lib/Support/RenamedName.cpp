//===- RenamedName.cpp - Former names of options and keys -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/RenamedName.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using mlir::amp::RenamedName;

// test/Tools/renamed-names.py tries each of these.
static constexpr RenamedName kRenamedNames[] = {
    {"", "amp-narrow-saved-activations", "amp-compress-activations"},
    {"", "cuda-note-scaler", "cuda-annotate-scaler"},
    {"", "cuda-note-step", "cuda-annotate-step"},
    {"amp-quantize-products", "forward-only", "backward=high"},
    {"amp-training-pipeline", "fp8-forward-only", "fp8-backward=high"},
    {"amp-training-pipeline", "narrow-saved-activations",
     "compress-activations"},
    {"policy", "units", "composite-patterns"},
};

ArrayRef<RenamedName> mlir::amp::getRenamedNames() { return kRenamedNames; }

std::string mlir::amp::describeRenaming(StringRef owner, StringRef name) {
  for (const RenamedName &renamed : kRenamedNames)
    if (renamed.owner == owner && renamed.formerName == name)
      return ("'" + name + "' is now called '" + renamed.presentName + "'")
          .str();
  return "";
}

void mlir::amp::registerRenamedPasses() {
  for (const RenamedName &renamed : kRenamedNames) {
    if (!renamed.owner.empty())
      continue;
    std::string text =
        "the pass " + describeRenaming(renamed.owner, renamed.formerName);
    registerPassPipeline(
        renamed.formerName, text,
        [text](OpPassManager &, StringRef,
               function_ref<LogicalResult(const Twine &)> reportError) {
          return reportError(text);
        },
        [](function_ref<void(const mlir::detail::PassOptions &)>) {});
  }
}

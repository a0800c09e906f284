//===- ProgramOptions.cpp - Checks of the options of a step ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/StepIdentity.h"
#include "amp/Execution/Errors.h"
#include "amp/Execution/StepProgram.h"

using namespace mlir::amp;

llvm::Error mlir::amp::checkProgramOptions(const ProgramOptions &options) {
  llvm::StringRef precision = canonicalizePrecision(options.precision);
  if (!precision.empty() &&
      !llvm::is_contained({"f32", "fp16", "bf16", "fp8"}, precision) &&
      !precision.starts_with("fp8-"))
    return makeError(
        "unknown precision '{0}', expected f32, fp16, bf16, fp8 or "
        "fp8- and a recipe",
        precision);
  llvm::StringRef scaling = options.lossScaling;
  double scale;
  if (!scaling.empty() && scaling != "dynamic" && scaling != "layerwise" &&
      scaling != "none" && (scaling.getAsDouble(scale) || !(scale > 0)))
    return makeError("wrong value of --loss-scale: '{0}', expected dynamic, "
                     "layerwise, none or a positive number",
                     scaling);
  llvm::StringRef master = options.masterWeights;
  if (!master.empty() && master != "cast" && master != "copy" &&
      master != "none")
    return makeError("wrong value of --master-weights: '{0}', expected cast, "
                     "copy or none",
                     master);
  if (precision.empty() &&
      (!scaling.empty() || !master.empty() || !options.pipeline.empty()))
    return makeError("--{0} needs --precision or --compare: without them the "
                     "module runs as written",
                     !scaling.empty()  ? "loss-scale"
                     : !master.empty() ? "master-weights"
                                       : "pipeline");
  return llvm::Error::success();
}

ProgramOptions mlir::amp::getWideOptions(ProgramOptions options) {
  options.precision = "f32";
  options.lossScaling = "none";
  options.masterWeights.clear();
  return options;
}

//===- ProgramOptions.cpp - Checks of the options of a step ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Errors.h"
#include "amp/Execution/StepProgram.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Support/PrecisionName.h"
#include <cmath>

using namespace mlir::amp;

/// Rejects an option that `pipeline` gives another value.
static llvm::Error checkConflicts(const ProgramOptions &options,
                                  AMPPipelineOptions &pipeline) {
  auto check = [](llvm::StringRef name, llvm::StringRef given,
                  llvm::StringRef own) -> llvm::Error {
    if (given.empty() || own.empty() || given == own)
      return llvm::Error::success();
    return makeError("--{0} is '{1}', but --pipeline has '{0}={2}'; expected "
                     "one of them",
                     name, given, own);
  };
  if (llvm::Error error =
          check("precision", canonicalizePrecision(options.precision),
                canonicalizePrecision(pipeline.precision)))
    return error;
  if (llvm::Error error =
          check("loss-scale", options.lossScaling, pipeline.lossScaling))
    return error;
  return check("master-weights", options.masterWeights, pipeline.masterWeights);
}

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
      scaling != "none" &&
      (scaling.getAsDouble(scale) || !(scale > 0) || !std::isfinite(scale)))
    return makeError("wrong value of --loss-scale: '{0}', expected dynamic, "
                     "layerwise, none or a positive number",
                     scaling);
  llvm::StringRef master = options.masterWeights;
  if (!master.empty() && master != "cast" && master != "copy" &&
      master != "split" && master != "none")
    return makeError("wrong value of --master-weights: '{0}', expected cast, "
                     "copy, split or none",
                     master);
  if (precision.empty() &&
      (!scaling.empty() || !master.empty() || !options.pipeline.empty()))
    return makeError("--{0} needs --precision or --compare: otherwise the "
                     "module runs as written",
                     !scaling.empty()  ? "loss-scale"
                     : !master.empty() ? "master-weights"
                                       : "pipeline");
  AMPPipelineOptions pipeline;
  if (std::string wrong = parsePipeline(options.pipeline, pipeline);
      !wrong.empty())
    return makeError("{0}", wrong);
  return checkConflicts(options, pipeline);
}

llvm::Error
mlir::amp::checkIdleOptions(const ProgramOptions &options,
                            llvm::ArrayRef<std::string> precisions) {
  std::string idle;
  for (const std::string &precision : precisions) {
    AMPPipelineOptions pipeline;
    if (precision.empty() || !parsePipeline(options.pipeline, pipeline).empty())
      return llvm::Error::success();
    pipeline.precision = precision;
    if (!options.lossScaling.empty())
      pipeline.lossScaling = options.lossScaling;
    idle = findIdleOption(pipeline);
    if (idle.empty())
      return llvm::Error::success();
  }
  return idle.empty() ? llvm::Error::success() : makeError("{0}", idle);
}

ProgramOptions mlir::amp::getWideOptions(ProgramOptions options) {
  options.precision = "f32";
  options.lossScaling = "none";
  options.masterWeights.clear();
  return options;
}

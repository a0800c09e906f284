//===- Sweep.cpp - The runs of --sweep-scale ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"

#include "amp/Execution/Calibration.h"
#include "amp/Execution/ScaleSweep.h"
#include "amp/Support/OutputFile.h"

using namespace mlir;
using namespace mlir::amp;

/// Trains in f32 and measures all values.
static llvm::Error runReference(const RunnerOptions &options, ModuleOp module,
                                host::Trainer &trainer, ScaleSweep &sweep) {
  ProgramOptions wide = getWideOptions(options.program);
  auto program = StepProgram::create(module, wide);
  if (!program)
    return program.takeError();
  auto calibration = Calibration::create(module, wide, **program);
  if (!calibration)
    return calibration.takeError();
  JITStep step(**program);
  std::vector<host::RunRecord> runs;
  if (llvm::Error error = toError(trainer.run(
          step, "f32", /*evaluates=*/false, (*calibration)->getHooks(), &runs)))
    return error;
  sweep.setReference((*calibration)->getRanges(), runs.front());
  return llvm::Error::success();
}

llvm::Error mlir::amp::sweepScales(const RunnerOptions &options,
                                   ModuleOp module, host::Trainer &trainer) {
  ScaleSweep sweep;
  if (llvm::Error error = runReference(options, module, trainer, sweep))
    return error;
  ProgramOptions low = options.program;
  low.precision = options.precision.empty() ? "fp16" : options.precision;
  // Scales that are too large are part of the sweep.
  if (low.pipeline.find("check-loss-scaling") == std::string::npos)
    low.pipeline += " check-loss-scaling=false";
  for (double scale : options.debug.scales) {
    if (trainer.isInterrupted())
      break;
    low.lossScaling = host::formatNumber(scale);
    auto program = StepProgram::create(module, low);
    if (!program)
      return program.takeError();
    JITStep step(**program);
    std::vector<host::RunRecord> runs;
    // A scale whose every step is skipped is a result, not an error.
    if (llvm::Error error =
            toError(trainer.run(step, low.lossScaling,
                                /*evaluates=*/false, {}, &runs)))
      return error;
    // A part of a run says nothing about its scale.
    if (trainer.isInterrupted())
      break;
    sweep.add(scale, runs.front());
  }
  if (trainer.isInterrupted() && sweep.isEmpty())
    return makeError("--sweep-scale was interrupted before a scale had run");
  sweep.print(getReportStream(options));
  for (auto [path, isPage] : {std::make_pair(options.debug.sweepJSON, false),
                              std::make_pair(options.debug.sweepPage, true)}) {
    if (path.empty())
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    if (isPage)
      sweep.writePage(options.title, os);
    else
      sweep.writeJSON(options.title, os);
    if (llvm::Error error = writeOutputFile(path, text))
      return error;
  }
  return llvm::Error::success();
}

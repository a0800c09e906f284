//===- Debugging.h - What amp-run observes of a run -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPRUN_DEBUGGING_H
#define AMP_TOOLS_AMPRUN_DEBUGGING_H

#include "Runner.h"
#include "amp/Execution/Calibration.h"
#include "amp/Execution/Divergence.h"
#include "amp/Execution/Explainer.h"
#include "amp/Execution/GradientHistogram.h"
#include "amp/Execution/Watcher.h"
#include "amp/Runtime/Host/Trainer.h"

namespace mlir::amp {

/// The observers of one run: watched values and, on the CPU, the histogram of
/// gradients, calibration and explanations.
class Debugger {
public:
  /// `program` runs the step of `module`. `run` names the run in headings.
  static llvm::Expected<std::unique_ptr<Debugger>>
  create(const RunnerOptions &options, ModuleOp module, StepProgram &program,
         std::string run);

  /// The hooks refer to this object.
  host::TrainerHooks getHooks();

private:
  Debugger(const RunnerOptions &options, ModuleOp module, StepProgram &program,
           std::string run)
      : options(options), program(program), run(std::move(run)),
        module(module) {}

  host::Status beforeTraining(JITStep &step);
  host::Status afterStep(JITStep &step);
  host::Status afterTraining(JITStep &step, const host::RunRecord &record);
  host::Status writeWatched(host::Step &step) const;
  llvm::Error createDivergence();
  host::Status reportDivergence(JITStep &step);

  const RunnerOptions &options;
  StepProgram &program;
  std::string run;
  std::optional<GradientHistogram> histogram;
  std::unique_ptr<StepProgram> watchedProgram;
  ProgramOptions programOptions;
  std::optional<Explainer> explainer;
  std::unique_ptr<Calibration> calibration;
  std::unique_ptr<StepProgram> lowProgram, wideProgram;
  std::optional<Divergence> divergence;
  /// For a bisection: the values before the first step, and all batches.
  ModuleOp module;
  host::ArrayMap start;
  std::vector<host::ArrayMap> batches;
};

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPRUN_DEBUGGING_H

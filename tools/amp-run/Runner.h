//===- Runner.h - The runs of amp-run ---------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPRUN_RUNNER_H
#define AMP_TOOLS_AMPRUN_RUNNER_H

#include "amp/Execution/CUDA/LoadedStep.h"
#include "amp/Execution/StepProgram.h"
#include "amp/Runtime/Host/Options.h"

namespace mlir::amp {

/// The values of the command line of amp-run.
struct RunnerOptions {
  ProgramOptions program;
  host::TrainingOptions training;
  std::string precision;
  std::vector<std::string> compare;
  std::string title;
  /// `cpu` or `cuda`.
  std::string backend;
  CUDACompilerOptions cuda;
  /// The options that only one backend has, and that are given.
  std::vector<std::string> cpuOptions, cudaOptions;
  bool gradientHistogram = false;
  bool printIR = false;
};

/// Runs the step of `module` as `options` request.
llvm::Error run(ModuleOp module, RunnerOptions options);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPRUN_RUNNER_H

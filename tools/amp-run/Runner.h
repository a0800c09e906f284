//===- Runner.h - What amp-run does -----------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPRUN_RUNNER_H
#define AMP_TOOLS_AMPRUN_RUNNER_H

#include "amp/Execution/StepProgram.h"

namespace mlir::amp {

/// The command line of amp-run.
struct RunnerOptions {
  ProgramOptions program;
  std::vector<std::string> dataPaths;
  std::string precision;
  std::vector<std::string> compare;
  std::optional<int64_t> steps, epochs, batchSize;
  std::string lastBatch;
  std::vector<std::pair<std::string, double>> hyperparameters;
  std::string trainPrefix, evalPrefix;
  bool evaluate = false;
  std::string predictPath, initPath, loadPath, savePath;
  uint64_t seed = 0;
  bool seedGiven = false;
  bool otherScaler = false;
  int64_t seeds = 1;
  std::string csvPath, jsonPath, plotPath, title;
  bool gradientHistogram = false;
  bool printIR = false;
  bool showProgress = true;
};

/// Does what `options` ask for with the step of `module`.
llvm::Error run(ModuleOp module, const RunnerOptions &options);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPRUN_RUNNER_H

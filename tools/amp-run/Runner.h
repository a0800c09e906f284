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
#include "amp/Execution/Ranks.h"
#include "amp/Execution/StepProgram.h"
#include "amp/Runtime/Host/Options.h"

namespace mlir::amp {

/// The options of amp-run for debugging.
struct DebugOptions {
  /// --watch, and the names that it selects.
  bool watch = false;
  std::string match;
  int64_t every = 1;
  std::string watchJSON, watchPage;
  /// --explain, the steps between snapshots, and the file.
  bool explain = false;
  int64_t interval = 1;
  std::string explainJSON;
  /// The file of --calibrate, or empty.
  std::string ranges;
  /// The scales of --sweep-scale, and the files.
  std::vector<double> scales;
  std::string sweepJSON, sweepPage;
  /// The file of --search, or empty; the largest relative difference of the
  /// loss, and whether to train with the presets.
  std::string policy;
  double bound = 0.01;
  bool presets = false;
  /// --diverge, the file, and the bound of the bisection or 0.
  bool diverge = false;
  std::string divergeJSON;
  double bisect = 0;

  bool isGiven() const {
    return watch || explain || diverge || !ranges.empty();
  }
  /// The options that need a single run.
  std::vector<std::pair<const char *, bool>> getGiven() const {
    return {{"watch", watch},
            {"explain", explain},
            {"calibrate", !ranges.empty()},
            {"search", !policy.empty()},
            {"sweep-scale", !scales.empty()}};
  }
  WatchOptions getWatchOptions() const {
    WatchOptions options;
    options.match = match;
    return options;
  }
  /// The files that are written.
  std::vector<host::FileUse> getOutputs() const {
    return {{"--watch-json", watchJSON},
            {"--watch-page", watchPage},
            {"--explain-json", explainJSON},
            {"--calibrate", ranges},
            {"--search", policy},
            {"--sweep-json", sweepJSON},
            {"--sweep-page", sweepPage},
            {"--diverge-json", divergeJSON}};
  }
};

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
  /// The given options that have an effect only on several ranks.
  std::vector<std::string> rankOptions;
  bool gradientHistogram = false;
  DebugOptions debug;
  bool printIR = false;
  /// The processes that train together, or null.
  RankGroup *group = nullptr;
  /// Whether rank 0 writes the state after training.
  bool saves = false;
  /// Compare the states of the ranks after each such number of steps, or 0.
  int64_t checkRanks = 0;
};

/// The stream for tables and results: standard error if an output goes to
/// standard output, so that other programs can read that.
llvm::raw_ostream &getReportStream(const RunnerOptions &options);

/// Runs the step of `module` as `options` request.
llvm::Error run(ModuleOp module, RunnerOptions options);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPRUN_RUNNER_H

//===- Search.cpp - The runs of --search ----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search.h"

#include "amp/Execution/Calibration.h"
#include "amp/Execution/PolicySearch.h"
#include "amp/Execution/Replay.h"
#include "amp/Support/OutputFile.h"

using namespace mlir;
using namespace mlir::amp;

llvm::Error mlir::amp::checkSearch(const RunnerOptions &options) {
  if (options.debug.policy.empty())
    return llvm::Error::success();
  for (auto [name, isGiven] :
       {std::make_pair("compare", !options.compare.empty()),
        std::make_pair("print-ir", options.printIR),
        std::make_pair("watch", options.debug.watch),
        std::make_pair("explain", options.debug.explain),
        std::make_pair("diverge", options.debug.diverge),
        std::make_pair("calibrate", !options.debug.ranges.empty()),
        std::make_pair("sweep-scale", !options.debug.scales.empty()),
        std::make_pair("gradient-histogram", options.gradientHistogram)})
    if (isGiven)
      return makeError("--search and --{0} exclude each other", name);
  llvm::StringRef precision = options.precision;
  if (precision != "fp16" && precision != "bf16")
    return makeError("--search needs --precision=fp16 or --precision=bf16");
  if (!options.training.trains())
    return makeError("--search needs --steps or --epochs");
  return llvm::Error::success();
}

/// The mean loss over the last quarter of the steps.
static llvm::Expected<double> getLateLoss(const host::RunRecord &record) {
  std::optional<size_t> column = record.findMetric("loss");
  if (!column || record.steps.empty())
    return makeError("the step has no metric 'loss' to search by");
  return record.averageLast(*column,
                            std::max<int64_t>(1, record.steps.size() / 4));
}

namespace {
/// A run in f32 with the ranges of all values and the first steps.
struct WideRun {
  std::unique_ptr<StepProgram> program;
  std::unique_ptr<Calibration> calibration;
  RecordedSteps steps;
  double loss = 0;

  llvm::Error run(const RunnerOptions &options, ModuleOp module,
                  host::Trainer &trainer);
};
} // namespace

llvm::Error WideRun::run(const RunnerOptions &options, ModuleOp module,
                         host::Trainer &trainer) {
  // The errors of slots are measured in so many steps, one run for each slot.
  constexpr size_t kMostSteps = 8;
  ProgramOptions wide = getWideOptions(options.program);
  auto made = StepProgram::create(module, wide);
  if (!made)
    return made.takeError();
  program = std::move(*made);
  auto measured = Calibration::create(module, wide, *program);
  if (!measured)
    return measured.takeError();
  calibration = std::move(*measured);
  host::TrainerHooks inner = calibration->getHooks(), hooks = inner;
  hooks.beforeTraining = [&](host::Step &step) {
    AMP_RETURN_IF_ERROR(inner.beforeTraining(step));
    return copyValues(static_cast<JITStep &>(step), &steps.start);
  };
  hooks.afterStep = [&](host::Step &step) {
    if (steps.batches.size() == kMostSteps)
      return host::Status();
    steps.batches.emplace_back();
    return copyBatches(static_cast<JITStep &>(step), &steps.batches.back());
  };
  JITStep step(*program);
  std::vector<host::RunRecord> runs;
  if (llvm::Error error =
          toError(trainer.run(step, "f32", /*evaluates=*/false, hooks, &runs)))
    return error;
  if (llvm::Error error = toError(calibration->check().in("--search")))
    return error;
  if (trainer.isInterrupted())
    return makeError("--search was interrupted, so there is no policy");
  llvm::Expected<double> late = getLateLoss(runs.front());
  if (!late)
    return late.takeError();
  loss = *late;
  return llvm::Error::success();
}

llvm::Error mlir::amp::searchPolicy(const RunnerOptions &options,
                                    ModuleOp module, host::Trainer &trainer) {
  WideRun wide;
  if (llvm::Error error = wide.run(options, module, trainer))
    return error;
  SearchSettings settings;
  settings.precision = options.precision;
  settings.bound = options.debug.bound;
  settings.presets = options.debug.presets;
  settings.batchSize = trainer.getBatchSize();
  settings.ranges = wide.calibration->getRanges();
  settings.scale =
      options.precision == "fp16" ? wide.calibration->advise().lossScale : 1;
  auto train = [&](StepProgram &program,
                   llvm::StringRef label) -> llvm::Expected<double> {
    JITStep step(program);
    std::vector<host::RunRecord> runs;
    // A run whose every step is skipped is a result, not an error.
    if (llvm::Error error = toError(
            trainer.run(step, label.str(), /*evaluates=*/false, {}, &runs)))
      return std::move(error);
    if (trainer.isInterrupted())
      return makeError("--search was interrupted, so there is no policy");
    return getLateLoss(runs.front());
  };
  auto search =
      PolicySearch::create(module, options.program, std::move(settings), train);
  if (!search)
    return search.takeError();
  if (llvm::Error error = (*search)->run(wide.steps, wide.loss)) {
    (*search)->print(options.debug.policy, getReportStream(options));
    return error;
  }
  if (llvm::Error error =
          writeOutputFile(options.debug.policy, (*search)->getBest().policy))
    return error;
  (*search)->print(options.debug.policy, getReportStream(options));
  return llvm::Error::success();
}

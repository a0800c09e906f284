//===- Debugging.cpp - What amp-run observes of a run ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging.h"

#include "amp/Support/OutputFile.h"

using namespace mlir;
using namespace mlir::amp;

llvm::Expected<std::unique_ptr<Debugger>>
Debugger::create(const RunnerOptions &options, ModuleOp module,
                 StepProgram &program, std::string run) {
  std::unique_ptr<Debugger> debugger(
      new Debugger(options, module, program, std::move(run)));
  debugger->programOptions = options.program;
  debugger->programOptions.precision = program.getPrecision().str();
  if (options.debug.watch && options.backend == "cpu") {
    ProgramOptions watched = debugger->programOptions;
    watched.watch = options.debug.getWatchOptions();
    auto made = StepProgram::create(module, watched);
    if (!made)
      return made.takeError();
    debugger->watchedProgram = std::move(*made);
  }
  if (options.debug.explain)
    debugger->explainer.emplace(module, debugger->programOptions, program,
                                options.debug.interval);
  if (!options.debug.ranges.empty()) {
    auto made = Calibration::create(module, debugger->programOptions, program);
    if (!made)
      return made.takeError();
    debugger->calibration = std::move(*made);
  }
  if (options.debug.diverge)
    if (llvm::Error error = debugger->createDivergence())
      return std::move(error);
  return debugger;
}

/// Prepares the step in the precision of the run and in f32, with values.
llvm::Error Debugger::createDivergence() {
  for (std::unique_ptr<StepProgram> *slot : {&lowProgram, &wideProgram}) {
    ProgramOptions changed =
        slot == &wideProgram ? getWideOptions(programOptions) : programOptions;
    changed.watch.emplace();
    changed.watch->values = true;
    auto made = StepProgram::create(module, changed);
    if (!made)
      return made.takeError();
    *slot = std::move(*made);
  }
  divergence.emplace(*lowProgram, *wideProgram);
  return llvm::Error::success();
}

host::TrainerHooks Debugger::getHooks() {
  host::TrainerHooks hooks;
  hooks.explains = explainer.has_value();
  // On other backends than the CPU, only --watch observes the step.
  if (options.backend != "cpu") {
    hooks.beforeTraining = [&](host::Step &step) {
      return step.watch(options.debug.every);
    };
    hooks.afterTraining = [&](host::Step &step, const host::RunRecord &) {
      return writeWatched(step);
    };
    return hooks;
  }
  hooks.beforeTraining = [&](host::Step &step) {
    return beforeTraining(static_cast<JITStep &>(step));
  };
  hooks.afterStep = [&](host::Step &step) {
    return afterStep(static_cast<JITStep &>(step));
  };
  hooks.afterTraining = [&](host::Step &step, const host::RunRecord &record) {
    return afterTraining(static_cast<JITStep &>(step), record);
  };
  return hooks;
}

host::Status Debugger::beforeTraining(JITStep &step) {
  if (options.gradientHistogram) {
    histogram.emplace(program, 65536.0);
    histogram->beforeStep(step);
  }
  if (watchedProgram) {
    step.setWatched(*watchedProgram,
                    describeWatchedValues(watchedProgram->getFunction()));
    AMP_RETURN_IF_ERROR(step.watch(options.debug.every));
  }
  if (calibration)
    AMP_RETURN_IF_ERROR(calibration->beforeTraining(step));
  if (explainer)
    AMP_RETURN_IF_ERROR(explainer->beforeTraining(step));
  if (divergence) {
    AMP_RETURN_IF_ERROR(copyValues(step, &start));
    AMP_RETURN_IF_ERROR(divergence->beforeTraining(step));
  }
  return host::Status();
}

host::Status Debugger::afterStep(JITStep &step) {
  if (histogram) {
    histogram->afterStep(step);
    histogram->beforeStep(step);
  }
  if (explainer)
    AMP_RETURN_IF_ERROR(explainer->afterStep(step));
  if (divergence)
    AMP_RETURN_IF_ERROR(divergence->afterStep(step));
  if (divergence && options.debug.bisect > 0) {
    batches.emplace_back();
    AMP_RETURN_IF_ERROR(copyBatches(step, &batches.back()));
  }
  return host::Status();
}

/// Writes the text that `print` prints to the file `path`, if there is one.
static host::Status
writeText(const std::string &path,
          llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (path.empty())
    return host::Status();
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return toStatus(writeOutputFile(path, text));
}

host::Status Debugger::afterTraining(JITStep &step,
                                     const host::RunRecord &record) {
  if (histogram) {
    histogram->print(run + ", seed " + std::to_string(record.seed),
                     getReportStream(options));
    if (std::string wrong = histogram->checkConstantScale(); !wrong.empty())
      llvm::errs() << "amp-run: warning: " << wrong << '\n';
  }
  if (watchedProgram)
    AMP_RETURN_IF_ERROR(writeWatched(step));
  if (calibration) {
    AMP_RETURN_IF_ERROR(calibration->afterTraining(step));
    AMP_RETURN_IF_ERROR(calibration->check().in("--calibrate"));
    AMP_RETURN_IF_ERROR(
        writeText(options.debug.ranges, [&](llvm::raw_ostream &os) {
          os << calibration->printJSON(options.title);
        }));
    calibration->print(run, options.debug.ranges, getReportStream(options));
  }
  if (divergence)
    return reportDivergence(step);
  if (explainer) {
    AMP_RETURN_IF_ERROR(explainer->afterTraining(step));
    explainer->print(run, getReportStream(options));
    return writeText(options.debug.explainJSON, [&](llvm::raw_ostream &os) {
      writeExplanations(explainer->getExplanations(), options.title, os);
    });
  }
  return host::Status();
}

/// Prints the table of watched values, and writes the files.
host::Status Debugger::writeWatched(host::Step &step) const {
  host::WatchOutputs outputs;
  outputs.jsonPath = options.debug.watchJSON;
  outputs.pagePath = options.debug.watchPage;
  std::string table;
  AMP_RETURN_IF_ERROR(
      host::reportWatched(step, outputs, run, options.title, &table));
  getReportStream(options) << table;
  return host::Status();
}

host::Status Debugger::reportDivergence(JITStep &step) {
  step.setProgram(program);
  divergence->printTable(run, getReportStream(options));
  AMP_RETURN_IF_ERROR(
      writeText(options.debug.divergeJSON, [&](llvm::raw_ostream &os) {
        divergence->writeJSON(options.title, os);
      }));
  if (options.debug.bisect <= 0 || batches.empty())
    return host::Status();
  Bisection found;
  AMP_RETURN_IF_ERROR(bisect(module, programOptions,
                             program.getFunction().getName(), start, batches,
                             options.debug.bisect, &found));
  getReportStream(options) << "bisection in " << found.numRuns << " runs: ";
  if (found.op.empty())
    getReportStream(options)
        << "the loss " << host::formatNumber(found.with) << " stays near "
        << host::formatNumber(found.wide) << " of f32\n";
  else
    getReportStream(options)
        << found.op << " (" << found.part << ") changes the loss from "
        << host::formatNumber(found.before) << " to "
        << host::formatNumber(found.with) << ", in f32 it is "
        << host::formatNumber(found.wide) << '\n';
  return host::Status();
}

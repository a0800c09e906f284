//===- Runner.cpp - The runs of amp-run -----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include "amp/Execution/Comparison.h"
#include "amp/Execution/GradientHistogram.h"
#include "amp/Runtime/Host/Trainer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static llvm::Error checkPrecision(llvm::StringRef precision) {
  if (llvm::is_contained({"f32", "fp16", "f16", "half", "bf16"}, precision))
    return llvm::Error::success();
  return makeError("unknown precision '{0}', expected f32, fp16 or bf16",
                   precision);
}

/// Rejects options of the pipeline that are invalid, alone or together.
static llvm::Error checkPipelineOptions(const RunnerOptions &options) {
  if (!options.precision.empty()) {
    if (!options.compare.empty())
      return makeError("--precision and --compare exclude each other");
    if (llvm::Error error = checkPrecision(options.precision))
      return error;
  }
  for (llvm::StringRef precision : options.compare)
    if (llvm::Error error = checkPrecision(precision))
      return error;
  bool pipeline = !options.precision.empty() || !options.compare.empty();
  llvm::StringRef scaling = options.program.lossScaling;
  double scale;
  if (!scaling.empty() && scaling != "dynamic" && scaling != "layerwise" &&
      scaling != "none" && (scaling.getAsDouble(scale) || !(scale > 0)))
    return makeError("wrong value of --loss-scale: '{0}', expected dynamic, "
                     "layerwise, none or a positive number",
                     scaling);
  llvm::StringRef master = options.program.masterWeights;
  if (!master.empty() && master != "cast" && master != "copy" &&
      master != "none")
    return makeError("wrong value of --master-weights: '{0}', expected cast, "
                     "copy or none",
                     master);
  if (!pipeline && (!scaling.empty() || !master.empty() ||
                    !options.program.pipeline.empty()))
    return makeError("--{0} needs --precision or --compare: without them the "
                     "module runs as written",
                     !scaling.empty()  ? "loss-scale"
                     : !master.empty() ? "master-weights"
                                       : "pipeline");
  return llvm::Error::success();
}

static llvm::Error checkOptions(RunnerOptions &options) {
  if (llvm::Error error = checkPipelineOptions(options))
    return error;
  const char *several = !options.compare.empty()     ? "--compare"
                        : options.training.seeds > 1 ? "--seeds"
                                                     : "";
  if (options.printIR)
    return toError(host::checkSingle({{"print-ir", true}}, several));
  return toError(host::checkOptions(&options.training, several));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// The inputs and results of all runs of one invocation.
class Runner {
public:
  explicit Runner(const RunnerOptions &options)
      : options(options), trainer("amp-run", options.training) {}

  llvm::Error run(ModuleOp module);

private:
  llvm::Expected<std::unique_ptr<StepProgram>>
  createProgram(ModuleOp module, llvm::StringRef precision) const;
  llvm::Error runPrecision(StepProgram &program, llvm::StringRef precision);
  llvm::Error writeReports() const;

  const RunnerOptions &options;
  host::Trainer trainer;
  std::vector<ComparisonColumn> columns;
};
} // namespace

llvm::Expected<std::unique_ptr<StepProgram>>
Runner::createProgram(ModuleOp module, llvm::StringRef precision) const {
  ProgramOptions programOptions = options.program;
  programOptions.precision = precision.str();
  return StepProgram::create(module, programOptions);
}

llvm::Error Runner::runPrecision(StepProgram &program,
                                 llvm::StringRef precision) {
  JITStep step(program);
  ComparisonColumn column;
  column.precision = precision.empty() ? "as written" : precision.str();
  host::TrainerHooks hooks;
  std::optional<GradientHistogram> histogram;
  if (options.gradientHistogram) {
    hooks.beforeTraining = [&](host::Step &) {
      histogram.emplace(program, 65536.0);
      histogram->beforeStep(step);
      return host::Status();
    };
    hooks.afterStep = [&](host::Step &) {
      histogram->afterStep(step);
      histogram->beforeStep(step);
      return host::Status();
    };
    hooks.afterTraining = [&](host::Step &, const host::RunRecord &record) {
      histogram->print(column.precision + ", seed " +
                           std::to_string(record.seed),
                       llvm::outs());
      if (std::string wrong = histogram->checkConstantScale(); !wrong.empty())
        llvm::errs() << "amp-run: warning: " << wrong << '\n';
      return host::Status();
    };
  }
  bool compares = !options.compare.empty();
  if (llvm::Error error = toError(
          trainer.run(step, column.precision, compares, hooks, &column.runs)))
    return error;
  if (compares) {
    llvm::Expected<StepStatistics> statistics =
        program.getStatistics(trainer.getBatchSize());
    if (!statistics)
      return statistics.takeError();
    column.statistics = *statistics;
  }
  columns.push_back(std::move(column));
  return llvm::Error::success();
}

llvm::Error Runner::writeReports() const {
  std::vector<host::RunRecord> runs;
  for (const ComparisonColumn &column : columns)
    llvm::append_range(runs, column.runs);
  if (options.compare.empty())
    llvm::outs() << host::printResults(runs);
  else
    printComparison(columns, llvm::outs());
  // Other code may write to standard output too, but not through this stream.
  llvm::outs().flush();
  if (llvm::Error error =
          toError(host::writeCurves(options.training, options.title, runs)))
    return error;
  return toError(host::writeResults(options.training, runs));
}

llvm::Error Runner::run(ModuleOp module) {
  if (!options.printIR)
    if (llvm::Error error = toError(host::checkOutputs(
            options.training, {{"the module", options.title}})))
      return error;
  std::vector<std::string> precisions = options.compare;
  if (precisions.empty())
    precisions.push_back(options.precision);
  for (llvm::StringRef precision : precisions) {
    auto program = createProgram(module, precision);
    if (!program)
      return program.takeError();
    if (options.printIR) {
      (*program)->getModule().print(llvm::outs());
      return llvm::Error::success();
    }
    if (llvm::Error error = runPrecision(**program, precision))
      return error;
  }
  return writeReports();
}

llvm::Error mlir::amp::run(ModuleOp module, RunnerOptions options) {
  if (llvm::Error error = checkOptions(options))
    return error;
  return Runner(options).run(module);
}

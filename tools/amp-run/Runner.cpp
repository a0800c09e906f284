//===- Runner.cpp - The runs of amp-run -----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging.h"
#include "RankOptions.h"
#include "Search.h"
#include "Sweep.h"

#include "amp/Execution/Comparison.h"
#include "amp/Runtime/Host/Trainer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

llvm::raw_ostream &mlir::amp::getReportStream(const RunnerOptions &options) {
  auto isStandard = [](const host::FileUse &use) {
    return host::namesStandardOutput(use.path);
  };
  return host::writesToStandardOutput(options.training) ||
                 llvm::any_of(options.debug.getOutputs(), isStandard)
             ? llvm::errs()
             : llvm::outs();
}

/// Rejects options of the pipeline that are invalid, alone or together.
static llvm::Error checkPipelineOptions(const RunnerOptions &options) {
  if (!options.precision.empty() && !options.compare.empty())
    return makeError("--precision and --compare exclude each other");
  ProgramOptions program = options.program;
  std::vector<std::string> precisions = options.compare;
  if (precisions.empty())
    precisions.push_back(options.precision);
  for (const std::string &precision : precisions) {
    program.precision = precision;
    if (llvm::Error error = checkProgramOptions(program))
      return error;
  }
  return checkIdleOptions(options.program, precisions);
}

/// Rejects an unknown backend, and options that the backend does not have.
static llvm::Error checkBackend(const RunnerOptions &options) {
  if (options.backend != "cpu" && options.backend != "cuda")
    return makeError("unknown backend '{0}', expected cpu or cuda",
                     options.backend);
  const bool onCPU = options.backend == "cpu";
  // These options run or compare steps with other CPU programs.
  constexpr llvm::StringLiteral kReplays[] = {"explain", "diverge", "calibrate",
                                              "search", "sweep-scale"};
  if (!onCPU)
    for (const std::string &name : options.cpuOptions)
      if (llvm::is_contained(kReplays, name))
        return makeError("--{0} runs further variants of the step on the CPU, "
                         "but the backend is cuda; expected --backend=cpu, "
                         "with the same data, seed and precision, or --watch, "
                         "which counts the values of the GPU",
                         name);
  const std::vector<std::string> &wrong =
      onCPU ? options.cudaOptions : options.cpuOptions;
  if (wrong.empty())
    return llvm::Error::success();
  return makeError(
      "--{0} is an option of --backend={1}, but the backend is {2}",
      wrong.front(), onCPU ? "cuda" : "cpu", options.backend);
}

static bool isLow(llvm::StringRef precision) {
  return !precision.empty() && precision != "f32";
}

/// Rejects --calibrate in a low precision, whose ranges would have a loss scale
/// and lack the values that overflow.
static llvm::Error checkCalibration(const RunnerOptions &options) {
  if (options.debug.ranges.empty())
    return llvm::Error::success();
  if (options.debug.watch || options.debug.explain || options.debug.diverge)
    return makeError("--calibrate and --{0} exclude each other",
                     options.debug.watch     ? "watch"
                     : options.debug.explain ? "explain"
                                             : "diverge");
  if (isLow(options.precision))
    return makeError("--calibrate measures values in f32, expected "
                     "--precision=f32 or no --precision");
  if (options.training.steps == 0 || options.training.epochs == 0)
    return makeError("--calibrate needs a step to measure, but --{0} is 0",
                     options.training.steps == 0 ? "steps" : "epochs");
  return llvm::Error::success();
}

/// Rejects --sweep-scale with another observer, or a precision other than fp16.
static llvm::Error checkSweep(const RunnerOptions &options) {
  if (options.debug.scales.empty())
    return llvm::Error::success();
  for (auto [name, isGiven] :
       {std::make_pair("loss-scale", !options.program.lossScaling.empty()),
        std::make_pair("print-ir", options.printIR),
        std::make_pair("watch", options.debug.watch),
        std::make_pair("explain", options.debug.explain),
        std::make_pair("diverge", options.debug.diverge),
        std::make_pair("calibrate", !options.debug.ranges.empty()),
        std::make_pair("gradient-histogram", options.gradientHistogram)})
    if (isGiven)
      return makeError("--sweep-scale and --{0} exclude each other", name);
  llvm::StringRef precision = options.precision;
  if (!precision.empty() && precision != "fp16")
    return makeError("--sweep-scale compares loss scales of fp16, but "
                     "--precision is {0}",
                     precision);
  if (!options.training.trains())
    return makeError("--sweep-scale needs --steps or --epochs");
  return llvm::Error::success();
}

/// Rejects --diverge without one run in a low precision.
static llvm::Error checkDivergence(const RunnerOptions &options) {
  if (!options.debug.diverge)
    return llvm::Error::success();
  if (options.debug.watch || options.debug.explain)
    return makeError("--diverge and --{0} exclude each other",
                     options.debug.watch ? "watch" : "explain");
  if (options.training.seeds > 1)
    return makeError("--diverge is for a single run, without --seeds");
  int64_t numLow = llvm::count_if(options.compare, isLow);
  if (options.compare.empty() ? !isLow(options.precision) : numLow != 1)
    return makeError("--diverge needs one low precision in --precision or "
                     "--compare");
  return llvm::Error::success();
}

static llvm::Error checkOptions(RunnerOptions &options) {
  if (llvm::Error error = checkBackend(options))
    return error;
  if (llvm::Error error = checkRankOptions(options))
    return error;
  if (llvm::Error error = checkSweep(options))
    return error;
  if (llvm::Error error = checkSearch(options))
    return error;
  if (llvm::Error error = checkPipelineOptions(options))
    return error;
  const char *several = !options.compare.empty()     ? "--compare"
                        : options.training.seeds > 1 ? "--seeds"
                                                     : "";
  if (llvm::Error error =
          toError(host::checkSingle(options.debug.getGiven(), several)))
    return error;
  if (llvm::Error error = checkDivergence(options))
    return error;
  if (llvm::Error error = checkCalibration(options))
    return error;
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
  llvm::Expected<CUDAStepOptions> chooseCUDAStep(StepProgram &program) const;
  llvm::Expected<std::unique_ptr<host::Step>>
  createStep(ModuleOp module, StepProgram &program,
             llvm::StringRef precision) const;
  llvm::Error runPrecision(ModuleOp module, StepProgram &program,
                           llvm::StringRef precision);
  llvm::Error printModule(ModuleOp module, StepProgram &program,
                          llvm::StringRef precision) const;
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
  if (options.printIR && options.debug.watch && options.backend == "cpu")
    programOptions.watch = options.debug.getWatchOptions();
  return StepProgram::create(module, programOptions);
}

/// The options of the program for a GPU. It has one batch size: that of the
/// step, else that of the options, the resumed run, or the default.
llvm::Expected<CUDAStepOptions>
Runner::chooseCUDAStep(StepProgram &program) const {
  CUDAStepOptions result;
  result.compiler = options.cuda;
  if (options.debug.watch)
    result.watch = options.debug.match.empty() ? "." : options.debug.match;
  result.forward =
      options.training.predicts() ||
      (!options.compare.empty() && !program.getEvaluationRules().empty());
  if (program.getStaticBatch())
    return result;
  result.batchSize = options.training.batchSize;
  if (result.batchSize == 0 && !options.training.loadPath.empty()) {
    host::ArrayMap record;
    auto wants = [](const std::string &name, const host::Array &) {
      return name == host::kProgressMember;
    };
    if (llvm::Error error = toError(
            host::readArrays(options.training.loadPath, &record, wants)))
      return error;
    // A damaged record is reported when the states are loaded.
    if (const host::Array *fields = record.lookup(host::kProgressMember))
      if (fields->isValid() && fields->getType() == host::ElementType::I64 &&
          fields->getNumElements() > host::ProgressField::BatchSize)
        result.batchSize = std::max<int64_t>(
            fields->getInt(host::ProgressField::BatchSize), 0);
  }
  if (result.batchSize == 0)
    result.batchSize = 64;
  const int64_t ranks = options.training.ranks;
  if (result.batchSize % ranks != 0)
    return makeError("a batch of {0} samples cannot be divided between {1} "
                     "ranks, expected a multiple of {1}",
                     result.batchSize, ranks);
  result.batchSize /= ranks;
  return result;
}

llvm::Expected<std::unique_ptr<host::Step>>
Runner::createStep(ModuleOp module, StepProgram &program,
                   llvm::StringRef precision) const {
  if (options.backend == "cpu")
    return std::make_unique<JITStep>(program);
  llvm::Expected<CUDAStepOptions> cuda = chooseCUDAStep(program);
  if (!cuda)
    return cuda.takeError();
  ProgramOptions pipeline = options.program;
  pipeline.precision = precision.str();
  return createCUDAStep(module, program, pipeline, *cuda);
}

llvm::Error Runner::printModule(ModuleOp module, StepProgram &program,
                                llvm::StringRef precision) const {
  if (options.backend == "cpu") {
    program.getModule().print(llvm::outs());
    return llvm::Error::success();
  }
  llvm::Expected<CUDAStepOptions> cuda = chooseCUDAStep(program);
  if (!cuda)
    return cuda.takeError();
  ProgramOptions pipeline = options.program;
  pipeline.precision = precision.str();
  auto made = makeCUDAProgram(module, program, pipeline, *cuda);
  if (!made)
    return made.takeError();
  (*made)->print(llvm::outs());
  return llvm::Error::success();
}

llvm::Error Runner::runPrecision(ModuleOp module, StepProgram &program,
                                 llvm::StringRef precision) {
  auto step = createStep(module, program, precision);
  if (!step)
    return step.takeError();
  ComparisonColumn column;
  column.precision = precision.empty() ? "as written" : precision.str();
  host::TrainerHooks hooks;
  std::unique_ptr<Debugger> debugger;
  bool observes =
      options.debug.isGiven() && (!options.debug.diverge || isLow(precision));
  if (options.gradientHistogram || observes) {
    llvm::Expected<std::unique_ptr<Debugger>> made =
        Debugger::create(options, module, program, column.precision);
    if (!made)
      return made.takeError();
    debugger = std::move(*made);
    hooks = debugger->getHooks();
  }
  addRankHooks(options, program, hooks);
  bool compares = !options.compare.empty();
  if (llvm::Error error = toError(
          trainer.run(**step, column.precision, compares, hooks, &column.runs)))
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
  if (options.training.rank != 0)
    return toError(host::checkRuns(runs));
  if (options.compare.empty())
    getReportStream(options) << host::printResults(runs);
  else
    printComparison(columns, getReportStream(options));
  // Other code may write to standard output too, but not through this stream.
  llvm::outs().flush();
  if (llvm::Error error =
          toError(host::writeCurves(options.training, options.title, runs)))
    return error;
  if (llvm::Error error = toError(host::writeResults(options.training, runs)))
    return error;
  return toError(host::checkRuns(runs));
}

llvm::Error Runner::run(ModuleOp module) {
  if (!options.printIR)
    if (llvm::Error error = toError(host::checkOutputs(
            options.training, {{"the module", options.title}},
            options.debug.getOutputs())))
      return error;
  if (!options.debug.scales.empty())
    return sweepScales(options, module, trainer);
  if (!options.debug.policy.empty())
    return searchPolicy(options, module, trainer);
  std::vector<std::string> precisions = options.compare;
  if (precisions.empty())
    precisions.push_back(options.precision);
  for (llvm::StringRef precision : precisions) {
    auto program = createProgram(module, precision);
    if (!program)
      return program.takeError();
    if (options.printIR)
      return options.training.rank == 0
                 ? printModule(module, **program, precision)
                 : llvm::Error::success();
    if (llvm::Error error = runPrecision(module, **program, precision))
      return error;
    if (trainer.isInterrupted())
      break;
  }
  return writeReports();
}

llvm::Error mlir::amp::run(ModuleOp module, RunnerOptions options) {
  if (llvm::Error error = checkOptions(options))
    return error;
  leaveOutputsToFirstRank(options);
  return Runner(options).run(module);
}

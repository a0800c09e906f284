//===- Runner.cpp - What amp-run does -------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include "amp/Execution/Comparison.h"
#include "amp/Execution/Files.h"
#include "amp/Execution/GradientHistogram.h"
#include "amp/Execution/Trainer.h"
#include "amp/Support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdint>

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

/// Rejects options that make no sense, alone or together.
static llvm::Error checkOptions(const RunnerOptions &options) {
  bool several = !options.compare.empty() || options.seeds > 1;
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
  if (options.steps && options.epochs)
    return makeError("--steps and --epochs exclude each other");
  if ((options.steps && *options.steps < 0) ||
      (options.epochs && *options.epochs < 0))
    return makeError("--{0} must not be negative",
                     options.steps ? "steps" : "epochs");
  if (options.batchSize && *options.batchSize <= 0)
    return makeError("--batch-size must be positive, got {0}",
                     *options.batchSize);
  if (options.lastBatch != "drop" && options.lastBatch != "keep")
    return makeError("wrong value of --last-batch: '{0}', expected drop or "
                     "keep",
                     options.lastBatch);
  if (options.seeds <= 0)
    return makeError("--seeds must be positive, got {0}", options.seeds);
  if (uint64_t(options.seeds - 1) > UINT64_MAX - options.seed)
    return makeError("--seeds {0} go beyond the largest seed", options.seeds);
  if (!options.initPath.empty() && !options.loadPath.empty())
    return makeError("--init and --load exclude each other");
  if (options.otherScaler && options.loadPath.empty())
    return makeError("--other-scaler needs --load");
  if (!options.loadPath.empty() && options.seedGiven)
    return makeError("--seed and --load exclude each other: a resumed run "
                     "keeps its seed");
  for (auto [name, path] : {std::pair("load", &options.loadPath),
                            std::pair("save", &options.savePath),
                            std::pair("predict", &options.predictPath)})
    if (several && !path->empty())
      return makeError("--{0} is for a single run, without --compare and "
                       "--seeds",
                       name);
  if (several && options.printIR)
    return makeError("--print-ir is for a single run, without --compare and "
                     "--seeds");
  if (options.dataPaths.empty() && !options.printIR)
    return makeError("there are no data: give --data <file.npz>");
  return llvm::Error::success();
}

/// How many steps or epochs to train. Evaluation and prediction with given
/// weights train only when asked to.
static TrainingPlan makePlan(const RunnerOptions &options) {
  TrainingPlan plan;
  plan.epochs = options.epochs;
  plan.steps = options.steps.value_or(0);
  bool reads = options.evaluate || !options.predictPath.empty();
  bool given = !options.loadPath.empty() || !options.initPath.empty();
  if (!options.steps && !options.epochs && !(reads && given))
    plan.epochs = 1;
  plan.dropLast = options.lastBatch == "drop";
  return plan;
}

/// Fails when an output would take the place of an input or of another output.
/// A resumed state may be saved where it was.
static llvm::Error checkDistinct(const RunnerOptions &options) {
  struct Use {
    llvm::StringRef option, path;
  };
  llvm::SmallVector<Use> uses = {{"the module", options.title}};
  for (llvm::StringRef path : options.dataPaths)
    uses.push_back({"--data", path});
  uses.push_back({"--init", options.initPath});
  uses.push_back({"--load", options.loadPath});
  size_t numInputs = uses.size();
  uses.append({{"--save", options.savePath},
               {"--predict", options.predictPath},
               {"--metrics-csv", options.csvPath},
               {"--metrics-json", options.jsonPath},
               {"--plot", options.plotPath}});
  for (size_t output = numInputs; output < uses.size(); ++output)
    for (const Use &other : llvm::ArrayRef<Use>(uses).take_front(output)) {
      const Use &use = uses[output];
      bool resumes = other.option == "--load" && use.option == "--save";
      if (use.path.empty() || other.path.empty() || resumes ||
          !isSameFile(use.path, other.path))
        continue;
      return makeError("{0} '{1}' would overwrite {2} '{3}'", use.option,
                       use.path, other.option, other.path);
    }
  return llvm::Error::success();
}

/// Fails early when an output cannot be written.
static llvm::Error checkOutputs(const RunnerOptions &options) {
  if (llvm::Error error = checkDistinct(options))
    return error;
  for (const std::string *path :
       {&options.savePath, &options.predictPath, &options.csvPath,
        &options.jsonPath, &options.plotPath})
    if (!path->empty())
      if (llvm::Error error = checkWritable(*path))
        return error;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// The inputs and results of all runs of one invocation.
class Runner {
public:
  explicit Runner(const RunnerOptions &options) : options(options) {}

  llvm::Error run(ModuleOp module);

private:
  llvm::Expected<std::unique_ptr<StepProgram>>
  createProgram(ModuleOp module, llvm::StringRef precision) const;
  llvm::Error readData(const StepProgram &program);
  llvm::Error readWeights(const StepProgram &program);
  llvm::Error runPrecision(StepProgram &program, llvm::StringRef precision);
  llvm::Error runSeed(StepProgram &program, const Dataset *data, uint64_t seed,
                      ComparisonColumn &column);
  llvm::Error finishRun(Session &session, const StepProgram &program,
                        RunRecord &record);
  llvm::Expected<int64_t> chooseBatchSize(const StepProgram &program,
                                          int64_t resumed = 0) const;
  bool wantsEvaluation(const StepProgram &program) const;
  llvm::Error checkHeldOutData(StepProgram &program) const;
  llvm::Error writeReports() const;

  const RunnerOptions &options;
  ArrayMap data;
  /// The files of `data`, for messages.
  std::string dataName;
  std::optional<ArrayMap> weights;
  std::vector<ComparisonColumn> columns;
};
} // namespace

/// `resumed` is the batch size of the run that is resumed, 0 if there is none.
llvm::Expected<int64_t> Runner::chooseBatchSize(const StepProgram &program,
                                                int64_t resumed) const {
  std::optional<int64_t> fixed = program.getStaticBatch();
  if (fixed && options.batchSize && *fixed != *options.batchSize)
    return makeError("--batch-size is {0}, but the graph fixes the batch at "
                     "{1}",
                     *options.batchSize, *fixed);
  if (fixed)
    return *fixed;
  return options.batchSize.value_or(resumed ? resumed : 64);
}

/// A comparison evaluates whenever there are held-out data.
bool Runner::wantsEvaluation(const StepProgram &program) const {
  if (options.evaluate)
    return true;
  return !options.compare.empty() && !program.getEvaluationRules().empty() &&
         llvm::all_of(program.getBatchInputs(), [&](const BatchInput &input) {
           return data.contains(options.evalPrefix + input.name);
         });
}

/// Finds what is wrong with the held-out data before anything is trained.
llvm::Error Runner::checkHeldOutData(StepProgram &program) const {
  llvm::SmallVector<BatchInput> inputs;
  if (wantsEvaluation(program)) {
    if (program.getEvaluationRules().empty())
      return makeError("there is nothing to evaluate: no loss operation "
                       "compares a prediction of the step with a batch "
                       "argument");
    for (const EvaluationRule &rule : program.getEvaluationRules())
      for (const BatchInput &input : program.getBatchInputs())
        if (input.name == rule.target)
          inputs.push_back(input);
  } else if (options.predictPath.empty()) {
    return llvm::Error::success();
  }
  llvm::Expected<llvm::SmallVector<BatchInput>> forward =
      program.getForwardInputs();
  if (!forward)
    return forward.takeError();
  llvm::append_range(inputs, *forward);
  DataSource source{&data, dataName, options.evalPrefix};
  return source.select(inputs).takeError();
}

llvm::Error Runner::finishRun(Session &session, const StepProgram &program,
                              RunRecord &record) {
  bool evaluates = wantsEvaluation(program);
  if (evaluates || !options.predictPath.empty()) {
    DataSource source{&data, dataName, options.evalPrefix};
    llvm::Expected<ArrayMap> predictions = session.predict(source);
    if (!predictions)
      return predictions.takeError();
    if (evaluates) {
      auto results = session.evaluate(source, *predictions);
      if (!results)
        return results.takeError();
      for (auto &[name, value] : *results)
        record.results.emplace_back("eval " + name, value);
    }
    if (!options.predictPath.empty())
      if (llvm::Error error = writeNpz(options.predictPath, *predictions))
        return error;
  }
  if (!options.savePath.empty())
    return session.save(options.savePath);
  return llvm::Error::success();
}

llvm::Error Runner::runSeed(StepProgram &program, const Dataset *trainingData,
                            uint64_t seed, ComparisonColumn &column) {
  if (llvm::Error error = program.checkMemory(std::nullopt))
    return error;
  Session session(program);
  if (llvm::Error error = session.setHyperparameters(options.hyperparameters))
    return error;
  if (!options.loadPath.empty()) {
    if (llvm::Error error = session.load(options.loadPath, options.otherScaler))
      return error;
    seed = session.getProgress().position.seed;
  } else if (llvm::Error error = session.initialize(
                 seed, weights ? &*weights : nullptr, options.initPath)) {
    return error;
  }

  TrainingPlan plan = makePlan(options);
  llvm::Expected<int64_t> batchSize =
      chooseBatchSize(program, session.getProgress().batchSize);
  if (!batchSize)
    return batchSize.takeError();
  plan.batchSize = *batchSize;
  // A graph with a fixed batch has no step for a smaller one.
  plan.dropLast |= program.getStaticBatch().has_value();
  if (options.showProgress)
    plan.label = options.seeds > 1
                     ? column.precision + ", seed " + std::to_string(seed)
                     : column.precision;

  GradientHistogram histogram(program, 65536.0);
  if (options.gradientHistogram) {
    histogram.beforeStep(session);
    plan.afterStep = [&](Session &session) {
      histogram.afterStep(session, program);
      histogram.beforeStep(session);
      return llvm::Error::success();
    };
  }

  RunRecord record;
  record.precision = column.precision;
  record.seed = seed;
  if (trainingData)
    if (llvm::Error error = train(session, *trainingData, plan, record))
      return error;
  if (options.gradientHistogram) {
    histogram.print(column.precision + ", seed " + std::to_string(seed),
                    llvm::outs());
    if (std::string wrong = histogram.checkConstantScale(); !wrong.empty())
      llvm::errs() << "amp-run: warning: " << wrong << '\n';
  }
  if (llvm::Error error = finishRun(session, program, record))
    return error;
  column.runs.push_back(std::move(record));
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<StepProgram>>
Runner::createProgram(ModuleOp module, llvm::StringRef precision) const {
  ProgramOptions programOptions = options.program;
  programOptions.precision = precision.str();
  return StepProgram::create(module, programOptions);
}

/// Reads the arrays for the batch arguments of `program`, which all precisions
/// have in common.
llvm::Error Runner::readData(const StepProgram &program) {
  // What does not fit is an error later, for which its header is enough.
  auto wants = [&](llvm::StringRef name, const NDArray &header) {
    return llvm::any_of(program.getBatchInputs(), [&](const BatchInput &input) {
      bool named = name == input.name ||
                   name == options.trainPrefix + input.name ||
                   name == options.evalPrefix + input.name;
      return named && header.getRank() > 0 &&
             header.getShape().drop_front() ==
                 llvm::ArrayRef<int64_t>(input.sampleShape) &&
             canConvertLossless(header.getType(), input.type);
    });
  };
  for (llvm::StringRef path : options.dataPaths) {
    llvm::Expected<ArrayMap> arrays = readArrays(path, wants);
    if (!arrays)
      return arrays.takeError();
    for (auto &[name, array] : *arrays) {
      if (data.contains(name))
        return makeError("array '{0}' of '{1}' is in another file of --data "
                         "too",
                         name, path);
      data.set(name, std::move(array));
    }
  }
  dataName = llvm::join(options.dataPaths, ", ");
  return llvm::Error::success();
}

llvm::Error Runner::readWeights(const StepProgram &program) {
  if (options.initPath.empty())
    return llvm::Error::success();
  // Another precision may have more parameters, but none of another shape.
  auto wants = [&](llvm::StringRef name, const NDArray &header) {
    return llvm::all_of(program.getStates(), [&](const StateSpec &spec) {
      bool converts = header.getType() == spec.type ||
                      (isFloat(header.getType()) && isFloat(spec.type));
      return spec.name != name ||
             (converts &&
              header.getShape() == llvm::ArrayRef<int64_t>(spec.shape));
    });
  };
  llvm::Expected<ArrayMap> arrays = readArrays(options.initPath, wants);
  if (!arrays)
    return arrays.takeError();
  weights = std::move(*arrays);
  llvm::SmallVector<llvm::StringRef> missing;
  for (const StateSpec &spec : program.getStates())
    if (spec.isWeight && !weights->contains(spec.name) &&
        !(spec.init && spec.init->kind == InitSpec::Kind::CopyOf))
      missing.push_back(spec.name);
  // That there is none at all is an error, where they are taken.
  if (!missing.empty() && weights->size() != 0)
    llvm::errs() << "amp-run: warning: '" << options.initPath
                 << "' has no array for '" << llvm::join(missing, "', '")
                 << "': initial values stay\n";
  return llvm::Error::success();
}

llvm::Error Runner::runPrecision(StepProgram &program,
                                 llvm::StringRef precision) {
  DataSource source{&data, dataName, options.trainPrefix};
  std::optional<Dataset> trainingData;
  TrainingPlan plan = makePlan(options);
  if (plan.steps || plan.epochs.value_or(0)) {
    llvm::Expected<Dataset> selected = source.select(program.getBatchInputs());
    if (!selected)
      return selected.takeError();
    trainingData = std::move(*selected);
    llvm::Expected<int64_t> batchSize = chooseBatchSize(program);
    if (!batchSize)
      return batchSize.takeError();
    if (llvm::Error error = program.checkMemory(*batchSize))
      return error;
  }
  if (llvm::Error error = checkHeldOutData(program))
    return error;
  ComparisonColumn column;
  column.precision = precision.empty() ? "as written" : precision.str();
  for (int64_t i = 0; i < options.seeds; ++i)
    if (llvm::Error error =
            runSeed(program, trainingData ? &*trainingData : nullptr,
                    options.seed + i, column))
      return error;
  if (!options.compare.empty()) {
    llvm::Expected<int64_t> batchSize = chooseBatchSize(program);
    if (!batchSize)
      return batchSize.takeError();
    llvm::Expected<StepStatistics> statistics =
        program.getStatistics(*batchSize);
    if (!statistics)
      return statistics.takeError();
    column.statistics = *statistics;
  }
  columns.push_back(std::move(column));
  return llvm::Error::success();
}

llvm::Error Runner::writeReports() const {
  std::vector<RunRecord> runs;
  for (const ComparisonColumn &column : columns)
    llvm::append_range(runs, column.runs);
  if (!options.csvPath.empty())
    if (llvm::Error error = writeMetricsCsv(options.csvPath, runs))
      return error;
  if (!options.jsonPath.empty())
    if (llvm::Error error = writeMetricsJson(options.jsonPath, runs))
      return error;
  if (!options.plotPath.empty())
    return writePlot(options.plotPath, options.title, runs);
  return llvm::Error::success();
}

llvm::Error Runner::run(ModuleOp module) {
  if (llvm::Error error = checkOutputs(options))
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
    if (columns.empty()) {
      if (llvm::Error error = readData(**program))
        return error;
      if (llvm::Error error = readWeights(**program))
        return error;
    }
    if (llvm::Error error = runPrecision(**program, precision))
      return error;
  }
  if (options.compare.empty())
    llvm::outs() << ::ampreport::printResults(columns.front().runs);
  else
    printComparison(columns, llvm::outs());
  return writeReports();
}

llvm::Error mlir::amp::run(ModuleOp module, const RunnerOptions &options) {
  if (llvm::Error error = checkOptions(options))
    return error;
  return Runner(options).run(module);
}

//===- Trainer.h - The training loop ----------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_TRAINER_H
#define AMP_RUNTIME_HOST_TRAINER_H

#include "amp/Runtime/Host/CheckpointFile.h"
#include "amp/Runtime/Host/Evaluator.h"
#include "amp/Runtime/Host/Interruption.h"
#include "amp/Runtime/Host/Options.h"
#include "amp/Runtime/Host/Plot.h"
#include "amp/Runtime/Host/ProgressLine.h"

namespace amphost {

/// The names of the metrics for the loss scale and skipped updates, and of the
/// state of a dynamic loss scale.
inline constexpr const char *kLossScaleMetric = "loss_scale",
                            *kSkippedMetric = "skipped",
                            *kLossScaleState = "loss_scale";

/// The work of a program in addition to training.
struct TrainerHooks {
  std::function<Status(Step &)> beforeTraining, afterStep;
  std::function<Status(Step &, const RunRecord &)> afterTraining;
  /// Called after each step. Returns the signal that interrupted one of the
  /// processes that train together, or 0. All of them get the same answer.
  std::function<int()> findInterruption;
  /// Whether the hooks name the first value that is not finite.
  bool explains = false;
};

/// Trains the steps of one command line on the same data.
class Trainer {
public:
  /// `tool` is the prefix of warnings. The options must outlive the trainer.
  Trainer(std::string tool, const TrainingOptions &options)
      : tool(std::move(tool)), options(options) {}

  /// Declares that `step` trains on its data even without requested steps.
  void keepData() { keepsData = true; }

  /// Trains `step` once for each seed and adds the records to `runs`. `label`
  /// names the run. `evaluates` requests evaluation if there are held-out data.
  inline Status run(Step &step, const std::string &label, bool evaluates,
                    const TrainerHooks &hooks, std::vector<RunRecord> *runs);

  /// Whether a signal ended the last run early.
  bool isInterrupted() const { return isStopped; }

  /// The data of the last step and its batch size.
  const Dataset &getData() const { return data; }
  int64_t getBatchSize() const { return batchSize; }
  inline Status fillBatches(Step &step, const int64_t *rows, int64_t count);

private:
  inline Status readInputs(const Step &step);
  inline Status readData(const Step &step);
  inline Status checkData(const Step &step) const;
  inline bool canEvaluate(const Step &step) const;
  /// The part of `count` samples that this process takes.
  int64_t getPart(int64_t count) const { return count / options.ranks; }
  inline Status checkParts() const;
  inline Status prepare(Step &step);
  inline Status chooseBatchSize(const Step &step, int64_t resumed);
  inline Status runSeed(Step &step, uint64_t seed, const TrainerHooks &hooks,
                        RunRecord *record);
  inline Status train(Step &step, const TrainerHooks &hooks, RunRecord *record);
  inline Status trainSteps(Step &step, BatchOrder &order, int64_t steps,
                           const TrainerHooks &hooks, RunRecord *record);
  inline void checkInterruption(int64_t done, int64_t steps,
                                const TrainerHooks &hooks);
  inline Status finish(Step &step, RunRecord *record);
  inline Status addScales(Step &step, RunRecord *record);
  inline std::string describeSkipped(const RunRecord &record) const;
  inline std::string describeLostLoss(const RunRecord &record) const;
  bool trains() const { return options.trains() || keepsData; }
  /// Reading metrics may cost time. Read those of each step only on request.
  bool wantsAll(const Step &step) const {
    return !step.isAsynchronous() || !options.csvPath.empty() ||
           !options.jsonPath.empty() || !options.plotPath.empty() ||
           options.seeds > 1;
  }

  std::string tool;
  const TrainingOptions &options;
  bool keepsData = false, hasInputs = false, evaluates = false,
       isStopped = false;
  ArrayMap arrays, weights;
  /// The files of `arrays`, for messages.
  std::string dataName;
  Dataset data;
  Evaluator evaluator;
  int64_t batchSize = 0, skipped = 0;
};

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// Checks that there are data if and only if the step takes some.
inline Status Trainer::checkData(const Step &step) const {
  const bool takesData = !step.getBatches().empty();
  if (takesData && options.dataPaths.empty() && !options.synthetic) {
    std::string names;
    for (const TensorInfo &batch : step.getBatches())
      names += (names.empty() ? "'" : ", '") + batch.name + "'";
    return makeError(kInvalidArgument,
                     "there are no data for %s: give --data <file.npz> or "
                     "--synthetic",
                     names.c_str());
  }
  const char *given = !options.dataPaths.empty()     ? "data"
                      : options.evaluate             ? "eval"
                      : !options.predictPath.empty() ? "predict"
                                                     : nullptr;
  if (!takesData && given)
    return makeError(kInvalidArgument,
                     "--%s needs a batch argument, but the step has none; "
                     "expected --steps or --epochs without data",
                     given);
  return Status();
}

/// Reads the arrays for the batch tensors of `step`. All steps share them. An
/// array must not be in two files.
inline Status Trainer::readData(const Step &step) {
  AMP_RETURN_IF_ERROR(checkData(step));
  // A misfit is reported later. The header of the array suffices for that.
  auto wants = [&](const std::string &name, const Array &header) {
    const Shape &shape = header.getShape();
    for (const TensorInfo &batch : step.getBatches())
      if ((name == batch.name || name == options.trainPrefix + batch.name ||
           name == options.evalPrefix + batch.name) &&
          shape.size() == batch.shape.size() &&
          std::equal(shape.begin() + 1, shape.end(), batch.shape.begin() + 1) &&
          canConvertLossless(header.getType(), batch.type))
        return true;
    return false;
  };
  for (const std::string &path : options.dataPaths) {
    ArrayMap more;
    AMP_RETURN_IF_ERROR(readArrays(path, &more, wants));
    for (auto &[name, array] : more) {
      if (arrays.contains(name))
        return makeError(kFile,
                         "array '%s' of '%s' is in another file of --data too",
                         name.c_str(), path.c_str());
      arrays.set(name, std::move(array));
    }
    dataName += (dataName.empty() ? "" : ", ") + path;
  }
  return Status();
}

inline Status Trainer::readInputs(const Step &step) {
  if (hasInputs)
    return Status();
  hasInputs = true;
  AMP_RETURN_IF_ERROR(readData(step));
  if (options.initPath.empty())
    return Status();
  std::vector<std::string> missing;
  AMP_RETURN_IF_ERROR(readWeights(step, options.initPath, &weights, &missing));
  std::string names;
  for (const std::string &name : missing)
    names += (names.empty() ? "'" : "', '") + name;
  // The reader of the weights reports a file without any of them.
  if (!missing.empty() && weights.size() != 0)
    std::fprintf(
        stderr, "%s: warning: '%s' has no array for %s': initial values stay\n",
        tool.c_str(), options.initPath.c_str(), names.c_str());
  return Status();
}

/// Whether there are predictions to evaluate and data for them.
inline bool Trainer::canEvaluate(const Step &step) const {
  for (const TensorInfo &batch : step.getBatches())
    if (!arrays.contains(options.evalPrefix + batch.name))
      return false;
  return !step.getEvaluationRules().empty();
}

/// `resumed` is the batch size of the resumed run, or 0.
inline Status Trainer::chooseBatchSize(const Step &step, int64_t resumed) {
  // Each process runs the step that fixes it.
  const int64_t fixed = step.getFixedBatch() * options.ranks;
  if (fixed && options.batchSize && options.batchSize != fixed)
    return makeError(kInvalidArgument,
                     "--batch-size is %lld, but the step fixes the batch at "
                     "%lld",
                     (long long)options.batchSize, (long long)fixed);
  batchSize = fixed               ? fixed
              : options.batchSize ? options.batchSize
              : resumed           ? resumed
                                  : 64;
  return checkParts();
}

/// Checks that each process gets as many samples of a batch.
inline Status Trainer::checkParts() const {
  if (batchSize % options.ranks != 0)
    return makeError(kInvalidArgument,
                     "a batch of %lld samples cannot be divided between %lld "
                     "ranks, expected a multiple of %lld",
                     (long long)batchSize, (long long)options.ranks,
                     (long long)options.ranks);
  const int64_t left = data.size() % batchSize;
  if (options.lastBatch == "keep" && left % options.ranks != 0)
    return makeError(kInvalidArgument,
                     "the last batch of an epoch has %lld samples, which "
                     "cannot be divided between %lld ranks; expected "
                     "--last-batch=drop",
                     (long long)left, (long long)options.ranks);
  return Status();
}

/// Checks all data before any training.
inline Status Trainer::prepare(Step &step) {
  AMP_RETURN_IF_ERROR(chooseBatchSize(step, 0));
  if (step.getBatches().empty()) {
    // An epoch has one step.
    data.createSynthetic(batchSize, batchSize, options.seed, {});
  } else if (options.synthetic) {
    // An epoch has eight batches. Timing alone takes one.
    const int64_t count = options.trains() ? 8 : 1;
    data.createSynthetic(count * batchSize, batchSize, options.seed,
                         step.getBatches());
  } else if (trains()) {
    AMP_RETURN_IF_ERROR(
        data.create(arrays, dataName, options.trainPrefix, step.getBatches()));
  }
  AMP_RETURN_IF_ERROR(checkParts());
  AMP_RETURN_IF_ERROR(step.prepare(options.trains() ? getPart(batchSize) : 0));
  if (evaluates || !options.predictPath.empty())
    AMP_RETURN_IF_ERROR(evaluator.create(step, arrays, dataName,
                                         options.evalPrefix, evaluates));
  return Status();
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

inline Status Trainer::fillBatches(Step &step, const int64_t *rows,
                                   int64_t count) {
  size_t input = 0;
  for (size_t i : step.find(Role::Batch)) {
    AMP_RETURN_IF_ERROR(
        step.fill(i, count, data.getBytes(input, count), [&](void *batch) {
          data.gather(input, rows, count, batch);
        }));
    ++input;
  }
  return Status();
}

/// Stops after `done` of `steps` steps if there was a signal, and says so.
inline void Trainer::checkInterruption(int64_t done, int64_t steps,
                                       const TrainerHooks &hooks) {
  const int number =
      hooks.findInterruption ? hooks.findInterruption() : getInterruption();
  if (number == 0)
    return;
  isStopped = true;
  noticedSignal = number;
  if (options.rank == 0)
    std::fprintf(stderr,
                 "%s: %s: training stops after %lld of %lld steps, and what "
                 "was asked for is written; a second signal ends the process\n",
                 tool.c_str(), nameInterruption(number), (long long)done,
                 (long long)steps);
}

/// Runs the steps and records those whose metrics are read. Stops early after a
/// signal.
inline Status Trainer::trainSteps(Step &step, BatchOrder &order, int64_t steps,
                                  const TrainerHooks &hooks,
                                  RunRecord *record) {
  using Clock = std::chrono::steady_clock;
  auto milliseconds = [](Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  const std::optional<size_t> skipColumn = record->findMetric(kSkippedMetric);
  std::string label = options.quiet ? "" : record->precision;
  if (!label.empty() && options.seeds > 1)
    label += ", seed " + std::to_string(record->seed);
  ProgressLine line(label, steps, *record);
  std::vector<double> times;
  // Without a common answer, one process would wait for the others.
  InterruptionGuard guard(options.ranks == 1 || hooks.findInterruption);
  auto fillNext = [&] {
    int64_t count = 0;
    const int64_t *rows = order.next(&count);
    const int64_t part = getPart(count);
    return fillBatches(step, rows + options.rank * part, part);
  };
  const Clock::time_point begin = Clock::now();
  bool isFilled = false;
  for (int64_t done = 1; done <= steps && !isStopped; ++done) {
    if (!isFilled)
      AMP_RETURN_IF_ERROR(fillNext());
    const bool isDue = line.isDue(done), isRead = isDue || wantsAll(step);
    step.setReadsMetrics(isRead);
    const Clock::time_point start = Clock::now();
    AMP_RETURN_IF_ERROR(step.run(1));
    times.push_back(milliseconds(Clock::now() - start));
    step.progress.position = order.getPosition();
    if (hooks.afterStep)
      AMP_RETURN_IF_ERROR(hooks.afterStep(step));
    if (done < steps)
      checkInterruption(done, steps, hooks);
    // Reading metrics waits for the step. The next batch is copied meanwhile.
    isFilled = isRead && step.isAsynchronous() && done < steps && !isStopped;
    if (isFilled)
      AMP_RETURN_IF_ERROR(fillNext());
    if (!isRead)
      continue;
    StepRecord values{step.progress.step, step.progress.position.epoch, {}};
    AMP_RETURN_IF_ERROR(step.readMetrics(&values.values));
    skipped += wantsAll(step) && skipColumn && values.values[*skipColumn] != 0;
    if (isDue)
      line.show(done, values, skipped);
    record->steps.push_back(std::move(values));
  }
  step.setReadsMetrics(true);
  AMP_RETURN_IF_ERROR(step.wait());
  // The median ignores disturbances of the machine. It is available only if the
  // host waits for each step.
  auto middle = times.begin() + std::ptrdiff_t(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  record->results.emplace_back("ms per step",
                               step.isAsynchronous()
                                   ? milliseconds(Clock::now() - begin) /
                                         double(times.size())
                                   : *middle);
  return Status();
}

/// Adds the final scales. The names of several losses or layers follow a dot.
inline Status Trainer::addScales(Step &step, RunRecord *record) {
  const std::string state = kLossScaleState;
  for (size_t i : step.find(Role::ScalerState)) {
    const std::string &name = step.getTensors()[i].name;
    if (name.compare(0, state.size(), state) != 0 ||
        (name.size() > state.size() && name[state.size()] != '.'))
      continue;
    Array scale;
    AMP_RETURN_IF_ERROR(step.read(i, &scale));
    record->results.emplace_back(
        "final loss scale" +
            (name == state ? "" : " " + name.substr(state.size() + 1)),
        scale.getDouble(0));
  }
  return Status();
}

/// Trains, and adds to the record
///   `final loss`     the mean loss over the last epoch, or all steps if fewer,
///   `skipped steps`, `final loss scale`   if the step has them,
///   the memory of the step,
///   `ms per step`    the time of a step.
inline Status Trainer::train(Step &step, const TrainerHooks &hooks,
                             RunRecord *record) {
  const bool dropLast = options.lastBatch == "drop";
  if ((dropLast || step.getFixedBatch()) && data.size() < batchSize)
    return makeError(kFile,
                     "the data set has %lld samples, fewer than one batch of "
                     "%lld",
                     (long long)data.size(), (long long)batchSize);
  if (!dropLast && step.getFixedBatch() && data.size() % batchSize != 0)
    return makeError(
        kInvalidArgument,
        "the data set has %lld samples, which is not a multiple of "
        "the batch of %lld, and there is no step for a smaller "
        "one; expected --last-batch=drop",
        (long long)data.size(), (long long)batchSize);
  Progress &progress = step.progress;
  if (progress.samples && progress.samples != data.size())
    return makeError(kFile,
                     "the resumed run was trained on %lld samples, but this "
                     "data set has %lld",
                     (long long)progress.samples, (long long)data.size());
  progress.samples = data.size();
  progress.batchSize = batchSize;
  BatchOrder order(data.size(), batchSize, dropLast, progress.position,
                   !options.noShuffle);
  const int64_t perEpoch = order.getBatchesPerEpoch();
  if (options.epochs > kMaxSteps / perEpoch)
    return makeError(kInvalidArgument, "--epochs %lld are more than %lld steps",
                     (long long)options.epochs, (long long)kMaxSteps);
  const int64_t steps =
      options.steps >= 0 ? options.steps : options.epochs * perEpoch;
  if (steps == 0)
    return Status();
  skipped = 0;
  AMP_RETURN_IF_ERROR(trainSteps(step, order, steps, hooks, record));
  const auto time = record->results.back();
  record->results.pop_back();
  if (wantsAll(step)) {
    if (std::optional<size_t> column = record->findMetric("loss"))
      record->results.emplace_back("final loss",
                                   record->averageLast(*column, perEpoch));
    if (record->findMetric(kSkippedMetric))
      record->results.emplace_back("skipped steps", double(skipped));
  }
  AMP_RETURN_IF_ERROR(addScales(step, record));
  step.addMemory(&record->results);
  record->results.push_back(time);
  return Status();
}

/// Says that the run was in vain, or returns an empty text: at least ten steps
/// ran and all were skipped, or the last twenty were and the loss scale no
/// longer fell.
inline std::string Trainer::describeSkipped(const RunRecord &record) const {
  constexpr size_t kFewest = 10, kAtFloor = 20;
  const std::optional<size_t> column = record.findMetric(kSkippedMetric);
  const std::optional<size_t> scale = record.findMetric(kLossScaleMetric);
  const std::vector<StepRecord> &steps = record.steps;
  if (!column)
    return "";
  size_t count = 0;
  while (count < steps.size() &&
         steps[steps.size() - 1 - count].values[*column] != 0)
    ++count;
  const bool hasScale = scale && count > 0;
  const double last = hasScale ? steps.back().values[*scale] : 0.0;
  const bool isAtFloor =
      count >= kAtFloor &&
      (!hasScale || steps[steps.size() - kAtFloor].values[*scale] == last);
  if (!isAtFloor && (count < kFewest || count < steps.size()))
    return "";
  std::string text = count == steps.size() ? "all " : "the last ";
  text += std::to_string(count) +
          " steps were skipped because their gradients were not finite";
  if (hasScale)
    text += ", the last one with a loss scale of " + formatNumber(last);
  return text + "; the loss scale does not help; expected finite gradients";
}

/// Says that the loss of the last twenty steps is NaN, or that of all steps
/// and none was skipped, or returns an empty text. A loss scale does not change
/// the loss, so skipped steps do not help.
inline std::string Trainer::describeLostLoss(const RunRecord &record) const {
  constexpr size_t kMost = 20;
  const std::optional<size_t> loss = record.findMetric("loss"),
                              skip = record.findMetric(kSkippedMetric);
  const std::vector<StepRecord> &steps = record.steps;
  size_t count = 0;
  bool isSkipped = false;
  while (loss && count < steps.size()) {
    const std::vector<double> &values = steps[steps.size() - 1 - count].values;
    if (!std::isnan(values[*loss]))
      break;
    isSkipped |= skip && values[*skip] != 0;
    ++count;
  }
  if (count == 0 || (count < kMost && (count < steps.size() || isSkipped)))
    return "";
  std::string text = "the loss is NaN in ";
  text += count == steps.size() ? "all " : "the last ";
  return text + std::to_string(count) +
         " steps, so the run learned nothing there; expected finite data and "
         "updates that are not too large";
}

/// Predicts, evaluates and saves. After a signal only saves.
inline Status Trainer::finish(Step &step, RunRecord *record) {
  if ((evaluates || !options.predictPath.empty()) && !isStopped) {
    ArrayMap predictions;
    const bool keeps = !options.predictPath.empty();
    AMP_RETURN_IF_ERROR(
        evaluator.run(step, keeps ? &predictions : nullptr, &record->results));
    if (keeps)
      AMP_RETURN_IF_ERROR(writeArrays(options.predictPath, predictions));
  }
  return options.savePath.empty() ? Status()
                                  : saveCheckpoint(step, options.savePath);
}

inline Status Trainer::runSeed(Step &step, uint64_t seed,
                               const TrainerHooks &hooks, RunRecord *record) {
  AMP_RETURN_IF_ERROR(setHyperparameters(step, options.settings));
  if (options.loadPath.empty()) {
    AMP_RETURN_IF_ERROR(
        initialize(step, seed, options.initPath.empty() ? nullptr : &weights,
                   options.initPath));
  } else {
    CheckpointTolerance tolerance;
    tolerance.otherScaler = options.otherScaler;
    tolerance.otherBatchSize = options.batchSize > 0;
    AMP_RETURN_IF_ERROR(loadCheckpoint(step, options.loadPath, tolerance));
    AMP_RETURN_IF_ERROR(chooseBatchSize(step, step.progress.batchSize));
  }
  record->seed = step.progress.position.seed;
  record->metrics = step.getMetricNames();
  if (hooks.beforeTraining)
    AMP_RETURN_IF_ERROR(hooks.beforeTraining(step));
  if (trains())
    AMP_RETURN_IF_ERROR(train(step, hooks, record));
  if (hooks.afterTraining)
    AMP_RETURN_IF_ERROR(hooks.afterTraining(step, *record));
  if (wantsAll(step)) {
    record->failure = describeSkipped(*record);
    if (record->failure.empty())
      record->failure = describeLostLoss(*record);
    if (!record->failure.empty() && !hooks.explains)
      record->failure +=
          ", see --explain of amp-run for the first value that is not finite";
  }
  return finish(step, record);
}

inline Status Trainer::run(Step &step, const std::string &label,
                           bool evaluatesAll, const TrainerHooks &hooks,
                           std::vector<RunRecord> *runs) {
  AMP_RETURN_IF_ERROR(readInputs(step));
  evaluates = options.evaluate || (evaluatesAll && canEvaluate(step));
  AMP_RETURN_IF_ERROR(prepare(step));
  for (int64_t i = 0; i < options.seeds && !isStopped; ++i) {
    RunRecord record;
    record.precision = label.empty() ? "as written" : label;
    AMP_RETURN_IF_ERROR(
        runSeed(step, options.seed + uint64_t(i), hooks, &record));
    runs->push_back(std::move(record));
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

/// Prints a line for each result, to standard error if one of the outputs goes
/// to standard output.
inline void showResults(const TrainingOptions &options,
                        const std::vector<RunRecord> &runs) {
  std::fputs(printResults(runs).c_str(),
             writesToStandardOutput(options) ? stderr : stdout);
}

/// Writes the metrics of the steps as a table and as a page.
inline Status writeCurves(const TrainingOptions &options,
                          const std::string &title,
                          const std::vector<RunRecord> &runs) {
  if (!options.csvPath.empty())
    AMP_RETURN_IF_ERROR(writeFile(options.csvPath, printMetricsCsv(runs)));
  if (!options.plotPath.empty())
    AMP_RETURN_IF_ERROR(writeFile(options.plotPath, printPlot(title, runs)));
  return Status();
}

/// Writes metrics and results.
inline Status writeResults(const TrainingOptions &options,
                           const std::vector<RunRecord> &runs) {
  if (options.jsonPath.empty())
    return Status();
  return writeFile(options.jsonPath, printMetricsJson(runs));
}

/// Fails for the first run that was in vain. Call this after everything is
/// written, because its metrics and its state tell why.
inline Status checkRuns(const std::vector<RunRecord> &runs) {
  for (const RunRecord &run : runs)
    if (!run.failure.empty())
      return makeError(kInvalidArgument, "%s, seed %llu: %s",
                       run.precision.c_str(), (unsigned long long)run.seed,
                       run.failure.c_str());
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_TRAINER_H

//===- Trainer.h - The main function of a trainer ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trainer with the options of amp-run, for programs emitted with --emit-main:
//
//   int main(int argc, char **argv) {
//     return amp::cuda::trainerMain(argc, argv, kProgram, forward::kForward);
//   }
//
//   --data f.npz[,g.npz]  --train-prefix train_  --synthetic  --steps N
//   --epochs N  --batch-size N  --last-batch drop|keep  --set name=value
//   --init w.npz  --load s.npz  --other-scaler  --save s.npz
//   --eval  --predict out.npz  --eval-prefix test_
//   --seed N  --seeds N  --metrics-csv f  --metrics-json f  --plot f  --quiet
//   --no-graph  --tune  --tune-cache f  --profile  --time N  --poison
//   --device N
//
// Batches are drawn in the order of amp-run: the same seed gives the same data
// in the same steps. The batch size is that of the program.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAINER_H
#define AMP_RUNTIME_CUDA_TRAINER_H

#include "amp/Runtime/CUDA/Evaluate.h"
#include "amp/Runtime/CUDA/Plot.h"
#include "amp/Runtime/CUDA/TrainerOptions.h"

#include <chrono>

namespace amp::cuda {

/// Reads the arrays of all files; none may be in two of them.
inline Status readData(const std::vector<std::string> &paths,
                       std::vector<HostArray> *arrays, std::string *name) {
  for (const std::string &path : paths) {
    std::vector<HostArray> more;
    AMP_RETURN_IF_ERROR(readArrays(path, &more));
    for (HostArray &array : more) {
      if (findArray(*arrays, array.name))
        return makeError(kFile,
                         "array '%s' of '%s' is in another file of --data too",
                         array.name.c_str(), path.c_str());
      arrays->push_back(std::move(array));
    }
    *name += (name->empty() ? "" : ", ") + path;
  }
  return Status();
}

/// What the trainer of one command line holds.
class Trainer {
public:
  Trainer(const TrainerOptions &options, const ProgramInfo &info,
          const ForwardInfo &forward)
      : options(options), info(info), evaluator(info, forward), program(info) {}

  /// Trains and writes what was asked for.
  inline Status run();

private:
  inline Status prepare();
  inline Status setBatches(const int64_t *rows);
  inline Status start(uint64_t seed, bool isFirst);
  inline Status trainSteps(RunRecord *record);
  inline Status runSeed(uint64_t seed, bool isFirst);
  inline Status timeSteps();
  inline Status readSteps(int64_t count, double *loss, int64_t *skipped);
  inline Status readScale(double *scale);
  inline void showStep(const RunRecord &record, int64_t done, int64_t steps,
                       int64_t skipped) const;

  bool trains() const {
    return options.steps > 0 || options.epochs > 0 || options.profile ||
           options.timedSteps > 0;
  }
  /// Looking at metrics waits for the step: not done at every one unless it
  /// has to be.
  bool wantsAll() const {
    return !options.csvPath.empty() || !options.jsonPath.empty() ||
           !options.plotPath.empty() || options.seeds > 1;
  }

  const TrainerOptions &options;
  const ProgramInfo &info;
  Evaluator evaluator;
  Program program;
  std::vector<const BufferInfo *> batches;
  int64_t batchSize = 1;
  Dataset data;
  std::vector<RunRecord> runs;
};

/// Everything that can be wrong with files and data, before anything is
/// trained.
inline Status Trainer::prepare() {
  AMP_RETURN_IF_ERROR(checkOutputs(options));
  std::vector<HostArray> arrays;
  std::string dataName;
  AMP_RETURN_IF_ERROR(readData(options.dataPaths, &arrays, &dataName));
  if (options.predicts())
    AMP_RETURN_IF_ERROR(evaluator.create(arrays, dataName, options.evalPrefix,
                                         options.evaluate, options.program));
  AMP_RETURN_IF_ERROR(program.create(options.program));
  // What times steps is made on the current device.
  AMP_CUDA_CALL(cudaSetDevice(options.program.device));
  batchSize = program.batchSize();
  if (options.batchSize > 0 && options.batchSize != batchSize)
    return makeError(kInvalidArgument,
                     "--batch-size is %lld, but the program fixes the batch at "
                     "%lld",
                     (long long)options.batchSize, (long long)batchSize);
  for (int i : program.buffersOf(Role::Batch))
    batches.push_back(&info.buffers[i]);
  if (options.synthetic) {
    // Eight batches for an epoch; --time alone takes one.
    int64_t count = options.timedSteps > 0 && options.steps == 0 ? 1 : 8;
    data.createSynthetic(count * batchSize, batchSize, options.program.seed,
                         batches);
  } else if (trains()) {
    AMP_RETURN_IF_ERROR(data.create(arrays, dataName, options.prefix, batches));
  }
  if (trains() && data.size() < batchSize)
    return makeError(kFile,
                     "the data set has %lld samples, fewer than one batch of "
                     "%lld",
                     (long long)data.size(), (long long)batchSize);
  if (trains() && options.lastBatch == "keep" && data.size() % batchSize != 0)
    return makeError(kInvalidArgument,
                     "the data set has %lld samples, which is no multiple of "
                     "the batch of %lld, and a program has no step for a "
                     "smaller one; expected --last-batch=drop",
                     (long long)data.size(), (long long)batchSize);
  return Status();
}

inline Status Trainer::setBatches(const int64_t *rows) {
  for (size_t i = 0; i < batches.size(); ++i)
    AMP_RETURN_IF_ERROR(program.fillBatch(
        int(i), data.getBytes(i, batchSize),
        [&](void *batch) { data.gather(i, rows, batchSize, batch); }));
  return Status();
}

/// Gives all states and hyperparameters their values.
inline Status Trainer::start(uint64_t seed, bool isFirst) {
  if (!isFirst)
    AMP_RETURN_IF_ERROR(program.restart(seed));
  if (!options.initPath.empty()) {
    std::vector<std::string> missing;
    AMP_RETURN_IF_ERROR(program.loadWeights(options.initPath, &missing));
    std::string names;
    for (const std::string &name : missing)
      names += (names.empty() ? "'" : "', '") + name;
    if (isFirst && !missing.empty())
      std::fprintf(stderr,
                   "%s: warning: '%s' has no array for %s': initial values "
                   "stay\n",
                   info.name, options.initPath.c_str(), names.c_str());
  }
  if (!options.loadPath.empty())
    AMP_RETURN_IF_ERROR(program.load(options.loadPath));
  for (const auto &[name, value] : options.settings)
    AMP_RETURN_IF_ERROR(program.setHyperparameter(name, value));
  Progress &progress = program.progress;
  if (!trains())
    return Status();
  if (progress.samples && progress.samples != data.size())
    return makeError(kFile,
                     "the resumed run was trained on %lld samples, but this "
                     "data set has %lld",
                     (long long)progress.samples, (long long)data.size());
  progress.samples = data.size();
  return Status();
}

inline void Trainer::showStep(const RunRecord &record, int64_t done,
                              int64_t steps, int64_t skipped) const {
  std::string label = record.precision;
  if (options.seeds > 1)
    label += ", seed " + std::to_string(record.seed);
  const StepRecord &step = record.steps.back();
  std::fprintf(stderr, "%s: step %lld/%lld, epoch %lld", label.c_str(),
               (long long)done, (long long)steps, (long long)step.epoch);
  for (size_t i = 0; i < step.values.size(); ++i)
    std::fprintf(stderr, ", %s %.5g", record.metrics[i].c_str(),
                 step.values[i]);
  if (skipped)
    std::fprintf(stderr, ", %lld skipped", (long long)skipped);
  std::fprintf(stderr, "\n");
}

inline Status Trainer::trainSteps(RunRecord *record) {
  Progress &progress = program.progress;
  const int64_t perEpoch = data.size() / batchSize;
  if (perEpoch > 0 && options.epochs > kMostSteps / perEpoch)
    return makeError(kInvalidArgument, "--epochs %lld are more than %lld steps",
                     (long long)options.epochs, (long long)kMostSteps);
  const int64_t steps =
      options.steps >= 0 ? options.steps : options.epochs * perEpoch;
  if (steps == 0)
    return Status();
  std::vector<int64_t> order =
      permuteEpoch(data.size(), progress.seed, progress.epoch);
  const std::optional<size_t> skipColumn = record->findMetric("skipped");
  int64_t skipped = 0;
  auto begin = std::chrono::steady_clock::now();
  for (int64_t done = 1; done <= steps; ++done) {
    if (data.size() - progress.offset < batchSize) {
      order = permuteEpoch(data.size(), progress.seed, ++progress.epoch);
      progress.offset = 0;
    }
    AMP_RETURN_IF_ERROR(setBatches(&order[size_t(progress.offset)]));
    progress.offset += batchSize;
    AMP_RETURN_IF_ERROR(program.run(1));
    const bool shows =
        !options.quiet && (done % ((steps + 9) / 10) == 0 || done == steps);
    if (!wantsAll() && !shows)
      continue;
    std::vector<float> values(record->metrics.size());
    AMP_RETURN_IF_ERROR(program.readMetrics(values.data(), int(values.size())));
    record->steps.push_back(
        {progress.step, progress.epoch, {values.begin(), values.end()}});
    skipped += wantsAll() && skipColumn && values[*skipColumn] != 0;
    if (shows)
      showStep(*record, done, steps, skipped);
  }
  AMP_RETURN_IF_ERROR(program.synchronize());
  const double ms = std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - begin)
                        .count();

  auto add = [&](const std::string &name, double value) {
    record->results.emplace_back(name, value);
  };
  if (wantsAll()) {
    if (std::optional<size_t> column = record->findMetric("loss"))
      add("final loss", record->averageLast(*column, perEpoch));
    if (skipColumn)
      add("skipped steps", double(skipped));
  }
  // Those of several losses or layers have their names behind a dot.
  for (int i : program.buffersOf(Role::ScalerState)) {
    std::string name = info.buffers[i].name;
    if (name.compare(0, 10, "loss_scale") != 0 ||
        (name.size() > 10 && name[10] != '.'))
      continue;
    HostArray scale;
    AMP_RETURN_IF_ERROR(program.readBuffer(i, &scale));
    add("final loss scale" + (name.size() > 10 ? " " + name.substr(11) : ""),
        scale.get(0));
  }
  add("bytes of device memory", double(program.memoryBytes()));
  add("ms per step", ms / double(steps));
  return Status();
}

inline Status Trainer::runSeed(uint64_t seed, bool isFirst) {
  AMP_RETURN_IF_ERROR(start(seed, isFirst));
  RunRecord record;
  const char *precision = info.identity.precision;
  record.precision = precision && *precision ? precision : "as written";
  record.seed = program.progress.seed;
  for (int i : program.buffersOf(Role::Metric))
    record.metrics.push_back(info.buffers[i].name);
  if (trains())
    AMP_RETURN_IF_ERROR(trainSteps(&record));
  if (options.predicts()) {
    std::vector<HostArray> predictions;
    AMP_RETURN_IF_ERROR(evaluator.predict(program, &predictions));
    if (options.evaluate)
      AMP_RETURN_IF_ERROR(evaluator.judge(predictions, &record.results));
    if (!options.predictPath.empty())
      AMP_RETURN_IF_ERROR(writeArrays(options.predictPath, predictions));
  }
  runs.push_back(std::move(record));
  return Status();
}

inline Status Trainer::run() {
  AMP_RETURN_IF_ERROR(prepare());
  for (int64_t i = 0; i < options.seeds; ++i)
    AMP_RETURN_IF_ERROR(runSeed(options.program.seed + uint64_t(i), i == 0));
  if (!options.savePath.empty())
    AMP_RETURN_IF_ERROR(program.save(options.savePath));
  std::fputs(printResults(runs).c_str(), stdout);
  if (!options.csvPath.empty())
    AMP_RETURN_IF_ERROR(writeFile(options.csvPath, printMetricsCsv(runs)));
  if (!options.plotPath.empty())
    AMP_RETURN_IF_ERROR(
        writeFile(options.plotPath, printPlot(info.name, runs)));
  // After everything that is kept: what follows trains on.
  if (options.profile || options.timedSteps > 0)
    AMP_RETURN_IF_ERROR(timeSteps());
  if (!options.jsonPath.empty())
    AMP_RETURN_IF_ERROR(writeFile(options.jsonPath, printMetricsJson(runs)));
  if (options.profile) {
    std::string table;
    AMP_RETURN_IF_ERROR(program.profile(20, &table));
    std::fputs(table.c_str(), stdout);
  }
  return Status();
}

/// Parses the options, trains and writes the results. Returns the exit status;
/// errors go to the standard error.
inline int trainerMain(int argc, char **argv, const ProgramInfo &info,
                       const ForwardInfo &forward = {}) {
  TrainerOptions options;
  Status status = parseOptions(argc, argv, &options);
  if (status.isOk() && options.help) {
    std::printf("Trains '%s' on a GPU\n\n%s", info.name, trainerUsage());
    return 0;
  }
  // A file may name an array for which there is no memory.
  if (status.isOk() &&
      reportCall([&] { return Trainer(options, info, forward).run(); }) == kOk)
    return 0;
  std::fprintf(stderr, "%s: error: %s\n", info.name,
               status.isOk() ? lastError() : status.getMessage().c_str());
  return 1;
}

} // namespace amp::cuda

// The members that time steps.
#include "amp/Runtime/CUDA/TrainerTime.h"

#endif // AMP_RUNTIME_CUDA_TRAINER_H

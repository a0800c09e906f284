//===- Trainer.h - The main function of a trainer ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs emitted with --emit-main:
//
//   int main(int argc, char **argv) {
//     return amp::cuda::trainerMain(argc, argv, kProgram, forward::kForward);
//   }
//
// The host runtime and TrainerOptions.h define the options.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAINER_H
#define AMP_RUNTIME_CUDA_TRAINER_H

#include "amp/Runtime/CUDA/EqualNumbers.h"
#include "amp/Runtime/CUDA/EqualStates.h"
#include "amp/Runtime/CUDA/ProgramCreation.h"
#include "amp/Runtime/CUDA/ProgramData.h"
#include "amp/Runtime/CUDA/ProgramInterface.h"
#include "amp/Runtime/CUDA/ProgramRun.h"
#include "amp/Runtime/CUDA/TrainerOptions.h"
#include "amp/Runtime/CUDA/WarmUp.h"
#include "amp/Runtime/Host/Trainer.h"
#include "amp/Runtime/Step/LastError.h"

#include <chrono>
#include <thread>

namespace amp::cuda {

/// The steps of several ranks before timed ones.
inline constexpr int kWarmUpStepsOfRanks = 50;

/// Trains and times a program.
class ProgramTrainer {
public:
  ProgramTrainer(const TrainerOptions &options, const ProgramInfo &info,
                 const ForwardInfo &forward)
      : options(options), info(info), program(info, forward),
        trainer(info.name, options.training) {}

  /// Trains and writes the requested outputs.
  inline Status run();

private:
  inline Status timeSteps();
  inline Status readSteps(int64_t count, double *loss, int64_t *skipped);
  inline Status readScale(double *scale);
  inline Status reportValues(Step &step, const RunRecord &record);

  const TrainerOptions &options;
  const ProgramInfo &info;
  Program program;
  amphost::Trainer trainer;
  std::vector<RunRecord> runs;
};

/// Runs steps and reads the metrics of each. Returns the last loss, if there is
/// one, and the number of skipped steps.
inline Status ProgramTrainer::readSteps(int64_t count, double *loss,
                                        int64_t *skipped) {
  const RunRecord &record = runs.back();
  const std::optional<size_t> lossColumn = record.findMetric("loss"),
                              skipColumn = record.findMetric(kSkippedMetric);
  std::vector<double> values;
  *skipped = 0;
  for (int64_t i = 0; i < count; ++i) {
    AMP_RETURN_IF_ERROR(program.run(1));
    AMP_RETURN_IF_ERROR(program.readMetrics(&values));
    *skipped += skipColumn && values[*skipColumn] != 0;
    if (lossColumn)
      *loss = values[*lossColumn];
  }
  return Status();
}

/// Reads the least loss scale, or 1 for a program without a loss scale.
inline Status ProgramTrainer::readScale(double *scale) {
  double least = HUGE_VAL;
  for (size_t i : program.find(Role::ScalerState)) {
    if (!program.getTensors()[i].isLossScale)
      continue;
    Array array;
    AMP_RETURN_IF_ERROR(program.read(i, &array));
    for (int64_t j = 0; j < array.getNumElements(); ++j)
      least = std::min(least, array.getDouble(j));
  }
  *scale = least == HUGE_VAL ? 1.0 : least;
  return Status();
}

/// Continues training with one batch, for --time and --profile.
inline Status ProgramTrainer::timeSteps() {
  if (!options.training.trains()) {
    const DataPosition &position = program.progress.position;
    const std::vector<int64_t> order =
        permuteEpoch(trainer.getData().size(), position.seed, position.epoch);
    AMP_RETURN_IF_ERROR(
        trainer.fillBatches(program, order.data(), trainer.getBatchSize()));
  }
  if (options.timedSteps == 0)
    return Status();
  // The objects that time steps belong to the current device.
  AMP_CUDA_CALL(cudaSetDevice(options.program.device));
  auto now = [] {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  auto runAndWait = [&](int steps) {
    AMP_RETURN_IF_ERROR(program.run(steps));
    return program.synchronize();
  };
  // The graph exists after two steps. Nothing reads the results of timed ones.
  program.setReadsMetrics(false);
  AMP_RETURN_IF_ERROR(runAndWait(3));
  WarmUpResult warmth;
  // Ranks must run as many steps, and their clocks differ.
  AMP_RETURN_IF_ERROR(options.training.ranks > 1
                          ? runAndWait(kWarmUpStepsOfRanks)
                          : warmUp(WarmUpLimits(), runAndWait, now, &warmth));
  double before = 1, after = 1, loss = 0;
  AMP_RETURN_IF_ERROR(readScale(&before));
  const double begin = now();
  AMP_RETURN_IF_ERROR(runAndWait(int(options.timedSteps)));
  const double ms = (now() - begin) * 1e3 / double(options.timedSteps);
  AMP_RETURN_IF_ERROR(readScale(&after));
  // A step that overflows skips its update and is faster. Reading each step
  // would change its time. The steps after the timed ones show whether the run
  // diverged, and the scale shows a single overflow.
  int64_t skipped = 0;
  program.setReadsMetrics(true);
  AMP_RETURN_IF_ERROR(readSteps(10, &loss, &skipped));
  auto add = [&](const char *name, double value) {
    runs.back().results.emplace_back(name, value);
  };
  // Training adds this itself.
  if (!options.training.trains())
    program.addMemory(&runs.back().results);
  add("ms per step on the device", ms);
  add("timed steps", double(options.timedSteps));
  add("seconds of warm-up", warmth.seconds);
  add("steady after warm-up", warmth.isSteady);
  if (runs.back().findMetric("loss"))
    add("loss after timed steps", loss);
  if (runs.back().findMetric(kSkippedMetric)) {
    add("skipped of 10 steps after timed ones", double(skipped));
    add("loss scale before timed steps", before);
    add("loss scale after timed steps", after);
  }
  const char *mark =
      skipped > 0 || after < before ? ", with steps that overflow" : "";
  if (!options.training.quiet)
    std::printf("%lld steps of one batch, %.4g ms per step%s\n",
                (long long)options.timedSteps, ms, mark);
  return Status();
}

/// Prints and writes the counts of values. Only rank 0 reports its counts.
inline Status ProgramTrainer::reportValues(Step &step,
                                           const RunRecord &record) {
  if (options.training.rank != 0)
    return step.watch(0);
  std::string table;
  AMP_RETURN_IF_ERROR(reportWatched(step, options.watchOutputs,
                                    record.precision, info.name, &table));
  const bool usesStandardOutput =
      writesToStandardOutput(options.training) ||
      namesStandardOutput(options.watchOutputs.jsonPath) ||
      namesStandardOutput(options.watchOutputs.pagePath);
  std::fputs(table.c_str(), usesStandardOutput ? stderr : stdout);
  return Status();
}

inline Status ProgramTrainer::run() {
  const WatchOutputs &watched = options.watchOutputs;
  AMP_RETURN_IF_ERROR(checkOutputs(options.training, {},
                                   {{"--watch-json", watched.jsonPath},
                                    {"--watch-page", watched.pagePath}}));
  // A trainer needs the predictions of a step only for counts.
  ProgramOptions own = options.program;
  own.predictions = options.watches;
  // Copy the next batch while a step runs.
  own.numSlots = 2;
  own.overlapsCopies = true;
  program.setOptions(own);
  bool times = options.profile || options.timedSteps > 0;
  if (times)
    trainer.keepData();
  TrainerHooks hooks;
  if (options.watches)
    hooks.beforeTraining = [this](Step &step) {
      return step.watch(options.watchEvery);
    };
  hooks.afterTraining = [this](Step &step, const RunRecord &record) {
    if (options.watches)
      AMP_RETURN_IF_ERROR(reportValues(step, record));
    // Rank 0 gathers the parts of all ranks before it saves the states.
    return options.saves && program.hasParts() ? program.gatherStates()
                                               : Status();
  };
  if (options.checkRanks > 0 && options.program.ranks)
    hooks.afterStep = [this](Step &step) {
      return step.progress.step % options.checkRanks == 0
                 ? checkEqualStates(step, info, *options.program.ranks,
                                    options.program.device)
                 : Status();
    };
  AMP_RETURN_IF_ERROR(trainer.run(
      program, info.identity.precision ? info.identity.precision : "",
      /*evaluatesAll=*/false, hooks, &runs));
  times = times && !trainer.isInterrupted();
  if (options.training.rank == 0)
    showResults(options.training, runs);
  AMP_RETURN_IF_ERROR(writeCurves(options.training, info.name, runs));
  // This comes after everything that is kept, because it trains on.
  if (times)
    AMP_RETURN_IF_ERROR(timeSteps());
  AMP_RETURN_IF_ERROR(writeResults(options.training, runs));
  if (times && options.profile) {
    std::string table;
    AMP_RETURN_IF_ERROR(program.profile(20, &table));
    std::fputs(table.c_str(), stdout);
  }
  return checkRuns(runs);
}

/// Chooses the device of a rank if the command line does not choose one.
inline Status chooseDevice(const LaunchedProcess &process,
                           TrainerOptions *options) {
  if (options->hasDevice)
    return Status();
  return findDeviceOfRank(process, &options->program.device);
}

/// Rejects options for several ranks if the program is for one rank. Warns if a
/// launcher has started several processes.
inline Status checkOneRank(const ProgramInfo &info,
                           const TrainerOptions &options) {
  if (options.ranks.ranks > 1 || options.ranks.rank > 0)
    return makeError(kInvalidArgument,
                     "--%s=%lld, but the program is for one rank; "
                     "expected --ranks of amp-translate",
                     options.ranks.ranks > 1 ? "ranks" : "rank",
                     (long long)(options.ranks.ranks > 1 ? options.ranks.ranks
                                                         : options.ranks.rank));
  if (!options.ofSeveralRanks.empty())
    return makeError(kInvalidArgument,
                     "--%s has no effect, because the program is for one rank; "
                     "expected --ranks of amp-translate",
                     options.ofSeveralRanks.front().c_str());
  LaunchedProcess process;
  if (findLaunchedProcess(options.ranks, &process).isOk() &&
      process.ranks > 1 && process.rank == 0)
    std::fprintf(stderr,
                 "%s: warning: %s has started %lld processes, each of which "
                 "trains alone, because the program is for one rank; expected "
                 "--ranks of amp-translate\n",
                 info.name, process.launcher.c_str(), (long long)process.ranks);
  return Status();
}

/// Returns the numbers that must be equal on all ranks of a trainer.
inline std::vector<amphost::EqualNumber>
listEqualNumbers(const ProgramInfo &info, const TrainerOptions &options) {
  const TrainingOptions &training = options.training;
  std::vector<amphost::EqualNumber> numbers = listNumbersOfProgram(info);
  for (const auto &[name, number] :
       {std::pair<const char *, int64_t>("--steps", training.steps),
        {"--epochs", training.epochs},
        {"--seed", int64_t(training.seed)},
        {"--seeds", training.seeds},
        {"--time", options.timedSteps},
        {"--check-ranks", options.checkRanks}})
    numbers.push_back({name, number});
  for (const auto &[name, isGiven] :
       {std::pair<const char *, bool>("--save", !training.savePath.empty()),
        {"--no-shuffle", training.noShuffle},
        {"--no-graph", !options.program.useGraph},
        {"--profile", options.profile},
        {"--register-buffers", options.program.registersMemory}})
    numbers.push_back({name, isGiven, /*isFlag=*/true});
  return numbers;
}

/// Connects the ranks of a program with collectives. Only rank 0 prints and
/// writes.
inline Status connectRanks(const ProgramInfo &info, TrainerOptions *options) {
  const CollectiveTable &table = info.collectives;
  if (!table.join)
    return checkOneRank(info, *options);
  LaunchedProcess process;
  AMP_RETURN_IF_ERROR(findLaunchedProcess(options->ranks, &process));
  if (table.numRanks && process.ranks != table.numRanks)
    return makeError(kInvalidArgument,
                     "the program is for %d ranks, but %lld %s started; "
                     "expected a start by torchrun, mpirun or srun, or --ranks "
                     "and --rank",
                     table.numRanks, (long long)process.ranks,
                     process.ranks == 1 ? "was" : "were");
  AMP_RETURN_IF_ERROR(chooseDevice(process, options));
  options->ranks.equal = listEqualNumbers(info, *options);
  TrainingOptions &training = options->training;
  training.ranks = process.ranks;
  training.rank = process.rank;
  AMP_RETURN_IF_ERROR(table.join(options->ranks, process,
                                 options->program.device,
                                 &options->program.ranks));
  options->saves = !training.savePath.empty();
  if (process.rank == 0)
    return Status();
  training.quiet = true;
  training.evaluate = false;
  for (std::string *path :
       {&training.savePath, &training.predictPath, &training.csvPath,
        &training.jsonPath, &training.plotPath})
    path->clear();
  return Status();
}

/// Prints an error, and ends a rank at once: the collectives of the others wait
/// for it. Rank 0 speaks first, because all ranks find the same faults in the
/// input.
inline int reportFailure(const char *name, const TrainerOptions &options,
                         const char *message) {
  const TrainingOptions &training = options.training;
  if (training.rank > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::fprintf(stderr, "rank %lld: ", (long long)training.rank);
  }
  std::fprintf(stderr, "%s: error: %s\n", name, message);
  if (training.ranks > 1) {
    std::fflush(nullptr);
    std::_Exit(1);
  }
  return 1;
}

AMP_RUNTIME_FUNCTION int trainerMain(int argc, char **argv,
                                     const ProgramInfo &info,
                                     const ForwardInfo &forward) {
  TrainerOptions options;
  Status status = parseOptions(argc, argv, &options);
  if (status.isOk() && options.help) {
    std::printf("Trains '%s' on a GPU\n\n%s", info.name,
                trainerUsage().c_str());
    return 0;
  }
  if (!status.isOk())
    return reportFailure(info.name, options, status.getMessage().c_str());
  if (const Status connected = connectRanks(info, &options); !connected.isOk())
    return reportFailure(info.name, options, connected.getMessage().c_str());
  // A file may describe an array that exceeds the memory.
  const int code = reportCall([&] {
    ProgramTrainer trainer(options, info, forward);
    const Status result = trainer.run();
    // The destructor would wait for collectives, in which others do not take
    // part any more.
    if (!result.isOk() && options.training.ranks > 1)
      reportFailure(info.name, options, result.getMessage().c_str());
    return result;
  });
  return amphost::getExitStatus(
      code == kOk ? 0 : reportFailure(info.name, options, lastError()));
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAINER_H

//===- TrainerOptions.h - The command line of a trainer ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAINEROPTIONS_H
#define AMP_RUNTIME_CUDA_TRAINEROPTIONS_H

#include "amp/Runtime/CUDA/ProgramOptions.h"
#include "amp/Runtime/Host/Options.h"

namespace amp::cuda {

/// The values of the command line.
struct TrainerOptions {
  TrainingOptions training;
  ProgramOptions program;
  int64_t timedSteps = 0;
  bool profile = false, help = false, hasDevice = false;
  RankOptions ranks;
  /// The steps between checks that the ranks have equal states. 0: no check.
  int64_t checkRanks = 0;
  /// The given options that have no effect on one rank.
  std::vector<std::string> ofSeveralRanks;
  /// Whether rank 0 saves the states.
  bool saves = false;
  /// Whether to count values, in one of `watchEvery` steps.
  bool watches = false;
  int64_t watchEvery = 0;
  WatchOutputs watchOutputs;
};

/// The options that amp-run lacks.
inline constexpr OptionInfo kTrainerOptions[] = {
    {"watch", nullptr,
     "Count non-finite values, overflow and underflow of the values that the "
     "translation chose by --watch"},
    {"watch-every", "n", "With --watch: sample one step of n (default: 1)"},
    {"watch-json", "file", "With --watch: write the statistics as JSON"},
    {"watch-page", "file.html", "With --watch: write the statistics as a page"},
    {"profile", nullptr, "Print the time of each launch"},
    {"time", "n", "Then time n steps of one batch"},
    {"no-graph", nullptr, "Launch kernels one by one"},
    {"tune", nullptr, "Time the algorithms of products"},
    {"tune-cache", "file", "Keep the choice in a file"},
    {"poison", nullptr, "Fill temporaries with NaN before each step"},
    {"device", "n",
     "The GPU (default: 0; of several ranks, the number on this machine)"},
    {"ranks", "n", "The ranks that train (default: what a launcher started)"},
    {"rank", "n", "The number of this rank (default: that of the launcher)"},
    {"rendezvous", "place",
     "Where ranks meet: file:path or tcp://host:port of rank 0"},
    {"deadline", "s", "How long a rank waits for others (default: 600)"},
    {"check-ranks", "n",
     "Check after every n steps that all ranks have the same states"},
    {"register-buffers", nullptr, "Register the memory of collectives"},
    {"help", nullptr, "Show the options"},
};

/// The options that only amp-run has. They choose values that a program fixes.
inline constexpr const char *kRunnerOptions[] = {
    "precision",       "loss-scale",
    "master-weights",  "pipeline",
    "entry",           "compare",
    "print-ir",        "backend",
    "num-threads",     "gradient-histogram",
    "cuda-cache",      "cuda-compiler",
    "strict-rounding", "explain",
    "explain-json",    "diverge",
    "diverge-bisect",  "diverge-json",
    "calibrate",       "sweep-scale",
    "sweep-json",      "sweep-page",
    "fp8-recipe",      "search",
    "search-bound",    "search-presets",
    "rank-deadline",   "shard-optimizer"};

inline std::string trainerUsage() {
  return describeOptions(kTrainingOptions) + describeOptions(kTrainerOptions);
}

/// Sets one of `kTrainerOptions`.
inline Status setTrainerOption(TrainerOptions *options, const std::string &name,
                               const std::string &text) {
  const std::pair<const char *, bool *> flags[] = {
      {"profile", &options->profile},
      {"tune", &options->program.gemm.tune},
      {"poison", &options->program.poison},
      {"watch", &options->watches},
      {"register-buffers", &options->program.registersMemory},
      {"help", &options->help}};
  for (const auto &[flag, value] : flags)
    if (name == flag)
      *value = true;
  if (name == "no-graph")
    options->program.useGraph = false;
  if (name == "tune-cache")
    options->program.gemm.cachePath = text;
  if (name == "watch-json")
    options->watchOutputs.jsonPath = text;
  if (name == "watch-page")
    options->watchOutputs.pagePath = text;
  uint64_t number = 0;
  if (name == "rendezvous")
    options->ranks.rendezvous = text;
  if (name == "time" || name == "device" || name == "ranks" || name == "rank" ||
      name == "deadline" || name == "watch-every" || name == "check-ranks")
    AMP_RETURN_IF_ERROR(parseCount(name, text, INT32_MAX, &number));
  if (name == "time")
    options->timedSteps = int64_t(number);
  if (name == "device") {
    options->program.device = int(number);
    options->hasDevice = true;
  }
  if (name == "watch-every" && number == 0)
    return makeError(kInvalidArgument,
                     "--watch-every must be at least 1, got 0");
  if (name == "watch-every")
    options->watchEvery = int64_t(number);
  if ((name == "ranks" || name == "deadline" || name == "check-ranks") &&
      number == 0)
    return makeError(kInvalidArgument, "--%s must be positive", name.c_str());
  for (const char *other :
       {"rendezvous", "deadline", "check-ranks", "register-buffers"})
    if (name == other)
      options->ofSeveralRanks.push_back(name);
  if (name == "ranks")
    options->ranks.ranks = int64_t(number);
  if (name == "rank")
    options->ranks.rank = int64_t(number);
  if (name == "deadline")
    options->ranks.deadline = int64_t(number);
  if (name == "check-ranks")
    options->checkRanks = int64_t(number);
  return Status();
}

/// Parses `--name value` and `--name=value`.
inline Status parseArguments(int argc, char **argv, TrainerOptions *options) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    if (name.compare(0, 2, "--") != 0)
      return makeError(kInvalidArgument, "unexpected argument '%s'", argv[i]);
    const size_t equals = name.find('=');
    const bool isAttached = equals != std::string::npos;
    if (isAttached)
      value = name.substr(equals + 1);
    name = name.substr(2, isAttached ? equals - 2 : std::string::npos);
    for (const char *other : kRunnerOptions)
      if (name == other)
        return makeError(kInvalidArgument,
                         "'--%s' is an option of amp-run, not of a translated "
                         "program",
                         other);
    const OptionInfo *shared = findOption(kTrainingOptions, name);
    const OptionInfo *option =
        shared ? shared : findOption(kTrainerOptions, name);
    if (option && !option->value && isAttached)
      return makeError(kInvalidArgument, "--%s takes no value", name.c_str());
    if (option && option->value && !isAttached && i + 1 < argc)
      value = argv[++i];
    else if (!option || (option->value && !isAttached))
      return makeError(kInvalidArgument,
                       "unknown option '--%s', or it lacks a value",
                       name.c_str());
    AMP_RETURN_IF_ERROR(shared ? setOption(&options->training, name, value)
                               : setTrainerOption(options, name, value));
  }
  return Status();
}

/// Rejects options that need --watch, and sets the default of --watch-every.
inline Status checkWatch(TrainerOptions *options) {
  const WatchOutputs &outputs = options->watchOutputs;
  const std::pair<const char *, bool> given[] = {
      {"watch-every", options->watchEvery > 0},
      {"watch-json", !outputs.jsonPath.empty()},
      {"watch-page", !outputs.pagePath.empty()}};
  for (const auto &[name, isGiven] : given)
    if (isGiven && !options->watches)
      return makeError(kInvalidArgument, "--%s needs --watch", name);
  if (options->watches && options->watchEvery == 0)
    options->watchEvery = 1;
  return Status();
}

/// Parses the options and rejects combinations that make no sense.
inline Status parseOptions(int argc, char **argv, TrainerOptions *options) {
  AMP_RETURN_IF_ERROR(parseArguments(argc, argv, options));
  if (options->help)
    return Status();
  AMP_RETURN_IF_ERROR(
      checkSingle({{"profile", options->profile},
                   {"time", options->timedSteps > 0},
                   {"watch", options->watches}},
                  options->training.seeds > 1 ? "--seeds" : ""));
  AMP_RETURN_IF_ERROR(checkWatch(options));
  options->program.seed = options->training.seed;
  return checkOptions(&options->training);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAINEROPTIONS_H

//===- TrainerOptions.h - The command line of a trainer ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAINEROPTIONS_H
#define AMP_RUNTIME_CUDA_TRAINEROPTIONS_H

#include "amp/Runtime/CUDA/Program.h"
#include "amp/Runtime/Host/Options.h"

namespace amp::cuda {

/// The values of the command line.
struct TrainerOptions {
  TrainingOptions training;
  ProgramOptions program;
  int64_t timedSteps = 0;
  bool profile = false, help = false, hasDevice = false;
  RankOptions ranks;
  /// Whether rank 0 saves the states.
  bool saves = false;
};

/// The options that amp-run lacks.
inline constexpr OptionInfo kTrainerOptions[] = {
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
    "strict-rounding", "watch",
    "watch-every",     "watch-json",
    "watch-page",      "explain",
    "explain-json",    "diverge",
    "diverge-bisect",  "diverge-json",
    "calibrate",       "sweep-scale",
    "sweep-json",      "sweep-page",
    "fp8-recipe",      "search",
    "search-bound",    "search-presets",
    "check-ranks",     "rank-deadline",
    "shard-optimizer"};

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
      {"help", &options->help}};
  for (const auto &[flag, value] : flags)
    if (name == flag)
      *value = true;
  if (name == "no-graph")
    options->program.useGraph = false;
  if (name == "tune-cache")
    options->program.gemm.cachePath = text;
  uint64_t number = 0;
  if (name == "rendezvous")
    options->ranks.rendezvous = text;
  if (name == "time" || name == "device" || name == "ranks" || name == "rank" ||
      name == "deadline")
    AMP_RETURN_IF_ERROR(parseCount(name, text, INT32_MAX, &number));
  if (name == "time")
    options->timedSteps = int64_t(number);
  if (name == "device") {
    options->program.device = int(number);
    options->hasDevice = true;
  }
  if ((name == "ranks" || name == "deadline") && number == 0)
    return makeError(kInvalidArgument, "--%s must be positive", name.c_str());
  if (name == "ranks")
    options->ranks.ranks = int64_t(number);
  if (name == "rank")
    options->ranks.rank = int64_t(number);
  if (name == "deadline")
    options->ranks.deadline = int64_t(number);
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

/// Parses the options and rejects combinations that make no sense.
inline Status parseOptions(int argc, char **argv, TrainerOptions *options) {
  AMP_RETURN_IF_ERROR(parseArguments(argc, argv, options));
  if (options->help)
    return Status();
  AMP_RETURN_IF_ERROR(checkSingle(
      {{"profile", options->profile}, {"time", options->timedSteps > 0}},
      options->training.seeds > 1 ? "--seeds" : ""));
  options->program.seed = options->training.seed;
  return checkOptions(&options->training);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAINEROPTIONS_H

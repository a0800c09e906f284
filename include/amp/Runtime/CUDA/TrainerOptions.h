//===- TrainerOptions.h - The command line of a trainer ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAINEROPTIONS_H
#define AMP_RUNTIME_CUDA_TRAINEROPTIONS_H

#include "amp/Runtime/CUDA/OutputFiles.h"
#include "amp/Runtime/CUDA/Program.h"

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

namespace amp::cuda {

/// What the command line asks for.
struct TrainerOptions {
  std::vector<std::string> dataPaths;
  std::string prefix = "train_", evalPrefix = "test_";
  bool synthetic = false, evaluate = false;
  int64_t steps = -1, epochs = -1, timedSteps = 0, seeds = 1;
  int64_t batchSize = 0; ///< 0: that of the program
  std::vector<std::pair<std::string, double>> settings;
  std::string initPath, loadPath, savePath, predictPath, csvPath, jsonPath,
      plotPath, lastBatch = "drop";
  bool quiet = false, profile = false, seedGiven = false, help = false;
  ProgramOptions program;

  /// Whether the forward function is needed.
  bool predicts() const { return evaluate || !predictPath.empty(); }
};

inline const char *trainerUsage() {
  return "  --data <file.npz,...>   arrays of the batch arguments, by name\n"
         "  --train-prefix <text>   prefix of their names (default: train_)\n"
         "  --eval-prefix <text>    prefix of the held-out arrays (default: "
         "test_)\n"
         "  --eval                  evaluate on the held-out arrays\n"
         "  --predict <out.npz>     write the predictions for the held-out "
         "arrays\n"
         "  --synthetic             random data instead\n"
         "  --steps <n>             steps to run\n"
         "  --epochs <n>            passes over the data (default: 1, or none "
         "for\n"
         "                          --eval or --predict with --load or "
         "--init)\n"
         "  --batch-size <n>        that of the program; with --load, goes on "
         "with it\n"
         "                          from a run that had another\n"
         "  --last-batch drop|keep  samples at the end of an epoch that fill "
         "no\n"
         "                          batch; the program has no step for them\n"
         "  --set <name=value>      give a hyperparameter a value\n"
         "  --init <weights.npz>    start from these parameters\n"
         "  --load <state.npz>      resume from a saved state\n"
         "  --other-scaler          with --load, go on with other rules of "
         "loss\n"
         "                          scaling than those of the saved run\n"
         "  --save <state.npz>      save the state at the end\n"
         "  --seed <n>              of initial values and data order\n"
         "  --seeds <n>             repeat with this many seeds, from --seed "
         "on\n"
         "  --metrics-csv <file>    write the metrics of each step\n"
         "  --metrics-json <file>   the same and the results, as JSON\n"
         "  --plot <file.html>      draw loss, loss scale and skipped steps\n"
         "  --profile               print the time of each launch\n"
         "  --time <n>              then time n steps of one batch\n"
         "  --no-graph              launch kernels one by one\n"
         "  --tune                  time the algorithms of products\n"
         "  --tune-cache <file>     keep the choice in a file\n"
         "  --poison                fill temporaries with NaN before each "
         "step\n"
         "  --device <n>            the GPU (default: 0)\n"
         "  --quiet                 show no progress\n";
}

/// Reads a decimal number without a sign that is at most `most`.
inline bool parseCount(const std::string &text, uint64_t most,
                       uint64_t *number) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return false;
  errno = 0;
  *number = std::strtoull(text.c_str(), nullptr, 10);
  return errno == 0 && *number <= most;
}

/// Reads a decimal floating-point number, an infinity or a NaN, and nothing
/// around it.
inline bool parseNumber(const std::string &text, double *number) {
  // Hexadecimal numbers and space in front are taken by strtod alone.
  if (text.empty() || std::isspace((unsigned char)text[0]) ||
      text.find_first_of("xX") != std::string::npos)
    return false;
  char *end = nullptr;
  *number = std::strtod(text.c_str(), &end);
  return *end == 0;
}

/// Rejects options that make no sense together, and decides what is left open.
inline Status checkOptions(TrainerOptions *options) {
  if (options->steps >= 0 && options->epochs >= 0)
    return makeError(kInvalidArgument,
                     "--steps and --epochs exclude each other");
  if (options->lastBatch != "drop" && options->lastBatch != "keep")
    return makeError(kInvalidArgument,
                     "wrong value of --last-batch: '%s', expected drop or keep",
                     options->lastBatch.c_str());
  if (!options->initPath.empty() && !options->loadPath.empty())
    return makeError(kInvalidArgument, "--init and --load exclude each other");
  if (!options->loadPath.empty() && options->seedGiven)
    return makeError(kInvalidArgument,
                     "--seed and --load exclude each other: a "
                     "resumed run keeps its seed");
  if (options->program.otherScaler && options->loadPath.empty())
    return makeError(kInvalidArgument, "--other-scaler needs --load");
  const std::pair<const char *, bool> alone[] = {
      {"load", !options->loadPath.empty()},
      {"save", !options->savePath.empty()},
      {"predict", !options->predictPath.empty()},
      {"profile", options->profile},
      {"time", options->timedSteps > 0}};
  for (const auto &[name, given] : alone)
    if (given && options->seeds > 1)
      return makeError(kInvalidArgument,
                       "--%s is for a single run, without --seeds", name);
  if (options->seeds > 1 &&
      options->program.seed > UINT64_MAX - uint64_t(options->seeds - 1))
    return makeError(kInvalidArgument,
                     "--seeds %lld go beyond the largest seed",
                     (long long)options->seeds);
  options->program.otherBatchSize = options->batchSize > 0;
  if (options->dataPaths.empty() != options->synthetic)
    return makeError(kInvalidArgument,
                     "give either --data <file.npz> or --synthetic");
  if (options->synthetic && options->predicts())
    return makeError(kInvalidArgument,
                     "--%s needs held-out arrays: give --data <file.npz>",
                     options->evaluate ? "eval" : "predict");
  // Evaluation and prediction with given weights train only when asked to.
  bool given = !options->loadPath.empty() || !options->initPath.empty();
  if (options->steps < 0 && options->epochs < 0) {
    if (options->predicts() && given)
      options->steps = 0;
    else
      options->epochs = 1;
  }
  return Status();
}

/// Parses `--name value` and `--name=value`.
inline Status parseOptions(int argc, char **argv, TrainerOptions *options) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    if (name.compare(0, 2, "--") != 0)
      return makeError(kInvalidArgument, "unexpected argument '%s'", argv[i]);
    size_t equals = name.find('=');
    bool attached = equals != std::string::npos;
    if (attached) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const std::pair<const char *, bool *> flags[] = {
        {"--synthetic", &options->synthetic},
        {"--eval", &options->evaluate},
        {"--quiet", &options->quiet},
        {"--profile", &options->profile},
        {"--tune", &options->program.gemm.tune},
        {"--poison", &options->program.poison},
        {"--other-scaler", &options->program.otherScaler},
        {"--help", &options->help}};
    bool known = name == "--no-graph";
    if (known)
      options->program.useGraph = false;
    for (auto &flag : flags)
      if (name == flag.first)
        known = *flag.second = true;
    if (known && attached)
      return makeError(kInvalidArgument, "%s takes no value", name.c_str());
    if (known)
      continue;

    auto take = [&]() -> bool {
      if (attached)
        return true;
      if (i + 1 >= argc)
        return false;
      value = argv[++i];
      return true;
    };
    const std::pair<const char *, std::string *> texts[] = {
        {"--train-prefix", &options->prefix},
        {"--eval-prefix", &options->evalPrefix},
        {"--predict", &options->predictPath},
        {"--init", &options->initPath},
        {"--load", &options->loadPath},
        {"--save", &options->savePath},
        {"--metrics-csv", &options->csvPath},
        {"--metrics-json", &options->jsonPath},
        {"--plot", &options->plotPath},
        {"--last-batch", &options->lastBatch},
        {"--tune-cache", &options->program.gemm.cachePath}};
    for (auto &text : texts)
      if (name == text.first) {
        known = take();
        *text.second = value;
      }
    struct Number {
      const char *option;
      uint64_t most;
    };
    const Number numbers[] = {
        {"--steps", kMostSteps},      {"--epochs", kMostSteps},
        {"--time", INT32_MAX},        {"--seeds", INT32_MAX},
        {"--batch-size", kMostSteps}, {"--seed", UINT64_MAX},
        {"--device", INT32_MAX}};
    for (const Number &each : numbers)
      if (name == each.option && (known = take())) {
        uint64_t number = 0;
        if (!parseCount(value, each.most, &number))
          return makeError(kInvalidArgument,
                           "wrong value of %s: '%s', expected a number that "
                           "is not negative, and at most %llu",
                           name.c_str(), value.c_str(),
                           (unsigned long long)each.most);
        if (name == "--steps")
          options->steps = int64_t(number);
        else if (name == "--epochs")
          options->epochs = int64_t(number);
        else if (name == "--time")
          options->timedSteps = int64_t(number);
        else if (name == "--seeds")
          options->seeds = int64_t(number);
        else if (name == "--batch-size")
          options->batchSize = int64_t(number);
        else if (name == "--device")
          options->program.device = int(number);
        else
          options->program.seed = number;
        options->seedGiven |= name == "--seed";
        if (number == 0 && (name == "--seeds" || name == "--batch-size"))
          return makeError(kInvalidArgument, "%s must be positive, got 0",
                           name.c_str());
      }
    if (name == "--data" && (known = take())) {
      std::stringstream list(value);
      for (std::string path; std::getline(list, path, ',');)
        options->dataPaths.push_back(path);
    }
    if (name == "--set" && (known = take())) {
      size_t split = value.find('=');
      double number = 0;
      if (split == std::string::npos ||
          !parseNumber(value.substr(split + 1), &number))
        return makeError(kInvalidArgument,
                         "wrong value of --set: '%s', expected name=number",
                         value.c_str());
      options->settings.emplace_back(value.substr(0, split), number);
    }
    // amp-run has these, and a program is one choice of them.
    for (const char *other :
         {"--precision", "--loss-scale", "--master-weights", "--pipeline",
          "--entry", "--compare", "--print-ir", "--gradient-histogram",
          "--num-threads"})
      if (name == other)
        return makeError(kInvalidArgument,
                         "'%s' is an option of amp-run, not of a translated "
                         "program",
                         other);
    if (!known)
      return makeError(kInvalidArgument,
                       "unknown option '%s', or it lacks a value",
                       name.c_str());
  }
  return options->help ? Status() : checkOptions(options);
}

/// Fails early when an output cannot be written, or would take the place of an
/// input or of another output. A resumed state may be saved where it was.
inline Status checkOutputs(const TrainerOptions &options) {
  struct Use {
    const char *option;
    std::string path;
  };
  std::vector<Use> uses;
  for (const std::string &path : options.dataPaths)
    uses.push_back({"--data", path});
  uses.push_back({"--init", options.initPath});
  uses.push_back({"--load", options.loadPath});
  const size_t inputs = uses.size();
  uses.push_back({"--save", options.savePath});
  uses.push_back({"--predict", options.predictPath});
  uses.push_back({"--metrics-csv", options.csvPath});
  uses.push_back({"--metrics-json", options.jsonPath});
  uses.push_back({"--plot", options.plotPath});
  for (size_t i = inputs; i < uses.size(); ++i) {
    const Use &use = uses[i];
    if (use.path.empty())
      continue;
    for (size_t j = 0; j < i; ++j) {
      const Use &other = uses[j];
      bool resumes = std::string(other.option) == "--load" && i == inputs;
      if (!other.path.empty() && !resumes && isSameFile(use.path, other.path))
        return makeError(kInvalidArgument, "%s '%s' would overwrite %s '%s'",
                         use.option, use.path.c_str(), other.option,
                         other.path.c_str());
    }
    AMP_RETURN_IF_ERROR(checkWritable(use.path));
  }
  return Status();
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAINEROPTIONS_H

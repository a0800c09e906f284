//===- Options.h - Options of training --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options that amp-run and the trainers of generated programs share, with
// one meaning and one set of error messages.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_OPTIONS_H
#define AMP_RUNTIME_HOST_OPTIONS_H

#include "amp/Runtime/Host/Checkpoint.h"
#include "amp/Runtime/Host/OutputFile.h"

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace amphost {

/// The values of the command line.
struct TrainingOptions {
  std::vector<std::string> dataPaths;
  std::string trainPrefix = "train_", evalPrefix = "test_";
  bool synthetic = false, evaluate = false, otherScaler = false, quiet = false,
       noShuffle = false;
  int64_t steps = -1, epochs = -1; ///< -1: the other one counts
  int64_t batchSize = 0;           ///< 0: that of the step, or a default
  uint64_t seed = 0;
  bool seedGiven = false;
  int64_t seeds = 1;
  /// The processes that train together, each on its part of every batch, and
  /// the number of this one.
  int64_t ranks = 1, rank = 0;
  std::vector<std::pair<std::string, double>> settings;
  std::string lastBatch = "drop", initPath, loadPath, savePath, predictPath,
              csvPath, jsonPath, plotPath;

  /// Whether the forward function is needed.
  bool predicts() const { return evaluate || !predictPath.empty(); }
  /// Whether parameters come from a file.
  bool hasWeights() const { return !loadPath.empty() || !initPath.empty(); }
  bool trains() const { return steps > 0 || epochs > 0; }
};

/// An option in --help. A flag has no value.
struct OptionInfo {
  const char *name, *value, *help;
};

inline constexpr OptionInfo kTrainingOptions[] = {
    {"data", "file.npz,...",
     "Arrays of the batch arguments, by name: .npz files, or .npy files named "
     "after the argument"},
    {"synthetic", nullptr, "Train on random data instead"},
    {"train-prefix", "text",
     "Prefix of the training arrays (default: train_); an array without the "
     "prefix is used if no metric has it"},
    {"eval-prefix", "text", "Prefix of the held-out arrays (default: test_)"},
    {"steps", "n", "Training steps to run"},
    {"epochs", "n",
     "Passes over the data to run (default: 1, or none for --eval or --predict "
     "with --load or --init)"},
    {"batch-size", "n",
     "Samples in a batch (default: that of the step, else that of the run "
     "resumed by --load, else 64); a step of fixed batch size needs this "
     "option to resume a run of another one"},
    {"last-batch", "drop|keep",
     "What to do with the samples at the end of an epoch that do not fill a "
     "batch (default: drop); evaluation always keeps them"},
    {"no-shuffle", nullptr,
     "Take the samples in the order of the file in each epoch"},
    {"set", "name=value", "Give a hyperparameter a value"},
    {"init", "weights.npz", "Start from these parameters, by name"},
    {"load", "state.npz", "Resume from a checkpoint"},
    {"other-scaler", nullptr,
     "With --load, continue with other loss-scaling rules than those of the "
     "checkpoint"},
    {"save", "state.npz", "Save a checkpoint at the end"},
    {"eval", nullptr, "Evaluate on the held-out arrays"},
    {"predict", "out.npz", "Write the predictions for the held-out arrays"},
    {"seed", "n", "Seed of initial values and data order (default: 0)"},
    {"seeds", "n", "Repeat with this many seeds, from --seed on"},
    {"metrics-csv", "file", "Write the metrics of each step"},
    {"metrics-json", "file", "Write the metrics of each step and the results"},
    {"plot", "file.html", "Draw loss, loss scale and skipped steps"},
    {"quiet", nullptr, "Show no progress"},
};

/// Returns the option of that name among `options`, or null.
template <size_t N>
const OptionInfo *findOption(const OptionInfo (&options)[N],
                             const std::string &name) {
  for (const OptionInfo &option : options)
    if (name == option.name)
      return &option;
  return nullptr;
}

/// Whether an option may be repeated.
inline bool isRepeatable(const OptionInfo &option) {
  return std::strcmp(option.name, "data") == 0 ||
         std::strcmp(option.name, "set") == 0;
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

/// The same for the option `name`.
inline Status parseCount(const std::string &name, const std::string &text,
                         uint64_t most, uint64_t *number) {
  if (parseCount(text, most, number))
    return Status();
  return makeError(kInvalidArgument,
                   "wrong value of --%s: '%s', expected a number that is not "
                   "negative, and at most %llu",
                   name.c_str(), text.c_str(), (unsigned long long)most);
}

/// Parses a decimal floating-point number, an infinity or a NaN. Rejects other
/// characters around it.
inline bool parseNumber(const std::string &text, double *number) {
  // strtod alone would accept hexadecimal numbers and leading space.
  if (text.empty() || std::isspace((unsigned char)text[0]) ||
      text.find_first_of("xX") != std::string::npos)
    return false;
  char *end = nullptr;
  *number = std::strtod(text.c_str(), &end);
  return *end == 0;
}

namespace options {

inline Status setCount(TrainingOptions *options, const std::string &name,
                       const std::string &text) {
  struct Count {
    const char *name;
    uint64_t most;
    int64_t *number;
  };
  const Count counts[] = {{"steps", kMaxSteps, &options->steps},
                          {"epochs", kMaxSteps, &options->epochs},
                          {"batch-size", kMaxSteps, &options->batchSize},
                          {"seeds", INT32_MAX, &options->seeds}};
  uint64_t number = 0;
  for (const Count &count : counts) {
    if (name != count.name)
      continue;
    AMP_RETURN_IF_ERROR(parseCount(name, text, count.most, &number));
    *count.number = int64_t(number);
    if (number == 0 && (name == "seeds" || name == "batch-size"))
      return makeError(kInvalidArgument, "--%s must be positive, got 0",
                       name.c_str());
  }
  return Status();
}

} // namespace options

/// Sets one of `kTrainingOptions`. `text` is the value if the option has one.
inline Status setOption(TrainingOptions *options, const std::string &name,
                        const std::string &text) {
  const std::pair<const char *, bool *> flags[] = {
      {"synthetic", &options->synthetic},
      {"no-shuffle", &options->noShuffle},
      {"eval", &options->evaluate},
      {"other-scaler", &options->otherScaler},
      {"quiet", &options->quiet}};
  for (const auto &[flag, value] : flags)
    if (name == flag)
      *value = true;
  const std::pair<const char *, std::string *> texts[] = {
      {"train-prefix", &options->trainPrefix},
      {"eval-prefix", &options->evalPrefix},
      {"last-batch", &options->lastBatch},
      {"init", &options->initPath},
      {"load", &options->loadPath},
      {"save", &options->savePath},
      {"predict", &options->predictPath},
      {"metrics-csv", &options->csvPath},
      {"metrics-json", &options->jsonPath},
      {"plot", &options->plotPath}};
  for (const auto &[option, value] : texts)
    if (name == option)
      *value = text;
  if (name == "seed") {
    options->seedGiven = true;
    return parseCount(name, text, UINT64_MAX, &options->seed);
  }
  if (name == "data")
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      if (end > begin)
        options->dataPaths.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  if (name == "set") {
    const size_t equals = text.find('=');
    double number = 0;
    if (equals == std::string::npos || equals == 0 ||
        !parseNumber(text.substr(equals + 1), &number))
      return makeError(kInvalidArgument,
                       "wrong value of --set: '%s', expected name=number",
                       text.c_str());
    options->settings.emplace_back(text.substr(0, equals), number);
  }
  return options::setCount(options, name, text);
}

/// Fails if one of the given options needs a single run and `several` asks for
/// several.
inline Status
checkSingle(const std::vector<std::pair<const char *, bool>> &given,
            const char *several) {
  for (const auto &[name, isGiven] : given)
    if (isGiven && *several)
      return makeError(kInvalidArgument, "--%s is for a single run, without %s",
                       name, several);
  return Status();
}

/// Rejects combinations of options that make no sense and sets defaults.
/// `several` is the option other than --seeds that asks for several runs, if it
/// is given.
inline Status checkOptions(TrainingOptions *options, const char *several = "") {
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
                     "--seed and --load exclude each other: a resumed run "
                     "keeps its seed");
  if (options->otherScaler && options->loadPath.empty())
    return makeError(kInvalidArgument, "--other-scaler needs --load");
  if (options->seeds > 1 && !*several)
    several = "--seeds";
  AMP_RETURN_IF_ERROR(checkSingle({{"load", !options->loadPath.empty()},
                                   {"save", !options->savePath.empty()},
                                   {"predict", !options->predictPath.empty()}},
                                  several));
  if (options->seed > UINT64_MAX - uint64_t(options->seeds - 1))
    return makeError(kInvalidArgument,
                     "--seeds %lld go beyond the largest seed",
                     (long long)options->seeds);
  if (!options->dataPaths.empty() && options->synthetic)
    return makeError(kInvalidArgument,
                     "--data and --synthetic exclude each other");
  if (options->synthetic && options->predicts())
    return makeError(kInvalidArgument,
                     "--%s needs held-out arrays: give --data <file.npz>",
                     options->evaluate ? "eval" : "predict");
  // Evaluation and prediction with given weights train only on request.
  if (options->steps < 0 && options->epochs < 0) {
    if (options->predicts() && options->hasWeights())
      options->steps = 0;
    else
      options->epochs = 1;
  }
  return Status();
}

/// A file that a program reads or writes, and the name of its option.
struct FileUse {
  std::string option, path;
};

/// The outputs that the options name.
inline std::vector<FileUse> getOutputs(const TrainingOptions &options) {
  return {{"--save", options.savePath},
          {"--predict", options.predictPath},
          {"--metrics-csv", options.csvPath},
          {"--metrics-json", options.jsonPath},
          {"--plot", options.plotPath}};
}

/// Whether `path` is standard output by name.
inline bool namesStandardOutput(const std::string &path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1";
}

/// Whether an output of the options goes to standard output. Texts for the user
/// then go to standard error.
inline bool writesToStandardOutput(const TrainingOptions &options) {
  for (const FileUse &use : getOutputs(options))
    if (namesStandardOutput(use.path))
      return true;
  return false;
}

/// Fails early if an output cannot be written, or if it would overwrite an
/// input (one of `inputs` or of the options) or another output (of the options
/// or one of `outputs`), also standard output. A resumed checkpoint may be
/// saved to its own file.
inline Status checkOutputs(const TrainingOptions &options,
                           std::vector<FileUse> inputs = {},
                           const std::vector<FileUse> &outputs = {}) {
  std::vector<FileUse> uses = std::move(inputs);
  for (const std::string &path : options.dataPaths)
    uses.push_back({"--data", path});
  uses.push_back({"--init", options.initPath});
  uses.push_back({"--load", options.loadPath});
  const size_t numInputs = uses.size();
  const std::vector<FileUse> own = getOutputs(options);
  uses.insert(uses.end(), own.begin(), own.end());
  uses.insert(uses.end(), outputs.begin(), outputs.end());
  for (size_t i = numInputs; i < uses.size(); ++i) {
    const FileUse &use = uses[i];
    if (use.path.empty())
      continue;
    for (size_t j = 0; j < i; ++j) {
      const FileUse &other = uses[j];
      if (j >= numInputs && namesStandardOutput(use.path) &&
          namesStandardOutput(other.path))
        return makeError(kInvalidArgument,
                         "%s and %s both write to standard output",
                         other.option.c_str(), use.option.c_str());
      const bool resumes = other.option == "--load" && use.option == "--save";
      if (!other.path.empty() && !resumes && isSameFile(use.path, other.path))
        return makeError(kInvalidArgument, "%s '%s' would overwrite %s '%s'",
                         use.option.c_str(), use.path.c_str(),
                         other.option.c_str(), other.path.c_str());
    }
    AMP_RETURN_IF_ERROR(checkWritable(use.path));
  }
  return Status();
}

/// Prints the wrapped lines of --help for options.
template <size_t N>
std::string describeOptions(const OptionInfo (&options)[N]) {
  constexpr size_t kColumn = 26, kWidth = 80;
  std::string text;
  for (const OptionInfo &option : options) {
    std::string line = std::string("  --") + option.name;
    if (option.value)
      line += std::string(" <") + option.value + ">";
    line += line.size() + 1 > kColumn ? "\n" : "";
    size_t column = line.back() == '\n' ? 0 : line.size();
    std::string help = std::string(option.help) + " ";
    line.append(kColumn - column, ' ');
    column = kColumn;
    for (size_t begin = 0; begin < help.size();) {
      const size_t end = help.find(' ', begin);
      if (column + end - begin > kWidth) {
        line += "\n" + std::string(kColumn, ' ');
        column = kColumn;
      }
      line += (column > kColumn ? " " : "") + help.substr(begin, end - begin);
      column += end - begin + 1;
      begin = end + 1;
    }
    text += line + "\n";
  }
  return text;
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_OPTIONS_H

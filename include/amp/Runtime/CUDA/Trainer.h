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
//     return amp::cuda::trainerMain(argc, argv, kProgram);
//   }
//
//   --data f.npz[,g.npz]  --train-prefix train_  --synthetic  --steps N
//   --epochs N  --set name=value  --init w.npz  --load s.npz  --save s.npz
//   --seed N  --metrics-csv f  --metrics-json f  --quiet
//   --no-graph  --tune  --tune-cache f  --profile  --time N  --poison
//   --device N
//
// Batches are drawn in the order of amp-run: the same seed gives the same data
// in the same steps. The batch size is that of the program. Evaluation is that
// of amp-run, from the state that --save writes.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAINER_H
#define AMP_RUNTIME_CUDA_TRAINER_H

#include "amp/Runtime/CUDA/Dataset.h"
#include "amp/Runtime/CUDA/Program.h"

#include <chrono>
#include <sstream>

namespace amp::cuda {

/// What the command line asks for.
struct TrainerOptions {
  std::vector<std::string> dataPaths;
  std::string prefix = "train_";
  bool synthetic = false;
  int64_t steps = -1, epochs = -1, timedSteps = 0;
  std::vector<std::pair<std::string, double>> settings;
  std::string initPath, loadPath, savePath, csvPath, jsonPath;
  bool quiet = false, profile = false, seedGiven = false, help = false;
  ProgramOptions program;
};

inline const char *trainerUsage() {
  return "  --data <file.npz,...>   arrays of the batch arguments, by name\n"
         "  --train-prefix <text>   prefix of their names (default: train_)\n"
         "  --synthetic             random data instead\n"
         "  --steps <n>             steps to run\n"
         "  --epochs <n>            passes over the data (default: 1)\n"
         "  --set <name=value>      give a hyperparameter a value\n"
         "  --init <weights.npz>    start from these parameters\n"
         "  --load <state.npz>      resume from a saved state\n"
         "  --save <state.npz>      save the state at the end\n"
         "  --seed <n>              of initial values and data order\n"
         "  --metrics-csv <file>    write the metrics of each step\n"
         "  --metrics-json <file>   the same, as JSON\n"
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
        {"--quiet", &options->quiet},
        {"--profile", &options->profile},
        {"--tune", &options->program.gemm.tune},
        {"--poison", &options->program.poison},
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
        {"--init", &options->initPath},
        {"--load", &options->loadPath},
        {"--save", &options->savePath},
        {"--metrics-csv", &options->csvPath},
        {"--metrics-json", &options->jsonPath},
        {"--tune-cache", &options->program.gemm.cachePath}};
    for (auto &text : texts)
      if (name == text.first) {
        known = take();
        *text.second = value;
      }
    int64_t seed = 0, device = 0;
    const std::pair<const char *, int64_t *> numbers[] = {
        {"--steps", &options->steps},
        {"--epochs", &options->epochs},
        {"--time", &options->timedSteps},
        {"--seed", &seed},
        {"--device", &device}};
    for (auto &number : numbers)
      if (name == number.first && (known = take())) {
        char *end = nullptr;
        *number.second = std::strtoll(value.c_str(), &end, 10);
        if (value.empty() || *end || *number.second < 0)
          return makeError(kInvalidArgument,
                           "wrong value of %s: '%s', expected a number that "
                           "is not negative",
                           name.c_str(), value.c_str());
      }
    if (name == "--seed") {
      options->program.seed = uint64_t(seed);
      options->seedGiven = true;
    }
    if (name == "--device")
      options->program.device = int(device);
    if (name == "--data" && (known = take())) {
      std::stringstream list(value);
      for (std::string path; std::getline(list, path, ',');)
        options->dataPaths.push_back(path);
    }
    if (name == "--set" && (known = take())) {
      size_t split = value.find('=');
      char *end = nullptr;
      double number = split == std::string::npos
                          ? 0
                          : std::strtod(value.c_str() + split + 1, &end);
      if (!end || end == value.c_str() + split + 1 || *end)
        return makeError(kInvalidArgument,
                         "wrong value of --set: '%s', expected name=number",
                         value.c_str());
      options->settings.emplace_back(value.substr(0, split), number);
    }
    if (!known)
      return makeError(kInvalidArgument,
                       "unknown option '%s', or it lacks a value",
                       name.c_str());
  }
  if (options->help)
    return Status();
  if (options->steps >= 0 && options->epochs >= 0)
    return makeError(kInvalidArgument,
                     "--steps and --epochs exclude each other");
  if (!options->initPath.empty() && !options->loadPath.empty())
    return makeError(kInvalidArgument, "--init and --load exclude each other");
  if (!options->loadPath.empty() && options->seedGiven)
    return makeError(kInvalidArgument,
                     "--seed and --load exclude each other: a "
                     "resumed run keeps its seed");
  if (options->dataPaths.empty() != options->synthetic)
    return makeError(kInvalidArgument,
                     "give either --data <file.npz> or --synthetic");
  return Status();
}

/// The metrics of every step that was looked at.
struct TrainingLog {
  std::vector<std::string> names;
  std::vector<int64_t> steps, epochs;
  std::vector<std::vector<float>> values;

  /// step, epoch and one column for each metric.
  Status writeCsv(const std::string &path) const {
    std::ofstream file(path);
    file.precision(9);
    file << "step,epoch";
    for (const std::string &name : names)
      file << ',' << name;
    for (size_t i = 0; i < steps.size(); ++i) {
      file << '\n' << steps[i] << ',' << epochs[i];
      for (float value : values[i])
        file << ',' << value;
    }
    file << '\n';
    file.close();
    return file ? Status()
                : makeError(kFile, "cannot write '%s'", path.c_str());
  }

  /// {"ms per step": ..., "steps": [{"step": 1, "epoch": 0, "loss": ...}]};
  /// numbers that JSON lacks as null. `timedMs` is that of --time, if it is
  /// not 0.
  Status writeJson(const std::string &path, double msPerStep,
                   double timedMs) const {
    std::ofstream file(path);
    file.precision(9);
    file << "{\"ms per step\": " << msPerStep;
    if (timedMs > 0)
      file << ", \"ms per step on the device\": " << timedMs;
    file << ", \"steps\": [";
    for (size_t i = 0; i < steps.size(); ++i) {
      file << (i ? ",\n" : "\n") << "{\"step\": " << steps[i]
           << ", \"epoch\": " << epochs[i];
      for (size_t j = 0; j < names.size(); ++j) {
        file << ", \"" << names[j] << "\": ";
        if (std::isfinite(values[i][j]))
          file << values[i][j];
        else
          file << "null";
      }
      file << '}';
    }
    file << "\n]}\n";
    file.close();
    return file ? Status()
                : makeError(kFile, "cannot write '%s'", path.c_str());
  }
};

/// Creates the program, trains it and writes what was asked for.
inline Status train(const TrainerOptions &options, const ProgramInfo &info) {
  Program program(info);
  AMP_RETURN_IF_ERROR(program.create(options.program));
  if (!options.initPath.empty())
    AMP_RETURN_IF_ERROR(program.loadWeights(options.initPath));
  if (!options.loadPath.empty())
    AMP_RETURN_IF_ERROR(program.load(options.loadPath));
  for (const auto &[name, value] : options.settings)
    AMP_RETURN_IF_ERROR(program.setHyperparameter(name, value));

  std::vector<const BufferInfo *> batches;
  for (int i : program.buffersOf(Role::Batch))
    batches.push_back(&info.buffers[i]);
  int64_t batchSize =
      batches.empty() || batches[0]->rank == 0 ? 1 : batches[0]->shape[0];
  Dataset data;
  if (options.synthetic) {
    // For --time alone one batch is enough.
    int64_t count = options.timedSteps > 0 && options.steps == 0 ? 1 : 8;
    data.createSynthetic(count * batchSize, options.program.seed, batches);
  } else {
    std::vector<HostArray> arrays;
    std::string paths;
    for (const std::string &path : options.dataPaths) {
      std::vector<HostArray> more;
      AMP_RETURN_IF_ERROR(readArrays(path, &more));
      arrays.insert(arrays.end(), more.begin(), more.end());
      paths += (paths.empty() ? "" : ",") + path;
    }
    AMP_RETURN_IF_ERROR(data.create(arrays, paths, options.prefix, batches));
  }
  if (data.size() < batchSize)
    return makeError(kFile,
                     "the data set has %lld samples, fewer than one batch of "
                     "%lld",
                     (long long)data.size(), (long long)batchSize);
  Progress &progress = program.progress;
  if (progress.samples && progress.samples != data.size())
    return makeError(kFile,
                     "the resumed run was trained on %lld samples, but this "
                     "data set has %lld",
                     (long long)progress.samples, (long long)data.size());
  progress.samples = data.size();

  int64_t perEpoch = data.size() / batchSize;
  int64_t steps = options.steps >= 0
                      ? options.steps
                      : (options.epochs >= 0 ? options.epochs : 1) * perEpoch;
  TrainingLog log;
  for (int i : program.buffersOf(Role::Metric))
    log.names.push_back(info.buffers[i].name);
  bool wantsAll = !options.csvPath.empty() || !options.jsonPath.empty();
  std::vector<int64_t> order =
      permuteEpoch(data.size(), progress.seed, progress.epoch);
  auto start = std::chrono::steady_clock::now();
  for (int64_t done = 1; done <= steps; ++done) {
    if (data.size() - progress.offset < batchSize) {
      order = permuteEpoch(data.size(), progress.seed, ++progress.epoch);
      progress.offset = 0;
    }
    for (size_t i = 0; i < batches.size(); ++i) {
      std::vector<unsigned char> batch =
          data.gather(i, &order[size_t(progress.offset)], batchSize);
      AMP_RETURN_IF_ERROR(program.setBatch(int(i), batch.data(), batch.size()));
    }
    progress.offset += batchSize;
    AMP_RETURN_IF_ERROR(program.run(1));
    // Looking at metrics waits for the step, so it is not done at every one.
    bool shows =
        !options.quiet && (done % ((steps + 9) / 10) == 0 || done == steps);
    if (!wantsAll && !shows && done != steps)
      continue;
    log.steps.push_back(progress.step);
    log.epochs.push_back(progress.epoch);
    log.values.emplace_back(log.names.size());
    AMP_RETURN_IF_ERROR(
        program.readMetrics(log.values.back().data(), int(log.names.size())));
    if (shows) {
      std::fprintf(stderr, "step %lld/%lld, epoch %lld", (long long)done,
                   (long long)steps, (long long)progress.epoch);
      for (size_t i = 0; i < log.names.size(); ++i)
        std::fprintf(stderr, ", %s %.5g", log.names[i].c_str(),
                     double(log.values.back()[i]));
      std::fprintf(stderr, "\n");
    }
  }
  AMP_RETURN_IF_ERROR(program.synchronize());
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  double msPerStep = steps ? seconds * 1e3 / double(steps) : 0;
  if (steps && !options.quiet)
    std::printf("%lld steps, %.4g ms per step, %lld bytes of device memory\n",
                (long long)steps, msPerStep, (long long)program.memoryBytes());
  if (!options.csvPath.empty())
    AMP_RETURN_IF_ERROR(log.writeCsv(options.csvPath));
  if (!options.savePath.empty())
    AMP_RETURN_IF_ERROR(program.save(options.savePath));
  // After everything that is kept: what follows trains on.
  if (options.profile || options.timedSteps > 0)
    for (size_t i = 0; i < batches.size() && steps == 0; ++i) {
      std::vector<unsigned char> batch =
          data.gather(i, order.data(), batchSize);
      AMP_RETURN_IF_ERROR(program.setBatch(int(i), batch.data(), batch.size()));
    }
  double timedMs = 0;
  if (options.timedSteps > 0) {
    // The graph is there after two steps.
    AMP_RETURN_IF_ERROR(program.run(3));
    AMP_RETURN_IF_ERROR(program.synchronize());
    start = std::chrono::steady_clock::now();
    AMP_RETURN_IF_ERROR(program.run(int(options.timedSteps)));
    AMP_RETURN_IF_ERROR(program.synchronize());
    timedMs = std::chrono::duration<double, std::milli>(
                  std::chrono::steady_clock::now() - start)
                  .count() /
              double(options.timedSteps);
    if (!options.quiet)
      std::printf("%lld steps of one batch, %.4g ms per step\n",
                  (long long)options.timedSteps, timedMs);
  }
  if (!options.jsonPath.empty())
    AMP_RETURN_IF_ERROR(log.writeJson(options.jsonPath, msPerStep, timedMs));
  if (options.profile) {
    std::string table;
    AMP_RETURN_IF_ERROR(program.profile(20, &table));
    std::fputs(table.c_str(), stdout);
  }
  return Status();
}

/// Parses the options, trains and writes the results. Returns the exit status;
/// errors go to the standard error.
inline int trainerMain(int argc, char **argv, const ProgramInfo &info) {
  TrainerOptions options;
  Status status = parseOptions(argc, argv, &options);
  if (status.isOk() && options.help) {
    std::printf("Trains '%s' on a GPU\n\n%s", info.name, trainerUsage());
    return 0;
  }
  if (status.isOk()) {
    Status trained = train(options, info);
    if (trained.isOk())
      return 0;
    std::fprintf(stderr, "%s: error: %s\n", info.name,
                 trained.getMessage().c_str());
    return 1;
  }
  std::fprintf(stderr, "%s: error: %s\n", info.name,
               status.getMessage().c_str());
  return 1;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAINER_H

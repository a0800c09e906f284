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
//   --epochs N  --set name=value  --init w.npz  --load s.npz  --save s.npz
//   --eval  --predict out.npz  --eval-prefix test_
//   --seed N  --metrics-csv f  --metrics-json f  --quiet
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
#include "amp/Runtime/CUDA/TrainerOptions.h"
#include "amp/Runtime/CUDA/TrainingLog.h"

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

/// Creates the program, trains it and writes what was asked for.
inline Status train(const TrainerOptions &options, const ProgramInfo &info,
                    const ForwardInfo &forward) {
  AMP_RETURN_IF_ERROR(checkOutputs(options));
  // What is wrong with the held-out data is found before anything is trained.
  std::vector<HostArray> arrays;
  std::string dataName;
  AMP_RETURN_IF_ERROR(readData(options.dataPaths, &arrays, &dataName));
  Evaluator evaluator(info, forward);
  if (options.predicts())
    AMP_RETURN_IF_ERROR(evaluator.create(arrays, dataName, options.evalPrefix,
                                         options.evaluate, options.program));

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
  bool trains = options.steps > 0 || options.epochs > 0 || options.profile ||
                options.timedSteps > 0;
  if (options.synthetic) {
    // For --time alone one batch is enough.
    int64_t count = options.timedSteps > 0 && options.steps == 0 ? 1 : 8;
    data.createSynthetic(count * batchSize, options.program.seed, batches);
  } else if (trains) {
    AMP_RETURN_IF_ERROR(data.create(arrays, dataName, options.prefix, batches));
  }
  arrays.clear();
  Progress &progress = program.progress;
  if (trains) {
    if (data.size() < batchSize)
      return makeError(kFile,
                       "the data set has %lld samples, fewer than one batch of "
                       "%lld",
                       (long long)data.size(), (long long)batchSize);
    if (progress.samples && progress.samples != data.size())
      return makeError(kFile,
                       "the resumed run was trained on %lld samples, but this "
                       "data set has %lld",
                       (long long)progress.samples, (long long)data.size());
    progress.samples = data.size();
  }

  int64_t perEpoch = data.size() / batchSize;
  if (perEpoch > 0 && options.epochs > kMostSteps / perEpoch)
    return makeError(kInvalidArgument, "--epochs %lld are more than %lld steps",
                     (long long)options.epochs, (long long)kMostSteps);
  int64_t steps =
      options.steps >= 0 ? options.steps : options.epochs * perEpoch;
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
  if (options.predicts()) {
    std::vector<HostArray> predictions;
    AMP_RETURN_IF_ERROR(evaluator.predict(program, &predictions));
    if (options.evaluate)
      AMP_RETURN_IF_ERROR(evaluator.judge(predictions, &log.results));
    if (!options.predictPath.empty())
      AMP_RETURN_IF_ERROR(writeArrays(options.predictPath, predictions));
  }
  for (const auto &[name, value] : log.results)
    std::printf("%s: %s\n", name.c_str(), formatNumber(value).c_str());
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
      reportCall([&] { return train(options, info, forward); }) == kOk)
    return 0;
  std::fprintf(stderr, "%s: error: %s\n", info.name,
               status.isOk() ? lastError() : status.getMessage().c_str());
  return 1;
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAINER_H

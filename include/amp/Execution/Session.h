//===- Session.h - The state of one training run ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_SESSION_H
#define AMP_EXECUTION_SESSION_H

#include "amp/Execution/StepProgram.h"

namespace mlir::amp {

/// Arrays with the file that they come from and the prefix that selects a
/// split.
struct DataSource {
  const ArrayMap *arrays = nullptr;
  std::string path;
  std::string prefix;

  llvm::Expected<Dataset> select(llvm::ArrayRef<BatchInput> inputs) const {
    return Dataset::create(*arrays, path, prefix, inputs);
  }
};

/// Where a run is: saved with the state, so that training goes on as if it had
/// not been interrupted.
struct Progress {
  int64_t step = 0;
  DataPosition position;
  /// Size of the data set that the position refers to; 0 before training.
  int64_t numSamples = 0;
  /// Samples in a batch; 0 before training.
  int64_t batchSize = 0;
};

/// State, hyperparameters and progress of one run of a program.
class Session {
public:
  explicit Session(StepProgram &program) : program(program) {}

  /// Initialises all state from `seed`. `weights`, if given, replaces the
  /// parameters and model statistics that it names, rounded to their type;
  /// `path` is where it was read from.
  llvm::Error initialize(uint64_t seed, const ArrayMap *weights,
                         llvm::StringRef path);

  /// Sets hyperparameters to what `amp.init` or `overrides` says. Every
  /// override must name a hyperparameter, every hyperparameter needs a value.
  llvm::Error
  setHyperparameters(llvm::ArrayRef<std::pair<std::string, double>> overrides);

  /// Takes over the state that `save` wrote. It must be of the same graph, run
  /// in the same precision, and have exactly the state of this program, with
  /// the same types, and of the same rules of loss scaling unless
  /// `otherScaler` is set.
  llvm::Error load(llvm::StringRef path, bool otherScaler = false);

  /// Writes all state by name and the progress.
  llvm::Error save(llvm::StringRef path) const;

  /// Runs one training step on the samples `rows` and returns the values of
  /// `getMetricNames`.
  llvm::Expected<std::vector<double>> train(const Dataset &data,
                                            llvm::ArrayRef<int64_t> rows);

  /// Computes every prediction for every sample. Whole batches are run; the
  /// last one is filled up by repeating its last sample, whose predictions are
  /// dropped again.
  llvm::Expected<ArrayMap> predict(const DataSource &source);

  /// Applies the evaluation rules of the program to `predictions`: the loss,
  /// computed in f64, and for classes the accuracy. Without rules there are no
  /// results.
  llvm::Expected<std::vector<std::pair<std::string, double>>>
  evaluate(const DataSource &source, const ArrayMap &predictions);

  /// The metrics of the training step, in the order of `train`'s values.
  std::vector<std::string> getMetricNames() const;

  /// The predictions of the last training step.
  const NDArray *getTrainingPrediction(llvm::StringRef name) const;

  ArrayMap &getStates() { return states; }
  const ArrayMap &getStates() const { return states; }
  Progress &getProgress() { return progress; }

  /// Seconds that the last training step took, without gathering its batch.
  double getStepSeconds() const { return stepSeconds; }

  /// The training step that ran last; null before the first.
  const BoundStep *getLastStep() const { return lastStep; }

private:
  /// Batch, metric and prediction arrays of one compiled step, by binding.
  using Buffers = std::vector<NDArray>;
  Buffers &getBuffers(const BoundStep &step);
  llvm::Expected<llvm::SmallVector<NDArray *>> bind(const BoundStep &step,
                                                    Buffers &buffers);

  StepProgram &program;
  ArrayMap states;
  ArrayMap hyperparameters;
  Progress progress;
  std::map<const BoundStep *, Buffers> buffers;
  const BoundStep *lastStep = nullptr;
  double stepSeconds = 0.0;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_SESSION_H

//===- Step.h - A compiled training step ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of a step to the training loop. It does not depend on the
// device or the compiler of the step.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_STEP_H
#define AMP_RUNTIME_HOST_STEP_H

#include "amp/Runtime/Host/Checkpoint.h"
#include "amp/Runtime/Host/Dataset.h"
#include "amp/Runtime/Host/EvaluationRule.h"
#include "amp/Runtime/Host/Initializer.h"
#include "amp/Runtime/Host/OutputFile.h"
#include "amp/Runtime/Host/WatchReport.h"

#include <functional>
#include <memory>

namespace amphost {

/// The position of a run. It is saved with the state so that training continues
/// as if it had not been interrupted.
struct Progress {
  int64_t step = 0;
  DataPosition position;
  int64_t samples = 0;   ///< size of the data set; 0 before training
  int64_t batchSize = 0; ///< 0 before training
};

/// Named results of a run, such as `final loss`.
using Results = std::vector<std::pair<std::string, double>>;

/// A compiled function with its state: a training step, or the forward function
/// of one.
class Step {
public:
  virtual ~Step() = default;

  /// All inputs and outputs. They do not change during the lifetime of the
  /// step.
  virtual const std::vector<TensorInfo> &getTensors() const = 0;
  /// The identity of its checkpoints.
  virtual CheckpointIdentity getIdentity() const = 0;
  /// The batch size if the step fixes it, else 0.
  virtual int64_t getFixedBatch() const = 0;
  /// The ranks that run the step together, each on a batch of that size.
  virtual int64_t getNumRanks() const { return 1; }

  /// Prepares to run in batches of `samples`, which is 0 for a step that only
  /// holds states. Fails if memory is known to be too small.
  virtual Status prepare(int64_t samples) = 0;

  /// Reads a state, hyperparameter or prediction. Waits for the last step.
  virtual Status read(size_t tensor, Array *value) = 0;
  /// Sets a state or hyperparameter. The value has its type and shape.
  virtual Status write(size_t tensor, Array value) = 0;
  /// Calls `fill` to write the `bytes` bytes of the next batch of `samples`.
  virtual Status fill(size_t tensor, int64_t samples, size_t bytes,
                      const std::function<void(void *)> &fill) = 0;

  /// Runs `steps` steps on the batches that are filled, and counts them in
  /// `progress`.
  virtual Status run(int steps) = 0;
  /// Waits for the steps.
  virtual Status wait() = 0;
  /// Whether `run` returns before the steps are done. Reading their metrics
  /// then costs time.
  virtual bool isAsynchronous() const = 0;
  /// Whether the caller will read the metrics of the last step of a run. If
  /// not, the next runs may leave out work that only metrics need.
  virtual void setReadsMetrics(bool) {}
  /// Waits and reads the metrics of the last step, in the order of tensors.
  virtual Status readMetrics(std::vector<double> *values) = 0;

  /// Gathers the states that the ranks divide. Rank 0 can read them until the
  /// next run. All ranks must call this function.
  virtual Status gatherStates() { return Status(); }

  /// Starts to count the watched values in one of `every` steps, and clears
  /// earlier counts. 0 stops counting and keeps the counts. A positive number
  /// is an error if the step was compiled without watched values.
  virtual Status watch(int64_t every) {
    return every ? makeError(kInvalidArgument,
                             "the step was compiled without watched values; "
                             "expected the option watch of the translation")
                 : Status();
  }
  /// Prints the counts, as `WatchReport::print`.
  virtual Status printWatched(WatchFormat, const std::string &, std::string *) {
    return makeError(kInvalidArgument, "no values were watched");
  }

  /// Adds results on memory.
  virtual void addMemory(Results *results) = 0;

  /// Creates the forward function, for predictions.
  virtual Status createForward(std::unique_ptr<Step> *forward) = 0;
  virtual std::vector<EvaluationRule> getEvaluationRules() const = 0;
  /// Sets the states of a forward function to those of `trained`, or to copies.
  inline virtual Status useStates(Step &trained);

  /// The tensors with a role, by index.
  std::vector<size_t> find(Role role) const {
    std::vector<size_t> indices;
    for (size_t i = 0; i < getTensors().size(); ++i)
      if (getTensors()[i].role == role)
        indices.push_back(i);
    return indices;
  }
  /// The batch tensors, in order.
  std::vector<TensorInfo> getBatches() const {
    std::vector<TensorInfo> batches;
    for (size_t index : find(Role::Batch))
      batches.push_back(getTensors()[index]);
    return batches;
  }
  std::vector<std::string> getMetricNames() const {
    std::vector<std::string> names;
    for (size_t index : find(Role::Metric))
      names.push_back(getTensors()[index].name);
    return names;
  }
  /// The state or hyperparameter `name`, or null.
  const TensorInfo *findValue(const std::string &name) const {
    for (const TensorInfo &tensor : getTensors())
      if (tensor.role <= Role::Hyperparameter && tensor.name == name)
        return &tensor;
    return nullptr;
  }

  Progress progress;
};

inline Status Step::useStates(Step &trained) {
  for (size_t i = 0; i < getTensors().size(); ++i) {
    const TensorInfo &tensor = getTensors()[i];
    if (tensor.role > Role::Hyperparameter)
      continue;
    const TensorInfo *state = trained.findValue(tensor.name);
    if (!state)
      return makeError(kInvalidArgument,
                       "the forward function reads '%s', which the step does "
                       "not have",
                       tensor.name.c_str());
    Array value;
    AMP_RETURN_IF_ERROR(
        trained.read(size_t(state - trained.getTensors().data()), &value));
    AMP_RETURN_IF_ERROR(write(i, std::move(value)));
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Writes `values` to the states and hyperparameters that they name.
inline Status writeValues(Step &step, ArrayMap &values) {
  for (size_t i = 0; i < step.getTensors().size(); ++i) {
    const TensorInfo &tensor = step.getTensors()[i];
    Array *value = tensor.role <= Role::Hyperparameter
                       ? values.lookup(tensor.name)
                       : nullptr;
    if (value)
      AMP_RETURN_IF_ERROR(step.write(i, std::move(*value)));
  }
  return Status();
}

/// Fails if a loss scale in the file `path` is not positive and finite.
inline Status checkLossScale(const TensorInfo &tensor, const Array &array,
                             const std::string &path) {
  for (int64_t i = 0; tensor.isLossScale && i < array.getNumElements(); ++i)
    if (const double scale = array.getDouble(i);
        !(scale > 0) || std::isinf(scale))
      return makeError(kFile,
                       "'%s' has the loss scale '%s' = %g, expected a "
                       "positive finite number",
                       path.c_str(), tensor.name.c_str(), scale);
  return Status();
}

/// Initialises all states from `seed` and resets the progress. `weights`, if
/// given, replaces the states that it names, rounded to their type. `path` is
/// the file of the weights. `initializeTensors` explains `partial`.
inline Status initialize(Step &step, uint64_t seed, const ArrayMap *weights,
                         const std::string &path, bool partial = false) {
  ArrayMap values;
  bool hasWeight = false;
  for (const TensorInfo &tensor : step.getTensors()) {
    const Array *array = weights && isState(tensor.role)
                             ? weights->lookup(tensor.name)
                             : nullptr;
    if (!array)
      continue;
    hasWeight |= tensor.isWeight();
    if (array->getShape() != tensor.shape || !array->castsTo(tensor.type))
      return makeError(kFile, "array '%s' in '%s' is %s, expected %s",
                       tensor.name.c_str(), path.c_str(),
                       array->describe().c_str(), tensor.describe().c_str());
    AMP_RETURN_IF_ERROR(checkLossScale(tensor, *array, path));
    values.set(tensor.name, array->castFloat(tensor.type));
  }
  if (weights && !hasWeight)
    return makeError(kFile, "'%s' has no array for any parameter of the step",
                     path.c_str());
  AMP_RETURN_IF_ERROR(
      initializeTensors(step.getTensors(), seed, partial, &values));
  step.progress = Progress();
  step.progress.position.seed = seed;
  return writeValues(step, values);
}

/// Reads the states for `initialize` from a file: of a checkpoint the weights
/// alone, of any other file all states. `missing` receives the names of the
/// weights that the file lacks.
inline Status readWeights(const Step &step, const std::string &path,
                          ArrayMap *weights,
                          std::vector<std::string> *missing) {
  // A run of another precision may have more parameters, but not of other
  // shapes.
  bool isCheckpoint = false;
  auto wants = [&](const std::string &name, const Array &header) {
    isCheckpoint |= name == kProgressMember;
    for (const TensorInfo &tensor : step.getTensors())
      if (isState(tensor.role) && tensor.name == name)
        return header.getShape() == tensor.shape && header.castsTo(tensor.type);
    return false;
  };
  ArrayMap file;
  AMP_RETURN_IF_ERROR(readArrays(path, &file, wants));
  for (const TensorInfo &tensor : step.getTensors())
    if (Array *array = file.lookup(tensor.name);
        array && (isCheckpoint ? tensor.isWeight() : isState(tensor.role)))
      weights->set(tensor.name, std::move(*array));
  for (const TensorInfo &tensor : step.getTensors())
    if (tensor.isWeight() && !weights->contains(tensor.name) &&
        tensor.init.kind != InitInfo::Kind::CopyOf)
      missing->push_back(tensor.name);
  return Status();
}

/// Finds the hyperparameter `name`.
inline Status findHyperparameter(const Step &step, const std::string &name,
                                 size_t *index) {
  std::string known;
  for (size_t i : step.find(Role::Hyperparameter)) {
    const TensorInfo &tensor = step.getTensors()[i];
    if (tensor.name == name) {
      *index = i;
      return Status();
    }
    known += (known.empty() ? "" : ", ") + tensor.name;
  }
  return makeError(kInvalidArgument,
                   "there is no hyperparameter '%s'; the step has %s",
                   name.c_str(), known.empty() ? "none" : known.c_str());
}

/// Sets every element of the hyperparameter `name`.
inline Status setHyperparameter(Step &step, const std::string &name,
                                double value) {
  size_t index = 0;
  AMP_RETURN_IF_ERROR(findHyperparameter(step, name, &index));
  const TensorInfo &tensor = step.getTensors()[index];
  Array array(tensor.type, tensor.shape);
  array.fill(value);
  return step.write(index, std::move(array));
}

/// Sets all hyperparameters from `settings` or from the graph.
inline Status setHyperparameters(
    Step &step, const std::vector<std::pair<std::string, double>> &settings) {
  using Kind = InitInfo::Kind;
  for (size_t i : step.find(Role::Hyperparameter)) {
    const TensorInfo &tensor = step.getTensors()[i];
    const Kind kind = tensor.init.kind;
    bool isSet = false;
    for (const auto &setting : settings)
      isSet |= setting.first == tensor.name;
    if (isSet)
      continue;
    if (kind != Kind::Zeros && kind != Kind::Ones && kind != Kind::Constant)
      return makeError(kInvalidArgument,
                       "hyperparameter '%s' has no value: give it a constant "
                       "'amp.init' or --set %s=<number>",
                       tensor.name.c_str(), tensor.name.c_str());
    AMP_RETURN_IF_ERROR(setHyperparameter(step, tensor.name,
                                          kind == Kind::Zeros ? 0.0
                                          : kind == Kind::Ones
                                              ? 1.0
                                              : tensor.init.first));
  }
  for (const auto &[name, value] : settings)
    AMP_RETURN_IF_ERROR(setHyperparameter(step, name, value));
  return Status();
}

//===----------------------------------------------------------------------===//
// Watched values
//===----------------------------------------------------------------------===//

/// The files of watched values. An empty path: no file.
struct WatchOutputs {
  std::string jsonPath, pagePath;
};

/// Stops counting in `step`, writes the files, and prints the most important
/// values to `table`. `run` names the run, and `title` names the model.
inline Status reportWatched(Step &step, const WatchOutputs &outputs,
                            const std::string &run, const std::string &title,
                            std::string *table) {
  AMP_RETURN_IF_ERROR(step.watch(0));
  AMP_RETURN_IF_ERROR(step.printWatched(WatchFormat::Table, run, table));
  const std::pair<WatchFormat, const std::string *> files[] = {
      {WatchFormat::Json, &outputs.jsonPath},
      {WatchFormat::Page, &outputs.pagePath}};
  for (const auto &[format, path] : files) {
    std::string text;
    if (path->empty())
      continue;
    AMP_RETURN_IF_ERROR(step.printWatched(format, title, &text));
    AMP_RETURN_IF_ERROR(writeFile(*path, text));
  }
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_STEP_H

//===- Session.cpp - The state of one training run ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Session.h"

#include "amp/Execution/Files.h"
#include "amp/Runtime/CUDA/StateRecord.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

llvm::Error Session::initialize(uint64_t seed, const ArrayMap *weights,
                                llvm::StringRef path) {
  states = ArrayMap();
  progress = Progress();
  progress.position.seed = seed;
  if (weights) {
    for (const StateSpec &spec : program.getStates()) {
      const NDArray *array =
          spec.isWeight ? weights->lookup(spec.name) : nullptr;
      if (!array)
        continue;
      bool converts = array->getType() == spec.type ||
                      (isFloat(array->getType()) && isFloat(spec.type));
      if (array->getShape() != llvm::ArrayRef<int64_t>(spec.shape) || !converts)
        return makeError("array '{0}' in '{1}' is {2}, expected {3}", spec.name,
                         path, array->describe(),
                         describeShape(spec.shape, spec.type));
      states.set(spec.name, array->getType() == spec.type
                                ? array->clone()
                                : array->castFloat(spec.type));
    }
    if (states.size() == 0)
      return makeError("'{0}' has no array for any parameter of the step",
                       path);
  }
  return initializeStates(program.getStates(), seed, states);
}

llvm::Error Session::setHyperparameters(
    llvm::ArrayRef<std::pair<std::string, double>> overrides) {
  std::vector<std::string> known;
  for (const StepArgument &argument : program.getSignature().arguments) {
    if (argument.role != Role::Hyperparameter)
      continue;
    known.push_back(argument.name.str());
    std::optional<double> value;
    if (InitAttr init = argument.init) {
      if (init.getKind() == InitKind::Constant)
        value = init.getValue().getValueAsDouble();
      else if (init.getKind() == InitKind::Ones)
        value = 1.0;
      else if (init.getKind() == InitKind::Zeros)
        value = 0.0;
    }
    for (const auto &[name, override] : overrides)
      if (name == argument.name)
        value = override;
    if (!value)
      return makeError("hyperparameter '{0}' has no value: give it a constant "
                       "'amp.init' or --set {0}=<number>",
                       argument.name);
    NDArray array(*getElementType(argument.type.getElementType()),
                  argument.type.getShape());
    for (int64_t i = 0, e = array.getNumElements(); i < e; ++i)
      array.setDouble(i, *value);
    hyperparameters.set(argument.name, std::move(array));
  }
  for (const auto &[name, value] : overrides)
    if (!llvm::is_contained(known, name))
      return makeError("there is no hyperparameter '{0}'; the step has {1}",
                       name, known.empty() ? "none" : llvm::join(known, ", "));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Saving and resuming
//===----------------------------------------------------------------------===//

using ::amp::cuda::kProgressMember;
using ::amp::cuda::kScalerMember;
using ::amp::cuda::ProgressField;
namespace statefile = ::amp::cuda;

/// What a state must have been saved by; lives no longer than `program`.
static statefile::StateIdentity getIdentity(const StepProgram &program) {
  statefile::StateIdentity identity;
  identity.precision = program.getPrecision().data();
  identity.fingerprint = program.getFingerprint();
  identity.scaler = program.getScalerRules().data();
  return identity;
}

static bool isScalerRecord(const NDArray &array) {
  return array.getType() == ElementType::U8 && array.getShape().size() == 1 &&
         array.getShape().front() <= statefile::kMostScalerBytes;
}

/// The error of a message, if it is not empty.
static llvm::Error makeStateError(const std::string &message) {
  return message.empty() ? llvm::Error::success() : makeError("{0}", message);
}

llvm::Error Session::save(llvm::StringRef path) const {
  ArrayMap file;
  for (const auto &[name, array] : states)
    file.set(name, array.clone());
  const int64_t precision =
      statefile::findPrecision(program.getPrecision().str());
  assert(precision >= 0 && "a precision has a number");
  NDArray fields(ElementType::I64, {ProgressField::NumFields});
  fields.setInt(ProgressField::Version, statefile::kProgressVersion);
  fields.setInt(ProgressField::Step, progress.step);
  fields.setInt(ProgressField::Seed, int64_t(progress.position.seed));
  fields.setInt(ProgressField::Epoch, progress.position.epoch);
  fields.setInt(ProgressField::Offset, progress.position.offset);
  fields.setInt(ProgressField::Samples, progress.numSamples);
  fields.setInt(ProgressField::BatchSize, progress.batchSize);
  fields.setInt(ProgressField::Precision, precision);
  fields.setInt(ProgressField::Fingerprint, int64_t(program.getFingerprint()));
  file.set(kProgressMember, std::move(fields));
  llvm::StringRef rules = program.getScalerRules();
  NDArray text(ElementType::U8, {static_cast<int64_t>(rules.size())});
  llvm::copy(rules.bytes(), text.as<uint8_t>().begin());
  file.set(kScalerMember, std::move(text));
  return writeNpz(path, file);
}

llvm::Error Session::load(llvm::StringRef path, bool otherScaler) {
  // What does not fit is an error, for which its header is enough.
  auto wants = [&](llvm::StringRef name, const NDArray &header) {
    return name == kProgressMember
               ? header.getShape() ==
                     llvm::ArrayRef<int64_t>({ProgressField::NumFields})
           : name == kScalerMember
               ? isScalerRecord(header)
               : llvm::any_of(program.getStates(), [&](const StateSpec &spec) {
                   return spec.name == name && spec.type == header.getType() &&
                          header.getShape() ==
                              llvm::ArrayRef<int64_t>(spec.shape);
                 });
  };
  llvm::Expected<ArrayMap> file = readArrays(path, wants);
  if (!file)
    return file.takeError();
  const statefile::StateCheck check(path.str(), getIdentity(program));
  const NDArray *member = file->lookup(kProgressMember);
  if (!member || member->getType() != ElementType::I64 ||
      member->getShape() !=
          llvm::ArrayRef<int64_t>({ProgressField::NumFields}) ||
      member->getInt(ProgressField::Version) != statefile::kProgressVersion)
    return makeStateError(check.getNoState());
  const int64_t *fields = member->as<int64_t>().data();
  const NDArray *scaler = file->lookup(kScalerMember);
  std::string rules;
  // What is wrong with the run comes first.
  if (scaler && isScalerRecord(*scaler)) {
    auto text = scaler->as<uint8_t>();
    rules.assign(text.begin(), text.end());
  }
  if (llvm::Error error = makeStateError(check.checkRun(
          fields, scaler && isScalerRecord(*scaler) ? &rules : nullptr,
          otherScaler)))
    return error;
  if (scaler && !isScalerRecord(*scaler))
    return makeStateError(check.getDamaged(kScalerMember));

  llvm::ArrayRef<StateSpec> specs = program.getStates();
  for (const StateSpec &spec : specs) {
    const NDArray *array = file->lookup(spec.name);
    if (!array)
      return makeError("'{0}' was saved from another graph: it has no state "
                       "'{1}'",
                       path, spec.name);
    if (array->getType() != spec.type ||
        array->getShape() != llvm::ArrayRef<int64_t>(spec.shape))
      return makeError("'{0}' was saved from another graph: state '{1}' is "
                       "{2}, expected {3}",
                       path, spec.name, array->describe(),
                       describeShape(spec.shape, spec.type));
    for (int64_t i = 0, e = array->getNumElements(); spec.isLossScale && i != e;
         ++i)
      if (double scale = array->getDouble(i); !(scale > 0) || std::isinf(scale))
        return makeError("'{0}' has the loss scale '{1}' = {2}, expected a "
                         "positive finite number",
                         path, spec.name,
                         llvm::formatv("{0}", llvm::format("%g", scale)).str());
  }
  for (const auto &[name, array] : *file)
    if (name != kProgressMember && name != kScalerMember &&
        llvm::none_of(specs, [&, &name = name](const StateSpec &spec) {
          return spec.name == llvm::StringRef(name);
        }))
      return makeError("'{0}' was saved from another graph: this step has no "
                       "state '{1}'",
                       path, name);
  if (llvm::Error error = makeStateError(check.checkGraph(fields)))
    return error;

  progress.step = fields[ProgressField::Step];
  progress.position.seed = uint64_t(fields[ProgressField::Seed]);
  progress.position.epoch = fields[ProgressField::Epoch];
  progress.position.offset = fields[ProgressField::Offset];
  progress.numSamples = fields[ProgressField::Samples];
  progress.batchSize = fields[ProgressField::BatchSize];
  states = ArrayMap();
  for (const StateSpec &spec : specs)
    states.set(spec.name, std::move(*file->lookup(spec.name)));
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Session::Buffers &Session::getBuffers(const BoundStep &step) {
  auto [it, added] = buffers.try_emplace(&step);
  if (added)
    for (const Binding &binding : step.bindings)
      it->second.push_back(
          binding.kind == Binding::Kind::State ||
                  binding.kind == Binding::Kind::Hyperparameter
              ? NDArray()
              : NDArray(binding.type.type, binding.type.shape));
  return it->second;
}

llvm::Expected<llvm::SmallVector<NDArray *>>
Session::bind(const BoundStep &step, Buffers &buffers) {
  llvm::SmallVector<NDArray *> arrays;
  for (auto [binding, buffer] : llvm::zip_equal(step.bindings, buffers)) {
    NDArray *array = &buffer;
    if (binding.kind == Binding::Kind::State)
      array = states.lookup(binding.name);
    else if (binding.kind == Binding::Kind::Hyperparameter)
      array = hyperparameters.lookup(binding.name);
    if (!array)
      return makeError("'{0}' has no value", binding.name);
    arrays.push_back(array);
  }
  return arrays;
}

/// Copies the samples `rows` into the batch buffers of `step`. `data` was
/// selected by the step's batch arguments in order.
static void gatherBatch(const BoundStep &step, const Dataset &data,
                        llvm::ArrayRef<int64_t> rows,
                        llvm::MutableArrayRef<NDArray> buffers) {
  size_t input = 0;
  for (auto [binding, buffer] : llvm::zip_equal(step.bindings, buffers))
    if (binding.kind == Binding::Kind::Batch)
      data.gather(input++, rows, buffer);
}

llvm::Expected<std::vector<double>>
Session::train(const Dataset &data, llvm::ArrayRef<int64_t> rows) {
  llvm::Expected<BoundStep *> step = program.getTraining(rows.size());
  if (!step)
    return step.takeError();
  Buffers &buffers = getBuffers(**step);
  llvm::Expected<llvm::SmallVector<NDArray *>> arrays = bind(**step, buffers);
  if (!arrays)
    return arrays.takeError();
  gatherBatch(**step, data, rows, buffers);

  auto start = std::chrono::steady_clock::now();
  if (llvm::Error error = (*step)->code->run(*arrays))
    return error;
  stepSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  lastStep = *step;
  ++progress.step;
  std::vector<double> values;
  for (auto [binding, buffer] : llvm::zip_equal((*step)->bindings, buffers))
    if (binding.kind == Binding::Kind::Metric)
      values.push_back(buffer.getDouble(0));
  return values;
}

std::vector<std::string> Session::getMetricNames() const {
  std::vector<std::string> names;
  for (const StepResult &result : program.getSignature().results)
    if (result.kind == ResultKind::Metric)
      names.push_back(result.name.str());
  return names;
}

const NDArray *Session::getTrainingPrediction(llvm::StringRef name) const {
  auto it = buffers.find(lastStep);
  if (it == buffers.end())
    return nullptr;
  for (auto [binding, buffer] : llvm::zip_equal(lastStep->bindings, it->second))
    if (binding.kind == Binding::Kind::Prediction && binding.name == name)
      return &buffer;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Predictions and their evaluation
//===----------------------------------------------------------------------===//

/// The largest batch of the forward function when the graph does not fix it.
static constexpr int64_t kForwardBatch = 512;

llvm::Expected<ArrayMap> Session::predict(const DataSource &source) {
  // Which inputs the forward function reads is known once it is there.
  int64_t batch = program.getStaticBatch().value_or(kForwardBatch);
  llvm::Expected<llvm::SmallVector<BatchInput>> inputs =
      program.getForwardInputs();
  if (!inputs)
    return inputs.takeError();
  llvm::Expected<Dataset> data = source.select(*inputs);
  if (!data)
    return data.takeError();
  if (!program.getStaticBatch())
    batch = std::min(batch, data->size());
  llvm::Expected<BoundStep *> step = program.getForward(batch);
  if (!step)
    return step.takeError();
  Buffers &buffers = getBuffers(**step);
  llvm::Expected<llvm::SmallVector<NDArray *>> arrays = bind(**step, buffers);
  if (!arrays)
    return arrays.takeError();

  ArrayMap predictions;
  for (const Binding &binding : (*step)->bindings) {
    if (binding.kind != Binding::Kind::Prediction)
      continue;
    llvm::SmallVector<int64_t, 4> shape = binding.type.shape;
    shape.front() = data->size();
    predictions.set(binding.name, NDArray(binding.type.type, shape));
  }
  llvm::SmallVector<int64_t> rows(batch);
  for (int64_t begin = 0; begin < data->size(); begin += batch) {
    int64_t count = std::min(batch, data->size() - begin);
    std::iota(rows.begin(), rows.begin() + count, begin);
    std::fill(rows.begin() + count, rows.end(), begin + count - 1);
    gatherBatch(**step, *data, rows, buffers);
    if (llvm::Error error = (*step)->code->run(*arrays))
      return error;
    for (auto [binding, buffer] : llvm::zip_equal((*step)->bindings, buffers)) {
      if (binding.kind != Binding::Kind::Prediction)
        continue;
      NDArray &target = *predictions.lookup(binding.name);
      uint64_t rowBytes = buffer.getNumBytes() / batch;
      std::memcpy(static_cast<char *>(target.data()) + begin * rowBytes,
                  buffer.data(), count * rowBytes);
    }
  }
  return predictions;
}

/// Mean cross-entropy of `logits` with `labels`, and the share of rows whose
/// largest logit (the first of equals) is the label's.
static std::pair<double, double> judgeClasses(const NDArray &logits,
                                              const NDArray &labels) {
  int64_t rows = labels.getNumElements();
  int64_t classes = logits.getShape().back();
  double loss = 0.0;
  int64_t correct = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t best = 0;
    double largest = logits.getDouble(row * classes);
    for (int64_t i = 1; i < classes; ++i) {
      double value = logits.getDouble(row * classes + i);
      // A NaN is never the largest, and does not hide what follows it.
      if (value > largest || std::isnan(largest)) {
        largest = value;
        best = i;
      }
    }
    double sum = 0.0;
    for (int64_t i = 0; i < classes; ++i)
      sum += std::exp(logits.getDouble(row * classes + i) - largest);
    int64_t label = labels.getInt(row);
    loss += std::log(sum) + largest - logits.getDouble(row * classes + label);
    correct += best == label && !std::isnan(largest);
  }
  return {loss / double(rows), double(correct) / double(rows)};
}

static double judgeRegression(EvaluationRule::Kind kind, const NDArray &output,
                              const NDArray &target) {
  double sum = 0.0;
  int64_t count = output.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    double difference = output.getDouble(i) - target.getDouble(i);
    sum += kind == EvaluationRule::Kind::MSE ? difference * difference
                                             : std::abs(difference);
  }
  return sum / double(count);
}

llvm::Expected<std::vector<std::pair<std::string, double>>>
Session::evaluate(const DataSource &source, const ArrayMap &predictions) {
  llvm::ArrayRef<EvaluationRule> rules = program.getEvaluationRules();
  std::vector<std::pair<std::string, double>> results;
  for (const EvaluationRule &rule : rules) {
    const NDArray *output = predictions.lookup(rule.prediction);
    auto input =
        llvm::find_if(program.getBatchInputs(), [&](const BatchInput &input) {
          return input.name == rule.target;
        });
    llvm::Expected<Dataset> data = source.select(*input);
    if (!data)
      return data.takeError();
    const NDArray &target = data->getArray(0);
    if (!output || output->getShape().front() != data->size())
      return makeError("prediction '{0}' does not fit '{1}'", rule.prediction,
                       rule.target);
    std::string suffix = rules.size() > 1 ? " of " + rule.prediction : "";
    if (rule.kind == EvaluationRule::Kind::CrossEntropy) {
      auto [loss, accuracy] = judgeClasses(*output, target);
      results.emplace_back("loss" + suffix, loss);
      results.emplace_back("accuracy" + suffix, accuracy);
    } else {
      results.emplace_back("loss" + suffix,
                           judgeRegression(rule.kind, *output, target));
    }
  }
  return results;
}

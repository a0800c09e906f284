//===- Session.cpp - The state of one training run ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Session.h"

#include "amp/Execution/Files.h"
#include "amp/Execution/ScalerRules.h"
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

/// The member with the progress, one integer for each of `ProgressField`.
static constexpr llvm::StringLiteral kProgressMember = "__amp_progress__";
static constexpr int64_t kProgressVersion = 2;

namespace {
enum ProgressField {
  Version,
  Step,
  Seed,
  Epoch,
  Offset,
  NumSamples,
  BatchSize,
  Precision,
  Fingerprint,
  NumFields
};
} // namespace

/// The precisions by their number in files, which never changes.
static constexpr llvm::StringLiteral kPrecisions[] = {"", "f32", "fp16",
                                                      "bf16"};

static std::string describePrecision(int64_t number) {
  if (number == 0)
    return "as written, without --precision";
  return ("with --precision " + kPrecisions[number]).str();
}

static int64_t getPrecisionNumber(const StepProgram &program) {
  const auto *it = llvm::find(kPrecisions, program.getPrecision());
  assert(it != std::end(kPrecisions) && "a precision has a number");
  return it - std::begin(kPrecisions);
}

/// The rules of loss scaling, as text.
static constexpr llvm::StringLiteral kScalerMember = "__amp_scaler__";

static bool isScalerRecord(const NDArray &array) {
  return array.getType() == ElementType::U8 && array.getShape().size() == 1 &&
         array.getShape().front() <= 1 << 16;
}

/// Whether the fields are those of a run that can have happened.
static bool isSound(const NDArray &record) {
  auto field = [&](ProgressField number) { return record.getInt(number); };
  // Far beyond any run, and far from overflow.
  constexpr int64_t kMaxSteps = int64_t(1) << 48;
  bool trained = field(NumSamples) != 0;
  return field(Step) >= 0 && field(Step) <= kMaxSteps && field(Epoch) >= 0 &&
         field(Epoch) <= field(Step) && field(NumSamples) >= 0 &&
         field(Offset) >= 0 && field(Offset) <= field(NumSamples) &&
         (trained ? field(BatchSize) > 0 : field(BatchSize) == 0) &&
         (trained || field(Step) == 0) && field(Precision) >= 0 &&
         field(Precision) < int64_t(std::size(kPrecisions));
}

llvm::Error Session::save(llvm::StringRef path) const {
  ArrayMap file;
  for (const auto &[name, array] : states)
    file.set(name, array.clone());
  NDArray record(ElementType::I64, {NumFields});
  record.setInt(Version, kProgressVersion);
  record.setInt(Step, progress.step);
  record.setInt(Seed, int64_t(progress.position.seed));
  record.setInt(Epoch, progress.position.epoch);
  record.setInt(Offset, progress.position.offset);
  record.setInt(NumSamples, progress.numSamples);
  record.setInt(BatchSize, progress.batchSize);
  record.setInt(Precision, getPrecisionNumber(program));
  record.setInt(Fingerprint, int64_t(program.getFingerprint()));
  file.set(kProgressMember, std::move(record));
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
               ? header.getShape() == llvm::ArrayRef<int64_t>({NumFields})
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
  const NDArray *record = file->lookup(kProgressMember);
  if (!record || record->getType() != ElementType::I64 ||
      record->getShape() != llvm::ArrayRef<int64_t>({NumFields}) ||
      record->getInt(Version) != kProgressVersion)
    return makeError("'{0}' is not a saved training state: it has no member "
                     "'{1}' of version {2}; use --init for weights alone",
                     path, kProgressMember, kProgressVersion);
  if (!isSound(*record))
    return makeError("'{0}' has a damaged member '{1}'", path, kProgressMember);
  if (int64_t saved = record->getInt(Precision);
      saved != getPrecisionNumber(program))
    return makeError("'{0}' was saved by a run {1}, but this one is {2}; use "
                     "--init for weights alone",
                     path, describePrecision(saved),
                     describePrecision(getPrecisionNumber(program)));
  // States saved before there were rules in them have none.
  const NDArray *scaler = file->lookup(kScalerMember);
  if (scaler && !isScalerRecord(*scaler))
    return makeError("'{0}' has a damaged member '{1}'", path, kScalerMember);
  if (scaler && !otherScaler) {
    auto text = scaler->as<uint8_t>();
    auto [saved, current] = compareScalerRules(
        llvm::StringRef(reinterpret_cast<const char *>(text.data()),
                        text.size()),
        program.getScalerRules());
    if (!saved.empty())
      return makeError("'{0}' was saved by a run whose loss scaling has {1}, "
                       "but that of this one has {2}; expected the same, or "
                       "--other-scaler to go on with these rules",
                       path, saved, current);
  }

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
  if (uint64_t(record->getInt(Fingerprint)) != program.getFingerprint())
    return makeError("'{0}' was saved from another graph: its state is that of "
                     "this step, but not its operations; use --init for "
                     "weights alone",
                     path);

  progress.step = record->getInt(Step);
  progress.position.seed = uint64_t(record->getInt(Seed));
  progress.position.epoch = record->getInt(Epoch);
  progress.position.offset = record->getInt(Offset);
  progress.numSamples = record->getInt(NumSamples);
  progress.batchSize = record->getInt(BatchSize);
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

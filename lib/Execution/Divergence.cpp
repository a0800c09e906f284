//===- Divergence.cpp - Where a low precision departs from f32 ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Divergence.h"

#include "amp/Runtime/Host/RunRecord.h"
#include "amp/Runtime/Host/Trainer.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

static double getRootMeanSquare(llvm::ArrayRef<double> numbers) {
  double sum = 0;
  for (double number : numbers)
    sum += number * number;
  return numbers.empty() ? 0.0 : std::sqrt(sum / double(numbers.size()));
}

double DivergedValue::getError() const { return getRootMeanSquare(errors); }

/// An infinite error of an operand explains any error.
static double subtract(double error, double inherited) {
  if (!std::isfinite(inherited))
    return 0.0;
  return std::sqrt(std::max(0.0, error * error - inherited * inherited));
}

double DivergedValue::getAdded() const {
  std::vector<double> added;
  for (auto [error, from] : llvm::zip_equal(errors, inherited))
    added.push_back(subtract(error, from));
  return getRootMeanSquare(added);
}

double DivergedLayer::getAdded() const { return getRootMeanSquare(added); }
double DivergedLayer::getError() const { return getRootMeanSquare(errors); }

//===----------------------------------------------------------------------===//
// Divergence
//===----------------------------------------------------------------------===//

host::Status Divergence::beforeTraining(JITStep &step) {
  step.setProgram(low);
  reference = std::make_unique<JITStep>(wide);
  host::ArrayMap start;
  AMP_RETURN_IF_ERROR(copyValues(step, &start));
  for (auto [index, tensor] : llvm::enumerate(reference->getTensors())) {
    if (tensor.role > host::Role::Hyperparameter)
      continue;
    const host::Array *value = start.lookup(tensor.name);
    if (!value || !value->castsTo(tensor.type))
      return host::makeError(host::kInvalidArgument,
                             "the run has no value for '%s' in f32",
                             tensor.name.c_str());
    AMP_RETURN_IF_ERROR(reference->write(index, value->castFloat(tensor.type)));
  }
  wideRecords = describeWatchedValues(wide.getFunction());
  RecordMatcher matcher(wideRecords);
  std::vector<WatchedRecord> records = describeWatchedValues(low.getFunction());
  values.clear();
  matches.clear();
  steps.clear();
  losses.clear();
  for (auto [number, record] : llvm::enumerate(records)) {
    const WatchedRecord *match = matcher.find(records, number);
    // A cast has the counterpart of its operand.
    if (!match && record.operands.size() == 1)
      match = matches[record.operands.front()];
    matches.push_back(match);
    values.push_back({record, {}, {}});
  }
  readScales(step);
  return host::Status();
}

/// The factors that gradients of the next step may have.
void Divergence::readScales(JITStep &step) {
  scales = {1.0};
  for (const host::TensorInfo &tensor : step.getTensors())
    if (tensor.role == host::Role::ScalerState &&
        llvm::StringRef(tensor.name).starts_with(host::kLossScaleState))
      scales.push_back(step.getValue(tensor.name)->getDouble(0));
}

/// The relative error of `low` / `scale`.
static double getError(const host::Array &low, const host::Array &wide,
                       double scale) {
  double difference = 0, norm = 0;
  for (int64_t i = 0, e = wide.getNumElements(); i < e; ++i) {
    double expected = wide.getDouble(i);
    double distance = low.getDouble(i) / scale - expected;
    difference += distance * distance;
    norm += expected * expected;
  }
  if (difference == 0)
    return 0.0;
  double error = std::sqrt(difference / norm);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

host::Status Divergence::afterStep(JITStep &step) {
  host::ArrayMap batches;
  AMP_RETURN_IF_ERROR(copyBatches(step, &batches));
  AMP_RETURN_IF_ERROR(runOn(*reference, batches));
  steps.push_back(step.progress.step);
  for (auto [value, match] : llvm::zip_equal(values, matches)) {
    const host::Array *mine = step.getPrediction(value.record.prediction);
    const host::Array *other =
        match ? reference->getPrediction(match->prediction) : nullptr;
    double least = std::numeric_limits<double>::infinity();
    if (mine && other && mine->getShape() == other->getShape())
      for (double scale : scales)
        least = std::min(least, getError(*mine, *other, scale));
    // Operands come first. A value without a counterpart passes errors on.
    double inherited = 0;
    for (unsigned operand : value.record.operands)
      inherited = std::max(inherited, values[operand].errors.back());
    value.errors.push_back(other ? least : inherited);
    value.inherited.push_back(inherited);
  }
  readScales(step);
  std::vector<double> mine, other;
  AMP_RETURN_IF_ERROR(step.readMetrics(&mine));
  AMP_RETURN_IF_ERROR(reference->readMetrics(&other));
  std::vector<std::string> names = reference->getMetricNames();
  auto find = [](const std::vector<std::string> &names,
                 const std::vector<double> &numbers) {
    auto it = llvm::find(names, "loss");
    return it == names.end() ? std::nan("") : numbers[it - names.begin()];
  };
  if (llvm::is_contained(names, "loss"))
    losses.emplace_back(find(names, other), find(step.getMetricNames(), mine));
  return host::Status();
}

llvm::SmallVector<const DivergedValue *> Divergence::rank() const {
  llvm::SmallVector<const DivergedValue *> order;
  // Arguments have the errors of earlier steps.
  for (auto [value, match] : llvm::zip_equal(values, matches))
    if (match && value.record.op != "argument")
      order.push_back(&value);
  llvm::stable_sort(order, [](const auto *left, const auto *right) {
    return left->getAdded() > right->getAdded();
  });
  return order;
}

std::vector<DivergedLayer> Divergence::getLayers() const {
  llvm::MapVector<llvm::StringRef, DivergedLayer> layers;
  for (const DivergedValue *value : rank()) {
    const WatchedRecord &record = value->record;
    llvm::StringRef name = record.scope.empty() ? record.place : record.scope;
    DivergedLayer &layer = layers[name];
    layer.name = name.str();
    layer.added.resize(steps.size());
    layer.errors.resize(steps.size());
    for (size_t step = 0; step < steps.size(); ++step) {
      layer.added[step] =
          std::hypot(layer.added[step],
                     subtract(value->errors[step], value->inherited[step]));
      layer.errors[step] = std::max(layer.errors[step], value->errors[step]);
    }
  }
  std::vector<DivergedLayer> order;
  for (auto &entry : layers)
    order.push_back(std::move(entry.second));
  llvm::stable_sort(order, [](const auto &left, const auto &right) {
    return left.getAdded() > right.getAdded();
  });
  return order;
}

void Divergence::printTable(llvm::StringRef run, llvm::raw_ostream &os) const {
  constexpr size_t kMostLines = 12;
  llvm::SmallVector<const DivergedValue *> order = rank();
  os << "errors against f32 in " << steps.size() << " steps, " << run << ":\n";
  if (!losses.empty())
    os << "loss of the last step: f32 "
       << host::formatNumber(losses.back().first) << ", low "
       << host::formatNumber(losses.back().second) << '\n';
  auto first = llvm::find_if(
      losses, [](const auto &loss) { return !std::isfinite(loss.first); });
  if (first != losses.end())
    os << "the loss in f32 is not finite from step "
       << steps[first - losses.begin()]
       << "; see --precision=f32 --explain for the operation that fails\n";
  os << "    added      error  part      type  value\n";
  for (const DivergedValue *value :
       llvm::ArrayRef(order).take_front(kMostLines))
    os << llvm::right_justify(host::formatNumber(value->getAdded(), 3), 9)
       << "  "
       << llvm::right_justify(host::formatNumber(value->getError(), 3), 9)
       << "  " << llvm::left_justify(value->record.part, 10)
       << llvm::left_justify(value->record.type, 6) << value->record.name
       << '\n';
  const std::vector<DivergedLayer> layers = getLayers();
  os << "    added      error  last step  layer\n";
  for (const DivergedLayer &layer :
       llvm::ArrayRef(layers).take_front(kMostLines)) {
    for (auto [number, width] :
         {std::pair(layer.getAdded(), 9), std::pair(layer.getError(), 11),
          std::pair(layer.errors.empty() ? 0.0 : layer.errors.back(), 11)})
      os << llvm::right_justify(host::formatNumber(number, 3), width);
    os << "  " << layer.name << '\n';
  }
}

void Divergence::writeJSON(llvm::StringRef title, llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, 1);
  // JSON has no infinity.
  auto number = [](double value) -> llvm::json::Value {
    if (std::isfinite(value))
      return value;
    return host::formatNumber(value);
  };
  auto list = [&](llvm::StringRef key, llvm::ArrayRef<double> numbers) {
    json.attributeArray(key, [&] {
      for (double value : numbers)
        json.value(number(value));
    });
  };
  json.object([&] {
    json.attribute("version", 1);
    writeNonEmpty(json, "model", title);
    json.attributeArray("steps", [&] {
      for (int64_t step : steps)
        json.value(step);
    });
    json.attributeArray("losses", [&] {
      for (auto [wide, low] : losses)
        json.value(llvm::json::Array{number(wide), number(low)});
    });
    json.attributeArray("values", [&] {
      for (const DivergedValue *value : rank())
        json.object([&] {
          writeWatchedPlace(json, value->record);
          writeNonEmpty(json, "type", value->record.type);
          json.attribute("number", value - values.data());
          json.attribute("added", number(value->getAdded()));
          json.attribute("error", number(value->getError()));
          list("errors", value->errors);
          list("inherited", value->inherited);
        });
    });
    json.attributeArray("layers", [&] {
      for (const DivergedLayer &layer : getLayers())
        json.object([&] {
          json.attribute("name", llvm::json::fixUTF8(layer.name));
          json.attribute("added", number(layer.getAdded()));
          json.attribute("error", number(layer.getError()));
          list("addedBySteps", layer.added);
          list("errors", layer.errors);
        });
    });
  });
  os << '\n';
}

//===- Calibration.cpp - Ranges of all values of a run --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Calibration.h"

#include "amp/Analysis/StepIdentity.h"
#include "amp/Execution/Errors.h"
#include "amp/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// The margin and the tolerance that the advice uses: the defaults of
/// `auto-mixed-precision`.
static constexpr double kMargin = 2, kTolerance = 0.01;

llvm::Expected<std::unique_ptr<Calibration>>
Calibration::create(ModuleOp module, const ProgramOptions &options,
                    StepProgram &plain) {
  if (!plain.getScalerRules().empty())
    return makeError("--calibrate measures values in f32, but function '{0}' "
                     "scales its loss; expected the step before it was "
                     "rewritten to mixed precision",
                     plain.getFunction().getName());
  std::unique_ptr<Calibration> result(new Calibration());
  result->watched = module.clone();
  llvm::StringRef entry = plain.getFunction().getName();
  eraseOtherSteps(*result->watched, entry);
  PassManager manager(module.getContext());
  buildCalibrationPipeline(manager);
  if (failed(manager.run(*result->watched)))
    return llvm::make_error<DiagnosedError>();
  result->described = describeWatchedValues(cast<FunctionOpInterface>(
      SymbolTable::lookupSymbolIn(*result->watched, entry)));
  auto made = StepProgram::create(*result->watched, options);
  if (!made)
    return made.takeError();
  result->program = std::move(*made);
  return result;
}

host::Status Calibration::beforeTraining(JITStep &step) {
  step.setWatched(*program, described);
  return step.watch(/*every=*/1);
}

host::Status Calibration::afterTraining(JITStep &step) {
  report = *step.getWatchReport();
  AMP_RETURN_IF_ERROR(step.watch(0));
  ranges.clear();
  for (const WatchedRecord &record : report->getRecords()) {
    MeasuredRange &range = ranges.emplace_back();
    range.name = record.name;
    range.part = record.part;
    range.scope = record.scope;
    range.isParameterGradient = !record.gradientOf.empty();
    range.statistics = record.total;
  }
  return host::Status();
}

host::TrainerHooks Calibration::getHooks() {
  host::TrainerHooks hooks;
  hooks.beforeTraining = [this](host::Step &step) {
    return beforeTraining(static_cast<JITStep &>(step));
  };
  hooks.afterTraining = [this](host::Step &step, const host::RunRecord &) {
    return afterTraining(static_cast<JITStep &>(step));
  };
  return hooks;
}

host::Status Calibration::check() const {
  if (report->getSteps().empty())
    return host::makeError(host::kInvalidArgument,
                           "no step was measured, expected --steps or --epochs "
                           "of at least 1");
  for (auto [index, step] : llvm::enumerate(report->getSteps()))
    for (const WatchedRecord &record : report->getRecords())
      if (int64_t count = record.series[index][host::kNaNs])
        return host::makeError(
            host::kInvalidArgument,
            "in step %lld%s the value '%s' has %lld elements that are NaN, so "
            "its range is not known; expected finite data and a run in f32 "
            "that trains, see --precision=f32 --explain",
            (long long)step, report->getNumMerged() > 1 ? " or soon after" : "",
            record.name.c_str(), (long long)count);
  return host::Status();
}

/// Returns the slope of the least-squares line through `values`, per step.
static double getSlope(llvm::ArrayRef<double> values) {
  double n = double(values.size()), weighted = 0;
  for (auto [index, value] : llvm::enumerate(values))
    weighted += (double(index) - (n - 1) / 2) * value;
  double spread = n * (n * n - 1) / 12;
  return spread > 0 ? weighted / spread : 0;
}

CalibrationAdvice Calibration::advise() const {
  CalibrationAdvice advice;
  advice.lossScale =
      chooseLossScale(ranges, LowFormat::getF16(), kMargin, kTolerance);
  // The exponents of the largest gradient of each step.
  std::vector<double> exponents;
  for (size_t step = 0; step < report->getSteps().size(); ++step) {
    double largest = 0;
    for (auto [record, range] : llvm::zip(report->getRecords(), ranges)) {
      host::ValueStatistics one;
      llvm::copy(record.series[step], one.fields.begin());
      if (range.isScaled() && !range.isParameterGradient)
        largest = std::max(largest, one.getLargest());
    }
    if (largest > 0)
      exponents.push_back(std::log2(largest));
  }
  double slope = getSlope(exponents) / double(report->getNumMerged());
  // A slope over a few steps is noise.
  if (exponents.size() >= 5 && slope < 0) {
    advice.halvingSteps = -1 / slope;
    advice.growthInterval = int64_t(std::clamp(
        std::exp2(std::floor(std::log2(advice.halvingSteps))), 16.0, 2000.0));
  }
  return advice;
}

namespace {
/// The errors of the values of one layer in one type.
struct LayerLoss {
  double sum = 0, zeros = 0;
  int64_t overflows = 0, count = 0;

  void add(const RoundingLoss &loss) {
    sum += loss.error * loss.error;
    zeros = std::max(zeros, loss.zeroShare);
    overflows += loss.overflows;
    ++count;
  }
  double getError() const { return count ? std::sqrt(sum / double(count)) : 0; }
};

struct Layer {
  LayerLoss f16, bf16;

  /// bf16 has fewer bits. It is better only where f16 loses values.
  bool prefersBF16() const {
    return f16.overflows != 0 || f16.getError() > bf16.getError();
  }
};
} // namespace

/// Whether the low type may store the value of `record`. Updates, gradients of
/// parameters and states that are not parameters stay f32.
bool Calibration::mayBeLow(const WatchedRecord &record) const {
  if (record.part == "update" || !record.gradientOf.empty())
    return false;
  if (record.op != "argument")
    return true;
  for (const host::TensorInfo &tensor : program->getTensors())
    if (tensor.name == record.scope && (tensor.role == host::Role::Parameter ||
                                        tensor.role == host::Role::Batch))
      return true;
  return false;
}

void Calibration::printLayers(double scale, llvm::raw_ostream &os) const {
  constexpr size_t kMostLines = 12;
  llvm::MapVector<llvm::StringRef, Layer> layers;
  for (auto [record, range] : llvm::zip(report->getRecords(), ranges)) {
    if (!mayBeLow(record))
      continue;
    llvm::StringRef name = !record.scope.empty() ? record.scope : record.place;
    Layer &layer = layers[name];
    double factor = range.isScaled() ? scale : 1;
    layer.f16.add(
        measureLoss(range.statistics, LowFormat::getF16(), factor, kMargin));
    layer.bf16.add(
        measureLoss(range.statistics, LowFormat::getBF16(), 1, kMargin));
  }
  auto entries = layers.takeVector();
  llvm::stable_sort(entries, [](const auto &left, const auto &right) {
    auto key = [](const Layer &layer) {
      return std::make_pair(layer.f16.overflows != 0, layer.f16.getError());
    };
    return key(left.second) > key(right.second);
  });
  os << "error fp16  to zero  overflow  error bf16  better  layer\n";
  for (const auto &[name, layer] :
       llvm::ArrayRef(entries).take_front(kMostLines))
    os << llvm::format("%10.2g%8.2f%%%10d%12.2g  ", layer.f16.getError(),
                       100 * layer.f16.zeros, int(layer.f16.overflows),
                       layer.bf16.getError())
       << (layer.prefersBF16() ? "bf16    " : "fp16    ") << name << '\n';
  if (entries.size() > kMostLines)
    os << "and " << entries.size() - kMostLines << " more layers\n";
}

void Calibration::print(llvm::StringRef run, llvm::StringRef path,
                        llvm::raw_ostream &os) const {
  CalibrationAdvice advice = advise();
  os << "measured " << ranges.size() << " values in " << report->getNumSampled()
     << " steps, " << run << ", to " << path << '\n';
  int64_t beyond = 0, lost = 0;
  for (auto [record, range] : llvm::zip(report->getRecords(), ranges)) {
    if (!mayBeLow(record))
      continue;
    RoundingLoss loss =
        measureLoss(range.statistics, LowFormat::getF16(),
                    range.isScaled() ? advice.lossScale : 1, kMargin);
    beyond += loss.overflows;
    lost += !loss.overflows && loss.error > kTolerance;
  }
  os << "in fp16 with a loss scale of " << host::formatNumber(advice.lossScale)
     << ", " << beyond << " values leave the range and " << lost
     << llvm::format(" lose more than %g %% below it\n", 100 * kTolerance);
  printLayers(advice.lossScale, os);
  if (advice.halvingSteps > 0)
    os << llvm::format("the largest gradient halves in about %.0f steps\n",
                       advice.halvingSteps);
  os << "use them by --precision=fp16 --pipeline='ranges=" << path
     << " init-scale=" << host::formatNumber(advice.lossScale)
     << " growth-interval=" << advice.growthInterval << "'\n";
}

static void printLoss(host::JsonPrinter &json, const char *key,
                      const RoundingLoss &loss) {
  json.key(key);
  json.open('{');
  json.key("overflows");
  json.integer(loss.overflows ? "true" : "false");
  json.key("zeroShare");
  json.number(loss.zeroShare);
  json.key("error");
  json.number(loss.error);
  json.close('}');
}

std::string Calibration::printJSON(const std::string &title) const {
  CalibrationAdvice advice = advise();
  host::JsonPrinter json;
  auto addInteger = [&](const char *key, int64_t value) {
    json.key(key);
    json.integer(std::to_string(value));
  };
  json.open('{');
  json.key("format");
  json.string(kRangesFormat.str());
  addInteger("version", 1);
  json.key("model");
  json.string(title);
  addInteger("steps", report->getNumSampled());
  json.key("advice");
  json.open('{');
  json.key("lossScale");
  json.number(advice.lossScale);
  addInteger("growthInterval", advice.growthInterval);
  json.close('}');
  json.key("values");
  json.open('[');
  for (auto [record, range] : llvm::zip_equal(report->getRecords(), ranges)) {
    json.next();
    json.open('{');
    host::printWatchedRecord(json, record, /*low=*/"", /*hasSeries=*/false);
    printLoss(json, "fp16",
              measureLoss(range.statistics, LowFormat::getF16(),
                          range.isScaled() ? advice.lossScale : 1,
                          /*margin=*/1));
    printLoss(json, "bf16",
              measureLoss(range.statistics, LowFormat::getBF16(), /*scale=*/1,
                          /*margin=*/1));
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return json.text + "\n";
}

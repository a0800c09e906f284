//===- Explainer.cpp - The first bad value of a step ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Explainer.h"

#include "amp/Runtime/Host/Trainer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

/// Each explanation compiles and runs several variants of the step.
static constexpr size_t kMostExplanations = 3;

//===----------------------------------------------------------------------===//
// Observing the run
//===----------------------------------------------------------------------===//

static bool isFinite(const host::Array &array) {
  if (!host::isFloat(array.getType()))
    return true;
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i)
    if (!std::isfinite(array.getDouble(i)))
      return false;
  return true;
}

/// Returns the fault of the last step, or an empty text.
std::string Explainer::findEvent(JITStep &step) {
  std::vector<std::string> names = step.getMetricNames();
  std::vector<double> metrics;
  if (host::Status status = step.readMetrics(&metrics); !status.isOk())
    return "";
  for (auto [name, value] : llvm::zip_equal(names, metrics))
    if (name == host::kSkippedMetric && value != 0)
      return "the step was skipped";
  for (auto [name, value] : llvm::zip_equal(names, metrics))
    if (!std::isfinite(value))
      return "the metric '" + name + "' is " + host::formatNumber(value);
  for (const host::TensorInfo &tensor : step.getTensors())
    if (host::isState(tensor.role))
      if (const host::Array *value = step.getValue(tensor.name);
          value && !isFinite(*value))
        return "the state '" + tensor.name + "' is not finite";
  return "";
}

host::Status Explainer::beforeTraining(JITStep &step) {
  explanations.clear();
  numRepeated = numLeft = 0;
  return history.begin(step);
}

host::Status Explainer::afterStep(JITStep &step) {
  // The history of the last step stays until the next one.
  AMP_RETURN_IF_ERROR(history.add(step));
  if (std::string event = findEvent(step); !event.empty()) {
    if (explanations.size() < kMostExplanations)
      AMP_RETURN_IF_ERROR(explain(step, event));
    else
      ++numLeft;
  }
  return history.advance(step);
}

host::Status Explainer::afterTraining(JITStep &step) {
  return explanations.empty() ? explainLastStep(step) : host::Status();
}

void Explainer::print(llvm::StringRef run, llvm::raw_ostream &os) const {
  if (explanations.empty())
    os << "explain, " << run
       << ": no step was skipped, and no value was not finite\n";
  else
    os << "explain, " << run << ":\n";
  for (const Explanation &explanation : explanations)
    explanation.print(os);
  if (numRepeated)
    os << numRepeated << " more steps went wrong at the same operations\n";
  if (numLeft)
    os << numLeft << " more steps went wrong and are not explained\n";
}

//===----------------------------------------------------------------------===//
// The first bad value
//===----------------------------------------------------------------------===//

/// Computes the values before the last step and replays it.
host::Status Explainer::prepare(JITStep &step, Explanation &explanation,
                                ReplayedStep *run) {
  explanation.step = step.progress.step;
  // The restored values stay: variants of the step start from them.
  host::ArrayMap before, after;
  AMP_RETURN_IF_ERROR(history.restore(plain, &before));
  variants.setStep(std::move(before), history.getBatches());
  AMP_RETURN_IF_ERROR(variants.replayRun(run));
  AMP_RETURN_IF_ERROR(copyValues(step, &after));
  explanation.isExact = haveSameBits(after, run->after);
  explanation.scale = variants.getScale();
  return host::Status();
}

static bool isSameValue(const WatchedRecord &left, const WatchedRecord &right) {
  return left.position == right.position && left.name == right.name;
}

static std::vector<WatchedRecord>
getOperands(const WatchedRecord &record,
            llvm::ArrayRef<WatchedRecord> records) {
  std::vector<WatchedRecord> operands;
  for (unsigned number : record.operands)
    if (llvm::none_of(operands, [&](const WatchedRecord &other) {
          return isSameValue(other, records[number]);
        }))
      operands.push_back(records[number]);
  return operands;
}

/// Sets the culprit to `bad`, a value of `run`.
static void setCulprit(Explanation &explanation, BadValue bad,
                       const ReplayedStep &run) {
  explanation.culprit = *bad.record;
  explanation.inCast = bad.inCast;
  explanation.operands = getOperands(*bad.record, run.records);
}

/// Replays the step in f32 and finds the culprit there.
host::Status Explainer::addF32(Explanation &explanation,
                               const ReplayedStep &run) {
  llvm::StringRef precision = variants.getOptions().precision;
  if (precision.empty() || precision == "f32") {
    explanation.finiteInF32 = false;
    return host::Status();
  }
  ReplayedStep wide;
  AMP_RETURN_IF_ERROR(variants.replayIn("f32", &wide));
  explanation.finiteInF32 = !findFirstBad(wide.records).record;
  for (auto [number, record] : llvm::enumerate(run.records))
    if (isSameValue(record, explanation.getStepValue()))
      if (const WatchedRecord *same =
              RecordMatcher(wide.records).find(run.records, number))
        explanation.wide = *same;
  return host::Status();
}

/// The number of `record` among the values of its operation, from 1, or 0 if it
/// is the only one. The iterations of an unrolled loop have one place.
static int64_t getIteration(const WatchedRecord &record,
                            llvm::ArrayRef<WatchedRecord> records) {
  int64_t number = 0, count = 0;
  for (const WatchedRecord &other : records) {
    if (other.name != record.name || other.part != record.part)
      continue;
    ++count;
    if (&other == &record)
      number = count;
  }
  return count > 1 ? number : 0;
}

/// Looks for the operation within a composite culprit or a loop.
host::Status Explainer::addInner(Explanation &explanation) {
  if (explanation.inCast || explanation.culprit->op == "argument")
    return host::Status();
  ReplayedStep run;
  AMP_RETURN_IF_ERROR(variants.replayRun(&run, /*inside=*/true));
  BadValue bad = findFirstBad(run.records);
  const WatchedRecord culprit = *explanation.culprit;
  if (bad.record && culprit.hasRegions && bad.record->part == culprit.part &&
      !bad.record->hasRegions) {
    setCulprit(explanation, bad, run);
    explanation.loop = culprit;
    explanation.iteration = getIteration(*bad.record, run.records);
    return host::Status();
  }
  if (!bad.record || bad.record->place != culprit.place ||
      bad.record->scope != culprit.scope || bad.record->op == culprit.op)
    return host::Status();
  explanation.inner = *bad.record;
  explanation.operands = getOperands(*bad.record, run.records);
  return host::Status();
}

host::Status Explainer::explain(JITStep &step, const std::string &event) {
  Explanation explanation;
  explanation.event = event;
  ReplayedStep run;
  AMP_RETURN_IF_ERROR(prepare(step, explanation, &run));
  BadValue bad = findFirstBad(run.records);
  if (!bad.record) {
    explanations.push_back(std::move(explanation));
    return host::Status();
  }
  // A state that is not finite follows from a step that is explained.
  bool isConsequence = bad.record->op == "argument" && !bad.inCast &&
                       !explanations.empty() &&
                       !history.getBatches().contains(bad.record->scope);
  for (const Explanation &other : explanations)
    if (isConsequence ||
        (other.culprit && other.getStepValue().name == bad.record->name &&
         (other.inCast && !other.loop) == bad.inCast)) {
      ++numRepeated;
      return host::Status();
    }
  setCulprit(explanation, bad, run);
  AMP_RETURN_IF_ERROR(addF32(explanation, run));
  // Without the roundings the step is right, so the first of them matters.
  if (BadValue source = findBadSource(run.records);
      *explanation.finiteInF32 && source.record != bad.record) {
    setCulprit(explanation, source, run);
    AMP_RETURN_IF_ERROR(addF32(explanation, run));
  }
  AMP_RETURN_IF_ERROR(addInner(explanation));
  AMP_RETURN_IF_ERROR(findCause(explanation, run));
  explanations.push_back(std::move(explanation));
  return host::Status();
}

/// Explains an argument that was not finite before the step.
void Explainer::adviseOnArgument(Explanation &explanation) const {
  const std::string &name = explanation.culprit->scope;
  if (history.getBatches().contains(name)) {
    explanation.cause = Cause::Data;
    explanation.advice.push_back(
        {"check the array '" + name + "' of the data", "", "", false});
    return;
  }
  explanation.cause = Cause::State;
  const auto settings = variants.getHyperparameters();
  const bool isSetting = llvm::any_of(
      settings, [&](const auto &setting) { return setting.first == name; });
  explanation.advice.push_back(
      {isSetting ? "give the hyperparameter '" + name + "' a finite value"
                 : "start from other values of '" + name + "'",
       isSetting ? "--set=" + name + "=<number>" : "", "", false});
}

host::Status Explainer::findCause(Explanation &explanation,
                                  const ReplayedStep &run) {
  const WatchedRecord &culprit = *explanation.culprit;
  if (culprit.op == "argument" && !explanation.inCast) {
    adviseOnArgument(explanation);
    return host::Status();
  }
  if (*explanation.finiteInF32) {
    AMP_RETURN_IF_ERROR(adviseOnScale(explanation));
    if (explanation.cause == Cause::Unknown)
      AMP_RETURN_IF_ERROR(adviseOnPrecision(explanation));
  }
  if (explanation.cause == Cause::Unknown && culprit.part == "update")
    AMP_RETURN_IF_ERROR(adviseOnStep(explanation));
  if (explanation.cause == Cause::Unknown)
    adviseOnOperands(explanation, run.records);
  return host::Status();
}

//===----------------------------------------------------------------------===//
// The last step
//===----------------------------------------------------------------------===//

/// The share of the elements other than 0 in f32 that are 0 in `record`, or
/// after its cast.
static double getLostShare(const WatchedRecord &record,
                           const WatchedRecord &wide) {
  int64_t all = wide.total.getNonZero();
  int64_t lost =
      record.total.fields[host::kZeros] - wide.total.fields[host::kZeros];
  return all > 0 ? double(std::max<int64_t>(lost, 0)) / double(all) : 0.0;
}

/// The share of the elements that the cast of `record` rounds to 0.
static double getCastShare(const WatchedRecord &record) {
  int64_t all = record.total.getNonZero();
  return all > 0 ? double(record.total.fields[host::kUnderflows]) / double(all)
                 : 0.0;
}

/// From this share on, a value is lost. Smaller shares are noise.
static constexpr double kLostShare = 0.5;

/// The first value of `run` that is lost although it is not in `wide`.
static BadValue findFirstLost(const ReplayedStep &run,
                              const ReplayedStep &wide) {
  RecordMatcher matcher(wide.records);
  BadValue first;
  for (auto [number, record] : llvm::enumerate(run.records)) {
    const WatchedRecord *same = matcher.find(run.records, number);
    BadValue lost{&record, /*inCast=*/false};
    if (!same || getLostShare(record, *same) < kLostShare) {
      if (getCastShare(record) < kLostShare)
        continue;
      lost.inCast = true;
    }
    if (!first.record || lost.getPosition() < first.getPosition())
      first = lost;
  }
  return first;
}

host::Status Explainer::explainLastStep(JITStep &step) {
  if (history.isEmpty())
    return host::Status();
  Explanation explanation;
  ReplayedStep run, wide;
  AMP_RETURN_IF_ERROR(prepare(step, explanation, &run));
  // A quotient or a maximum can hide an infinity.
  if (findFirstBad(run.records).record)
    return explain(step, "a value is not finite, but the loss is");
  llvm::StringRef precision = variants.getOptions().precision;
  if (precision.empty() || precision == "f32")
    return host::Status();
  AMP_RETURN_IF_ERROR(variants.replayIn("f32", &wide));
  BadValue lost = findFirstLost(run, wide);
  if (!lost.record)
    return host::Status();
  explanation.event = "most elements of a value are zero, but not in f32";
  setCulprit(explanation, lost, run);
  AMP_RETURN_IF_ERROR(addF32(explanation, run));
  AMP_RETURN_IF_ERROR(adviseOnUnderflow(explanation));
  explanations.push_back(std::move(explanation));
  return host::Status();
}

host::Status Explainer::adviseOnUnderflow(Explanation &explanation) {
  explanation.cause = Cause::Underflow;
  // A cast of the module is in the f32 program too.
  if (explanation.inCast && explanation.wide &&
      getCastShare(*explanation.wide) >= kLostShare) {
    explanation.advice.push_back({"the module itself rounds this value to " +
                                      explanation.culprit->to +
                                      ": give it a wider type in the module",
                                  "", "", false});
    return host::Status();
  }
  double scale = explanation.scale.value_or(1.0);
  if (explanation.culprit->part != "forward") {
    for (int exponent = 4; exponent <= 16; exponent += 2) {
      double larger = std::ldexp(scale, exponent);
      ReplayedStep run, wide;
      AMP_RETURN_IF_ERROR(variants.replayWithScale(larger, &run));
      AMP_RETURN_IF_ERROR(variants.replayIn("f32", &wide));
      if (findFirstBad(run.records).record)
        break;
      if (findFirstLost(run, wide).record)
        continue;
      explanation.cause = Cause::SmallScale;
      explanation.advice.push_back(
          {"let the loss scale grow", "--loss-scale=dynamic", "", true});
      explanation.advice.push_back(
          {"take a larger loss scale",
           "--loss-scale=" + host::formatNumber(larger), "", true});
      break;
    }
  }
  return adviseOnPrecision(explanation);
}

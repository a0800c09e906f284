//===- Trainer.cpp - Runs training steps ----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Trainer.h"

#include "amp/Execution/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include <chrono>
#include <numeric>

using namespace mlir;
using namespace mlir::amp;

namespace {
/// The line on stderr that says how far a run is: rewritten in place on a
/// terminal, else printed about ten times.
class ProgressLine {
public:
  ProgressLine(llvm::StringRef label, int64_t steps, const RunRecord &record)
      : label(label), steps(steps), terminal(llvm::errs().is_displayed()) {
    for (llvm::StringRef name : {"loss", "accuracy"})
      if (std::optional<size_t> column = record.findMetric(name))
        shown.emplace_back(name, *column);
    if (std::optional<size_t> column = record.findMetric(kLossScaleMetric))
      shown.emplace_back("scale", *column);
  }

  ~ProgressLine() {
    if (terminal && printed)
      llvm::errs() << '\n';
  }

  void update(int64_t done, const StepRecord &step, int64_t skipped) {
    if (label.empty())
      return;
    auto now = std::chrono::steady_clock::now();
    bool due = terminal ? now - last > std::chrono::milliseconds(100)
                        : done % std::max<int64_t>(1, (steps + 9) / 10) == 0;
    if (!due && done != steps)
      return;
    last = now;
    printed = true;
    llvm::raw_ostream &os = llvm::errs();
    if (terminal)
      os << "\r\033[K";
    os << label << ": step " << done << '/' << steps << ", epoch "
       << step.epoch;
    for (auto [name, column] : shown)
      os << ", " << name << ' ' << llvm::format("%.5g", step.values[column]);
    if (skipped)
      os << ", " << skipped << " skipped";
    if (!terminal)
      os << '\n';
    os.flush();
  }

private:
  std::string label;
  int64_t steps;
  bool terminal;
  bool printed = false;
  llvm::SmallVector<std::pair<llvm::StringRef, size_t>> shown;
  std::chrono::steady_clock::time_point last;
};
} // namespace

llvm::Error mlir::amp::train(Session &session, const Dataset &data,
                             const TrainingPlan &plan, RunRecord &record) {
  if (plan.dropLast && data.size() < plan.batchSize)
    return makeError("the data set has {0} samples, fewer than one batch of "
                     "{1}",
                     data.size(), plan.batchSize);
  Progress &progress = session.getProgress();
  if (progress.numSamples && progress.numSamples != data.size())
    return makeError("the resumed run was trained on {0} samples, but this "
                     "data set has {1}",
                     progress.numSamples, data.size());
  progress.numSamples = data.size();
  progress.batchSize = plan.batchSize;
  BatchOrder order(data.size(), plan.batchSize, plan.dropLast,
                   progress.position);
  int64_t steps =
      plan.epochs ? *plan.epochs * order.getBatchesPerEpoch() : plan.steps;

  record.metrics = session.getMetricNames();
  std::optional<size_t> skipColumn = record.findMetric(kSkippedMetric);
  int64_t skipped = 0;
  std::vector<double> seconds;
  int64_t planned = 0, allocated = 0;
  bool isPlanned = true;
  ProgressLine line(plan.label, steps, record);
  for (int64_t done = 1; done <= steps; ++done) {
    llvm::Expected<std::vector<double>> values =
        session.train(data, order.next());
    if (!values)
      return values.takeError();
    progress.position = order.getPosition();
    seconds.push_back(session.getStepSeconds());
    const BoundStep &last = *session.getLastStep();
    isPlanned &= last.plannedBytes.has_value();
    planned = std::max(planned, last.plannedBytes.value_or(0));
    allocated = std::max(allocated, last.code->getPeakBytes());
    record.steps.push_back(
        {progress.step, progress.position.epoch, std::move(*values)});
    const StepRecord &step = record.steps.back();
    if (skipColumn && step.values[*skipColumn] != 0)
      ++skipped;
    line.update(done, step, skipped);
    if (plan.afterStep)
      if (llvm::Error error = plan.afterStep(session))
        return error;
  }
  if (steps == 0)
    return llvm::Error::success();

  if (std::optional<size_t> column = record.findMetric("loss"))
    record.results.emplace_back(
        "final loss", record.averageLast(*column, order.getBatchesPerEpoch()));
  if (skipColumn)
    record.results.emplace_back("skipped steps", double(skipped));
  // Those of several losses or layers have their names behind a dot.
  for (const auto &[state, scale] : session.getStates()) {
    llvm::StringRef suffix = state;
    if (suffix.consume_front(kLossScaleState) &&
        (suffix.empty() || suffix.consume_front(".")))
      record.results.emplace_back(
          "final loss scale" + (suffix.empty() ? "" : " " + suffix.str()),
          scale.getDouble(0));
  }
  if (isPlanned)
    record.results.emplace_back(kPlannedBytes.str(), double(planned));
  record.results.emplace_back(kAllocatedBytes.str(), double(allocated));
  auto middle = seconds.begin() + seconds.size() / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  record.results.emplace_back("ms per step", *middle * 1e3);
  return llvm::Error::success();
}

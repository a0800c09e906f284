//===- ProgressLine.h - Progress of a run -----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_PROGRESSLINE_H
#define AMP_RUNTIME_HOST_PROGRESSLINE_H

#include "amp/Runtime/Host/RunRecord.h"

#include <chrono>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace amphost {

/// The line on standard error that shows the progress of a run. A terminal
/// shows it in place; otherwise it is printed about ten times.
class ProgressLine {
public:
  /// Nothing is shown if `label` is empty.
  ProgressLine(const std::string &label, int64_t steps, const RunRecord &record)
      : label(label), steps(steps) {
#ifdef STDERR_FILENO
    isTerminal = ::isatty(STDERR_FILENO) != 0;
#endif
    for (const char *name : {"loss", "accuracy"})
      if (std::optional<size_t> column = record.findMetric(name))
        shown.emplace_back(name, *column);
    if (std::optional<size_t> column = record.findMetric("loss_scale"))
      shown.emplace_back("scale", *column);
    // A step with none of these shows every metric.
    if (shown.empty())
      for (const std::string &name : record.metrics)
        shown.emplace_back(name, shown.size());
  }
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;
  ~ProgressLine() {
    if (isTerminal && isPrinted)
      std::fputc('\n', stderr);
  }

  /// Whether to show progress after `done` steps.
  bool isDue(int64_t done) const {
    if (label.empty())
      return false;
    if (done == steps)
      return true;
    return isTerminal ? std::chrono::steady_clock::now() - last >
                            std::chrono::milliseconds(100)
                      : done % ((steps + 9) / 10) == 0;
  }

  void show(int64_t done, const StepRecord &step, int64_t skipped) {
    last = std::chrono::steady_clock::now();
    isPrinted = true;
    std::fprintf(stderr, "%s%s: step %lld/%lld, epoch %lld",
                 isTerminal ? "\r\033[K" : "", label.c_str(), (long long)done,
                 (long long)steps, (long long)step.epoch);
    for (const auto &[name, column] : shown)
      std::fprintf(stderr, ", %s %s", name.c_str(),
                   formatNumber(step.values[column], 5).c_str());
    if (skipped)
      std::fprintf(stderr, ", %lld skipped", (long long)skipped);
    if (!isTerminal)
      std::fputc('\n', stderr);
    std::fflush(stderr);
  }

private:
  std::string label;
  int64_t steps;
  bool isTerminal = false, isPrinted = false;
  std::vector<std::pair<std::string, size_t>> shown;
  std::chrono::steady_clock::time_point last;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_PROGRESSLINE_H

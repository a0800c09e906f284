//===- TrainingLog.h - The metrics of a run ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_TRAININGLOG_H
#define AMP_RUNTIME_CUDA_TRAININGLOG_H

#include "amp/Runtime/CUDA/OutputFiles.h"

#include <cmath>
#include <cstdint>
#include <sstream>
#include <vector>

namespace amp::cuda {

/// The metrics of every step that was looked at.
struct TrainingLog {
  std::vector<std::string> names;
  std::vector<int64_t> steps, epochs;
  std::vector<std::vector<float>> values;
  /// What the run ends with, such as an evaluation.
  std::vector<std::pair<std::string, double>> results;

  /// step, epoch and one column for each metric.
  Status writeCsv(const std::string &path) const {
    std::ostringstream file;
    file.precision(9);
    file << "step,epoch";
    for (const std::string &name : names)
      file << ',' << name;
    for (size_t i = 0; i < steps.size(); ++i) {
      file << '\n' << steps[i] << ',' << epochs[i];
      for (float value : values[i])
        file << ',' << value;
    }
    file << '\n';
    return writeFile(path, file.str());
  }

  /// {"ms per step": ..., "steps": [{"step": 1, "epoch": 0, "loss": ...}],
  /// "results": {"eval loss": ...}}, the last only where there are some;
  /// numbers that JSON lacks as null. `timedMs` is that of --time, if it is
  /// not 0.
  Status writeJson(const std::string &path, double msPerStep,
                   double timedMs) const {
    std::ostringstream file;
    file.precision(9);
    file << "{\"ms per step\": " << msPerStep;
    if (timedMs > 0)
      file << ", \"ms per step on the device\": " << timedMs;
    file << ", \"steps\": [";
    for (size_t i = 0; i < steps.size(); ++i) {
      file << (i ? ",\n" : "\n") << "{\"step\": " << steps[i]
           << ", \"epoch\": " << epochs[i];
      for (size_t j = 0; j < names.size(); ++j) {
        file << ", \"" << names[j] << "\": ";
        printNumber(file, values[i][j]);
      }
      file << '}';
    }
    file << "\n]";
    for (size_t i = 0; i < results.size(); ++i) {
      file << (i ? ", \"" : ", \"results\": {\"") << results[i].first << "\": ";
      printNumber(file, results[i].second);
    }
    file << (results.empty() ? "}\n" : "}}\n");
    return writeFile(path, file.str());
  }

private:
  static void printNumber(std::ostream &os, double value) {
    if (std::isfinite(value))
      os << value;
    else
      os << "null";
  }
};

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_TRAININGLOG_H

//===- Divergence.h - Where a low precision departs from f32 ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_DIVERGENCE_H
#define AMP_EXECUTION_DIVERGENCE_H

#include "amp/Execution/Replay.h"

namespace mlir::amp {

/// The error of one value against f32.
struct DivergedValue {
  WatchedRecord record;
  /// For each step: |low - f32| / |f32| in the Euclidean norm, after division
  /// by the loss scale; and the largest such error of an operand.
  std::vector<double> errors, inherited;

  /// The error that the operation adds: √(error² - inherited²), or 0; as a root
  /// mean square over the steps. Infinite if an error is.
  double getAdded() const;
  double getError() const;
};

/// The errors of the values of one layer: of one named location, else of one
/// place.
struct DivergedLayer {
  std::string name;
  /// For each step, √Σ of the squared errors that its operations add, and the
  /// largest error of a value.
  std::vector<double> added, errors;

  /// Root mean squares over the steps.
  double getAdded() const;
  double getError() const;
};

/// Trains a step in f32 next to a run in a low precision, on the same batches
/// and from the same values, and compares all values.
class Divergence {
public:
  /// `low` and `wide` return values (`WatchOptions::values`).
  Divergence(StepProgram &low, StepProgram &wide) : low(low), wide(wide) {}

  /// Makes `step` return values. Copies its values.
  host::Status beforeTraining(JITStep &step);
  /// Runs the same step in f32 and compares.
  host::Status afterStep(JITStep &step);

  /// The values by the error that their operations add, the largest first.
  llvm::SmallVector<const DivergedValue *> rank() const;
  /// The layers by the error that their operations add, the largest first.
  std::vector<DivergedLayer> getLayers() const;
  void printTable(llvm::StringRef run, llvm::raw_ostream &os) const;
  void writeJSON(llvm::StringRef title, llvm::raw_ostream &os) const;

private:
  StepProgram &low, &wide;
  std::unique_ptr<JITStep> reference;
  std::vector<WatchedRecord> wideRecords;
  std::vector<DivergedValue> values;
  std::vector<const WatchedRecord *> matches;
  std::vector<int64_t> steps;
  /// The loss scales before the step.
  std::vector<double> scales;
  /// In f32 and in the low type. Empty if no metric is the loss.
  std::vector<std::pair<double, double>> losses;

  void readScales(JITStep &step);
};

/// The result of a bisection: the first operation, in program order, with which
/// the loss departs from f32.
struct Bisection {
  /// The operation with its place, and its part of the step. Empty if the loss
  /// does not depart.
  std::string op, part;
  /// The losses in f32, with the operations before it low, and with it.
  double wide = 0, before = 0, with = 0;
  int64_t numRuns = 0;
};

/// Lowers more and more operations of the step `entry` of `source`, forward and
/// backward, in program order, until the loss after `batches` differs from that
/// in f32 by `bound` relative to it. Each run starts from `values`.
host::Status bisect(ModuleOp source, const ProgramOptions &options,
                    llvm::StringRef entry, const host::ArrayMap &values,
                    llvm::ArrayRef<host::ArrayMap> batches, double bound,
                    Bisection *result);

} // namespace mlir::amp

#endif // AMP_EXECUTION_DIVERGENCE_H

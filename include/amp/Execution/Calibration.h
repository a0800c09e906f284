//===- Calibration.h - Ranges of all values of a run ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_CALIBRATION_H
#define AMP_EXECUTION_CALIBRATION_H

#include "amp/Execution/Watcher.h"
#include "amp/Runtime/Host/Trainer.h"
#include "amp/Support/MeasuredRanges.h"

namespace mlir::amp {

/// What the ranges of a run suggest.
struct CalibrationAdvice {
  /// The loss scale in fp16, and the steps after which it should grow.
  double lossScale = 1;
  int64_t growthInterval = 2000;
  /// The steps in which the largest gradient halves. 0 if it does not shrink.
  double halvingSteps = 0;
};

/// Measures the values of a run in f32. It watches the step as
/// `auto-mixed-precision` gets it, before later passes merge and fold
/// operations, so that this pass finds the values again.
class Calibration {
public:
  /// `plain` runs the step of `module` with `options` in f32 or as written.
  static llvm::Expected<std::unique_ptr<Calibration>>
  create(ModuleOp module, const ProgramOptions &options, StepProgram &plain);

  host::Status beforeTraining(JITStep &step);
  host::Status afterTraining(JITStep &step);
  /// Hooks that call the functions above. They refer to this object.
  host::TrainerHooks getHooks();

  /// Fails if the run measured no step, or values that are not numbers: such
  /// ranges say nothing. The message names the first of these values.
  host::Status check() const;

  /// The measured values, after the run.
  const std::vector<MeasuredRange> &getRanges() const { return ranges; }

  /// The loss scale with which most elements of gradients fit f16, and a growth
  /// interval that follows gradients that shrink.
  CalibrationAdvice advise() const;

  /// Prints the advice, and the errors that fp16 and bf16 would make in each
  /// layer. `path` is the file of the ranges.
  void print(llvm::StringRef run, llvm::StringRef path,
             llvm::raw_ostream &os) const;
  /// Prints the file that `readMeasuredRanges` reads.
  std::string printJSON(const std::string &title) const;

private:
  Calibration() = default;
  bool mayBeLow(const WatchedRecord &record) const;
  void printLayers(double scale, llvm::raw_ostream &os) const;

  OwningOpRef<ModuleOp> watched;
  std::unique_ptr<StepProgram> program;
  /// The values of the step before later passes, and their counts after a run.
  std::vector<WatchedRecord> described;
  std::optional<host::WatchReport> report;
  /// The records after the run, as the pass reads them.
  std::vector<MeasuredRange> ranges;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_CALIBRATION_H

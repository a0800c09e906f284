//===- StepVariants.h - One step in several precisions ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_STEPVARIANTS_H
#define AMP_EXECUTION_STEPVARIANTS_H

#include "amp/Execution/Replay.h"

namespace mlir::amp {

/// Watched programs of one step that differ in precision, loss scaling or pins.
/// They are compiled on first use. Replays start from the values of a step of
/// the run.
class StepVariants {
public:
  /// `options` are the options of the run. They and `module` must outlive this.
  StepVariants(ModuleOp module, const ProgramOptions &options)
      : module(module), options(options) {}

  /// Sets the values before the step, and its batches, for all replays.
  void setStep(host::ArrayMap before, const host::ArrayMap &batches);

  /// As the run. `inside` watches values within composite operations.
  host::Status replayRun(ReplayedStep *result, bool inside = false);
  /// In `precision` with its default loss scaling.
  host::Status replayIn(llvm::StringRef precision, ReplayedStep *result,
                        bool inside = false);
  /// With this loss scale, in the precision of the run.
  host::Status replayWithScale(double scale, ReplayedStep *result);
  /// With all hyperparameters multiplied by `factor`.
  host::Status replayWithHyperparameters(double factor, ReplayedStep *result);
  /// With the policy `text`, a file of YAML. Sets `isWide` if it leaves no
  /// value in the low type.
  host::Status replayWithPolicy(const std::string &text, ReplayedStep *result,
                                bool *isWide);

  /// The policy of the run: the name of a preset, the absolute path of a file,
  /// or a policy in place.
  std::string getPolicy() const;
  /// The loss scale of the step, if it has one.
  std::optional<double> getScale() const;
  /// Whether the loss scale is a state.
  bool isDynamic() const;
  /// The name and the value of each hyperparameter.
  std::vector<std::pair<std::string, double>> getHyperparameters() const;
  const ProgramOptions &getOptions() const { return options; }

private:
  host::Status getProgram(const std::string &key, ProgramOptions changed,
                          StepProgram **program);
  host::Status replayWith(StepProgram &program, const host::ArrayMap &values,
                          ReplayedStep *result);
  /// Copies of the values before the step, to change.
  host::ArrayMap cloneValues() const;

  ModuleOp module;
  const ProgramOptions &options;
  std::map<std::string, std::unique_ptr<StepProgram>> programs;
  host::ArrayMap before;
  const host::ArrayMap *batches = nullptr;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_STEPVARIANTS_H

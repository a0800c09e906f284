//===- Explainer.h - The first bad value of a step --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_EXPLAINER_H
#define AMP_EXECUTION_EXPLAINER_H

#include "amp/Execution/Explanation.h"
#include "amp/Execution/StepVariants.h"

namespace mlir::amp {

/// Explains the steps of a training run that go wrong: that are skipped, or
/// that give a metric or a state that is not finite. Without such a step it
/// looks for values of the last step that are not finite or underflow.
class Explainer {
public:
  /// `plain` runs the step of `module` with `options`, which must outlive this.
  /// `interval` is the number of steps between snapshots.
  Explainer(ModuleOp module, const ProgramOptions &options, StepProgram &plain,
            int64_t interval)
      : plain(plain), variants(module, options), history(interval) {}

  host::Status beforeTraining(JITStep &step);
  host::Status afterStep(JITStep &step);
  host::Status afterTraining(JITStep &step);

  llvm::ArrayRef<Explanation> getExplanations() const { return explanations; }
  /// Prints the explanations, or that all steps were right.
  void print(llvm::StringRef run, llvm::raw_ostream &os) const;

private:
  std::string findEvent(JITStep &step);
  host::Status explain(JITStep &step, const std::string &event);
  host::Status prepare(JITStep &step, Explanation &explanation,
                       ReplayedStep *run);
  host::Status addF32(Explanation &explanation, const ReplayedStep &run);
  host::Status addInner(Explanation &explanation);
  host::Status findCause(Explanation &explanation, const ReplayedStep &run);
  void adviseOnArgument(Explanation &explanation) const;
  host::Status adviseOnScale(Explanation &explanation);
  host::Status adviseOnPrecision(Explanation &explanation);
  host::Status adviseOnStep(Explanation &explanation);
  void adviseOnOperands(Explanation &explanation,
                        llvm::ArrayRef<WatchedRecord> records) const;
  std::string printPolicyHead() const;
  std::string printPolicyOption() const;
  std::string printPins(llvm::ArrayRef<std::string> pins) const;
  host::Status explainLastStep(JITStep &step);
  host::Status adviseOnUnderflow(Explanation &explanation);

  StepProgram &plain;
  StepVariants variants;
  StepHistory history;
  std::vector<Explanation> explanations;
  /// Steps that went wrong in the same way as an explained one, and all such.
  int64_t numRepeated = 0, numLeft = 0;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_EXPLAINER_H

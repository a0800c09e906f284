//===- Explanation.h - Why a step went wrong --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_EXPLANATION_H
#define AMP_EXECUTION_EXPLANATION_H

#include "amp/Execution/Replay.h"

namespace mlir::amp {

/// Why a value is not finite, or is lost.
enum class Cause {
  Unknown,    ///< the replay found nothing
  Data,       ///< a batch is not finite
  State,      ///< a state was not finite before the step
  LossScale,  ///< a smaller loss scale avoids it
  Precision,  ///< it is finite in f32
  Domain,     ///< it is not finite in f32 either, and its operands are moderate
  Range,      ///< it is not finite in f32 either, and its operands are huge
  Step,       ///< a smaller hyperparameter avoids it
  Underflow,  ///< most elements are zero, but not in f32
  SmallScale, ///< the same, and a larger loss scale avoids it
};

/// Returns the name of `cause` in JSON.
llvm::StringRef stringifyCause(Cause cause);

/// A change that helps.
struct Advice {
  /// What to do.
  std::string text;
  /// The options of amp-run that apply it, or empty.
  std::string options;
  /// The contents of the file `policy.yaml` that the options name, or empty.
  std::string policy;
  /// Whether the step was replayed with the change, and was right.
  bool isVerified = false;
};

/// The first operation at which a step goes wrong, and what to do about it.
struct Explanation {
  int64_t step = 0;
  /// The observation, such as `the step was skipped`.
  std::string event;
  /// Whether the replay gave the bits of the run.
  bool isExact = false;
  /// The value. Its operation is the culprit, or with `inCast` the narrowing
  /// cast of its result. Empty without a culprit.
  std::optional<WatchedRecord> culprit;
  bool inCast = false;
  /// For an operation in a loop: the result of the loop, and the number of the
  /// iteration from 1.
  std::optional<WatchedRecord> loop;
  int64_t iteration = 0;
  /// The operation within the composite operation `culprit`, if it is known.
  std::optional<WatchedRecord> inner;
  /// The operands of `inner`, or of `culprit`.
  std::vector<WatchedRecord> operands;
  /// The value in f32, if that could be replayed. Null in a run in f32.
  std::optional<WatchedRecord> wide;
  /// Whether all values are finite in f32.
  std::optional<bool> finiteInF32;
  /// The loss scale of the step, and whether half of it avoids the problem.
  std::optional<double> scale;
  std::optional<bool> finiteAtHalf;
  Cause cause = Cause::Unknown;
  std::vector<Advice> advice;

  /// The value of the step that is not finite: the culprit, or the result of
  /// its loop.
  const WatchedRecord &getStepValue() const { return loop ? *loop : *culprit; }

  void print(llvm::raw_ostream &os) const;
};

/// Writes explanations as JSON.
void writeExplanations(llvm::ArrayRef<Explanation> explanations,
                       llvm::StringRef title, llvm::raw_ostream &os);

} // namespace mlir::amp

#endif // AMP_EXECUTION_EXPLANATION_H

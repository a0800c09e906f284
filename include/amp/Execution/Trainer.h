//===- Trainer.h - Runs training steps --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_TRAINER_H
#define AMP_EXECUTION_TRAINER_H

#include "amp/Execution/Report.h"
#include "amp/Execution/Session.h"

namespace mlir::amp {

/// How long to train and on which batches.
struct TrainingPlan {
  /// Steps to run from where the session is; `epochs`, if set, replaces it by
  /// that many passes over the data.
  int64_t steps = 0;
  std::optional<int64_t> epochs;
  int64_t batchSize = 0;
  /// Leave out the samples at the end of an epoch that fill no batch. Otherwise
  /// they make a smaller batch, for which a second step is compiled.
  bool dropLast = true;
  /// What the progress line begins with; nothing is shown if it is empty.
  std::string label;
  /// Called after each step, if set.
  std::function<llvm::Error(Session &)> afterStep;
};

/// The state that holds a dynamic loss scale.
inline constexpr llvm::StringLiteral kLossScaleState = "loss_scale";

/// The names under which steps report the loss scale and skipped updates.
inline constexpr llvm::StringLiteral kLossScaleMetric = "loss_scale";
inline constexpr llvm::StringLiteral kSkippedMetric = "skipped";

/// Runs `plan` and appends to `record`, whose metrics are those of the session:
/// one entry for each step, and the results
///   `final loss`     the mean loss over the last epoch, or all steps if fewer,
///   `skipped steps`, `final loss scale`   if the step has them,
///   `ms per step`    the median time of a step.
llvm::Error train(Session &session, const Dataset &data,
                  const TrainingPlan &plan, RunRecord &record);

} // namespace mlir::amp

#endif // AMP_EXECUTION_TRAINER_H

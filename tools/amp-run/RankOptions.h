//===- RankOptions.h - Runs of several ranks --------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPRUN_RANKOPTIONS_H
#define AMP_TOOLS_AMPRUN_RANKOPTIONS_H

#include "Runner.h"

#include "amp/Runtime/Host/Trainer.h"

namespace mlir::amp {

/// Rejects options that need a run of one rank.
llvm::Error checkRankOptions(const RunnerOptions &options);

/// Removes the outputs of ranks other than 0. Call this after all checks of
/// options.
void leaveOutputsToFirstRank(RunnerOptions &options);

/// What a rank prints on standard error. Ranks other than 0 print only if they
/// end the run, because all ranks find the same faults in the input.
class RankMessages {
public:
  explicit RankMessages(const RankGroup *group) : group(group) {}

  llvm::raw_ostream &getStream();
  /// Ends the processes of all ranks, if there are several. Rank 0 does so
  /// first.
  void abort();

private:
  const RankGroup *group;
  std::string text;
  llvm::raw_string_ostream held{text};
};

/// Adds to `hooks` that all ranks stop after the same step, and the check of
/// `--check-ranks`. Collects the states that ranks divide before rank 0 saves
/// them. `program` is the program of the step.
void addRankHooks(const RunnerOptions &options, const StepProgram &program,
                  host::TrainerHooks &hooks);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPRUN_RANKOPTIONS_H

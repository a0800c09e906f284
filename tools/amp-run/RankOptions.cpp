//===- RankOptions.cpp - Runs of several ranks ----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankOptions.h"

#include "amp/Execution/JITStep.h"
#include "amp/Pipelines/Pipelines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <thread>

using namespace mlir;
using namespace mlir::amp;

/// Warns of options that have no effect. They are not errors, because the same
/// command may run on one process and on several.
static void warnOfUnusedOptions(const RunnerOptions &options) {
  auto warn = [](const llvm::Twine &option, llvm::StringRef reason) {
    llvm::errs() << "amp-run: warning: '" << option << "' has no effect "
                 << reason << '\n';
  };
  const llvm::StringRef alone = "on one process; expected a start by mpirun or "
                                "srun";
  if (!options.group)
    for (const std::string &name : options.rankOptions)
      warn("--" + name, alone);
  llvm::SmallVector<llvm::StringRef> settings;
  llvm::SplitString(options.program.pipeline, settings);
  const llvm::SmallVector<std::string> ofRanks = listRankOptions();
  for (llvm::StringRef setting : settings) {
    const llvm::StringRef name = setting.split('=').first;
    if (!llvm::is_contained(ofRanks, name))
      continue;
    if (!options.group)
      warn(name, alone);
    else if (name.starts_with("shard-") && !options.program.shardOptimizer)
      warn(name, "without --shard-optimizer");
  }
}

llvm::Error mlir::amp::checkRankOptions(const RunnerOptions &options) {
  if (!options.group || options.group->getRank() == 0)
    warnOfUnusedOptions(options);
  if (!options.group)
    return llvm::Error::success();
  const DebugOptions &debug = options.debug;
  for (auto [name, isGiven] :
       {std::make_pair("watch", debug.watch),
        std::make_pair("explain", debug.explain),
        std::make_pair("diverge", debug.diverge),
        std::make_pair("calibrate", !debug.ranges.empty()),
        std::make_pair("search", !debug.policy.empty()),
        std::make_pair("sweep-scale", !debug.scales.empty()),
        std::make_pair("gradient-histogram", options.gradientHistogram)})
    if (isGiven)
      return makeError("--{0} is for one rank, but {1} processes were started",
                       name, options.group->getNumRanks());
  return llvm::Error::success();
}

void mlir::amp::leaveOutputsToFirstRank(RunnerOptions &options) {
  options.saves = !options.training.savePath.empty();
  if (!options.group || options.group->getRank() == 0)
    return;
  host::TrainingOptions &training = options.training;
  training.quiet = true;
  training.evaluate = false;
  for (std::string *path :
       {&training.savePath, &training.predictPath, &training.csvPath,
        &training.jsonPath, &training.plotPath})
    path->clear();
}

llvm::raw_ostream &RankMessages::getStream() {
  return group && group->getRank() != 0 ? static_cast<llvm::raw_ostream &>(held)
                                        : llvm::errs();
}

void RankMessages::abort() {
  if (!group)
    return;
  if (group->getRank() != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    llvm::errs() << "rank " << group->getRank() << ": " << text;
  }
  llvm::errs().flush();
  llvm::outs().flush();
  group->abort();
}

/// Gathers the parts of all ranks before rank 0 saves the states.
static void addGather(host::TrainerHooks &hooks) {
  hooks.afterTraining = [next = std::move(hooks.afterTraining)](
                            host::Step &step,
                            const host::RunRecord &record) -> host::Status {
    if (next)
      AMP_RETURN_IF_ERROR(next(step, record));
    return step.gatherStates();
  };
}

void mlir::amp::addRankHooks(const RunnerOptions &options,
                             const StepProgram &program,
                             host::TrainerHooks &hooks) {
  if (options.group && options.saves && program.hasParts())
    addGather(hooks);
  if (!options.group)
    return;
  // A launcher may signal one rank first, or only one.
  hooks.findInterruption = [&group = *options.group] {
    const int mine = host::getInterruption();
    std::vector<int> all(size_t(group.getNumRanks()));
    group.begin("an exchange of signals");
    group.gather(&mine, all.data(), sizeof(mine));
    return *llvm::max_element(all);
  };
  if (options.checkRanks == 0)
    return;
  hooks.afterStep = [&options, &program, next = std::move(hooks.afterStep)](
                        host::Step &step) -> host::Status {
    if (next)
      AMP_RETURN_IF_ERROR(next(step));
    return step.progress.step % options.checkRanks == 0
               ? checkEqualStates(step, *options.group,
                                  [&](llvm::StringRef name) {
                                    return program.getPartSize(name) != 0;
                                  })
               : host::Status();
  };
}

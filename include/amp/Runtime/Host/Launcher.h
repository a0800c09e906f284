//===- Launcher.h - The processes that a launcher started -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_LAUNCHER_H
#define AMP_RUNTIME_HOST_LAUNCHER_H

#include "amp/Runtime/Host/Status.h"

#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace amphost {

/// A number that must be equal on all ranks.
struct EqualNumber {
  std::string name;
  int64_t value = 0;
  bool isFlag = false; ///< 1: the option `name` is given, 0: it is not
};

/// Returns an error that says that `number` of rank `rank` is not `expected`,
/// the number of rank 0.
inline Status explainDifference(const EqualNumber &number, int64_t expected,
                                int64_t rank, int64_t ranks) {
  const char *reason = "expected the same program and options on all ranks";
  if (number.isFlag)
    return makeError(kInvalidArgument,
                     "'%s' is %sgiven on rank %lld of %lld, but %son rank 0; "
                     "%s",
                     number.name.c_str(), number.value ? "" : "not ",
                     (long long)rank, (long long)ranks, expected ? "" : "not ",
                     reason);
  return makeError(kInvalidArgument,
                   "'%s' is %lld on rank %lld of %lld, but %lld on rank 0; %s",
                   number.name.c_str(), (long long)number.value,
                   (long long)rank, (long long)ranks, (long long)expected,
                   reason);
}

/// What the command line says of the ranks. It overrides the launcher.
struct RankOptions {
  int64_t ranks = 0; ///< 0: as many as the launcher has started
  int64_t rank = -1; ///< -1: as the launcher says
  /// `file:path`, `tcp://host:port`, or `torch://host:port` for the store of
  /// torchrun. Empty: as the launcher says.
  std::string rendezvous;
  /// The seconds that a rank waits for the others.
  int64_t deadline = 600;
  /// The numbers that must be equal on all ranks. All ranks use the same names.
  std::vector<EqualNumber> equal;
};

/// The place of this process among those that run a step together.
struct LaunchedProcess {
  int64_t rank = 0, ranks = 1;
  int64_t localRank = 0; ///< its number on this machine
  std::string launcher;  ///< empty: none
  std::string job;       ///< equal for the processes of one start
  std::string rendezvous;
};

/// The variables by which a launcher tells a process its place.
struct LauncherVariables {
  const char *launcher, *rank, *ranks, *localRank;
};

/// A launcher that another one starts comes first: torchrun in a job of Slurm.
inline constexpr LauncherVariables kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}};

/// The variable with the number of processes that srun has started. A job may
/// have more tasks.
inline constexpr const char *kProcessesOfStep = "SLURM_STEP_NUM_TASKS";

/// Reads the variable `name`, if it is there. `found` says whether it is.
inline Status readVariable(const char *name, int64_t *value, bool *found) {
  const char *text = std::getenv(name);
  *found = text != nullptr;
  if (!text)
    return Status();
  char *end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text, &end, 10);
  if (end == text || *end || errno || number < 0)
    return makeError(kInvalidArgument,
                     "the environment has %s='%s', expected a number", name,
                     text);
  *value = number;
  return Status();
}

/// The first of the variables `names` that is set, or an empty text.
inline std::string readFirst(std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (const char *text = std::getenv(name); text && *text)
      return text;
  return "";
}

/// The name of the job, which the processes of one start share. A launcher may
/// give none.
inline std::string nameJob() {
  std::string name = readFirst(
      {"TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID"});
  for (const char *part : {"SLURM_STEP_ID", "TORCHELASTIC_RESTART_COUNT"})
    if (const char *text = std::getenv(part))
      name += std::string(".") + text;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-')
      c = '_';
  return name;
}

/// The place where the ranks of `process` meet: the store of torchrun. Without
/// it, rank 0 listens next to the port of its address. Others meet at a file of
/// their machine, where they have the same parent.
inline Status chooseRendezvous(LaunchedProcess *process) {
  const std::string host = readFirst({"MASTER_ADDR"});
  if (!host.empty()) {
    int64_t port = 29500;
    bool found = false;
    AMP_RETURN_IF_ERROR(readVariable("MASTER_PORT", &port, &found));
    // A process of torch may serve a store at the port itself.
    const bool hasStore = readFirst({"TORCHELASTIC_USE_AGENT_STORE"}) == "True";
    process->rendezvous =
        hasStore ? "torch://" + host + ":" + std::to_string(port)
                 : "tcp://" + host + ":" + std::to_string(port + 1);
    return Status();
  }
  std::string folder = readFirst({"TMPDIR"});
  process->rendezvous = "file:" + (folder.empty() ? "/tmp" : folder) +
                        "/amp-ranks-" + std::to_string(getuid()) + "-" +
                        process->job + "-" + std::to_string(getppid());
  return Status();
}

/// Finds the place of this process by `options` and the environment.
inline Status findLaunchedProcess(const RankOptions &options,
                                  LaunchedProcess *process) {
  for (const LauncherVariables &launcher : kLaunchers) {
    bool hasRank = false, hasRanks = false, hasLocal = false;
    AMP_RETURN_IF_ERROR(readVariable(launcher.rank, &process->rank, &hasRank));
    if (!hasRank)
      continue;
    AMP_RETURN_IF_ERROR(
        readVariable(launcher.ranks, &process->ranks, &hasRanks));
    if (!hasRanks)
      return makeError(kInvalidArgument,
                       "the environment of %s has %s, but not %s",
                       launcher.launcher, launcher.rank, launcher.ranks);
    AMP_RETURN_IF_ERROR(
        readVariable(launcher.localRank, &process->localRank, &hasLocal));
    if (!hasLocal)
      process->localRank = process->rank;
    process->launcher = launcher.launcher;
    if (process->launcher == "Slurm")
      AMP_RETURN_IF_ERROR(
          readVariable(kProcessesOfStep, &process->ranks, &hasRanks));
    break;
  }
  if (options.ranks > 0)
    process->ranks = options.ranks;
  if (options.rank >= 0)
    process->rank = process->localRank = options.rank;
  if (process->rank >= process->ranks)
    return makeError(kInvalidArgument,
                     "this process is rank %lld of %lld, expected a number "
                     "from 0 to %lld",
                     (long long)process->rank, (long long)process->ranks,
                     (long long)process->ranks - 1);
  process->job = nameJob();
  if (options.rendezvous.empty())
    return chooseRendezvous(process);
  process->rendezvous = options.rendezvous;
  return Status();
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_LAUNCHER_H

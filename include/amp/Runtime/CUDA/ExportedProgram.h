//===- ExportedProgram.h - The C interface of a program ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_EXPORTEDPROGRAM_H
#define AMP_RUNTIME_CUDA_EXPORTEDPROGRAM_H

#include "amp/Runtime/CUDA/EqualNumbers.h"
#include "amp/Runtime/CUDA/ProgramCreation.h"
#include "amp/Runtime/CUDA/ProgramData.h"
#include "amp/Runtime/CUDA/ProgramInterface.h"
#include "amp/Runtime/CUDA/ProgramRun.h"
#include "amp/Runtime/Step/EqualRanks.h"
#include "amp/Runtime/Step/ProgramTable.h"

namespace amp::cuda {

/// Exports a generated program.
class ExportedProgram : public InterfaceProgram {
public:
  ExportedProgram(const ProgramInfo &info, const ForwardInfo &forward = {})
      : info(info), forward(forward) {
    const Program program(info);
    tensors = program.getTensors();
    ProgramLabels labels;
    labels.name = info.name;
    labels.backend = "cuda";
    labels.precision = info.identity.precision;
    labels.fingerprint = info.identity.fingerprint;
    labels.fixedBatch = program.getFixedBatch();
    labels.hasForward = forward.program != nullptr;
    table = makeTable(*this, labels);
  }

  const std::vector<TensorInfo> &getTensors() const override { return tensors; }

  int getNumRanks() const override {
    const CollectiveTable &table = info.collectives;
    return table.numCollectives == 0 ? 1 : table.numRanks ? table.numRanks : -1;
  }

  Status create(const StepSettings &settings,
                std::unique_ptr<InterfaceStep> *step) const override {
    ProgramOptions options;
    options.device = settings.device;
    options.seed = settings.seed;
    options.useGraph = settings.useGraph;
    options.poison = settings.poison;
    options.predictions = settings.predictions;
    options.gemm.tune = settings.tune;
    options.gemm.cachePath = settings.tuneCache;
    options.numSlots = settings.numSlots;
    options.stream = settings.stream;
    options.allocator = settings.allocator;
    options.caller = settings.caller;
    if (info.collectives.connect) {
      if (!settings.communicator && !settings.exchange)
        return makeError(kInvalidArgument,
                         "a program of several ranks needs a communicator or "
                         "an exchange");
      StepSettings own = settings;
      if (settings.device < 0) {
        LaunchedProcess process;
        AMP_RETURN_IF_ERROR(findLaunchedProcess(RankOptions(), &process));
        AMP_RETURN_IF_ERROR(findDeviceOfRank(process, &own.device));
        options.device = own.device;
      }
      // A caller without an exchange connects the ranks by its communicator.
      AMP_RETURN_IF_ERROR(
          amphost::compareRanks(own, listNumbersOfProgram(info)));
      AMP_RETURN_IF_ERROR(info.collectives.connect(own, &options.ranks));
      if (!settings.exchange) {
        DeviceScope scope(own.device);
        AMP_RETURN_IF_ERROR(
            compareRanksOf(*options.ranks, own, listNumbersOfProgram(info)));
      }
    }
    auto program = std::make_unique<Program>(info, forward);
    AMP_RETURN_IF_ERROR(program->allocate(options));
    *step = std::move(program);
    return Status();
  }

  /// Answers `amp_step_get_program`.
  int32_t get(uint32_t version, const amp_step_program **program,
              const char **message) const {
    const int32_t code = checkVersion(version, program, message);
    if (code == AMP_STEP_OK)
      *program = &table;
    return code;
  }

private:
  const ProgramInfo &info;
  const ForwardInfo forward;
  std::vector<TensorInfo> tensors;
  amp_step_program table;
};

AMP_RUNTIME_FUNCTION
ProgramInterface::ProgramInterface(const ProgramInfo &info,
                                   const ForwardInfo &forward)
    : program(std::make_shared<ExportedProgram>(info, forward)) {}

AMP_RUNTIME_FUNCTION int32_t
ProgramInterface::get(uint32_t version, const amp_step_program **result,
                      const char **message) const {
  return program->get(version, result, message);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_EXPORTEDPROGRAM_H

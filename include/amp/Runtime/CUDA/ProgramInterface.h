//===- ProgramInterface.h - Exports a generated program ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the functions by which the source of a program exports the program.
// The runtime unit defines them, in ExportedProgram.h and Trainer.h.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMINTERFACE_H
#define AMP_RUNTIME_CUDA_PROGRAMINTERFACE_H

#include "amp/Runtime/CUDA/ProgramInfo.h"
#include "amp/Runtime/CUDA/Unit.h"
#include "amp/Runtime/Step/Export.h"

namespace amp::cuda {

class ExportedProgram;

/// The C interface of a program.
class ProgramInterface {
public:
  AMP_RUNTIME_FUNCTION explicit ProgramInterface(
      const ProgramInfo &info, const ForwardInfo &forward = {});

  /// Answers `amp_step_get_program`.
  AMP_RUNTIME_FUNCTION int32_t get(uint32_t version,
                                   const amp_step_program **program,
                                   const char **message) const;

private:
  std::shared_ptr<const ExportedProgram> program;
};

/// Parses the options, trains and writes the results. Returns the exit status.
/// Errors go to standard error.
AMP_RUNTIME_FUNCTION int trainerMain(int argc, char **argv,
                                     const ProgramInfo &info,
                                     const ForwardInfo &forward = {});

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMINTERFACE_H

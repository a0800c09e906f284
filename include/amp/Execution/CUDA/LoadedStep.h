//===- LoadedStep.h - A step of a shared library ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_CUDA_LOADEDSTEP_H
#define AMP_EXECUTION_CUDA_LOADEDSTEP_H

#include "amp/Execution/CUDA/LibraryCache.h"
#include "amp/Execution/StepProgram.h"
#include "amp/Runtime/Host/Step.h"
#include "amp/Runtime/Step/Interface.h"

namespace mlir::amp {

/// How to translate a step.
struct CUDAStepOptions {
  CUDACompilerOptions compiler;
  /// The samples of a batch, for a step that leaves them open.
  int64_t batchSize = 0;
  /// Whether to compile the forward function too.
  bool forward = false;
  /// A regular expression for the names of the values to count. Empty: none.
  std::string watch;
  /// Whether to write the reports that the options of the pipeline ask for.
  bool precisionReports = true;
  /// Whether only to note the numbers of the kernels in the cache, so that
  /// later programs that differ in them take them as arguments.
  bool notesNumbers = false;
};

/// Turns the step of `source` into a `cuda.program`, as its only step.
/// `program` has the name of the step and the options of the pipeline.
llvm::Expected<OwningOpRef<ModuleOp>>
makeCUDAProgram(ModuleOp source, StepProgram &program,
                const ProgramOptions &pipeline, const CUDAStepOptions &options);

/// Translates, compiles and loads the step of `source`. The library stays
/// loaded. Returns null if the options say to note numbers alone.
llvm::Expected<const amp_step_program *>
loadCUDAProgram(ModuleOp source, StepProgram &program,
                const ProgramOptions &pipeline, const CUDAStepOptions &options);

/// Loads the step of `source`, and creates an instance on a GPU. `program`
/// describes the step and must outlive it.
llvm::Expected<std::unique_ptr<host::Step>>
createCUDAStep(ModuleOp source, StepProgram &program,
               const ProgramOptions &pipeline, const CUDAStepOptions &options);

} // namespace mlir::amp

#endif // AMP_EXECUTION_CUDA_LOADEDSTEP_H

//===- CPUPipeline.h - From a step to code for the CPU ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering of step functions to the LLVM dialect, and the calling
// convention of the lowered functions:
//
// A step function NAME becomes the C function NAME_cpu. Training steps and
// their inference functions are both step functions: their arguments carry
// `amp.role`. NAME_cpu takes one pointer to the elements of a buffer
// (row-major, contiguous) per
//
//   - argument of the step, in order, for every role. A result with
//     `amp.updates` is written into the buffer of the argument that it names;
//     buffers of other arguments are only read;
//   - result without `amp.updates` (metrics and predictions), in order.
//
// It returns nothing. Scalars are rank-0 memrefs. Booleans take one byte, f16
// and bf16 two. No two buffers may overlap. All other memory is allocated and
// freed inside (aligned_alloc and free). The code calls functions of libm by
// name. With more than one thread, it calls the OpenMP runtime library. Code
// for several ranks calls the functions in `CodeGen/ProcessFunctions.h`.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PIPELINES_CPUPIPELINE_H
#define AMP_PIPELINES_CPUPIPELINE_H

#include "amp/CodeGen/Passes.h"
#include "amp/Support/OptionText.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::amp {

/// Options of `--amp-cpu-pipeline`.
struct CPUPipelineOptions : public PassPipelineOptions<CPUPipelineOptions> {
  PassOptions::Option<bool, ValueParser<bool>> toLLVM{
      *this, "to-llvm",
      llvm::cl::desc("Lower to the LLVM dialect; otherwise stop at loops over "
                     "buffers, for reading and for counting buffers"),
      llvm::cl::init(true)};
  PassOptions::Option<unsigned, ValueParser<unsigned>> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Bits of a vector register: 128, 256 or 512. "
                     "Results do not depend on them"),
      llvm::cl::init(512)};
  PassOptions::Option<unsigned, ValueParser<unsigned>> threads{
      *this, "threads",
      llvm::cl::desc(
          "Threads that a step runs on. More than one needs OpenMP's "
          "runtime library (libomp) where the step runs; results do "
          "not depend on the number"),
      llvm::cl::init(1)};
  PassOptions::Option<int64_t, ValueParser<int64_t>> ranks{
      *this, "ranks",
      llvm::cl::desc("Ranks that run the step together (amp-set-ranks)"),
      llvm::cl::init(1)};
  PassOptions::Option<int64_t, ValueParser<int64_t>> rank{
      *this, "rank",
      llvm::cl::desc("The number of the rank that runs the code"),
      llvm::cl::init(0)};
};

/// Adds the passes that lower step functions of static shapes to the LLVM
/// dialect.
void buildCPUPipeline(OpPassManager &pm, const CPUPipelineOptions &options);

/// Adds the second part of these passes: from loops over buffers, where
/// `to-llvm=false` stops, to the LLVM dialect.
void buildLoopsToLLVMPipeline(OpPassManager &pm,
                              const CPUPipelineOptions &options);

/// Registers `--amp-cpu-pipeline`.
void registerCPUPipeline();

} // namespace mlir::amp

#endif // AMP_PIPELINES_CPUPIPELINE_H

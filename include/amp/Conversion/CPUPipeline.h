//===- CPUPipeline.h - From a step to code for the CPU ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering of step functions to the LLVM dialect, and the calling
// convention of what comes out:
//
// A step function NAME (its arguments carry `amp.role`; training steps and the
// inference functions derived from them alike) becomes the C function NAME_cpu.
// It takes one pointer to the elements of a buffer (row-major, contiguous) per
//
//   - argument of the step, in order, whatever its role. A result with
//     `amp.updates` is written into the buffer of the argument that it names;
//     buffers of other arguments are only read;
//   - result without `amp.updates` (metrics and predictions), in order.
//
// It returns nothing. Scalars are rank-0 memrefs, booleans one byte each, f16
// and bf16 two. No two buffers may overlap. Everything else is allocated and
// freed inside (aligned_alloc and free); the functions of libm are called by
// name, and with more than one thread those of OpenMP's runtime library.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_CPUPIPELINE_H
#define AMP_CONVERSION_CPUPIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::amp {

/// What a step function's name ends in after lowering.
inline constexpr llvm::StringLiteral kLoweredSuffix = "_cpu";

/// Options of `--amp-cpu-pipeline`.
struct CPUPipelineOptions : public PassPipelineOptions<CPUPipelineOptions> {
  PassOptions::Option<bool> toLLVM{
      *this, "to-llvm",
      llvm::cl::desc("Lower to the LLVM dialect; otherwise stop at loops over "
                     "buffers, for reading and for counting buffers"),
      llvm::cl::init(true)};
  PassOptions::Option<unsigned> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Bits of the registers for vectors: 128, 256 or 512. "
                     "Results do not depend on them"),
      llvm::cl::init(512)};
  PassOptions::Option<unsigned> threads{
      *this, "threads",
      llvm::cl::desc("Threads that a step runs on. More than one need OpenMP's "
                     "runtime library (libomp) where the step runs; results do "
                     "not depend on the number"),
      llvm::cl::init(1)};
};

/// Adds the passes that lower the step functions of a module, whose shapes are
/// static, to the LLVM dialect.
void buildCPUPipeline(OpPassManager &pm, const CPUPipelineOptions &options);

/// Adds the second part of that: from loops over buffers, where `to-llvm=false`
/// stops, to the LLVM dialect.
void buildLoopsToLLVMPipeline(OpPassManager &pm,
                              const CPUPipelineOptions &options);

/// Registers `--amp-cpu-pipeline`.
void registerCPUPipeline();

} // namespace mlir::amp

#endif // AMP_CONVERSION_CPUPIPELINE_H

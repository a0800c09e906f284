//===- Sweep.h - The runs of --sweep-scale ----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPRUN_SWEEP_H
#define AMP_TOOLS_AMPRUN_SWEEP_H

#include "Runner.h"
#include "amp/Runtime/Host/Trainer.h"

namespace mlir::amp {

/// Trains the step of `module` in f32 and then in fp16 with each loss scale of
/// --sweep-scale, on the same batches, and prints and writes the comparison.
llvm::Error sweepScales(const RunnerOptions &options, ModuleOp module,
                        host::Trainer &trainer);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPRUN_SWEEP_H

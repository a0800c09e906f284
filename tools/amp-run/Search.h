//===- Search.h - The runs of --search --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMPRUN_SEARCH_H
#define AMP_TOOLS_AMPRUN_SEARCH_H

#include "Runner.h"
#include "amp/Runtime/Host/Trainer.h"

namespace mlir::amp {

/// Rejects options that --search does not go with.
llvm::Error checkSearch(const RunnerOptions &options);

/// Trains the step of `module` in f32, searches the assignment of least cost
/// within the bound of --search-bound, and writes its policy to the file of
/// --search.
llvm::Error searchPolicy(const RunnerOptions &options, ModuleOp module,
                         host::Trainer &trainer);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMPRUN_SEARCH_H

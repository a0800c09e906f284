//===- RankCosts.h - Costs of collectives -----------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TARGET_CUDA_RANKCOSTS_H
#define AMP_LIB_TARGET_CUDA_RANKCOSTS_H

#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Runtime/Host/GPUModels.h"

namespace mlir::cuda {

/// Ranks in equal numbers on each node.
struct RankLayout {
  int64_t ranks, nodes;
};

/// The seconds of a collective: of a ring through all ranks, or of the switches
/// of a node if they add faster.
double estimateCollective(LaunchOpInterface launch, const RankLayout &layout,
                          const amphost::GPUModel &target);

/// Prints the time of each collective and the part of it in which the step only
/// waits. `estimate` returns the seconds of another launch.
void printRankCosts(ProgramOp program, const RankLayout &layout,
                    const amphost::GPUModel &target,
                    function_ref<double(LaunchOpInterface)> estimate,
                    raw_ostream &os);

} // namespace mlir::cuda

#endif // AMP_LIB_TARGET_CUDA_RANKCOSTS_H

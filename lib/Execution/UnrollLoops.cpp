//===- UnrollLoops.cpp - Loops as a list of operations --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/UnrollLoops.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

using namespace mlir;

/// More operations take long to compile.
static constexpr uint64_t kMostOperations = 10000;

/// The operations that `loop` becomes, or a huge number if its iterations are
/// not known.
static uint64_t countUnrolled(scf::ForOp loop) {
  std::optional<llvm::APInt> trips = loop.getStaticTripCount();
  if (!trips)
    return ~uint64_t(0);
  uint64_t size = 0;
  loop.getBody()->walk([&](Operation *) { ++size; });
  const uint64_t count = trips->getLimitedValue(kMostOperations + 1);
  return count * size;
}

void mlir::amp::unrollLoops(FunctionOpInterface function) {
  uint64_t left = kMostOperations;
  // Outer loops first: an inner one is then part of their bodies.
  llvm::SmallVector<scf::ForOp> loops;
  auto collect = [&] {
    loops.clear();
    for (Operation &op : function.getFunctionBody().front())
      if (auto loop = dyn_cast<scf::ForOp>(op))
        loops.push_back(loop);
  };
  bool isChanged = true;
  while (isChanged) {
    isChanged = false;
    collect();
    for (scf::ForOp loop : loops) {
      const uint64_t size = countUnrolled(loop);
      if (size > left || failed(loopUnrollFull(loop)))
        continue;
      left -= size;
      isChanged = true;
    }
  }
}

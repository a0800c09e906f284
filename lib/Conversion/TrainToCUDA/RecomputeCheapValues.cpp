//===- RecomputeCheapValues.cpp - Recomputation of cheap values -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A forward pass and its gradient share values, such as the sigmoid of a SiLU
// or the normal distribution of a GELU, which are often wider than their
// operands. Kernels are bound by memory, so each reader of such a value
// computes it again.
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::cuda;

/// A value with more readers is stored, unless it is a cast: its arithmetic
/// would be repeated too often.
static constexpr size_t kMaxReaders = 4;

/// Whether `loop` does nothing but widen or move elements.
static bool isWideningCast(linalg::GenericOp loop) {
  return llvm::all_of(loop.getBody()->without_terminator(),
                      [](Operation &op) { return isa<arith::ExtFOp>(op); });
}

/// Whether `use` reads each element once, in a loop over elements.
static bool isReadByLoop(OpOperand &use) {
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  return reader && reader.isDpsInput(&use) &&
         reader.getMatchingIndexingMap(&use).isPermutation();
}

static int64_t getMemory(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isIntOrFloat() ? getBytes(type) : 0;
}

bool mlir::cuda::recomputeCheapValues(func::FuncOp step) {
  bool copied = false;
  SmallVector<linalg::GenericOp> loops(
      step.getBody().front().getOps<linalg::GenericOp>());
  // Visit readers first: a value that a copy reads may be worth a copy as well.
  for (linalg::GenericOp loop : llvm::reverse(loops)) {
    if (loop->getNumResults() != 1 ||
        loop.getNumParallelLoops() != loop.getNumLoops() ||
        !llvm::all_of(loop->getUses(), isReadByLoop))
      continue;
    llvm::SetVector<Value> inputs(loop.getInputs().begin(),
                                  loop.getInputs().end());
    llvm::SetVector<Operation *> readers(loop->user_begin(), loop->user_end());
    int64_t read = 0, written = getMemory(loop->getResult(0));
    bool readsState = false;
    for (Value input : inputs) {
      read += getMemory(input);
      while (auto view = input.getDefiningOp<ViewOp>())
        input = view.getSource();
      std::optional<mlir::amp::Role> role = mlir::amp::getRole(input);
      readsState |= role && role != mlir::amp::Role::Batch &&
                    role != mlir::amp::Role::Hyperparameter;
    }
    // Small values, such as a bias, hardly count. A state that is read again
    // after its update could not be updated in place.
    if (readsState || readers.size() < 2 ||
        (readers.size() > kMaxReaders && !isWideningCast(loop)) ||
        read > written + written / 8)
      continue;
    for (Operation *reader : readers.getArrayRef().drop_front()) {
      OpBuilder builder(reader);
      Operation *copy = builder.clone(*loop);
      loop->getResult(0).replaceUsesWithIf(
          copy->getResult(0),
          [&](OpOperand &use) { return use.getOwner() == reader; });
      copied = true;
    }
  }
  return copied;
}

//===- RecomputeSingleValues.cpp - Cheap values computed again ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RemarkOptions.h"
#include "SavedValues.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::train;

/// Returns whether `op` takes about as long as reading its operands.
static bool isCheap(Operation *op) {
  return isa<amp::CastOp, NegOp, AbsOp, SignOp, SinOp, CosOp, ErfOp, SqrtOp,
             LogOp, Log1pOp, TanhOp, SigmoidOp, SiluOp, ReluOp, ExpOp, Expm1Op,
             RsqrtOp, ReciprocalOp, SquareOp, GeluOp, ClipOp, AddOp, SubOp,
             MulOp, DivOp, MaximumOp, MinimumOp, PowOp, CompareOp, SelectOp,
             OneHotOp, BroadcastOp, ReshapeOp, TransposeOp, SliceOp, PadOp,
             ConcatOp, DropoutOp, GatherOp, RotaryEmbeddingOp, LayerNormOp,
             RMSNormOp, BatchNormTrainingOp, BatchNormInferenceOp>(op);
}

/// Collects in `ops` the operations that compute `value` again, in `inputs` the
/// kept values that they read, and in `grown` the values that would have to be
/// kept for them. Returns why `value` cannot be computed again, or an empty
/// string.
static std::string collect(const SavedValues &step, Value value, int64_t chain,
                           SavedValues::Ops &ops,
                           llvm::SetVector<Value> &inputs,
                           llvm::SetVector<Value> &grown) {
  SmallVector<Operation *> worklist;
  auto visit = [&](Operation *op) -> std::string {
    if (!isCheap(op) || !isPure(op))
      return (op->getName().getStringRef() + " is not cheap").str();
    if (ops.insert(op))
      worklist.push_back(op);
    return {};
  };
  if (std::string why = visit(value.getDefiningOp()); !why.empty())
    return why;
  while (!worklist.empty()) {
    if (int64_t(ops.size()) > chain)
      return "it takes more than " + std::to_string(chain) + " operations";
    Operation *op = worklist.pop_back_val();
    for (Value operand : op->getOperands()) {
      Value root = step.getRoot(operand);
      if (!step.isForwardValue(operand) || step.isConstant(operand))
        continue;
      if (step.isKept(root)) {
        inputs.insert(root);
        if (root != operand)
          if (std::string why = visit(operand.getDefiningOp()); !why.empty())
            return why;
        continue;
      }
      Operation *producer = operand.getDefiningOp();
      if (isCheap(producer) && isPure(producer)) {
        (void)visit(producer);
        continue;
      }
      grown.insert(operand);
    }
  }
  return {};
}

void mlir::train::recomputeSingleValues(SavedValues &step, int64_t chain,
                                        int64_t minBytes) {
  auto drop = [&](Value value) {
    auto keep = [&](std::string why) {
      step.reasons[value] = std::move(why);
      return false;
    };
    int64_t bytes = countBytes(value);
    if (step.pinned.contains(value)) {
      step.reasons.insert({value, "another value is computed again from it"});
      return false;
    }
    if (bytes < minBytes)
      return keep("it is small");
    if (step.isReturned(value))
      return keep("it is a result of the step");
    SavedValues::Ops ops;
    llvm::SetVector<Value> inputs, grown;
    std::string why = collect(step, value, chain, ops, inputs, grown);
    if (!why.empty())
      return keep(why);
    int64_t grownBytes = 0;
    for (Value input : grown)
      grownBytes += countBytes(input);
    if (grownBytes >= bytes)
      return keep("the values to keep instead of it are not smaller");
    Operation *where = step.getFirstReader(value);
    if (auto remark = remark::passed(value.getLoc(),
                                     getRemarkOptions("Recomputed", where)))
      remark << remark::metric("Op",
                               value.getDefiningOp()->getName().getStringRef())
             << remark::metric("Bytes", bytes - grownBytes)
             << remark::metric("Operations", ops.size());
    for (Value input : grown) {
      step.numBytes -= countBytes(input);
      step.saved.insert(input);
    }
    step.pinned.insert(inputs.begin(), inputs.end());
    step.pinned.insert(grown.begin(), grown.end());
    step.emit(value, ops, where);
    return true;
  };
  // A value that is kept for one chain may make another chain cheap.
  bool changed = chain > 0;
  while (changed) {
    changed = false;
    for (Value value : llvm::to_vector(step.saved))
      if (!step.dropped.contains(value))
        changed |= drop(value);
  }
}

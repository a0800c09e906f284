//===- ReferencePins.h - Contradicting pins, by definition ------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the pins of a random graph that contradict each other, without the slot
// graph.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_LIB_REFERENCEPINS_H
#define AMP_TEST_LIB_REFERENCEPINS_H

#include "amp/Dialect/AMP/IR/AMP.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ParallelCombiningOpInterface.h"

namespace mlir::amp::test {

/// The pin of `op` itself, or nothing.
inline StringRef getOwnPin(Operation *op) {
  auto pin = op->getAttrOfType<StringAttr>(AMPDialect::kPrecisionAttr);
  return pin ? pin.getValue() : StringRef();
}

/// Whether some of `pins` ask for the low type and some forbid it.
inline bool disagree(ArrayRef<StringRef> pins) {
  return llvm::is_contained(pins, "low") &&
         llvm::any_of(pins, [](StringRef pin) { return pin != "low"; });
}

/// Whether pins ask for two types of a call's values: the pins of a private
/// function and of its calls, or else those of the callers. A pin that keeps
/// types keeps the signature, and nothing contradicts it.
inline bool callPinsContradict(ModuleOp module, func::FuncOp function) {
  if (!function.isPrivate() || function.isExternal())
    return false;
  SmallVector<StringRef> own, outer;
  if (!getOwnPin(function).empty())
    own.push_back(getOwnPin(function));
  module.walk([&](func::CallOp call) {
    if (call.getCallee() != function.getSymName())
      return;
    Operation *holder = call;
    while (holder && getOwnPin(holder).empty())
      holder = holder->getParentOp();
    if (holder)
      (holder == call ? own : outer).push_back(getOwnPin(holder));
  });
  if (llvm::is_contained(own, "keep"))
    return false;
  return disagree(own.empty() ? outer : own);
}

/// Whether a loop whose iterations combine their results has another pin than
/// the operation that combines them.
inline bool combinerPinsContradict(scf::ForallOp loop) {
  SmallVector<StringRef> pins;
  if (!getOwnPin(loop).empty())
    pins.push_back(getOwnPin(loop));
  for (Operation &op : loop.getTerminator().getYieldingOps())
    if (!getOwnPin(&op).empty())
      pins.push_back(getOwnPin(&op));
  return disagree(pins);
}

/// Whether `module` has pins that cannot all hold, which is an error for any
/// policy. Works on graphs of RandomGraph.h: calls and loops pass only f32
/// values, and only the cases above tie pinned values to others.
inline bool pinsContradict(ModuleOp module) {
  bool found = false;
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op))
      found |= callPinsContradict(module, function);
    else if (auto loop = dyn_cast<scf::ForallOp>(op))
      found |= combinerPinsContradict(loop);
  });
  return found;
}

} // namespace mlir::amp::test

#endif // AMP_TEST_LIB_REFERENCEPINS_H

//===- RegionFlow.h - Values that regions take and give ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How values get into the regions of an operation and out of them, also where
// no interface says so.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_REGIONFLOW_H
#define AMP_SUPPORT_REGIONFLOW_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <utility>

namespace mlir::amp {

/// Finds which operand is handed on as which region argument or result.
///
/// `RegionBranchOpInterface` says it where an operation implements it. For
/// others the numbers of operands, arguments, yielded values and results say
/// it: an operand is the argument of the same number if there are equally many,
/// a yielded value is the result of the same number, and in a loop also the
/// argument. An operation may have fewer ties than this finds, not more.
class RegionFlow {
public:
  /// Whether it is known how values get into and out of the regions of `op`.
  static bool isKnown(Operation *op);

  /// The region arguments and results that `operand`, of an operation with
  /// regions or of a terminator in one, is handed on as.
  ArrayRef<Value> getInputs(OpOperand &operand);

  /// The operands that are handed on as `value`, a region argument or a result
  /// of an operation with regions.
  ArrayRef<OpOperand *> getSources(Value value);

private:
  void findTies(Operation *op);

  llvm::DenseMap<Operation *, bool> visited;
  llvm::DenseMap<OpOperand *, llvm::SmallVector<Value, 2>> inputs;
  llvm::DenseMap<Value, llvm::SmallVector<OpOperand *, 2>> sources;
};

} // namespace mlir::amp

#endif // AMP_SUPPORT_REGIONFLOW_H

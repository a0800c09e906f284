//===- StateParts.h - What each rank can keep a part of ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the gradient of a parameter, summed over the ranks, to the state that
// it updates. If all operations on the way work element by element, each rank
// can execute them on a part of the elements.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_REPLICATION_STATEPARTS_H
#define AMP_LIB_REPLICATION_STATEPARTS_H

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Replication/ReplicationAnalysis.h"
#include "amp/Support/RegionFlow.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::amp {

/// The values of a step that follow from one gradient, of which each rank can
/// compute a part.
struct StateParts {
  /// The result of an all-reduce.
  OpResult total;
  /// The name of the parameter.
  StringAttr parameter;
  /// The values, in the order in which they were found.
  llvm::SetVector<Value> values;
  /// The operands that take a part: uses of `values`, and those of whole values
  /// that meet them.
  llvm::SetVector<OpOperand *> uses;
  /// The arguments of the step that become parts.
  SmallVector<BlockArgument> states;
};

/// Finds the values of one step that ranks can divide.
class StatePartsFinder {
public:
  /// Parameters with fewer than `minElements` elements stay whole.
  StatePartsFinder(FunctionOpInterface function,
                   const ReplicationStates &states, int64_t minElements)
      : function(function), body(function.getFunctionBody().front()),
        states(states), minElements(minElements) {}

  /// The parts that follow from `total`, a sum over all ranks. Fails if the
  /// parameter stays whole; `reason` then names it and says why. It stays empty
  /// if `total` is not the gradient of a parameter.
  FailureOr<StateParts> find(OpResult total, std::string &reason);

private:
  /// Whether `use` can take a part. Adds the values that become parts with it.
  bool visit(OpOperand &use, StateParts &parts);
  bool visitFlow(OpOperand &use, ArrayRef<Value> inputs, StateParts &parts);
  bool visitCombination(OpOperand &use, StateParts &parts);
  bool visitElementwise(OpOperand &use, StateParts &parts);
  /// Whether `op` computes each element of its results from the elements at the
  /// same place of the operands with the shape of `type`.
  bool isElementwise(Operation *op, ShapedType type) const;
  /// Adds the use of a value that is whole or a part.
  bool addUse(OpOperand &use, StateParts &parts);
  /// The states that only uses in `parts` read, and that `parts` update.
  void findStates(StateParts &parts) const;
  bool refuse(const Twine &text);

  FunctionOpInterface function;
  Block &body;
  const ReplicationStates &states;
  int64_t minElements;
  RegionFlow flow;
  std::string why;
};

} // namespace mlir::amp

#endif // AMP_LIB_REPLICATION_STATEPARTS_H

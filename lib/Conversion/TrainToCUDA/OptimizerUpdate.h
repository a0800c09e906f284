//===- OptimizerUpdate.h - Updates of parameters ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_TRAINTOCUDA_OPTIMIZERUPDATE_H
#define AMP_LIB_CONVERSION_TRAINTOCUDA_OPTIMIZERUPDATE_H

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Dialect/Train/IR/Train.h"

#include <optional>

namespace mlir::cuda {

/// An optimizer operation on one parameter and its surroundings.
struct Update {
  Operation *op;
  OptimizerKind kind;
  Value parameter, gradient, learningRate, step;
  SmallVector<Value, 2> states;
  /// For the parameter and each state, the operation that rounds the new value
  /// to the low type in which it is stored. Null for values stored in f32.
  SmallVector<Operation *, 3> roundings;
  /// The operation that computes what the rounding of the parameter lost, if
  /// the step keeps it. The parameter is then the sum of an
  /// `amp.compensate`.
  mlir::amp::ResidualOp residual;
  double weightDecay;
  /// The flag under which new values are stored. Null if absent.
  Value guard;
  /// Selections between new and old values. Their results are then the targets.
  SmallVector<train::SelectOp> choices;
  mlir::amp::MasterCopyOp copy;
  /// The check whose factors multiply the gradient, and the index of the
  /// gradient in it.
  CheckGradientsOp check;
  unsigned gradientIndex = 0;

  /// Returns result `index` after its rounding: the parameter, then the states.
  Value getNew(unsigned index) const {
    Operation *rounding = roundings[index];
    return rounding ? rounding->getResult(0) : op->getResult(index);
  }
  /// Returns the stored value that result `index` replaces.
  Value getOld(unsigned index) const {
    Value wide = index == 0 ? parameter : states[index - 1];
    if (index == 0 && residual)
      return getSum().getCopy();
    return roundings[index] ? wide.getDefiningOp<mlir::amp::CastOp>().getInput()
                            : wide;
  }
  /// Returns the sum of the parameter and its rounding error. Only for updates
  /// with a residual.
  mlir::amp::CompensateOp getSum() const {
    return parameter.getDefiningOp<mlir::amp::CompensateOp>();
  }
  /// Returns the state of the generator for stochastic rounding, or null.
  Value getRandomState() const {
    for (Operation *rounding : roundings)
      if (auto copied = dyn_cast_or_null<mlir::amp::MasterCopyOp>(rounding))
        return copied.getRng();
    return {};
  }
  /// Returns the key for the stochastic rounding of a result, or -1.
  int64_t getKey(unsigned index) const {
    auto copied = dyn_cast_or_null<mlir::amp::MasterCopyOp>(roundings[index]);
    return copied ? int64_t(copied.getKey()) : -1;
  }

  /// The copy that is kept if the guard is false.
  Value getOldCopy() {
    for (train::SelectOp choice : choices)
      if (choice.getOnTrue() == copy.getCopy())
        return choice.getOnFalse();
    return {};
  }
};

/// The 16-bit gradient that `gradient` widens, or `gradient`. Optimizers and
/// checks read both.
Value skipWidening(Value gradient);

/// Reads `op` if it is the update of an optimizer that has a launch.
std::optional<Update> readUpdate(Operation *op);

/// Reads the operands of `update` again. The replacement of another update, or
/// a check, may have changed them.
void readAgain(Update &update);

/// Finds the copy of the new parameter, and the guard if all results of the
/// update are under one.
void readSurroundings(Update &update);

} // namespace mlir::cuda

#endif // AMP_LIB_CONVERSION_TRAINTOCUDA_OPTIMIZERUPDATE_H

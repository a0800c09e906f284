//===- GuardAnalysis.h - Proof that guards keep the state -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The proof that a parameter or an optimizer state keeps its value when a
// gradient is not finite. The analysis finds on which gradients each value of a
// step depends, if they were unscaled by a scale that the step updates. It also
// finds which of these gradients may not be finite where the value is computed.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_GUARDANALYSIS_H
#define AMP_LOSSSCALING_GUARDANALYSIS_H

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/LossScaling/FiniteFlags.h"
#include "amp/LossScaling/ScaleExponentAnalysis.h"
#include "amp/LossScaling/ScalerProof.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::amp {

class GuardAnalysis {
public:
  /// `exponents` holds the exponents of `function`, which should not call
  /// functions that scale, unscale or update. With `allowUnverified`, an update
  /// of a scale that cannot be proved is a warning.
  GuardAnalysis(FunctionOpInterface function, ScaleExponentAnalysis &exponents,
                bool allowUnverified = false);

  /// Returns failure, after errors, if an overflow may change a state.
  LogicalResult check();
  /// The number of scaler updates that are not proved.
  unsigned getNumUnverified() const { return scalers.getNumUnverified(); }

private:
  /// A result that replaces a state.
  struct Update {
    StringAttr name;
    BlockArgument old;
    Value value;
    StringAttr optimizer;
  };
  /// The sources that a value depends on. Bit i represents checked gradient i.
  /// The bits after those represent operations that unscale without a check, or
  /// that compute an infinity from finite gradients.
  struct Dependence {
    /// The sources that may not be finite.
    llvm::BitVector unguarded;
    llvm::BitVector all;
    bool operator==(const Dependence &other) const {
      return unguarded == other.unguarded && all == other.all;
    }
  };
  /// An unchecked source: its operation, and the values for which its result is
  /// infinite. The list is empty if the operation unscales.
  struct Unchecked {
    Operation *op;
    ScalarEvaluator *example = nullptr;
    /// Whether the operation combines gradients that each rank has checked by
    /// itself.
    bool isExchange = false;
  };

  void findUpdates();
  void findDynamicScales();
  void findChecks();
  void findSources();
  /// Evaluates operations on checked gradients for some finite gradients, and
  /// finds those with an infinite result.
  void findInfinities();
  /// Finds operations that combine tensors of several ranks. A finite flag of
  /// this rank does not tell whether the values of other ranks are finite.
  void findExchanges();
  /// Returns the values that replace parameters, and the values in regions that
  /// these come from.
  llvm::DenseSet<Value> getNewParameters() const;
  /// The checked gradients from which the scaled operands of `op` are computed,
  /// or none if they depend on other scaled values.
  std::optional<llvm::BitVector> getCheckedOperands(Operation *op);

  void visit(Operation *op);
  void visitChoice(Operation *op);
  void visitRegions(RegionBranchOpInterface op);
  Dependence &get(Value value) {
    Dependence &entry = depends[value];
    entry.unguarded.resize(size());
    entry.all.resize(size());
    return entry;
  }
  void set(Value value, const Dependence &dependence);
  /// Whether `example` knows that `value` is a finite number.
  static bool isFiniteIn(ScalarEvaluator &example, Value value);
  unsigned size() const { return flags.size() + unchecked.size(); }
  void add(Dependence &sum, Value value) {
    const Dependence &of = get(value);
    sum.unguarded |= of.unguarded;
    if (!isGuardedState(value))
      sum.all |= of.all;
  }
  /// Whether `value` is the new value of a parameter or optimizer state that
  /// keeps its old value if any gradient on which it depends is not finite. Its
  /// readers, such as the forward pass of a second loss, need no guard for
  /// these gradients.
  bool isGuardedState(Value value);
  bool isDynamic(ScaleExponent::Symbol symbol) const;
  bool isDynamic(const ScaleExponent &exponent) const {
    return llvm::any_of(exponent.getTerms(),
                        [&](const ScaleExponent::Term &term) {
                          return isDynamic(term.symbol);
                        });
  }
  ScaleExponent::Symbol getScale(LossScaleOpInterface op) const {
    return exponents.getSymbol(op->getOperand(op.getLossScaleOperand()));
  }
  LogicalResult checkUpdate(const Update &update);
  LogicalResult failUnguarded(const Update &update, unsigned source);
  LogicalResult checkUpdateOp(LossScaleOpInterface update);
  /// Checks that `update` does not lower the scale because of a condition on
  /// data where all gradients are finite.
  LogicalResult checkFlag(LossScaleOpInterface update);
  /// Checks that each step makes `update` once, even if a loop contains it.
  LogicalResult checkOnce(LossScaleOpInterface update);
  /// Checks that a result replaces each state that an update reads.
  LogicalResult checkStates();
  /// Checks the results that replace the state of a scaler.
  LogicalResult checkScalers();

  /// The gradients each of which, if not finite, makes `value` equal to `old`,
  /// for any values of the others.
  llvm::BitVector getKeepers(Value value, BlockArgument old);
  llvm::BitVector findKeepers(Value value, BlockArgument old);
  /// The gradients each of which, if not finite, may make `value` equal to
  /// `old`.
  llvm::BitVector getMayKeep(Value value, BlockArgument old);
  llvm::BitVector findMayKeep(Value value, BlockArgument old);
  /// The gradients whose overflow need not change a scale where `branch` skips
  /// its update because `condition`, which no flag decides, is `truth`. They
  /// are unscaled in the branch, or the step then skips the updates that read
  /// them too, or the condition is one of counters, such as a window.
  llvm::BitVector getSkippable(Operation *branch, Value condition, bool truth);
  /// Whether `value` is `old` if no gradient of `off` is finite.
  bool isKept(Value value, BlockArgument old, const llvm::BitVector &off);
  bool findKept(Value value, BlockArgument old, const llvm::BitVector &off);
  const Update *findMaster(Value value, BlockArgument old) const;
  /// Whether a result of `loop` reaches `value` through moves, casts, choices
  /// and loops.
  bool goesThrough(Value value, Operation *loop) const;

  FunctionOpInterface function;
  ScaleExponentAnalysis &exponents;
  std::vector<Update> results;
  /// The scales that the step updates.
  llvm::DenseSet<ScaleExponent::Symbol> dynamic;
  SmallVector<LossScaleOpInterface> updates;
  FiniteFlags flags;
  std::vector<Unchecked> unchecked;
  /// The bits of operations that combine values of several ranks.
  DenseMap<Operation *, unsigned> exchanges;
  /// The bits that an operation gives to its results.
  DenseMap<Operation *, llvm::BitVector> sources;
  std::vector<std::unique_ptr<ScalarEvaluator>> examples;
  DenseMap<Value, Dependence> depends;
  bool hasChanged = false;
  /// The results of the functions above, by value and state. Those of `isKept`
  /// are for the `off` of the current update.
  DenseMap<std::pair<Value, Value>, llvm::BitVector> keepersOf, mayKeep;
  DenseMap<std::pair<Value, Value>, bool> keptIfOff;
  ScalerProof scalers;
  /// The gradients on which the updates of an optimizer depend.
  llvm::MapVector<StringAttr, llvm::BitVector> byOptimizer;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_GUARDANALYSIS_H

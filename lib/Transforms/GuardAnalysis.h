//===- GuardAnalysis.h - What an overflow leaves as it was -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The proof that a parameter or an optimizer state keeps its value when a
// gradient is not finite. For each value of a step: on which gradients it
// depends that were unscaled by a scale which the step updates, and which of
// these may not be finite where it is computed.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_GUARDANALYSIS_H
#define AMP_LIB_TRANSFORMS_GUARDANALYSIS_H

#include "ScaleDegreeAnalysis.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::amp {

class GuardAnalysis {
public:
  /// `degrees` holds those of `function`, which should call no functions that
  /// scale, unscale or update.
  GuardAnalysis(FunctionOpInterface function, ScaleDegreeAnalysis &degrees);

  /// Returns failure, after errors, if an overflow may change what it must not.
  LogicalResult check();

private:
  /// A result that replaces a parameter or an optimizer state.
  struct Update {
    StringAttr name;
    BlockArgument old;
    Value value;
    StringAttr optimizer;
  };
  /// Of a value: bit i is that of check i, and behind them that of each
  /// operation that unscales without a check.
  struct Dependence {
    /// Those that may not be finite.
    llvm::BitVector unguarded;
    llvm::BitVector all;
  };

  void findUpdates();
  void findDynamicScales();
  void findSources();
  void visit(Operation *op);
  Dependence &get(Value value) {
    Dependence &entry = depends[value];
    entry.unguarded.resize(checks.size() + unchecked.size());
    entry.all.resize(checks.size() + unchecked.size());
    return entry;
  }
  bool isDynamic(const ScaleDegree &degree) const {
    return llvm::any_of(degree.getTerms(), [&](const ScaleDegree::Term &term) {
      return dynamic.contains(term.symbol);
    });
  }
  LogicalResult check(const Update &update);
  LogicalResult check(LossScaleOpInterface update);
  /// Checks what replaces a loss scale that the step updates.
  LogicalResult checkScale(const Update &update);

  /// The checks of whose flags `condition` is the conjunction.
  const llvm::BitVector &getFlags(Value condition);
  /// Whether `condition` is false where the flags of `off` are.
  bool isFalse(Value condition, const llvm::BitVector &off);
  /// The checks without which `value` is `old`, whatever the others find.
  llvm::BitVector getKeepers(Value value, BlockArgument old);
  /// Whether `value` is `old` where the flags of `off` are false.
  bool isKept(Value value, BlockArgument old, const llvm::BitVector &off);
  const Update *findMaster(Value value, BlockArgument old) const;
  /// The scale of which `value` is the new one, or `value`.
  Value getUpdatedScale(Value value) const;

  FunctionOpInterface function;
  ScaleDegreeAnalysis &degrees;
  std::vector<Update> results;
  /// The scales that the step updates.
  llvm::DenseSet<ScaleDegree::Symbol> dynamic;
  SmallVector<LossScaleOpInterface> updates;
  /// Operations that unscale gradients by such a scale, and tell whether they
  /// are finite, and others by which the factor is lost.
  SmallVector<LossScaleOpInterface> checks;
  SmallVector<Operation *> unchecked;
  DenseMap<Operation *, unsigned> numbers;
  DenseMap<Value, Dependence> depends;
  DenseMap<Value, llvm::BitVector> flagsOf;
  /// The checks on which the updates of an optimizer depend.
  llvm::MapVector<StringAttr, llvm::BitVector> byOptimizer;
};

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_GUARDANALYSIS_H

//===- FiniteFlags.h - Which gradients a condition tests --------*- C++ -*-===//
// C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradients that operations check, and the value of a condition if some of
// them are not finite. Any operation may check a gradient. Flags may be
// combined, negated, compared and carried by loops.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_FINITEFLAGS_H
#define AMP_LOSSSCALING_FINITEFLAGS_H

#include "amp/LossScaling/ScalarEvaluator.h"
#include "amp/LossScaling/ScaleExponentAnalysis.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <memory>
#include <tuple>

namespace mlir::amp {

class FiniteFlags {
public:
  /// Adds the gradients that `check` unscales and checks. A gradient that is
  /// checked twice in the same way counts once.
  void add(LossScaleOpInterface check, const ScaleExponentAnalysis &exponents);

  ArrayRef<LossScaleOpInterface> getChecks() const { return checks; }
  /// The number of different gradients.
  unsigned size() const { return firstCheck.size(); }
  /// The gradients that `check` checks, or null if it is not a check.
  const llvm::BitVector *find(Operation *check);
  /// The gradient that `value` is, if it is checked.
  std::optional<unsigned> findGradient(Value value) const;
  /// Adds those that are the same values, checked in another way.
  void addSame(llvm::BitVector &gradients) const;
  LossScaleOpInterface getCheck(unsigned gradient) const {
    return firstCheck[gradient];
  }

  /// The gradients that make `condition` equal `value` if one of them is not
  /// finite, for any values of the others.
  const llvm::BitVector &getForcing(Value condition, bool value);
  /// Whether `condition` depends on the flag of a check.
  bool readsFlag(Value condition);
  /// The value of `condition` if no gradient of `off` is finite, if it is
  /// known.
  std::optional<bool> evaluate(Value condition, const llvm::BitVector &off);

  /// The gradients that make the operation of `operand` return it unchanged if
  /// one of them is not finite, as a sum with zero does.
  llvm::BitVector getIdentity(OpOperand &operand);
  /// Whether the single number `value` equals `old` if no gradient of `off` is
  /// finite. Tries some numbers.
  bool keepsNumber(Value value, Value old, const llvm::BitVector &off);

private:
  /// Gradients that the same operations check. All flags treat them alike.
  struct Group {
    llvm::BitVector gradients;
    /// Assumes that one of them is not finite.
    std::unique_ptr<ScalarEvaluator> evaluator;
    /// Assumes this too, and tries some numbers for single hyperparameters and
    /// scales.
    std::unique_ptr<ScalarEvaluator> withNumbers;
  };

  /// Assumes that the gradients of `off` are not finite.
  ScalarEvaluator::Assumption makeAssumption(const llvm::BitVector &off);
  /// Makes an evaluator with `assumption`, which is about the gradients of
  /// `off`.
  std::unique_ptr<ScalarEvaluator>
  makeEvaluator(const llvm::BitVector &off,
                ScalarEvaluator::Assumption assumption);
  /// The value of `condition` if a gradient of `group` is not finite, if it is
  /// known.
  std::optional<bool> evaluateGroup(const Group &group, Value condition);
  /// Groups the gradients, once all checks are known.
  ArrayRef<Group> getGroups();

  SmallVector<LossScaleOpInterface> checks;
  llvm::MapVector<Operation *, llvm::BitVector> gradientsOf;
  SmallVector<LossScaleOpInterface> firstCheck;
  /// A gradient by its value, the scale and the attributes of the check.
  std::map<std::tuple<void *, ScaleExponent::Symbol, const void *>, unsigned>
      numbers;
  llvm::DenseMap<Value, unsigned> byValue;
  /// Each gradient by its value and the scale.
  std::vector<std::pair<void *, ScaleExponent::Symbol>> same;
  /// The values that depend on a flag, computed on demand.
  bool hasDependents = false;
  llvm::DenseSet<Value> dependents;
  llvm::DenseMap<Value, std::pair<llvm::BitVector, llvm::BitVector>> forcing;
  std::vector<Group> groups;
  /// The evaluators of sets of gradients that were asked for.
  std::vector<std::pair<llvm::BitVector, std::unique_ptr<ScalarEvaluator>>>
      evaluators;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_FINITEFLAGS_H

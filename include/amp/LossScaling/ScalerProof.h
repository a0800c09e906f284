//===- ScalerProof.h - How a step updates its loss scales -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The proof that the step replaces the state of a scaler by its new value: each
// scale and each tracker by the result of the operation that updates it. The
// proof evaluates an update that is written by hand, for scales of several
// magnitudes, after an overflow and after a clean step.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_SCALERPROOF_H
#define AMP_LOSSSCALING_SCALERPROOF_H

#include "amp/LossScaling/FiniteFlags.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

class ScalerProof {
public:
  /// The value that replaces a part of the state.
  struct State {
    StringAttr name;
    BlockArgument old;
    Value value;
  };

  /// `updates` are the operations that update scales. It and `flags` may be
  /// filled later.
  ScalerProof(FunctionOpInterface function,
              const ScaleExponentAnalysis &exponents, FiniteFlags &flags,
              const SmallVectorImpl<LossScaleOpInterface> &updates,
              bool allowUnverified);

  /// Checks a scale that is known to change after an overflow.
  LogicalResult checkScale(const State &state);
  /// Checks any other part. To be called after all scales were checked.
  LogicalResult checkTracker(const State &state);
  /// The number of updates written by hand that are not proved.
  unsigned getNumUnverified() const { return numUnverified; }

private:
  /// The origin of a new value.
  enum class Origin { Updated, Old, Other, ByHand };

  /// Follows `value` to the operations that compute it from `old`. Sets `other`
  /// to the value that replaces `old` if the origin is another one.
  Origin trace(Value value, Value old, bool isUpdated, Value &other);
  /// Whether `value` is `old`, perhaps moved.
  bool isSame(Value value, Value old) const;
  StringAttr getName(Value state);
  LogicalResult checkByHand(const State &state);
  struct NewScales;
  /// Adds the new scales for the old `scales`. Returns whether all are known.
  bool collect(Value value, Value old, ArrayRef<double> scales,
               NewScales &found);
  /// Whether the new scale after a clean step is `cap` for each old one above
  /// it, among `scales` and others near `cap`.
  bool isCap(double cap, Value value, Value old, SmallVector<double> scales);
  /// The old scales for which an update by hand is evaluated: powers of 2 from
  /// 2^-8 to 2^30, the initial scale, the constants of the update with their
  /// products and quotients, and numbers between these.
  SmallVector<double> getOldScales(std::optional<double> initial) const;
  /// Checks the new scales `value` for a range of old scales: they stay
  /// positive and finite, fall after an overflow, and do not fall after a clean
  /// step.
  LogicalResult checkNumbers(const State &state, Value value, Value old,
                             bool isOfUpdate);
  LogicalResult failUnverified(const State &state, StringRef why);
  /// The possible numbers of `value` if the old scale is `scale` and the
  /// gradients `off` overflow. An empty `off` means no overflow.
  std::optional<SmallVector<double>>
  evaluate(Value value, Value old, double scale, const llvm::BitVector &off);
  /// The sets of gradients that the scale divides, each set once.
  SmallVector<llvm::BitVector> getOverflows(Value old);

  FunctionOpInterface function;
  const ScaleExponentAnalysis &exponents;
  FiniteFlags &flags;
  const SmallVectorImpl<LossScaleOpInterface> &updates;
  bool allowUnverified;
  unsigned numUnverified = 0;
  /// The values from which new scales written by hand are computed.
  llvm::DenseSet<Value> read;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_SCALERPROOF_H

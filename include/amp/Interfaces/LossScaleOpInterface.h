//===- LossScaleOpInterface.h - How a factor passes through -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_LOSSSCALEOPINTERFACE_H
#define AMP_INTERFACES_LOSSSCALEOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::amp {

/// The power of each loss scale in a value: a rational
/// exponent for each scale. Zeros have every exponent.
class ScaleExponent {
public:
  /// The number of a loss scale within one analysis.
  using Symbol = unsigned;
  /// `symbol` to the power `numerator / denominator`, which is not 0 and in
  /// lowest terms with a positive denominator.
  struct Term {
    Symbol symbol;
    int64_t numerator, denominator;
    bool operator==(const Term &other) const {
      return symbol == other.symbol && numerator == other.numerator &&
             denominator == other.denominator;
    }
  };

  /// Exponent 0: not multiplied by any scale.
  ScaleExponent() = default;
  /// The exponent of zeros, which fits every exponent.
  static ScaleExponent any() {
    ScaleExponent exponent;
    exponent.isZero = true;
    return exponent;
  }
  /// Exponent 1 in `symbol`.
  static ScaleExponent of(Symbol symbol) {
    ScaleExponent exponent;
    exponent.terms.push_back({symbol, 1, 1});
    return exponent;
  }

  bool isAny() const { return isZero; }
  /// Whether a value of this exponent may be used where no scale is expected.
  bool isUnscaled() const { return terms.empty(); }
  ArrayRef<Term> getTerms() const & { return terms; }
  /// The terms of a temporary outlive it.
  SmallVector<Term, 1> getTerms() && { return std::move(terms); }
  bool mentions(Symbol symbol) const;

  /// The exponent of a product.
  ScaleExponent operator+(const ScaleExponent &other) const;
  /// The exponent of the power `numerator / denominator`. Any number to the
  /// power 0 is 1. Zeros to a negative power are infinite, and multiples of
  /// infinities are infinite.
  ScaleExponent power(int64_t numerator, int64_t denominator = 1) const;
  /// The exponent that fits both, or none.
  std::optional<ScaleExponent> join(const ScaleExponent &other) const;

  bool operator==(const ScaleExponent &other) const {
    return isZero == other.isZero && terms == other.terms;
  }
  bool operator!=(const ScaleExponent &other) const {
    return !(*this == other);
  }

private:
  bool isZero = false;
  /// In increasing order of the symbol.
  SmallVector<Term, 1> terms;
};

/// The interface of the analysis to one operation: it reads the exponents of
/// the operands and sets those of the results.
class ScaleExponentInference {
public:
  virtual ~ScaleExponentInference() = default;

  virtual Operation *getOperation() const = 0;
  /// The exponent of operand `index`; 0 for one that is not a float.
  virtual const ScaleExponent &getOperand(unsigned index) const = 0;
  /// The exponent of any value that dominates the operation, such as one that a
  /// region reads from outside.
  virtual ScaleExponent getExponent(Value value) const = 0;
  /// Exponent 1 in the loss scale that operand `index` is.
  virtual ScaleExponent getScale(unsigned index) const = 0;
  /// Exponent 1 in the value of operand `index`, a scale of quantisation. The
  /// operand may be multiplied by loss scales as well, which are not part of
  /// this factor.
  virtual ScaleExponent getFactor(unsigned index) const = 0;
  virtual void setResult(unsigned index, ScaleExponent exponent) = 0;
  /// Reports that operand `index` does not fit, with the path of the scale to
  /// it. Returns failure.
  virtual LogicalResult fail(unsigned index, const Twine &message) = 0;
  /// Writes `exponent` as a factor: `loss_scale^2`.
  virtual std::string describe(const ScaleExponent &exponent) const = 0;

  /// Gives all results `exponent`.
  void setResults(const ScaleExponent &exponent);
  /// Reports operand `index` if it is multiplied by a scale. `why` says why it
  /// must not be.
  LogicalResult requireUnscaled(unsigned index, const Twine &why);
  /// Finds the one exponent of all of `operands`, or reports two that differ.
  LogicalResult join(ArrayRef<unsigned> operands, ScaleExponent &exponent);
};

/// Returns whether multiples of `constant` are `constant`: all its numbers are
/// zero, infinite or NaN.
bool isScaleInvariant(Attribute constant);

/// Rules that many operations share. Each sets the exponent of all results.
///
/// Sums and selections: `operands` must have one exponent, and the results get
/// it. All other operands are ignored. Without `operands`, all operands count.
LogicalResult inferJointExponent(ScaleExponentInference &inference,
                                 ArrayRef<unsigned> operands = {});
/// The product of operands 0 and 1. The other operands are added to it.
LogicalResult inferProductExponent(ScaleExponentInference &inference);
/// Linear in operand `linear`; the others must have exponent 0.
LogicalResult inferLinearExponent(ScaleExponentInference &inference,
                                  unsigned linear);
/// A power of operand 0.
LogicalResult inferPowerExponent(ScaleExponentInference &inference,
                                 int64_t numerator, int64_t denominator = 1);
/// A function that is not homogeneous: all operands must have exponent 0.
LogicalResult inferUnscaled(ScaleExponentInference &inference);

} // namespace mlir::amp

#include "amp/Interfaces/LossScaleOpInterface.h.inc"

#endif // AMP_INTERFACES_LOSSSCALEOPINTERFACE_H

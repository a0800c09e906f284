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

/// The power of each loss scale by which a value is multiplied: for each scale
/// a rational exponent. Zeros have every degree.
class ScaleDegree {
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

  /// Degree 0: not multiplied by any scale.
  ScaleDegree() = default;
  /// The degree of zeros: every one.
  static ScaleDegree any() {
    ScaleDegree degree;
    degree.isZero = true;
    return degree;
  }
  /// Degree 1 in `symbol`.
  static ScaleDegree of(Symbol symbol) {
    ScaleDegree degree;
    degree.terms.push_back({symbol, 1, 1});
    return degree;
  }

  bool isAny() const { return isZero; }
  /// Whether a value of this degree may be used where no scale is expected.
  bool isUnscaled() const { return terms.empty(); }
  ArrayRef<Term> getTerms() const { return terms; }
  bool mentions(Symbol symbol) const;

  /// The degree of a product.
  ScaleDegree operator+(const ScaleDegree &other) const;
  /// The degree of the power `numerator / denominator`; 0 to the power 0 is 1.
  ScaleDegree power(int64_t numerator, int64_t denominator = 1) const;
  /// The degree that fits both, or none.
  std::optional<ScaleDegree> join(const ScaleDegree &other) const;

  bool operator==(const ScaleDegree &other) const {
    return isZero == other.isZero && terms == other.terms;
  }
  bool operator!=(const ScaleDegree &other) const { return !(*this == other); }

private:
  bool isZero = false;
  /// In increasing order of the symbol.
  SmallVector<Term, 1> terms;
};

/// What an operation sees of the analysis: the degrees of its operands, and
/// where to put those of its results.
class ScaleDegreeInference {
public:
  virtual ~ScaleDegreeInference() = default;

  virtual Operation *getOperation() const = 0;
  /// The degree of operand `index`; 0 for one that is not a float.
  virtual const ScaleDegree &getOperand(unsigned index) const = 0;
  /// The degree of any value that is computed before, such as one that a region
  /// reads from outside.
  virtual ScaleDegree getDegree(Value value) const = 0;
  /// Degree 1 in the loss scale that operand `index` is.
  virtual ScaleDegree getScale(unsigned index) const = 0;
  virtual void setResult(unsigned index, ScaleDegree degree) = 0;
  /// Reports that operand `index` does not fit, with the path by which the
  /// scale came there. Returns failure.
  virtual LogicalResult fail(unsigned index, const Twine &message) = 0;
  /// Writes `degree` as a factor: `loss_scale^2`.
  virtual std::string describe(const ScaleDegree &degree) const = 0;

  /// Gives all results `degree`.
  void setResults(const ScaleDegree &degree);
  /// Reports an operand that is multiplied by a scale; `why` says what it
  /// breaks.
  LogicalResult requireUnscaled(unsigned index, const Twine &why);
  /// Finds the one degree of all of `operands`, or reports two that differ.
  LogicalResult join(ArrayRef<unsigned> operands, ScaleDegree &degree);
};

/// Returns whether multiples of `constant` are `constant`: all its numbers are
/// zero, infinite or NaN.
bool isScaleInvariant(Attribute constant);

/// Rules that many operations share. Each sets the degree of all results.
///
/// Sums and selections: `operands` have one degree, which the results have; all
/// other operands are ignored. Without `operands`, all operands.
LogicalResult inferJointDegree(ScaleDegreeInference &inference,
                               ArrayRef<unsigned> operands = {});
/// The product of operands 0 and 1, and of the others, which are added to it.
LogicalResult inferProductDegree(ScaleDegreeInference &inference);
/// Linear in operand `linear`; the others must have degree 0.
LogicalResult inferLinearDegree(ScaleDegreeInference &inference,
                                unsigned linear);
/// A power of operand 0.
LogicalResult inferPowerDegree(ScaleDegreeInference &inference,
                               int64_t numerator, int64_t denominator = 1);
/// A function that is not homogeneous: all operands must have degree 0.
LogicalResult inferUnscaled(ScaleDegreeInference &inference);

} // namespace mlir::amp

#include "amp/Interfaces/LossScaleOpInterface.h.inc"

#endif // AMP_INTERFACES_LOSSSCALEOPINTERFACE_H

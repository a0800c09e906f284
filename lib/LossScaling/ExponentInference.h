//===- ExponentInference.h - Exponents of an operation ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LOSSSCALING_EXPONENTINFERENCE_H
#define AMP_LOSSSCALING_EXPONENTINFERENCE_H

#include "amp/LossScaling/ScaleExponentAnalysis.h"

namespace mlir::amp {

/// What an operation may ask the analysis and tell it: the exponents of its
/// operands and the exponents of its results.
class ScaleExponentAnalysis::Inference final : public ScaleExponentInference {
public:
  Inference(ScaleExponentAnalysis &analysis, Operation *op, bool quiet = false)
      : analysis(analysis), op(op), quiet(quiet) {
    for (Value operand : op->getOperands())
      operands.push_back(analysis.getExponent(operand));
  }

  Operation *getOperation() const override { return op; }
  const ScaleExponent &getOperand(unsigned index) const override {
    return operands[index];
  }
  ScaleExponent getExponent(Value value) const override {
    return analysis.getExponent(value);
  }
  ScaleExponent getScale(unsigned index) const override {
    // A power of a scale is not another scale.
    ScaleExponent exponent = analysis.getExponent(op->getOperand(index));
    return exponent.getTerms().empty()
               ? ScaleExponent::of(analysis.getSymbol(op->getOperand(index)))
               : exponent;
  }
  ScaleExponent getFactor(unsigned index) const override {
    Value scale = analysis.getRoot(op->getOperand(index));
    ScaleExponent::Symbol symbol = analysis.symbols.get(scale);
    // A loss scale has its own exponent already.
    return analysis.getExponent(scale).mentions(symbol)
               ? ScaleExponent()
               : ScaleExponent::of(symbol);
  }
  void setResult(unsigned index, ScaleExponent exponent) override {
    analysis.set(op->getResult(index), std::move(exponent));
  }
  LogicalResult fail(unsigned index, const Twine &message) override {
    if (quiet)
      return failure();
    InFlightDiagnostic diagnostic = op->emitOpError() << message;
    analysis.explain(op->getOperand(index),
                     *diagnostic.getUnderlyingDiagnostic());
    return diagnostic;
  }
  /// Fails because the policy describes the operation wrongly.
  LogicalResult refuse(const Twine &message) {
    return quiet ? failure() : LogicalResult(op->emitOpError() << message);
  }
  std::string describe(const ScaleExponent &exponent) const override {
    return analysis.symbols.describe(exponent);
  }

private:
  ScaleExponentAnalysis &analysis;
  Operation *op;
  bool quiet;
  SmallVector<ScaleExponent, 4> operands;
};

} // namespace mlir::amp

#endif // AMP_LOSSSCALING_EXPONENTINFERENCE_H

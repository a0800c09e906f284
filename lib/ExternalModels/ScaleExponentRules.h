//===- ScaleExponentRules.h - What a factor does in an op -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of LossScaleOpInterface that upstream dialects share, and the model
// of an operation that follows one of them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXTERNALMODELS_SCALEEXPONENTRULES_H
#define AMP_LIB_EXTERNALMODELS_SCALEEXPONENTRULES_H

#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace mlir::amp::exponent {

/// Sums, maxima and movements: all operands and results have one factor.
inline LogicalResult joint(ScaleExponentInference &inference) {
  return inferJointExponent(inference);
}

/// As `joint`, for some operands. The others are not floats, or give a shape or
/// a sign.
template <unsigned... operands>
inline LogicalResult jointOf(ScaleExponentInference &inference) {
  return inferJointExponent(inference, {operands...});
}

/// As `joint`, for the operands that are floats.
inline LogicalResult jointFloats(ScaleExponentInference &inference) {
  SmallVector<unsigned> floats;
  Operation *op = inference.getOperation();
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (isa<FloatType>(getElementTypeOrSelf(type)))
      floats.push_back(index);
  return floats.empty() ? success() : inferJointExponent(inference, floats);
}

/// The order of operands with one factor. The factor is positive.
inline LogicalResult ordered(ScaleExponentInference &inference) {
  ScaleExponent exponent;
  return inference.join({0, 1}, exponent);
}

inline LogicalResult product(ScaleExponentInference &inference) {
  return inferProductExponent(inference);
}

inline LogicalResult quotient(ScaleExponentInference &inference) {
  inference.setResults(inference.getOperand(0) +
                       inference.getOperand(1).power(-1));
  return success();
}

template <int64_t numerator, int64_t denominator>
inline LogicalResult power(ScaleExponentInference &inference) {
  return inferPowerExponent(inference, numerator, denominator);
}

/// A power whose exponent is a constant multiple of a quarter. Other exponents
/// of gradients do not occur.
inline LogicalResult variablePower(ScaleExponentInference &inference) {
  Attribute constant;
  const ScaleExponent &base = inference.getOperand(0);
  if (base.isUnscaled() ||
      !matchPattern(inference.getOperation()->getOperand(1),
                    m_Constant(&constant)))
    return inferUnscaled(inference);
  if (auto elements = dyn_cast<DenseElementsAttr>(constant))
    if (elements.isSplat())
      constant = elements.getSplatValue<Attribute>();
  double exponent = 0.25 / 2;
  if (auto number = dyn_cast<FloatAttr>(constant))
    exponent = number.getValueAsDouble();
  else if (auto number = dyn_cast<IntegerAttr>(constant))
    exponent = static_cast<double>(number.getValue().getSExtValue());
  if (std::abs(exponent) > 64 || exponent * 4 != std::floor(exponent * 4))
    return inferUnscaled(inference);
  inference.setResults(base.power(static_cast<int64_t>(exponent * 4), 4));
  return success();
}

inline LogicalResult nonlinear(ScaleExponentInference &inference) {
  return inferUnscaled(inference);
}

/// Tests whether a number is finite. The factor does not matter.
inline LogicalResult ignored(ScaleExponentInference &) { return success(); }

/// A tensor without contents.
inline LogicalResult uninitialized(ScaleExponentInference &inference) {
  inference.setResults(ScaleExponent::any());
  return success();
}

inline LogicalResult constant(ScaleExponentInference &inference) {
  Attribute value;
  if (matchPattern(inference.getOperation(), m_Constant(&value)) &&
      isScaleInvariant(value))
    inference.setResults(ScaleExponent::any());
  return success();
}

using Rule = LogicalResult (*)(ScaleExponentInference &);

/// The model of an operation that follows `rule`.
template <typename OpTy, Rule rule>
struct Model : LossScaleOpInterface::ExternalModel<Model<OpTy, rule>, OpTy> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &inference) const {
    return rule(inference);
  }
};

/// Attaches the model of `rule` to each operation.
template <Rule rule, typename... Ops>
void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops, rule>>(*context), ...);
}

} // namespace mlir::amp::exponent

#endif // AMP_LIB_EXTERNALMODELS_SCALEEXPONENTRULES_H

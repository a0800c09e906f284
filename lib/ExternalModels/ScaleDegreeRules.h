//===- ScaleDegreeRules.h - What a factor does in an op ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules of LossScaleOpInterface that upstream dialects share, and a model
// for each operation that follows one of them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXTERNALMODELS_SCALEDEGREERULES_H
#define AMP_LIB_EXTERNALMODELS_SCALEDEGREERULES_H

#include "amp/Interfaces/LossScaleOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

namespace mlir::amp::degree {

/// Sums, maxima and movements: one factor throughout.
inline LogicalResult joint(ScaleDegreeInference &inference) {
  return inferJointDegree(inference);
}

/// As `joint`, of some operands; the others are no floats, or give a shape or a
/// sign.
template <unsigned... operands>
inline LogicalResult jointOf(ScaleDegreeInference &inference) {
  return inferJointDegree(inference, {operands...});
}

/// As `joint`, of those operands that are floats.
inline LogicalResult jointFloats(ScaleDegreeInference &inference) {
  SmallVector<unsigned> floats;
  Operation *op = inference.getOperation();
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (isa<FloatType>(getElementTypeOrSelf(type)))
      floats.push_back(index);
  return floats.empty() ? success() : inferJointDegree(inference, floats);
}

/// An order of operands with one factor, which is positive.
inline LogicalResult ordered(ScaleDegreeInference &inference) {
  ScaleDegree degree;
  return inference.join({0, 1}, degree);
}

inline LogicalResult product(ScaleDegreeInference &inference) {
  return inferProductDegree(inference);
}

inline LogicalResult quotient(ScaleDegreeInference &inference) {
  inference.setResults(inference.getOperand(0) +
                       inference.getOperand(1).power(-1));
  return success();
}

template <int64_t numerator, int64_t denominator>
inline LogicalResult power(ScaleDegreeInference &inference) {
  return inferPowerDegree(inference, numerator, denominator);
}

/// A power whose exponent is a constant: of quarters, since nobody writes other
/// ones of a gradient.
inline LogicalResult variablePower(ScaleDegreeInference &inference) {
  Attribute constant;
  const ScaleDegree &base = inference.getOperand(0);
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

inline LogicalResult nonlinear(ScaleDegreeInference &inference) {
  return inferUnscaled(inference);
}

/// Whether a number is finite is the business of whoever asks.
inline LogicalResult ignored(ScaleDegreeInference &) { return success(); }

/// What holds no number yet.
inline LogicalResult uninitialized(ScaleDegreeInference &inference) {
  inference.setResults(ScaleDegree::any());
  return success();
}

inline LogicalResult constant(ScaleDegreeInference &inference) {
  Attribute value;
  if (matchPattern(inference.getOperation(), m_Constant(&value)) &&
      isScaleInvariant(value))
    inference.setResults(ScaleDegree::any());
  return success();
}

using Rule = LogicalResult (*)(ScaleDegreeInference &);

/// The model of an operation that follows `rule`.
template <typename OpTy, Rule rule>
struct Model : LossScaleOpInterface::ExternalModel<Model<OpTy, rule>, OpTy> {
  LogicalResult inferScaleDegrees(Operation *,
                                  ScaleDegreeInference &inference) const {
    return rule(inference);
  }
};

/// Gives each operation the model of `rule`.
template <Rule rule, typename... Ops>
void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops, rule>>(*context), ...);
}

} // namespace mlir::amp::degree

#endif // AMP_LIB_EXTERNALMODELS_SCALEDEGREERULES_H

//===- TosaScaleExponents.cpp - How a factor passes through TOSA ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LossScaleOpInterface for tosa. Zero points are subtracted, so they have the
// factor of their tensor. Zero points of floats are zero, which has every
// factor. Operations on integers only and the control flow of TOSA need no
// model, because the analysis rejects a factor that reaches them.
//
//===----------------------------------------------------------------------===//

#include "ScaleExponentRules.h"

#include "amp/ExternalModels/ExternalModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <optional>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::exponent;

/// The product of operands 0 and 1; operand 2 is the shift of integers.
static LogicalResult shiftedProduct(ScaleExponentInference &inference) {
  inference.setResults(inference.getOperand(0) + inference.getOperand(1));
  return success();
}

/// (a - its zero point) · (b - its zero point), plus an optional bias.
template <unsigned aZeroPoint, unsigned bZeroPoint, bool hasBias>
static LogicalResult zeroedProduct(ScaleExponentInference &inference) {
  ScaleExponent a, b;
  if (failed(inference.join({0, aZeroPoint}, a)) ||
      failed(inference.join({1, bZeroPoint}, b)))
    return failure();
  ScaleExponent product = a + b;
  if (hasBias) {
    const ScaleExponent &bias = inference.getOperand(2);
    std::optional<ScaleExponent> sum = product.join(bias);
    if (!sum)
      return inference.fail(bias.isUnscaled() ? 0 : 2,
                            "the bias, operand 2, is multiplied by " +
                                inference.describe(bias) +
                                ", but the product that it is added to by " +
                                inference.describe(product));
    product = *sum;
  }
  inference.setResults(product);
  return success();
}

/// A limit commutes with a positive factor if it is zero or infinite. The
/// largest number does not: it would hide an overflow.
static LogicalResult clamp(ScaleExponentInference &inference) {
  auto op = cast<tosa::ClampOp>(inference.getOperation());
  return isScaleInvariant(op.getMinVal()) && isScaleInvariant(op.getMaxVal())
             ? joint(inference)
             : nonlinear(inference);
}

/// A conversion between floats keeps the factor. An integer loses it.
static LogicalResult conversion(ScaleExponentInference &inference) {
  Operation *op = inference.getOperation();
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(op->getOperand(0))) &&
                 isa<FloatType>(getElementTypeOrSelf(op->getResult(0)));
  return isFloat ? joint(inference) : nonlinear(inference);
}

/// The product of all elements along an axis of known extent.
static LogicalResult elementsProduct(ScaleExponentInference &inference) {
  auto op = cast<tosa::ReduceProductOp>(inference.getOperation());
  auto type = cast<ShapedType>(op.getInput().getType());
  if (!type.hasRank() || type.isDynamicDim(op.getAxis()) ||
      type.getDimSize(op.getAxis()) > 64)
    return nonlinear(inference);
  return inferPowerExponent(inference, type.getDimSize(op.getAxis()), 1);
}

void mlir::amp::registerTosaScaleExponentModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    attach<constant, tosa::ConstOp>(context);
    attach<joint, tosa::AbsOp, tosa::AddOp, tosa::ConcatOp, tosa::FFT2dOp,
           tosa::IdentityOp, tosa::MaximumOp, tosa::MinimumOp, tosa::RFFT2dOp,
           tosa::ReduceMaxOp, tosa::ReduceMinOp, tosa::ReduceSumOp,
           tosa::MaxPool2dOp, tosa::ReverseOp, tosa::SubOp, tosa::TransposeOp>(
        context);
    attach<jointOf<0>, tosa::GatherOp, tosa::ReshapeOp, tosa::ResizeOp,
           tosa::SliceOp, tosa::TileOp>(context);
    attach<jointOf<0, 2>, tosa::PadOp, tosa::ScatterOp>(context);
    attach<jointOf<1, 2>, tosa::SelectOp>(context);
    attach<jointOf<0, 1, 2>, tosa::AvgPool2dOp, tosa::NegateOp>(context);
    attach<clamp, tosa::ClampOp>(context);
    attach<conversion, tosa::CastOp>(context);
    attach<shiftedProduct, tosa::MulOp>(context);
    attach<zeroedProduct<2, 3, false>, tosa::MatMulOp>(context);
    attach<zeroedProduct<3, 4, true>, tosa::Conv2DOp, tosa::Conv3DOp,
           tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(context);
    attach<elementsProduct, tosa::ReduceProductOp>(context);
    attach<power<-1, 1>, tosa::ReciprocalOp>(context);
    attach<power<-1, 2>, tosa::RsqrtOp>(context);
    attach<variablePower, tosa::PowOp>(context);
    attach<ordered, tosa::EqualOp, tosa::GreaterOp, tosa::GreaterEqualOp>(
        context);
    // The position of the largest element does not depend on the factor.
    attach<ignored, tosa::ArgMaxOp, tosa::DimOp>(context);
    attach<nonlinear, tosa::CastFromBlockScaledOp, tosa::CastToBlockScaledOp,
           tosa::CeilOp, tosa::CosOp, tosa::CustomOp, tosa::ErfOp, tosa::ExpOp,
           tosa::FloorOp, tosa::LogOp, tosa::MatmulTBlockScaledOp,
           tosa::RescaleOp, tosa::SigmoidOp, tosa::SinOp, tosa::TableOp,
           tosa::TanhOp, tosa::VariableWriteOp>(context);
  });
}

//===- AMPQuantizedScaleExponents.cpp - Factors of 8-bit values -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A payload carries the scale of its quantisation as a factor, next to the loss
// scale. An operation that reads a payload divides by the same value, or is
// rejected: by a scale of another tensor or of another step the result would be
// wrong.
//
//===----------------------------------------------------------------------===//

#include "ScaleExponentModels.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Interfaces/LossScaleOpInterface.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns the exponent of the values that operand `payload` holds, without the
/// factor of operand `scale`. Reports a payload without this factor.
static FailureOr<ScaleExponent>
inferDequantized(ScaleExponentInference &inference, unsigned payload,
                 unsigned scale) {
  const ScaleExponent &exponent = inference.getOperand(payload);
  ScaleExponent factor = inference.getFactor(scale);
  bool carries =
      exponent.isAny() || llvm::all_of(factor.getTerms(), [&](auto &term) {
        return exponent.mentions(term.symbol);
      });
  if (carries)
    return exponent + (inference.getOperand(scale) + factor).power(-1);
  return inference.fail(
      payload, "the payload is multiplied by " + inference.describe(exponent) +
                   ", but this operation divides by the "
                   "scale " +
                   inference.describe(factor) + ", expected one scale");
}

namespace {

struct AmaxModel : LossScaleOpInterface::ExternalModel<AmaxModel, AmaxOp> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &inference) const {
    return inferJointExponent(inference);
  }
};

struct ScaleFromAmaxModel
    : LossScaleOpInterface::ExternalModel<ScaleFromAmaxModel, ScaleFromAmaxOp> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    // A least magnitude is absolute.
    if (!cast<ScaleFromAmaxOp>(op).getEpsilon().isZero() &&
        failed(inference.requireUnscaled(0, "it is compared with 'epsilon'")))
      return failure();
    return inferPowerExponent(inference, -1);
  }
};

struct UpdateQuantizerModel
    : LossScaleOpInterface::ExternalModel<UpdateQuantizerModel,
                                          UpdateQuantizerOp> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    for (unsigned i = 0, e = op->getNumOperands(); i != e; ++i)
      if (failed(inference.requireUnscaled(i, "it becomes state of the next "
                                              "step, whose loss scale may be "
                                              "another")))
        return failure();
    return success();
  }
};

struct QuantizeModel
    : LossScaleOpInterface::ExternalModel<QuantizeModel, QuantizeOp> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &inference) const {
    inference.setResults(inference.getOperand(0) + inference.getOperand(1) +
                         inference.getFactor(1));
    return success();
  }
};

struct DequantizeModel
    : LossScaleOpInterface::ExternalModel<DequantizeModel, DequantizeOp> {
  LogicalResult inferScaleExponents(Operation *,
                                    ScaleExponentInference &inference) const {
    FailureOr<ScaleExponent> exponent = inferDequantized(inference, 0, 1);
    if (failed(exponent))
      return failure();
    inference.setResults(*exponent);
    return success();
  }
};

struct ScaledMatmulModel
    : LossScaleOpInterface::ExternalModel<ScaledMatmulModel, ScaledMatmulOp> {
  LogicalResult inferScaleExponents(Operation *op,
                                    ScaleExponentInference &inference) const {
    FailureOr<ScaleExponent> lhs = inferDequantized(inference, 0, 1);
    if (failed(lhs))
      return failure();
    FailureOr<ScaleExponent> rhs = inferDequantized(inference, 2, 3);
    if (failed(rhs))
      return failure();
    ScaleExponent product = *lhs + *rhs;
    if (op->getNumOperands() == 5) {
      std::optional<ScaleExponent> sum = product.join(inference.getOperand(4));
      if (!sum)
        return inference.fail(
            4, "the bias is multiplied by " +
                   inference.describe(inference.getOperand(4)) +
                   ", but the product by " + inference.describe(product));
      product = *sum;
    }
    inference.setResults(product);
    return success();
  }
};

} // namespace

void mlir::amp::attachQuantizedScaleExponentModels(MLIRContext *context) {
  AmaxOp::attachInterface<AmaxModel>(*context);
  ScaleFromAmaxOp::attachInterface<ScaleFromAmaxModel>(*context);
  UpdateQuantizerOp::attachInterface<UpdateQuantizerModel>(*context);
  QuantizeOp::attachInterface<QuantizeModel>(*context);
  DequantizeOp::attachInterface<DequantizeModel>(*context);
  ScaledMatmulOp::attachInterface<ScaledMatmulModel>(*context);
}

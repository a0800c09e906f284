//===- Common.cpp - What the external models share ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "LinalgBody.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/ExternalModels/ExternalModels.h"
#include "amp/Interfaces/Rounding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::amp;

void mlir::amp::addStoredScalar(Value scalar, int8_t slot,
                                PrecisionSlots &slots) {
  APFloat number(0.0);
  if (slot != PrecisionSlots::none && scalar.getType().isF32() &&
      matchPattern(scalar, m_ConstantFloat(&number)))
    slots.addConstant(slot, number.convertToDouble());
}

bool ArithCastInterface::canMaterializeCast(Type from, Type to) const {
  auto isTensor = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isa<FloatType>(tensor.getElementType());
  };
  return isTensor(from) && isTensor(to);
}

/// Builds `fill`, which `isFreshFill`, with results of `type`.
static Operation *fillAnew(OpBuilder &builder, Location loc,
                           linalg::FillOp fill, Type type) {
  auto empty =
      fill.getDpsInitOperand(0)->get().getDefiningOp<tensor::EmptyOp>();
  Value target =
      tensor::EmptyOp::create(builder, loc, type, empty.getDynamicSizes());
  Value scalar = fill.getDpsInputOperand(0)->get();
  Type element = getElementTypeOrSelf(type);
  // The number itself, not the one that an earlier change rounded.
  if (auto rounded = scalar.getDefiningOp<arith::TruncFOp>();
      rounded && rounded.getIn().getType() == element)
    scalar = rounded.getIn();
  return linalg::FillOp::create(
      builder, loc, type, castScalar(builder, loc, scalar, element), target);
}

Operation *ArithCastInterface::materializeCast(OpBuilder &builder, Location loc,
                                               Value value, Type type) const {
  if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(builder, loc, type, empty.getDynamicSizes());
  if (auto fill = value.getDefiningOp<linalg::FillOp>();
      fill && isFreshFill(fill))
    return fillAnew(builder, loc, fill, type);
  auto width = [](Type type) {
    return getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  };
  if (width(type) > width(value.getType()))
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

void mlir::amp::roundResult(OpResult result,
                            const CastMaterializationInterface &casts,
                            RewriterBase &rewriter) {
  Type low = result.getType();
  result.setType(getWithElementType(low, rewriter.getF32Type()));
  rewriter.setInsertionPointAfter(result.getOwner());
  Operation *cast =
      casts.materializeCast(rewriter, result.getLoc(), result, low);
  markInserted(cast);
  rewriter.replaceAllUsesExcept(result, cast->getResult(0), cast);
}

Value mlir::amp::castScalar(OpBuilder &builder, Location loc, Value scalar,
                            Type type) {
  if (scalar.getType() == type)
    return scalar;
  if (type.getIntOrFloatBitWidth() > scalar.getType().getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, scalar);
  return arith::TruncFOp::create(builder, loc, type, scalar);
}

void mlir::amp::castOperand(OpOperand &operand, Type type,
                            RewriterBase &rewriter) {
  Value scalar = operand.get();
  if (scalar.getType() == type)
    return;
  // The inverse of a conversion from that type to this one is its operand. The
  // conversion is a widening, or a narrowing of an earlier change.
  Operation *conversion = scalar.getDefiningOp();
  bool isInverse =
      isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(conversion) &&
      conversion->getOperand(0).getType() == type;
  Value converted =
      isInverse
          ? conversion->getOperand(0)
          : castScalar(rewriter, operand.getOwner()->getLoc(), scalar, type);
  rewriter.modifyOpInPlace(operand.getOwner(), [&] { operand.set(converted); });
  if (isInverse && conversion->use_empty())
    rewriter.eraseOp(conversion);
}

void mlir::amp::castUses(Value scalar, Type type, RewriterBase &rewriter) {
  if (scalar.getType() == type)
    return;
  // A cast to the new type of the scalar is redundant. All other uses still
  // read its previous type.
  SmallVector<OpOperand *> others;
  SmallVector<Operation *> needless;
  for (OpOperand &use : scalar.getUses()) {
    Operation *user = use.getOwner();
    if (isa<arith::ExtFOp, arith::TruncFOp>(user) &&
        user->getResult(0).getType() == scalar.getType())
      needless.push_back(user);
    else
      others.push_back(&use);
  }
  if (!others.empty()) {
    Value converted = castScalar(rewriter, scalar.getLoc(), scalar, type);
    for (OpOperand *use : others)
      rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(converted); });
  }
  for (Operation *user : needless)
    rewriter.replaceOp(user, scalar);
}

void mlir::amp::getConstantSlots(Operation *op, Attribute value,
                                 PrecisionSlots &slots) {
  SlotKind kind = !canRoundAttribute(value) ? SlotKind::Fixed
                  : fitsHalf(value)         ? SlotKind::Storage
                                            : SlotKind::Range;
  getUniformPrecisionSlots(op, kind, slots);
}

void mlir::amp::roundAttributeOf(Operation *op, StringRef name, Type type,
                                 RewriterBase &rewriter) {
  Attribute attribute = op->getAttr(name);
  if (!attribute)
    return;
  rewriter.modifyOpInPlace(op, [&] {
    op->setAttr(name, roundAttribute(attribute, cast<FloatType>(type)));
  });
}

void mlir::amp::registerPrecisionExternalModels(DialectRegistry &registry) {
  registerArithPrecisionModels(registry);
  registerLinalgPrecisionModels(registry);
  registerTensorPrecisionModels(registry);
  registerTosaPrecisionModels(registry);
}

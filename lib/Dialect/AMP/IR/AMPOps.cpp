//===- AMPOps.cpp - The operations of the amp dialect ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMP.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// CastOp
//===----------------------------------------------------------------------===//

void CastOp::build(OpBuilder &builder, OperationState &state, Value input,
                   FloatType elementType, bool inserted) {
  auto type = cast<RankedTensorType>(input.getType());
  build(builder, state, type.clone(elementType), input, inserted);
}

LogicalResult CastOp::verify() {
  if (getInput().getType() == getType())
    return emitOpError("expected to change the element type, but operand and "
                       "result are both ")
           << getType();
  return success();
}

bool CastOp::areCastCompatible(TypeRange inputs, TypeRange outputs) {
  if (inputs.size() != 1 || outputs.size() != 1)
    return false;
  auto from = dyn_cast<RankedTensorType>(inputs[0]);
  auto to = dyn_cast<RankedTensorType>(outputs[0]);
  return from && to && isa<FloatType>(from.getElementType()) &&
         isa<FloatType>(to.getElementType()) &&
         from.clone(to.getElementType()) == to;
}

/// Returns whether `to` represents every value of `from`.
static bool isExactWidening(Type from, Type to) {
  const llvm::fltSemantics &a = cast<FloatType>(from).getFloatSemantics();
  const llvm::fltSemantics &b = cast<FloatType>(to).getFloatSemantics();
  return llvm::APFloat::isRepresentableBy(a, b);
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  // narrow(widen(x)) is x.
  if (auto producer = getInput().getDefiningOp<CastOp>()) {
    if (producer.getInput().getType() == getType() &&
        isExactWidening(getElementTypeOrSelf(getType()),
                        getElementTypeOrSelf(getInput())))
      return producer.getInput();
  }
  return {};
}

LogicalResult CastOp::canonicalize(CastOp op, PatternRewriter &rewriter) {
  // A cast of a constant is a constant of the operand's dialect.
  DenseFPElementsAttr elements;
  if (!matchPattern(op.getInput(), m_Constant(&elements)))
    return rewriter.notifyMatchFailure(op, "operand is not a dense constant");
  auto type = cast<FloatType>(getElementTypeOrSelf(op.getType()));
  Attribute rounded = elements.mapValues(type, [&](const APFloat &value) {
    APFloat result = value;
    bool losesInfo;
    result.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return result.bitcastToAPInt();
  });
  Dialect *dialect = op.getInput().getDefiningOp()->getDialect();
  Operation *constant = dialect->materializeConstant(rewriter, rounded,
                                                     op.getType(), op.getLoc());
  if (!constant)
    return rewriter.notifyMatchFailure(op, "no such constant can be made");
  rewriter.replaceOp(op, constant);
  return success();
}

LogicalResult CastOp::buildOperandGradients(
    OpBuilder &builder, ArrayRef<Value> resultGradients, const BitVector &,
    MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = CastOp::create(
      builder, getLoc(), resultGradients[0],
      cast<FloatType>(getElementTypeOrSelf(getInput())), getInserted());
  return success();
}

void CastOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(SlotKind::Fixed, {0}, {});
  slots.add(SlotKind::Fixed, {}, {0});
}

//===----------------------------------------------------------------------===//
// GradientSeedOp, ScaleOp, MasterCopyOp, ResidualOp and CompensateOp
//===----------------------------------------------------------------------===//

StringRef GradientSeedOp::getLossName() { return getLoss(); }

void GradientSeedOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}

void ScaleOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}

/// Checks that `copy` has the type of `master` up to the element type.
static LogicalResult verifyNarrowed(Operation *op, Value master, Value copy) {
  Type wanted =
      getWithElementType(master.getType(), getElementTypeOrSelf(copy));
  if (copy.getType() != wanted)
    return op->emitOpError("expected the copy to be ")
           << wanted << ", got " << copy.getType();
  return success();
}

/// Checks the types of an operation that compensates for rounding.
static LogicalResult verifyResidual(Operation *op, Value master, Value copy,
                                    Value residual) {
  if (residual.getType() != copy.getType())
    return op->emitOpError("expected the residual to be ")
           << copy.getType() << " as the copy, got " << residual.getType();
  return verifyNarrowed(op, master, copy);
}

void MasterCopyOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(SlotKind::Fixed, {0}, {});
  slots.add(SlotKind::Fixed, {}, {0});
}

LogicalResult MasterCopyOp::verify() {
  if (getRng() && !getElementTypeOrSelf(getCopy()).isBF16())
    return emitOpError("stochastic rounding is to bf16, got ")
           << getCopy().getType();
  if (!getRng() && getKey() != 0)
    return emitOpError("expected 'key' only with a random number state");
  return verifyNarrowed(*this, getMaster(), getCopy());
}

LogicalResult ResidualOp::verify() {
  return verifyResidual(*this, getMaster(), getCopy(), getResidual());
}

void ResidualOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(SlotKind::Fixed, {0}, {});
  slots.add(SlotKind::Fixed, {1}, {0});
}

LogicalResult CompensateOp::verify() {
  return verifyResidual(*this, getMaster(), getCopy(), getResidual());
}

void CompensateOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(SlotKind::Fixed, {0, 1}, {});
  slots.add(SlotKind::Fixed, {}, {0});
}

// The analysis accounts for rounding to the type of the result.
void CastOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                              MutableArrayRef<FloatRange> results) {
  results[0] = operands[0];
}

void MasterCopyOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                                    MutableArrayRef<FloatRange> results) {
  results[0] = operands[0];
}

void ResidualOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                                  MutableArrayRef<FloatRange> results) {
  results[0] = interval::sub(operands[0], operands[1]);
}

void CompensateOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                                    MutableArrayRef<FloatRange> results) {
  results[0] = interval::add(operands[0], operands[1]);
}

void ScaleOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                               MutableArrayRef<FloatRange> results) {
  results[0] = interval::mul(operands[0], operands[1]);
}

//===----------------------------------------------------------------------===//
// InnerGradientOp
//===----------------------------------------------------------------------===//

LogicalResult InnerGradientOp::buildOperandGradients(
    OpBuilder &builder, ArrayRef<Value> resultGradients, const BitVector &,
    MutableArrayRef<Value> operandGradients) {
  operandGradients[0] =
      InnerGradientOp::create(builder, getLoc(), getGradient().getType(),
                              resultGradients[0], getScale());
  return success();
}

void InnerGradientOp::getPrecisionSlots(PrecisionSlots &slots) {
  // The gradient may have any type. The result is f32.
  slots.reset(*this);
  slots.add(SlotKind::Storage, {0}, {});
  if (getScale())
    slots.add(SlotKind::Fixed, {1}, {0});
  else
    slots.add(SlotKind::Fixed, {}, {0});
}

void InnerGradientOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                                       MutableArrayRef<FloatRange> results) {
  results[0] = getScale() ? FloatRange::unknown() : operands[0];
}

//===----------------------------------------------------------------------===//
// UnscaleOp
//===----------------------------------------------------------------------===//

OperandRange UnscaleOp::getGradientOperands() { return getGradients(); }

LogicalResult UnscaleOp::verify() {
  if (getGradients().empty())
    return emitOpError("expected at least one gradient");
  if (getGradients().size() != getUnscaled().size())
    return emitOpError("expected one result per gradient, got ")
           << getUnscaled().size() << " results for " << getGradients().size()
           << " gradients";
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip(getGradients(), getUnscaled()))) {
    auto [gradient, unscaled] = pair;
    Type element = getElementTypeOrSelf(gradient);
    if (!element.isF64())
      element = Float32Type::get(getContext());
    Type wanted = getWithElementType(gradient.getType(), element);
    if (unscaled.getType() != wanted)
      return emitOpError("result ") << index << " must be " << wanted
                                    << ", got " << unscaled.getType();
  }
  return success();
}

void UnscaleOp::getPrecisionSlots(PrecisionSlots &slots) {
  // A gradient may have any type. Each is a separate slot.
  slots.reset(*this);
  unsigned count = getGradients().size();
  for (unsigned i = 0; i != count; ++i)
    slots.add(SlotKind::Storage, {i}, {});
  int8_t fixed = slots.add(SlotKind::Fixed, {count}, {});
  for (unsigned i = 0; i != count; ++i)
    slots.resultSlots[i] = fixed;
}

//===----------------------------------------------------------------------===//
// GlobalNormOp
//===----------------------------------------------------------------------===//

OperandRange GlobalNormOp::getGradientOperands() { return getGradients(); }

LogicalResult GlobalNormOp::verify() {
  if (getGradients().empty())
    return emitOpError("expected at least one gradient");
  return success();
}

/// The slots of an operation that computes one number from `count` gradients,
/// each of which may have any type.
static void getSeparateStorageSlots(unsigned count, Operation *op,
                                    PrecisionSlots &slots) {
  slots.reset(op);
  for (unsigned i = 0; i != count; ++i)
    slots.add(SlotKind::Storage, {i}, {});
  slots.add(SlotKind::Fixed, {}, {0});
}

void GlobalNormOp::getPrecisionSlots(PrecisionSlots &slots) {
  getSeparateStorageSlots(getGradients().size(), *this, slots);
}

//===----------------------------------------------------------------------===//
// SquareSumOp
//===----------------------------------------------------------------------===//

OperandRange SquareSumOp::getGradientOperands() { return getGradients(); }

LogicalResult SquareSumOp::verify() {
  if (getGradients().empty())
    return emitOpError("expected at least one gradient");
  return success();
}

void SquareSumOp::getPrecisionSlots(PrecisionSlots &slots) {
  getSeparateStorageSlots(getGradients().size(), *this, slots);
}

//===----------------------------------------------------------------------===//
// UpdateScaleOp
//===----------------------------------------------------------------------===//

void UpdateScaleOp::getPrecisionSlots(PrecisionSlots &slots) {
  getUniformPrecisionSlots(*this, SlotKind::Fixed, slots);
}

//===----------------------------------------------------------------------===//
// StatisticsOp
//===----------------------------------------------------------------------===//

LogicalResult StatisticsOp::verify() {
  if (!getTo())
    return success();
  auto narrow = dyn_cast<FloatType>(*getTo());
  auto own = cast<FloatType>(getElementTypeOrSelf(getInput().getType()));
  if (!narrow || narrow.getWidth() >= own.getWidth())
    return emitOpError("expected a float type narrower than ")
           << own << " after 'to', got " << *getTo();
  return success();
}

void StatisticsOp::getPrecisionSlots(PrecisionSlots &slots) {
  slots.reset(*this);
  slots.add(SlotKind::Storage, {0}, {});
}

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPOps.cpp.inc"

//===- AMPQuantizedOps.cpp - Scaled values of eight bits ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"

#include "amp/Support/TensorTypes.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Formats and blocks
//===----------------------------------------------------------------------===//

const amphost::Float8Format *mlir::amp::getFloat8Format(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return &amphost::kE4M3;
  return isa<Float8E5M2Type>(type) ? &amphost::kE5M2 : nullptr;
}

SmallVector<int64_t, 2> mlir::amp::getMatrixShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return {1, 1};
  int64_t rows = 1;
  for (int64_t extent : shape.drop_back())
    rows = ShapedType::isDynamic(rows) || ShapedType::isDynamic(extent)
               ? ShapedType::kDynamic
               : rows * extent;
  return {rows, shape.back()};
}

SmallVector<int64_t> mlir::amp::getScaleShape(ArrayRef<int64_t> shape,
                                              BlockSizes blocks) {
  if (!blocks)
    return {};
  SmallVector<int64_t> scales;
  for (auto [extent, size] : llvm::zip_equal(getMatrixShape(shape), *blocks))
    scales.push_back(size == 0 ? 1
                     : ShapedType::isDynamic(extent)
                         ? extent
                         : llvm::divideCeil(extent, size));
  return scales;
}

/// Checks `blocks` and that `scale`, called `name`, has one element for each
/// block of `tensor`.
static LogicalResult verifyScale(Operation *op, RankedTensorType tensor,
                                 RankedTensorType scale, BlockSizes blocks,
                                 StringRef name) {
  if (blocks && (blocks->size() != 2 ||
                 llvm::any_of(*blocks, [](int64_t size) { return size < 0; })))
    return op->emitOpError(
               "expected blocks of two sizes that are not negative, "
               "rows and columns, got [")
           << *blocks << "]";
  if (blocks && tensor.getRank() == 0)
    return op->emitOpError("expected no blocks for the scalar ") << tensor;
  auto wanted = RankedTensorType::get(getScaleShape(tensor.getShape(), blocks),
                                      scale.getElementType());
  if (failed(verifyCompatibleShape(scale.getShape(), wanted.getShape())))
    return op->emitOpError() << name << " of " << tensor << " must be "
                             << wanted << ", got " << scale;
  return success();
}

/// Checks the format of the values that a scale multiplies, and its margin.
static LogicalResult verifyFormat(Operation *op, Type format, int32_t margin) {
  if (!getFloat8Format(format))
    return op->emitOpError("expected the format f8E4M3FN or f8E5M2, got ")
           << format;
  if (margin < 0 || margin > kLargestMargin)
    return op->emitOpError("expected a margin from 0 to ")
           << kLargestMargin << ", got " << margin;
  return success();
}

/// Slots of an operation that makes or reads payloads: only the operands
/// `storage` may change their type.
static void setScaledSlots(Operation *op, ArrayRef<unsigned> storage,
                           bool resultChanges, PrecisionSlots &slots) {
  slots.reset(op);
  int8_t fixed = slots.add(SlotKind::Fixed);
  llvm::fill(slots.operandSlots, fixed);
  llvm::fill(slots.resultSlots, fixed);
  int8_t changing = slots.add(SlotKind::Storage);
  for (unsigned operand : storage)
    slots.operandSlots[operand] = changing;
  if (resultChanges)
    slots.resultSlots[0] = changing;
}

//===----------------------------------------------------------------------===//
// AmaxOp
//===----------------------------------------------------------------------===//

LogicalResult
AmaxOp::inferResultShapes(SmallVectorImpl<SmallVector<int64_t>> &shapes) {
  shapes.push_back(getScaleShape(typeOf(getInput()).getShape(), getBlocks()));
  return success();
}

LogicalResult AmaxOp::verify() {
  return verifyScale(*this, typeOf(getInput()), typeOf(getAmax()), getBlocks(),
                     "maxima");
}

void AmaxOp::getPrecisionSlots(PrecisionSlots &slots) {
  setScaledSlots(*this, {0}, /*resultChanges=*/false, slots);
}

void AmaxOp::inferFloatRanges(ArrayRef<FloatRange> operands,
                              MutableArrayRef<FloatRange> results) {
  results[0] = interval::abs(operands[0]);
}

//===----------------------------------------------------------------------===//
// ScaleFromAmaxOp
//===----------------------------------------------------------------------===//

LogicalResult ScaleFromAmaxOp::inferResultShapes(
    SmallVectorImpl<SmallVector<int64_t>> &shapes) {
  shapes.emplace_back(typeOf(getAmax()).getShape());
  return success();
}

LogicalResult ScaleFromAmaxOp::verify() {
  if (failed(verifyFormat(*this, getFormat(), getMargin())))
    return failure();
  float epsilon = getEpsilon().convertToFloat();
  if (!(epsilon >= 0) || std::isinf(epsilon))
    return emitOpError("expected a finite epsilon of at least 0, got ")
           << epsilon;
  return success();
}

void ScaleFromAmaxOp::getPrecisionSlots(PrecisionSlots &slots) {
  setScaledSlots(*this, {}, /*resultChanges=*/false, slots);
}

void ScaleFromAmaxOp::inferFloatRanges(ArrayRef<FloatRange>,
                                       MutableArrayRef<FloatRange> results) {
  results[0] = FloatRange::get(FLT_MIN, FLT_MAX, !getIgnoreNonFinite());
}

//===----------------------------------------------------------------------===//
// UpdateQuantizerOp
//===----------------------------------------------------------------------===//

LogicalResult UpdateQuantizerOp::inferResultShapes(
    SmallVectorImpl<SmallVector<int64_t>> &shapes) {
  shapes.emplace_back();
  shapes.emplace_back(typeOf(getHistory()).getShape());
  return success();
}

LogicalResult UpdateQuantizerOp::verify() {
  if (failed(verifyFormat(*this, getFormat(), getMargin())))
    return failure();
  int64_t length = typeOf(getHistory()).getDimSize(0);
  if (ShapedType::isDynamic(length) || length < 1 || length > kLongestHistory)
    return emitOpError("expected a history of 1 to ")
           << kLongestHistory << " magnitudes, got " << getHistory().getType();
  return success();
}

void UpdateQuantizerOp::getPrecisionSlots(PrecisionSlots &slots) {
  setScaledSlots(*this, {}, /*resultChanges=*/false, slots);
}

//===----------------------------------------------------------------------===//
// QuantizeOp and DequantizeOp
//===----------------------------------------------------------------------===//

LogicalResult
QuantizeOp::inferResultShapes(SmallVectorImpl<SmallVector<int64_t>> &shapes) {
  shapes.emplace_back(typeOf(getInput()).getShape());
  return success();
}

LogicalResult QuantizeOp::verify() {
  if (getKeepNonFinite() && !getSaturate())
    return emitOpError("has 'keep_non_finite' without 'saturate', expected it "
                       "where finite elements saturate");
  if (!getRng() && getKey() != 0)
    return emitOpError("expected 'key' only with a random number state");
  return verifyScale(*this, typeOf(getInput()), typeOf(getScale()), getBlocks(),
                     "scales");
}

void QuantizeOp::getPrecisionSlots(PrecisionSlots &slots) {
  setScaledSlots(*this, {0}, /*resultChanges=*/false, slots);
}

void QuantizeOp::inferFloatRanges(ArrayRef<FloatRange>,
                                  MutableArrayRef<FloatRange> results) {
  const amphost::Float8Format &format =
      *getFloat8Format(typeOf(getPayload()).getElementType());
  // f8E4M3FN has no infinity.
  if ((getSaturate() && !getKeepNonFinite()) ||
      format.overflow == amphost::kFloat8NaN)
    results[0] = FloatRange::get(-format.getLargest(), format.getLargest(),
                                 /*mayBeNaN=*/true);
}

LogicalResult
DequantizeOp::inferResultShapes(SmallVectorImpl<SmallVector<int64_t>> &shapes) {
  shapes.emplace_back(typeOf(getPayload()).getShape());
  return success();
}

LogicalResult DequantizeOp::verify() {
  return verifyScale(*this, typeOf(getPayload()), typeOf(getScale()),
                     getBlocks(), "scales");
}

void DequantizeOp::getPrecisionSlots(PrecisionSlots &slots) {
  setScaledSlots(*this, {}, /*resultChanges=*/true, slots);
}

//===----------------------------------------------------------------------===//
// ScaledMatmulOp
//===----------------------------------------------------------------------===//

LogicalResult ScaledMatmulOp::inferResultShapes(
    SmallVectorImpl<SmallVector<int64_t>> &shapes) {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  if (lhs.getRank() == 0 || rhs.getRank() == 0)
    return emitOpError("expected operands of rank at least 1, got ")
           << lhs << " and " << rhs;
  SmallVector<int64_t, 2> left = getMatrixShape(lhs.getShape());
  SmallVector<int64_t, 2> right = getMatrixShape(rhs.getShape());
  if (getTransposeA())
    std::swap(left[0], left[1]);
  if (getTransposeB())
    std::swap(right[0], right[1]);
  if (failed(verifyCompatibleDims({left[1], right[0]})))
    return emitOpError("contracted dimensions differ: ")
           << lhs << (getTransposeA() ? " (transposed)" : "") << " and " << rhs
           << (getTransposeB() ? " (transposed)" : "");
  SmallVector<int64_t> shape;
  if (getTransposeA())
    shape.push_back(left[0]);
  else
    llvm::append_range(shape, lhs.getShape().drop_back());
  shape.push_back(right[1]);
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult ScaledMatmulOp::verify() {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  if (isa<Float8E5M2Type>(lhs.getElementType()) &&
      isa<Float8E5M2Type>(rhs.getElementType()))
    return emitOpError("expected at most one operand of f8E5M2, got ")
           << lhs << " and " << rhs;
  if (int32_t bits = getAccumulatorBits();
      bits < kNarrowestAccumulator || bits > 32)
    return emitOpError("expected an accumulator of ")
           << kNarrowestAccumulator << " to 32 bits, got " << bits;
  if (int64_t(getPromotion()) < 0)
    return emitOpError("expected a promotion that is not negative, got ")
           << int64_t(getPromotion());
  SmallVector<SmallVector<int64_t>, 1> shapes;
  if (failed(inferResultShapes(shapes)))
    return failure();
  if (getType().getShape() != ArrayRef<int64_t>(shapes[0]))
    return emitOpError("expected the result ")
           << getType().clone(shapes[0]) << ", got " << getType();
  if (Value bias = getBias();
      bias &&
      bias.getType() !=
          RankedTensorType::get({shapes[0].back()}, getType().getElementType()))
    return emitOpError("expected a bias of the result's columns and type, got ")
           << bias.getType() << " for " << getType();
  if (failed(verifyScale(*this, lhs, typeOf(getLhsScale()), getLhsBlocks(),
                         "scales")))
    return failure();
  return verifyScale(*this, rhs, typeOf(getRhsScale()), getRhsBlocks(),
                     "scales");
}

void ScaledMatmulOp::getPrecisionSlots(PrecisionSlots &slots) {
  SmallVector<unsigned> bias;
  if (getBias())
    bias.push_back(4);
  setScaledSlots(*this, bias, /*resultChanges=*/true, slots);
}

int64_t ScaledMatmulOp::getProductFlops() {
  if (!getType().hasStaticShape() || !typeOf(getLhs()).hasStaticShape())
    return 0;
  int64_t contracted =
      getMatrixShape(typeOf(getLhs()).getShape())[getTransposeA() ? 0 : 1];
  uint64_t flops = llvm::SaturatingMultiply<uint64_t>(
      2 * getType().getNumElements(), contracted);
  return std::min<uint64_t>(flops, std::numeric_limits<int64_t>::max());
}

#define GET_OP_CLASSES
#include "amp/Dialect/AMP/IR/AMPQuantizedOps.cpp.inc"

//===- TrainElementwiseOps.cpp - Elementwise operations -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Train.h"

#include "ShapeVerifiers.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::train;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Appends the shape to which all operands broadcast.
static LogicalResult inferBroadcastShape(Operation *op, Shapes &shapes) {
  SmallVector<int64_t> shape(shapeOf(op->getOperand(0)));
  for (Value operand : op->getOperands().drop_front()) {
    auto joined = broadcastShapes(shape, shapeOf(operand));
    if (failed(joined))
      return op->emitOpError("operands of types ")
             << op->getOperandTypes() << " do not broadcast to one shape";
    shape = *joined;
  }
  shapes.push_back(std::move(shape));
  return success();
}

#define AMP_SAME_SHAPE(OP)                                                     \
  LogicalResult OP::inferResultShapes(Shapes &shapes) {                        \
    return inferSameShape(*this, shapes);                                      \
  }
#define AMP_BROADCAST_SHAPE(OP)                                                \
  LogicalResult OP::inferResultShapes(Shapes &shapes) {                        \
    return inferBroadcastShape(*this, shapes);                                 \
  }

AMP_SAME_SHAPE(NegOp)
AMP_SAME_SHAPE(AbsOp)
AMP_SAME_SHAPE(SignOp)
AMP_SAME_SHAPE(SinOp)
AMP_SAME_SHAPE(CosOp)
AMP_SAME_SHAPE(ErfOp)
AMP_SAME_SHAPE(SqrtOp)
AMP_SAME_SHAPE(LogOp)
AMP_SAME_SHAPE(Log1pOp)
AMP_SAME_SHAPE(TanhOp)
AMP_SAME_SHAPE(SigmoidOp)
AMP_SAME_SHAPE(ReluOp)
AMP_SAME_SHAPE(ExpOp)
AMP_SAME_SHAPE(Expm1Op)
AMP_SAME_SHAPE(RsqrtOp)
AMP_SAME_SHAPE(ReciprocalOp)
AMP_SAME_SHAPE(SquareOp)
AMP_SAME_SHAPE(SiluOp)
AMP_SAME_SHAPE(GeluOp)
AMP_SAME_SHAPE(ClipOp)
AMP_SAME_SHAPE(ReluGradOp)
AMP_SAME_SHAPE(TanhGradOp)
AMP_SAME_SHAPE(SigmoidGradOp)
AMP_SAME_SHAPE(SiluGradOp)
AMP_SAME_SHAPE(GeluGradOp)
AMP_SAME_SHAPE(ClipGradOp)
AMP_BROADCAST_SHAPE(AddOp)
AMP_BROADCAST_SHAPE(SubOp)
AMP_BROADCAST_SHAPE(MulOp)
AMP_BROADCAST_SHAPE(DivOp)
AMP_BROADCAST_SHAPE(MaximumOp)
AMP_BROADCAST_SHAPE(MinimumOp)
AMP_BROADCAST_SHAPE(PowOp)
AMP_BROADCAST_SHAPE(CompareOp)
AMP_BROADCAST_SHAPE(SelectOp)

#undef AMP_SAME_SHAPE
#undef AMP_BROADCAST_SHAPE

LogicalResult OneHotOp::inferResultShapes(Shapes &shapes) {
  ArrayRef<int64_t> result = shapeOf(getResult());
  if (result.empty() || ShapedType::isDynamic(result.back()))
    return emitOpError("the number of classes, the last dimension of the "
                       "result, must be static, got ")
           << getType();
  SmallVector<int64_t> shape(shapeOf(getIndices()));
  shape.push_back(result.back());
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult ConstantOp::inferResultShapes(Shapes &shapes) {
  shapes.emplace_back(cast<ShapedType>(getValue().getType()).getShape());
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Verifies that [`min`, `max`] is an interval.
static LogicalResult verifyLimits(Operation *op, const APFloat &min,
                                  const APFloat &max) {
  double low = min.convertToDouble(), high = max.convertToDouble();
  if (!(low <= high))
    return op->emitOpError("'min' must not exceed 'max', got ")
           << low << " and " << high;
  return success();
}

LogicalResult ClipOp::verify() {
  return verifyLimits(*this, getMin(), getMax());
}

LogicalResult ClipGradOp::verify() {
  return verifyLimits(*this, getMin(), getMax());
}

LogicalResult CompareOp::verify() {
  bool isOrdering = getPredicate() != ComparePredicate::EQ &&
                    getPredicate() != ComparePredicate::NE;
  if (isOrdering && getElementTypeOrSelf(getLhs()).isInteger(1))
    return emitOpError("i1 operands have no order, expected 'eq' or 'ne', got "
                       "'")
           << stringifyComparePredicate(getPredicate()) << "'";
  return success();
}

LogicalResult ConstantOp::verify() {
  if (!isa<DenseElementsAttr, DenseResourceElementsAttr>(getValue()))
    return emitOpError("expected a dense or dense_resource value, got ")
           << getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// Returns whether `value` is a constant whose elements are all `number`.
static bool isSplat(Attribute value, double number) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(value);
  return elements && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isExactlyValue(number);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto inner = getInput().getDefiningOp<NegOp>())
    return inner.getInput();
  return {};
}

// x + -0 is x. x + 0 is not x, because it turns -0 into 0.
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), -0.0) && getLhs().getType() == getType())
    return getLhs();
  return {};
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0.0) && getLhs().getType() == getType())
    return getLhs();
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0) && getLhs().getType() == getType())
    return getLhs();
  if (isSplat(adaptor.getLhs(), 1.0) && getRhs().getType() == getType())
    return getRhs();
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0) && getLhs().getType() == getType())
    return getLhs();
  return {};
}

/// Returns whether `predicate` holds for two numbers that compare as `order`
/// says. Unordered numbers have no `order`.
static bool holds(ComparePredicate predicate, std::optional<int> order) {
  switch (predicate) {
  case ComparePredicate::EQ:
    return order == 0;
  case ComparePredicate::NE:
    return order != 0;
  case ComparePredicate::LT:
    return order && *order < 0;
  case ComparePredicate::LE:
    return order && *order <= 0;
  case ComparePredicate::GT:
    return order && *order > 0;
  case ComparePredicate::GE:
    return order && *order >= 0;
  }
  llvm_unreachable("unknown predicate");
}

// Two constants that are one number each.
OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  auto lhs = dyn_cast_or_null<DenseElementsAttr>(adaptor.getLhs());
  auto rhs = dyn_cast_or_null<DenseElementsAttr>(adaptor.getRhs());
  auto type = cast<RankedTensorType>(getType());
  if (!lhs || !rhs || !lhs.isSplat() || !rhs.isSplat() ||
      !type.hasStaticShape())
    return {};
  std::optional<int> order;
  if (isa<FloatType>(lhs.getElementType())) {
    APFloat::cmpResult result =
        lhs.getSplatValue<APFloat>().compare(rhs.getSplatValue<APFloat>());
    if (result != APFloat::cmpUnordered)
      order = result == APFloat::cmpEqual      ? 0
              : result == APFloat::cmpLessThan ? -1
                                               : 1;
  } else {
    APInt a = lhs.getSplatValue<APInt>(), b = rhs.getSplatValue<APInt>();
    order = a == b ? 0 : a.slt(b) ? -1 : 1;
  }
  return DenseElementsAttr::get(type, holds(getPredicate(), order));
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainElementwiseOps.cpp.inc"

void TrainDialect::registerElementwiseOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/Train/IR/TrainElementwiseOps.cpp.inc"
      >();
}

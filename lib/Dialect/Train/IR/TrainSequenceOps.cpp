//===- TrainSequenceOps.cpp - Attention, embedding and scans --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Train.h"

#include "ShapeVerifiers.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  int64_t axis = getAxis();
  if (failed(verifyAxis(*this, axis, input)))
    return failure();
  if (input.isDynamicDim(axis))
    return emitOpError("dimension ")
           << axis << ", along which slices are taken, must be static, got "
           << input;
  SmallVector<int64_t> shape(input.getShape().take_front(axis));
  llvm::append_range(shape, typeOf(getIndices()).getShape());
  llvm::append_range(shape, input.getShape().drop_front(axis + 1));
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult ScatterAddOp::verify() {
  return verifyAccumulatedType(*this, getUpdates(), getResult());
}

LogicalResult ScatterAddOp::inferResultShapes(Shapes &shapes) {
  auto updates = typeOf(getUpdates()), indices = typeOf(getIndices());
  auto result = typeOf(getResult());
  int64_t axis = getAxis();
  if (failed(verifyAxis(*this, axis, result)))
    return failure();
  ArrayRef<int64_t> extents = updates.getShape();
  if (axis + indices.getRank() > updates.getRank() ||
      extents.slice(axis, indices.getRank()) != indices.getShape())
    return emitOpError("'updates' must have the dimensions of 'indices' from "
                       "dimension ")
           << axis << " on, got " << updates << " and " << indices;
  if (result.isDynamicDim(axis))
    return emitOpError("dimension ")
           << axis << " of the result must be static, got " << result;
  SmallVector<int64_t> shape(extents.take_front(axis));
  shape.push_back(result.getDimSize(axis));
  llvm::append_range(shape, extents.drop_front(axis + indices.getRank()));
  shapes.push_back(std::move(shape));
  return success();
}

/// Indices of extents up to this are exact in f32.
static constexpr int64_t kMaxArgmaxExtent = int64_t(1) << 24;

LogicalResult ArgmaxOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  int64_t axis = getAxis();
  if (failed(verifyAxis(*this, axis, input)))
    return failure();
  if (input.isDynamicDim(axis) || input.getDimSize(axis) >= kMaxArgmaxExtent)
    return emitOpError("dimension ")
           << axis << " must be static and shorter than " << kMaxArgmaxExtent
           << ", got " << input;
  SmallVector<int64_t> shape(input.getShape());
  shape.erase(shape.begin() + axis);
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult CumsumOp::verify() {
  return verifyAccumulatedType(*this, getInput(), getResult());
}

LogicalResult CumsumOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput());
  shapes.emplace_back(input.getShape());
  return verifyAxis(*this, getAxis(), input);
}

//===----------------------------------------------------------------------===//
// RotaryEmbeddingOp
//===----------------------------------------------------------------------===//

LogicalResult RotaryEmbeddingOp::verify() {
  Type need = getComputeType(getInput().getType());
  Type have = getElementTypeOrSelf(getCosines());
  if (need == have)
    return success();
  return emitOpError("tables must be ")
         << need << " for " << getElementTypeOrSelf(getInput())
         << " inputs, got " << have;
}

LogicalResult RotaryEmbeddingOp::inferResultShapes(Shapes &shapes) {
  auto input = typeOf(getInput()), cosines = typeOf(getCosines());
  int64_t leading = input.getRank() - cosines.getRank();
  if (input.getRank() < 1 || input.getShape().back() % 2 != 0 ||
      ShapedType::isDynamic(input.getShape().back()))
    return emitOpError("expected an input with a last dimension of even "
                       "extent, got ")
           << input;
  SmallVector<int64_t> table(input.getShape());
  table.back() /= 2;
  if (leading < 0 || cosines.getRank() < 1 || !cosines.hasStaticShape() ||
      ArrayRef<int64_t>(table).drop_front(leading) != cosines.getShape())
    return emitOpError("'cosines' must have the trailing dimensions of the "
                       "input with half of the last, all static, got ")
           << cosines << " for " << input;
  if (failed(verifyShape(*this, "sines", getSines(), cosines.getShape())))
    return failure();
  shapes.emplace_back(input.getShape());
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult DocumentMaskOp::inferResultShapes(Shapes &shapes) {
  ArrayRef<int64_t> lengths = typeOf(getCumulativeLengths()).getShape();
  if (lengths.empty() || ShapedType::isDynamic(lengths.back()) ||
      lengths.back() < 2)
    return emitOpError("the last dimension of the cumulative lengths must be "
                       "static and at least 2, got ")
           << getCumulativeLengths().getType();
  // The positions are numbers of the type of the lengths.
  if (getPositions() < 1 ||
      getPositions() > std::numeric_limits<int32_t>::max())
    return emitOpError(
               "'positions' must be at least 1 and less than 2^31, got ")
           << getPositions();
  SmallVector<int64_t> shape(lengths.drop_back());
  if (!shape.empty())
    shape.push_back(1);
  shape.append(2, getPositions());
  shapes.push_back(std::move(shape));
  return success();
}

Value mlir::train::findAttentionMask(OperandRange extras) {
  const bool isMask =
      !extras.empty() && getElementTypeOrSelf(extras.front()).isInteger(1);
  return isMask ? extras.front() : Value();
}

Value mlir::train::findAttentionRng(OperandRange extras) {
  const bool isRng =
      !extras.empty() && !getElementTypeOrSelf(extras.back()).isInteger(1);
  return isRng ? extras.back() : Value();
}

/// Verifies the operands of an attention after the others, and its dropout.
template <typename AttentionOp>
static LogicalResult verifyExtras(AttentionOp op) {
  Value mask = op.getMask(), rng = op.getRng();
  if (op.getExtras().size() != (mask ? 1u : 0u) + (rng ? 1u : 0u))
    return op.emitOpError("expected at most a mask and then a state of the "
                          "random generator as its last operands");
  if (bool(rng) != op.getDropoutRate().has_value())
    return op.emitOpError("expected 'dropout_rate' and a state of the random "
                          "generator, or neither");
  if (!rng)
    return success();
  if (double rate = op.getDropout(); !(rate >= 0 && rate < 1))
    return op.emitOpError("'dropout_rate' must be in [0, 1), got ") << rate;
  if (typeOf(rng).getShape() != ArrayRef<int64_t>({2}))
    return op.emitOpError(
               "the state of the generator must be tensor<2xi64>, got ")
           << rng.getType();
  return success();
}

/// Verifies the operands and attributes that attention and its gradient share.
/// Returns the shape of the scores.
template <typename AttentionOp>
static FailureOr<SmallVector<int64_t>> inferScores(AttentionOp op) {
  auto query = typeOf(op.getQuery()), key = typeOf(op.getKey());
  auto value = typeOf(op.getValue());
  if (failed(verifyExtras(op)))
    return failure();
  int64_t rank = query.getRank();
  auto fail = [&](StringRef what) {
    return op.emitOpError(what)
           << ", got " << query << ", " << key << " and " << value;
  };
  if (rank < 2 || key.getRank() != rank || value.getRank() != rank)
    return fail("operands must have one rank of at least 2");
  ArrayRef<int64_t> leading = query.getShape().drop_back(2);
  ArrayRef<int64_t> keyLeading = key.getShape().drop_back(2);
  if (value.getShape().drop_back(2) != keyLeading)
    return fail("keys and values must have equal leading dimensions");
  if (keyLeading != leading) {
    if (keyLeading.drop_back() != leading.drop_back())
      return fail("operands must have equal leading dimensions, apart from the "
                  "number of heads");
    int64_t heads = leading.back(), keyHeads = keyLeading.back();
    if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(keyHeads) ||
        keyHeads == 0 || heads % keyHeads != 0)
      return fail(
          "the numbers of heads of queries and keys must be static, and the "
          "first a multiple of the second");
    if (llvm::count(leading, ShapedType::kDynamic) > 1)
      return fail("with fewer heads of keys than of queries, at most one "
                  "dimension may be dynamic");
  }
  for (int64_t extent : {query.getDimSize(rank - 2), query.getDimSize(rank - 1),
                         key.getDimSize(rank - 2), value.getDimSize(rank - 1)})
    if (ShapedType::isDynamic(extent))
      return fail("the last two dimensions must be static");
  if (query.getDimSize(rank - 1) != key.getDimSize(rank - 1))
    return fail("queries and keys must have one width");
  if (key.getDimSize(rank - 2) != value.getDimSize(rank - 2))
    return fail("expected as many keys as values");
  if (op.getCausal() && query.getDimSize(rank - 2) != key.getDimSize(rank - 2))
    return fail("causal attention needs as many queries as keys");
  if (op.getScale() && !std::isfinite(op.getScale()->convertToDouble()))
    return op.emitOpError("'scale' must be finite");

  SmallVector<int64_t> scores(query.getShape().drop_back());
  scores.push_back(key.getDimSize(rank - 2));
  if (Value mask = op.getMask()) {
    auto joined = broadcastShapes(typeOf(mask).getShape(), scores);
    if (failed(joined) || *joined != scores)
      return op.emitOpError("'mask' must broadcast to the scores, ")
             << typeOf(mask).clone(scores) << ", got " << typeOf(mask);
  }
  return scores;
}

/// Verifies that `logsumexp` has the compute type.
static LogicalResult verifyLogsumexpType(Operation *op, Value query,
                                         Value logsumexp) {
  Type need = getComputeType(query.getType());
  Type have = getElementTypeOrSelf(logsumexp);
  if (need == have)
    return success();
  return op->emitOpError("'logsumexp' must be ")
         << need << " for " << getElementTypeOrSelf(query) << " operands, got "
         << have;
}

LogicalResult ScaledDotProductAttentionOp::verify() {
  if (failed(verifyLogsumexpType(*this, getQuery(), getLogsumexp())))
    return failure();
  return verifyAccumulatedType(*this, getQuery(), getResult());
}

LogicalResult ScaledDotProductAttentionOp::inferResultShapes(Shapes &shapes) {
  auto scores = inferScores(*this);
  if (failed(scores))
    return failure();
  scores->pop_back();
  SmallVector<int64_t> result(*scores);
  result.push_back(typeOf(getValue()).getShape().back());
  shapes.push_back(std::move(result));
  shapes.push_back(std::move(*scores));
  return success();
}

LogicalResult ScaledDotProductAttentionGradOp::verify() {
  if (failed(verifyLogsumexpType(*this, getQuery(), getLogsumexp())))
    return failure();
  Type from = getElementTypeOrSelf(getQuery());
  Type saved = getElementTypeOrSelf(getOutput());
  if (saved != from && saved != getComputeType(from) &&
      getComputeType(saved) != from)
    return emitOpError("'output' cannot be the result of ")
           << from << " operands, got " << saved;
  return verifyAccumulatedType(*this, getQuery(), getQueryGrad());
}

LogicalResult
ScaledDotProductAttentionGradOp::inferResultShapes(Shapes &shapes) {
  auto scores = inferScores(*this);
  if (failed(scores))
    return failure();
  scores->pop_back();
  SmallVector<int64_t> output(*scores);
  output.push_back(typeOf(getValue()).getShape().back());
  if (failed(verifyShape(*this, "grad", getGrad(), output)) ||
      failed(verifyShape(*this, "output", getOutput(), output)) ||
      failed(verifyShape(*this, "logsumexp", getLogsumexp(), *scores)))
    return failure();
  for (Value operand : {getQuery(), getKey(), getValue()})
    shapes.emplace_back(typeOf(operand).getShape());
  return success();
}

/// Counts the operations of `products` products of the scores' size over the
/// width of the queries, and as many over that of the values. Returns 0 if a
/// size is unknown.
static int64_t countProducts(Value query, Value value, int64_t overQuery,
                             int64_t overValue) {
  auto q = typeOf(query), v = typeOf(value);
  if (!q.hasStaticShape() || !v.hasStaticShape())
    return 0;
  int64_t keys = v.getDimSize(v.getRank() - 2);
  int64_t scores = q.getNumElements() / q.getShape().back();
  uint64_t width =
      overQuery * q.getShape().back() + overValue * v.getShape().back();
  uint64_t flops = llvm::SaturatingMultiply<uint64_t>(
      llvm::SaturatingMultiply<uint64_t>(2 * scores, keys), width);
  return std::min<uint64_t>(flops, std::numeric_limits<int64_t>::max());
}

int64_t ScaledDotProductAttentionOp::getProductFlops() {
  return countProducts(getQuery(), getValue(), 1, 1);
}
int64_t ScaledDotProductAttentionGradOp::getProductFlops() {
  return countProducts(getQuery(), getValue(), 3, 2);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/Train/IR/TrainSequenceOps.cpp.inc"

void TrainDialect::registerSequenceOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/Train/IR/TrainSequenceOps.cpp.inc"
      >();
}

//===- TrainDecompositionsSequence.cpp - Definition of attention ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::train;

/// The numbers 0, 1, ..., `count` - 1 in the shape `shape`.
static Value buildPositions(TrainBuilder &t, int64_t count,
                            ArrayRef<int64_t> shape, FloatType element) {
  SmallVector<APFloat> numbers;
  for (int64_t i = 0; i < count; ++i) {
    APFloat number(static_cast<double>(i));
    bool losesInfo;
    number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    numbers.push_back(number);
  }
  auto type = RankedTensorType::get(shape, element);
  return ConstantOp::create(t.getBuilder(), t.getLoc(), type,
                            DenseElementsAttr::get(type, numbers));
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

LogicalResult RotaryEmbeddingOp::decompose(OpBuilder &builder,
                                           SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  auto type = typeOf(getInput());
  int64_t axis = type.getRank() - 1, half = type.getShape().back() / 2;
  // With a dimension for the halves, every operation is elementwise and no
  // half is stored. Only a reshape of one dynamic dimension exists.
  const bool splits = llvm::count(type.getShape(), ShapedType::kDynamic) <= 1;
  auto split = [&](Value value, int64_t parts) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    shape.back() = parts;
    shape.push_back(half);
    return splits ? t.reshape(value, shape) : value;
  };
  Value x = split(getInput(), 2);
  auto part = [&](int64_t index) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    SmallVector<int64_t> offsets(shape.size(), 0), sizes(shape.size(), -1),
        strides(shape.size(), 1);
    shape[axis] = sizes[axis] = splits ? 1 : half;
    offsets[axis] = splits ? index : index * half;
    return t.widen(SliceOp::create(builder, getLoc(), typeOf(x).clone(shape), x,
                                   offsets, sizes, strides));
  };
  Value a = part(0), b = part(1);
  Value cosines = split(getCosines(), 1), sines = split(getSines(), 1);
  Value first = t.sub(t.mul(a, cosines), t.mul(b, sines));
  Value second = t.add(t.mul(b, cosines), t.mul(a, sines));
  FloatType compute = getComputeType(type);
  Value joined;
  if (splits) {
    Value index = buildPositions(t, 2, {2, 1}, compute);
    Value isFirst =
        t.compare(ComparePredicate::EQ, index, t.scalar(0.0, index));
    joined = t.select(isFirst, first, second);
  } else {
    joined = ConcatOp::create(builder, getLoc(), type.clone(compute),
                              ValueRange{first, second}, axis);
  }
  joined = t.castTo(joined, getElementTypeOrSelf(getResult()));
  results.push_back(t.reshape(joined, type.getShape()));
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult DocumentMaskOp::decompose(OpBuilder &builder,
                                        SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  auto lengths = typeOf(getCumulativeLengths());
  const int64_t axis = lengths.getRank() - 1, count = getPositions();
  // The entries that are at most each position, [positions, .., N + 1].
  SmallVector<APInt> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.emplace_back(lengths.getElementTypeBitWidth(), i);
  SmallVector<int64_t> shape(axis + 2, 1);
  shape.front() = count;
  auto type = RankedTensorType::get(shape, lengths.getElementType());
  Value position = ConstantOp::create(builder, getLoc(), type,
                                      DenseElementsAttr::get(type, numbers));
  Value isAfter =
      t.compare(ComparePredicate::GE, position, getCumulativeLengths());
  // The document of each position, [.., positions].
  Type f32 = builder.getF32Type();
  Value document = t.sum(
      t.select(isAfter, t.scalar(1.0, f32), t.scalar(0.0, f32)), {axis + 1});
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(1, axis + 1));
  permutation.push_back(0);
  document = t.transpose(document, permutation);
  // A query and a key of one document.
  SmallVector<int64_t> leading(typeOf(getResult()).getShape().drop_back(2));
  auto place = [&](int64_t rows, int64_t columns) {
    SmallVector<int64_t> shape(leading);
    shape.append({rows, columns});
    return t.reshape(document, shape);
  };
  results.push_back(
      t.compare(ComparePredicate::EQ, place(count, 1), place(1, count)));
  return success();
}

namespace {
/// The scores of an attention, and their mask.
struct Scores {
  /// Scaled; -inf where masked.
  Value value;
  /// Null if no score is masked.
  Value mask;
  double scale;
};
} // namespace

/// Puts the rows of all heads that read one head of `key` into one matrix:
/// [.., heads, S, N] becomes [.., key heads, heads / key heads · S, N].
static Value groupRows(TrainBuilder &t, Value rows, Value key) {
  SmallVector<int64_t> shape(typeOf(rows).getShape());
  size_t rank = shape.size();
  int64_t heads = rank > 2 ? typeOf(key).getDimSize(rank - 3) : 0;
  if (rank < 3 || shape[rank - 3] == heads)
    return rows;
  shape[rank - 2] *= shape[rank - 3] / heads;
  shape[rank - 3] = heads;
  return t.reshape(rows, shape);
}

/// The product of `rows`, grouped for the heads of `other`, and `other`, of the
/// type `type`.
static Value multiplyRows(TrainBuilder &t, RankedTensorType type, Value rows,
                          Value other, bool transposeOther) {
  Value grouped = groupRows(t, rows, other);
  SmallVector<int64_t> shape(typeOf(grouped).getShape());
  shape.back() = type.getShape().back();
  Value product = MatmulOp::create(t.getBuilder(), t.getLoc(),
                                   type.clone(shape), grouped, other,
                                   /*transpose_a=*/false, transposeOther);
  return grouped == rows ? product : t.reshape(product, type.getShape());
}

template <typename AttentionOp>
static Scores buildScores(AttentionOp op, TrainBuilder &t) {
  auto query = typeOf(op.getQuery()), key = typeOf(op.getKey());
  int64_t rank = query.getRank();
  int64_t queries = query.getDimSize(rank - 2);
  int64_t keys = key.getDimSize(rank - 2);
  FloatType compute = getComputeType(query);
  SmallVector<int64_t> shape(query.getShape().drop_back());
  shape.push_back(keys);

  Scores scores;
  scores.scale =
      op.getScale()
          ? op.getScale()->convertToDouble()
          : 1.0 / std::sqrt(static_cast<double>(query.getShape().back()));
  Value product = multiplyRows(t, RankedTensorType::get(shape, compute),
                               op.getQuery(), op.getKey(),
                               /*transposeOther=*/true);
  scores.value = t.mul(product, scores.scale);
  Value masked =
      t.scalar(-std::numeric_limits<double>::infinity(), scores.value);
  scores.mask = op.getMask();
  if (op.getCausal()) {
    Value row = buildPositions(t, queries, {queries, 1}, compute);
    Value column = buildPositions(t, keys, {keys}, compute);
    Value past = t.compare(ComparePredicate::GE, row, column);
    // Apply both masks. The dialect has no conjunction of booleans.
    scores.value = t.select(past, scores.value, masked);
  }
  if (op.getMask())
    scores.value = t.select(op.getMask(), scores.value, masked);
  if (op.getCausal() || op.getMask())
    scores.mask = t.compare(ComparePredicate::NE, scores.value, masked);
  return scores;
}

/// The dropout of `value`, one number for each score, by the attention `op`.
template <typename AttentionOp>
static Value dropScores(AttentionOp op, Value value, TrainBuilder &t) {
  if (!op.getRng())
    return value;
  auto dropout = DropoutOp::create(t.getBuilder(), t.getLoc(), value.getType(),
                                   value, op.getRng(), op.getDropoutRateAttr(),
                                   op.getDropoutKeyAttr());
  // Ranks divide the scores as they divide the result.
  if (Attribute divided = op->getAttr(amp::kDividedAlongAttr))
    dropout->setAttr(amp::kDividedAlongAttr, divided);
  return dropout;
}

LogicalResult
ScaledDotProductAttentionOp::decompose(OpBuilder &builder,
                                       SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Scores scores = buildScores(*this, t);
  Value s = scores.value;
  int64_t axis = typeOf(s).getRank() - 1;
  Value max = t.max(s, {axis}, /*keepDims=*/true);
  if (getMask()) {
    // For a query without a key, avoid -inf - -inf here and 0 / 0 below.
    auto element = cast<FloatType>(getElementTypeOrSelf(s));
    double lowest =
        -APFloat::getLargest(element.getFloatSemantics()).convertToDouble();
    max = t.maximum(max, t.scalar(lowest, s));
  }
  Value e = t.exp(t.sub(s, max));
  Value sum = t.sum(e, {axis}, /*keepDims=*/true);
  Value divisor = sum;
  if (getMask()) {
    Value none = t.compare(ComparePredicate::EQ, sum, t.scalar(0.0, sum));
    divisor = t.select(none, t.scalar(1.0, sum), sum);
  }
  Value weights = t.castTo(dropScores(*this, t.div(e, divisor), t),
                           getElementTypeOrSelf(getValue()));
  Value y = multiplyRows(t, typeOf(getResult()), weights, getValue(),
                         /*transposeOther=*/false);
  Value logsumexp = t.add(max, t.log(sum));
  results.push_back(y);
  results.push_back(t.reshape(logsumexp, typeOf(getLogsumexp()).getShape()));
  return success();
}

LogicalResult
ScaledDotProductAttentionGradOp::decompose(OpBuilder &builder,
                                           SmallVectorImpl<Value> &results) {
  TrainBuilder t(builder, getLoc());
  Scores scores = buildScores(*this, t);
  auto full = typeOf(scores.value);
  int64_t axis = full.getRank() - 1;
  Type low = getElementTypeOrSelf(getQuery());
  // The transpose of `rows` times `other`, summed over the heads of a group.
  auto sumRows = [&](Type type, Value rows, Value other) -> Value {
    return MatmulOp::create(builder, getLoc(), type,
                            groupRows(t, rows, getKey()),
                            groupRows(t, other, getKey()),
                            /*transpose_a=*/true, /*transpose_b=*/false);
  };
  Value weights =
      t.exp(t.sub(scores.value, t.unsqueeze(getLogsumexp(), {axis}, full)));
  // Avoid -inf - -inf for a query without a key.
  if (getMask())
    weights = t.select(scores.mask, weights, t.scalar(0.0, weights));
  Value dropped = dropScores(*this, weights, t);
  Value dValue =
      sumRows(getValueGrad().getType(), t.castTo(dropped, low), getGrad());
  // dS = P · (dP - Σ dy · y) · scale. The sum equals Σ P · dP, also with
  // dropout, which acts on dP as on P.
  Value dWeights = dropScores(
      *this,
      multiplyRows(t, full, getGrad(), getValue(), /*transposeOther=*/true), t);
  Value dot = t.sum(t.mul(t.widen(getGrad()), t.widen(getOutput())), {axis},
                    /*keepDims=*/true);
  Value dScores = t.mul(t.mul(weights, t.sub(dWeights, dot)), scores.scale);
  dScores = t.castTo(dScores, low);
  results.push_back(multiplyRows(t, typeOf(getQueryGrad()), dScores, getKey(),
                                 /*transposeOther=*/false));
  results.push_back(sumRows(getKeyGrad().getType(), dScores, getQuery()));
  results.push_back(dValue);
  return success();
}

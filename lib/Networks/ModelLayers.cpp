//===- ModelLayers.cpp - Layers of models ---------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Networks/ModelBuilder.h"
#include "amp/Support/TensorTypes.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;
using train::TrainBuilder;

/// The type of `value` with `last` as its last dimension.
static RankedTensorType withLast(Value value, int64_t last) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape.back() = last;
  return typeOf(value).clone(shape);
}

Value ModelBuilder::linear(Value x, int64_t features, bool bias,
                           InitAttr init) {
  if (!hasRank("linear", "x", x, 1, /*orMore=*/true))
    return x;
  features = checkExtent("linear", "features", features);
  if (!init)
    init = getInit(InitKind::KaimingUniform, std::sqrt(1.0 / 3.0));
  Value weight = addParameter("weight", {typeOf(x).getShape().back(), features},
                              init, true);
  Value offset;
  if (bias)
    offset = addParameter("bias", {features}, getInit(InitKind::Zeros), false);
  return train::LinearOp::create(builder, getLoc(), withLast(x, features), x,
                                 weight, offset, /*transpose_weight=*/false);
}

Value ModelBuilder::tiedLinear(Value x, Value weight, Value bias) {
  if (!hasRank("linear", "x", x, 1, /*orMore=*/true) ||
      !hasRank("linear", "weight", weight, 2))
    return x;
  return train::LinearOp::create(builder, getLoc(),
                                 withLast(x, typeOf(weight).getDimSize(0)), x,
                                 weight, bias, /*transpose_weight=*/true);
}

Value ModelBuilder::layerNorm(Value x, double epsilon) {
  if (!hasRank("layer_norm", "x", x, 1, /*orMore=*/true))
    return x;
  int64_t width = typeOf(x).getShape().back();
  Value gamma = addParameter("weight", {width}, getInit(InitKind::Ones), false);
  Value beta = addParameter("bias", {width}, getInit(InitKind::Zeros), false);
  auto statistics = typeOf(x).clone(typeOf(x).getShape().drop_back());
  return train::LayerNormOp::create(builder, getLoc(), x.getType(), statistics,
                                    statistics, x, gamma, beta,
                                    APFloat(epsilon))
      .getResult();
}

Value ModelBuilder::rmsNorm(Value x, double epsilon) {
  if (!hasRank("rms_norm", "x", x, 1, /*orMore=*/true))
    return x;
  int64_t width = typeOf(x).getShape().back();
  Value gamma = addParameter("weight", {width}, getInit(InitKind::Ones), false);
  auto statistics = typeOf(x).clone(typeOf(x).getShape().drop_back());
  return train::RMSNormOp::create(builder, getLoc(), x.getType(), statistics, x,
                                  gamma, APFloat(epsilon))
      .getResult();
}

Value ModelBuilder::batchNorm(Value x, double gamma) {
  if (!hasRank("batch_norm", "x", x, 1, /*orMore=*/true))
    return x;
  int64_t channels = typeOf(x).getShape().back();
  InitAttr start = gamma == 1.0 ? getInit(InitKind::Ones)
                                : getInit(InitKind::Constant, gamma);
  Value scale = addParameter("weight", {channels}, start, false);
  Value shift =
      addParameter("bias", {channels}, getInit(InitKind::Zeros), false);
  auto type = RankedTensorType::get({channels}, getF32Type());
  Value mean = addModelState("running_mean", type, getInit(InitKind::Zeros));
  Value variance = addModelState("running_var", type, getInit(InitKind::Ones));
  auto norm = train::BatchNormTrainingOp::create(
      builder, getLoc(), TypeRange{x.getType(), type, type, type, type},
      ValueRange{x, scale, shift, mean, variance});
  setState(mean, norm.getNewRunningMean());
  setState(variance, norm.getNewRunningVar());
  return norm.getResult();
}

int64_t ModelBuilder::slide(StringRef layer, int64_t extent, int64_t size,
                            int64_t stride, int64_t padding) {
  if (ShapedType::isDynamic(extent))
    return extent;
  if (extent + 2 * padding >= size)
    return (extent + 2 * padding - size) / stride + 1;
  fail() << layer << ": 'size' must be at most the padded extent, "
         << extent + 2 * padding << ", got " << size;
  return 1;
}

Value ModelBuilder::conv(Value x, int64_t filters, int64_t size, int64_t stride,
                         int64_t padding, bool bias, int64_t groups) {
  if (!hasRank("conv", "x", x, 4))
    return x;
  filters = checkExtent("conv", "filters", filters);
  size = checkExtent("conv", "size", size);
  stride = checkExtent("conv", "stride", stride);
  padding = checkExtent("conv", "padding", padding, /*least=*/0);
  groups = checkExtent("conv", "groups", groups);
  auto type = typeOf(x);
  int64_t channels = type.getDimSize(3) / groups;
  Value weight = addParameter("weight", {size, size, channels, filters},
                              getInit(InitKind::KaimingNormal), true);
  auto result = type.clone(
      {type.getDimSize(0),
       slide("conv", type.getDimSize(1), size, stride, padding),
       slide("conv", type.getDimSize(2), size, stride, padding), filters});
  Value y = train::Conv2DOp::create(
      builder, getLoc(), result, x, weight, ArrayRef<int64_t>{stride, stride},
      ArrayRef<int64_t>{padding, padding, padding, padding},
      ArrayRef<int64_t>{1, 1}, groups);
  if (!bias)
    return y;
  return at().add(
      y, addParameter("bias", {filters}, getInit(InitKind::Zeros), false));
}

Value ModelBuilder::maxPool(Value x, int64_t size, int64_t stride,
                            int64_t padding) {
  if (!hasRank("max_pool", "x", x, 4))
    return x;
  size = checkExtent("max_pool", "size", size);
  stride = checkExtent("max_pool", "stride", stride);
  padding = checkExtent("max_pool", "padding", padding, /*least=*/0);
  auto type = typeOf(x);
  auto result =
      type.clone({type.getDimSize(0),
                  slide("max_pool", type.getDimSize(1), size, stride, padding),
                  slide("max_pool", type.getDimSize(2), size, stride, padding),
                  type.getDimSize(3)});
  return train::MaxPool2DOp::create(
      builder, getLoc(), result, x, ArrayRef<int64_t>{size, size},
      ArrayRef<int64_t>{stride, stride},
      ArrayRef<int64_t>{padding, padding, padding, padding});
}

Value ModelBuilder::globalAveragePool(Value x) {
  return hasRank("average_pool", "x", x, 4) ? at().mean(x, {1, 2}) : x;
}

Value ModelBuilder::embedding(Value table, Value tokens) {
  if (!hasRank("embedding", "table", table, 2) ||
      !hasRank("embedding", "tokens", tokens, 0, /*orMore=*/true))
    return table;
  SmallVector<int64_t> shape(typeOf(tokens).getShape());
  shape.push_back(typeOf(table).getDimSize(1));
  return train::GatherOp::create(builder, getLoc(), typeOf(table).clone(shape),
                                 table, tokens, uint64_t(0));
}

Value ModelBuilder::relu(Value x) {
  return train::ReluOp::create(builder, getLoc(), x.getType(), x);
}

Value ModelBuilder::silu(Value x) {
  return train::SiluOp::create(builder, getLoc(), x.getType(), x);
}

Value ModelBuilder::gatedSilu(Value gate, Value up) {
  return at().mul(silu(gate), up);
}

Value ModelBuilder::gelu(Value x, bool tanh) {
  return train::GeluOp::create(builder, getLoc(), x.getType(), x,
                               tanh ? train::GeluApproximation::Tanh
                                    : train::GeluApproximation::None);
}

Value ModelBuilder::tanh(Value x) { return at().tanh(x); }

Value ModelBuilder::dropout(Value x, double rate) {
  if (rate == 0)
    return x;
  return train::DropoutOp::create(builder, getLoc(), x.getType(), x, getRng(),
                                  builder.getF64FloatAttr(rate),
                                  builder.getI32IntegerAttr(numDropouts++));
}

Value ModelBuilder::getRng() {
  if (!rng) {
    auto type = RankedTensorType::get({2}, builder.getI64Type());
    std::vector<std::string> inner;
    inner.swap(scopes);
    rng = addModelState("rng", type, getInit(InitKind::RngState));
    inner.swap(scopes);
  }
  return rng;
}

Value ModelBuilder::attention(Value query, Value key, Value value,
                              int64_t heads, bool causal, Value mask,
                              double rate) {
  heads = checkExtent("attention", "heads", heads);
  if (!hasRank("attention", "query", query, 3) ||
      !hasRank("attention", "key", key, 3) ||
      !hasRank("attention", "value", value, 3))
    return query;
  for (Value x : {query, key, value})
    heads = checkHeads(x, heads);
  Value q = splitHeads(query, heads), k = splitHeads(key, heads);
  return headAttention(q, k, splitHeads(value, heads), causal, mask, rate);
}

int64_t ModelBuilder::checkHeads(Value x, int64_t heads) {
  int64_t width = typeOf(x).getShape().back();
  if (!ShapedType::isDynamic(width) && width % heads == 0)
    return heads;
  fail() << "attention: 'heads' must divide the width, got " << heads
         << " heads for " << x.getType();
  return 1;
}

Value ModelBuilder::splitHeads(Value x, int64_t heads) {
  heads = checkExtent("attention", "heads", heads);
  if (!hasRank("attention", "x", x, 3))
    return x;
  heads = checkHeads(x, heads);
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  TrainBuilder t = at();
  Value parts = t.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return t.transpose(parts, {0, 2, 1, 3});
}

Value ModelBuilder::headAttention(Value query, Value key, Value value,
                                  bool causal, Value mask, double rate) {
  if (!hasRank("attention", "query", query, 4) ||
      !hasRank("attention", "key", key, 4) ||
      !hasRank("attention", "value", value, 4))
    return query;
  ArrayRef<int64_t> shape = typeOf(query).getShape();
  int64_t size = typeOf(value).getShape().back();
  auto result = typeOf(query).clone({shape[0], shape[1], shape[2], size});
  SmallVector<Value> extras;
  if (mask)
    extras.push_back(mask);
  FloatAttr dropoutRate;
  int32_t dropoutKey = 0;
  if (rate != 0) {
    extras.push_back(getRng());
    dropoutRate = builder.getF64FloatAttr(rate);
    dropoutKey = numDropouts++;
  }
  Value y = train::ScaledDotProductAttentionOp::create(
                builder, getLoc(), result,
                typeOf(query).clone(shape.drop_back()), query, key, value,
                extras, FloatAttr(), causal, dropoutRate, dropoutKey)
                .getResult();
  TrainBuilder t = at();
  return t.reshape(t.transpose(y, {0, 2, 1, 3}),
                   {shape[0], shape[2], shape[1] * size});
}

Value ModelBuilder::documentMask(Value cumulativeLengths, int64_t positions) {
  positions = checkExtent("documents", "positions", positions);
  if (!hasRank("documents", "cumulative lengths", cumulativeLengths, 2))
    return cumulativeLengths;
  int64_t samples = typeOf(cumulativeLengths).getDimSize(0);
  auto type = RankedTensorType::get({samples, 1, positions, positions},
                                    builder.getI1Type());
  return train::DocumentMaskOp::create(builder, getLoc(), type,
                                       cumulativeLengths, positions);
}

std::pair<Value, Value> ModelBuilder::rotaryTables(int64_t positions,
                                                   int64_t size, double base) {
  positions = checkExtent("rotary", "positions", positions);
  size = checkExtent("rotary", "size", size, /*least=*/2);
  auto constant = [&](ArrayRef<int64_t> shape, ArrayRef<float> numbers) {
    auto type = RankedTensorType::get(shape, getF32Type());
    return train::ConstantOp::create(builder, getLoc(), type,
                                     DenseElementsAttr::get(type, numbers))
        .getResult();
  };
  SmallVector<float> places, rates;
  for (int64_t i = 0; i < positions; ++i)
    places.push_back(static_cast<float>(i));
  for (int64_t i = 0; i < size / 2; ++i)
    rates.push_back(
        static_cast<float>(std::pow(base, -2.0 * double(i) / double(size))));
  TrainBuilder t = at();
  Value angles =
      t.mul(constant({positions, 1}, places), constant({size / 2}, rates));
  return {t.cos(angles), t.sin(angles)};
}

Value ModelBuilder::rotate(Value x, std::pair<Value, Value> tables) {
  if (!hasRank("rotary", "x", x, 2, /*orMore=*/true))
    return x;
  // The tables have the trailing dimensions of the input.
  SmallVector<int64_t> half(typeOf(x).getShape().take_back(2));
  half.back() /= 2;
  for (Value table : {tables.first, tables.second})
    if (typeOf(table).getShape() != ArrayRef<int64_t>(half)) {
      fail() << "rotary: the tables must have the shape of the last two "
                "dimensions of 'x' with half of the last, got "
             << table.getType() << " for " << x.getType();
      return x;
    }
  return train::RotaryEmbeddingOp::create(builder, getLoc(), x.getType(), x,
                                          tables.first, tables.second);
}

Value ModelBuilder::slice(Value x, int64_t dim, int64_t offset, int64_t size) {
  if (!hasRank("slice", "x", x, 1, /*orMore=*/true) || !hasDim("slice", x, dim))
    return x;
  size = checkExtent("slice", "size", size, /*least=*/0);
  auto type = typeOf(x);
  if (offset == 0 && size == type.getDimSize(dim))
    return x;
  SmallVector<int64_t> shape(type.getShape()), offsets(type.getRank(), 0);
  SmallVector<int64_t> sizes(type.getRank(), -1), strides(type.getRank(), 1);
  shape[dim] = sizes[dim] = size;
  offsets[dim] = offset;
  return train::SliceOp::create(builder, getLoc(), type.clone(shape), x,
                                offsets, sizes, strides);
}

Value ModelBuilder::concat(ArrayRef<Value> parts, int64_t dim) {
  if (parts.empty()) {
    fail() << "concat: expected parts, got none";
    return {};
  }
  for (Value part : parts)
    if (!hasRank("concat", "x", part, typeOf(parts.front()).getRank()) ||
        !hasDim("concat", part, dim))
      return parts.front();
  SmallVector<int64_t> shape(typeOf(parts.front()).getShape());
  for (Value part : parts.drop_front())
    shape[dim] += typeOf(part).getDimSize(dim);
  return train::ConcatOp::create(builder, getLoc(),
                                 typeOf(parts.front()).clone(shape),
                                 ValueRange(parts), static_cast<uint64_t>(dim));
}

//===- TransformerModels.cpp - GPT-2, BERT and vision transformers --------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FinishClassifier.h"
#include "ModelChecks.h"

#include "amp/Networks/Models.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

using Scope = ModelBuilder::Scope;

static int64_t dim(Value value, unsigned index) {
  return cast<RankedTensorType>(value.getType()).getDimSize(index);
}

static LogicalResult checkTransformer(ModelChecks &checks,
                                      const TransformerOptions &options,
                                      const TrainingOptions &training) {
  if (failed(checks.batch(options.batch)) ||
      failed(checks.size("layers", options.layers)) ||
      // The width of the hidden layer after the attention.
      failed(checks.size("width", options.width, /*least=*/1, /*factor=*/4)) ||
      failed(checks.size("heads", options.heads)) ||
      failed(checks.share("dropout", options.dropout)) ||
      failed(checks.share("attention-dropout", options.attentionDropout)) ||
      failed(checkTraining(checks, training)))
    return failure();
  if (options.width % options.heads != 0)
    return checks.fail() << "'heads' must divide 'width', got " << options.heads
                         << " heads for a width of " << options.width;
  return success();
}

static LogicalResult checkSequence(ModelChecks &checks, int64_t sequence,
                                   int64_t positions) {
  if (failed(checks.size("positions", positions)) ||
      failed(checks.size("sequence", sequence)))
    return failure();
  if (sequence > positions)
    return checks.fail() << "'sequence' must be at most 'positions', "
                         << positions << ", got " << sequence;
  return success();
}

namespace {
/// The differences between the blocks of the models.
struct BlockStyle {
  bool causal = false;
  bool geluTanh = false;
  double epsilon = 1e-5;
  double dropout = 0.0;
  double attentionDropout = 0.0;
  /// Standard deviations of weights, and of weights whose products are added to
  /// the residual.
  double deviation = 0.02, residualDeviation = 0.02;
};
} // namespace

static Value normal(ModelBuilder &b, Value x, StringRef name, int64_t features,
                    double deviation) {
  Scope scope(b, name);
  return b.linear(x, features, /*bias=*/true,
                  b.getInit(InitKind::Normal, deviation));
}

/// Queries, keys and values from one product, attention, and the projection.
static Value selfAttention(ModelBuilder &b, Value x, int64_t heads,
                           const BlockStyle &style, Value mask) {
  Scope scope(b, "attn");
  int64_t width = dim(x, 2);
  Value qkv = normal(b, x, "qkv", 3 * width, style.deviation);
  Value y =
      b.attention(b.slice(qkv, 2, 0, width), b.slice(qkv, 2, width, width),
                  b.slice(qkv, 2, 2 * width, width), heads, style.causal, mask,
                  style.attentionDropout);
  return normal(b, y, "proj", width, style.residualDeviation);
}

static Value feedForward(ModelBuilder &b, Value x, const BlockStyle &style) {
  Scope scope(b, "mlp");
  int64_t width = dim(x, 2);
  Value h = normal(b, x, "fc", 4 * width, style.deviation);
  return normal(b, b.gelu(h, style.geluTanh), "proj", width,
                style.residualDeviation);
}

static Value layerNorm(ModelBuilder &b, Value x, StringRef name,
                       double epsilon) {
  Scope scope(b, name);
  return b.layerNorm(x, epsilon);
}

/// x + attention(norm(x)), then x + mlp(norm(x)).
static Value preNormBlock(ModelBuilder &b, Value x, int64_t heads,
                          const BlockStyle &style) {
  Value y = selfAttention(b, layerNorm(b, x, "ln_1", style.epsilon), heads,
                          style, Value());
  x = b.at().add(x, b.dropout(y, style.dropout));
  y = feedForward(b, layerNorm(b, x, "ln_2", style.epsilon), style);
  return b.at().add(x, b.dropout(y, style.dropout));
}

/// norm(x + attention(x)), then norm(x + mlp(x)).
static Value postNormBlock(ModelBuilder &b, Value x, int64_t heads,
                           const BlockStyle &style, Value mask) {
  Value y = selfAttention(b, x, heads, style, mask);
  x = layerNorm(b, b.at().add(x, b.dropout(y, style.dropout)), "ln_1",
                style.epsilon);
  y = feedForward(b, x, style);
  return layerNorm(b, b.at().add(x, b.dropout(y, style.dropout)), "ln_2",
                   style.epsilon);
}

static Value table(ModelBuilder &b, StringRef name, int64_t rows, int64_t width,
                   double deviation) {
  Scope scope(b, name);
  return b.addParameter("weight", {rows, width},
                        b.getInit(InitKind::Normal, deviation), true);
}

//===----------------------------------------------------------------------===//
// GPT-2
//===----------------------------------------------------------------------===//

FailureOr<Model> mlir::amp::buildGPT2(MLIRContext *context,
                                      const GPT2Options &options,
                                      const TrainingOptions &training) {
  ModelChecks checks(context, "gpt2");
  if (failed(checkTransformer(checks, options, training)) ||
      failed(checkSequence(checks, options.sequence, options.positions)) ||
      failed(checks.size("vocabulary", options.vocabulary, 2)))
    return failure();

  ModelBuilder b(context);
  Type i64 = b.getBuilder().getI64Type();
  SmallVector<int64_t> shape{options.batch, options.sequence};
  Value tokens = b.addBatch("tokens", shape, i64);
  Value targets = b.addBatch("targets", shape, i64);
  BlockStyle style;
  style.causal = style.geluTanh = true;
  style.dropout = options.dropout;
  style.attentionDropout = options.attentionDropout;
  style.residualDeviation =
      0.02 / std::sqrt(2.0 * static_cast<double>(options.layers));

  Value embedding = table(b, "wte", options.vocabulary, options.width, 0.02);
  Value positions = table(b, "wpe", options.positions, options.width, 0.01);
  Value x;
  {
    Scope scope(b, "embed");
    x = b.at().add(b.embedding(embedding, tokens),
                   b.slice(positions, 0, 0, options.sequence));
    x = b.dropout(x, options.dropout);
  }
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    Scope scope(b, "h");
    Scope inner(b, Twine(layer));
    x = preNormBlock(b, x, options.heads, style);
  }
  x = layerNorm(b, x, "ln_f", style.epsilon);
  Value logits;
  {
    Scope scope(b, "lm_head");
    logits = b.tiedLinear(x, embedding);
  }
  return finishClassifier(b, logits, targets, 0.0, training);
}

//===----------------------------------------------------------------------===//
// BERT
//===----------------------------------------------------------------------===//

FailureOr<Model> mlir::amp::buildBert(MLIRContext *context,
                                      const BertOptions &options,
                                      const TrainingOptions &training) {
  ModelChecks checks(context, "bert");
  if (failed(checkTransformer(checks, options, training)) ||
      failed(checkSequence(checks, options.sequence, options.positions)) ||
      failed(checks.size("vocabulary", options.vocabulary, 2)) ||
      failed(checks.size("types", options.types)) ||
      failed(checks.size("classes", options.classes, 2)))
    return failure();

  ModelBuilder b(context);
  Builder &types = b.getBuilder();
  SmallVector<int64_t> shape{options.batch, options.sequence};
  Value tokens = b.addBatch("tokens", shape, types.getI64Type());
  Value kinds = b.addBatch("token_types", shape, types.getI64Type());
  Value mask = b.addBatch("mask", {options.batch, 1, 1, options.sequence},
                          types.getI1Type());
  Value labels = b.addBatch("labels", {options.batch}, types.getI64Type());
  BlockStyle style;
  style.epsilon = 1e-12;
  style.dropout = options.dropout;
  style.attentionDropout = options.attentionDropout;

  Value x;
  {
    Scope scope(b, "embeddings");
    Value words = table(b, "word", options.vocabulary, options.width, 0.02);
    Value places = table(b, "position", options.positions, options.width, 0.02);
    Value segments = table(b, "type", options.types, options.width, 0.02);
    train::TrainBuilder t = b.at();
    x = t.add(b.embedding(words, tokens), b.embedding(segments, kinds));
    x = t.add(x, b.slice(places, 0, 0, options.sequence));
    x = b.dropout(layerNorm(b, x, "ln", style.epsilon), options.dropout);
  }
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    Scope scope(b, "encoder");
    Scope inner(b, Twine(layer));
    x = postNormBlock(b, x, options.heads, style, mask);
  }
  Value first =
      b.at().reshape(b.slice(x, 1, 0, 1), {options.batch, options.width});
  {
    Scope scope(b, "pooler");
    first = b.tanh(b.linear(first, options.width, true,
                            b.getInit(InitKind::Normal, 0.02)));
  }
  first = b.dropout(first, options.dropout);
  Value logits = normal(b, first, "classifier", options.classes, 0.02);
  return finishClassifier(b, logits, labels, 0.0, training);
}

//===----------------------------------------------------------------------===//
// Vision transformer
//===----------------------------------------------------------------------===//

FailureOr<Model> mlir::amp::buildViT(MLIRContext *context,
                                     const ViTOptions &options,
                                     const TrainingOptions &training) {
  ModelChecks checks(context, "vit");
  if (failed(checkTransformer(checks, options, training)) ||
      failed(checks.size("image-size", options.imageSize)) ||
      failed(checks.size("patch", options.patch)) ||
      failed(checks.size("classes", options.classes, 2)) ||
      failed(checks.share("label-smoothing", options.labelSmoothing)))
    return failure();
  if (options.imageSize % options.patch != 0)
    return checks.fail() << "'patch' must divide 'image-size', got patches of "
                         << options.patch << " for images of "
                         << options.imageSize;
  int64_t side = options.imageSize / options.patch;

  ModelBuilder b(context);
  Value images = b.addBatch(
      "images", {options.batch, options.imageSize, options.imageSize, 3},
      b.getF32Type());
  Value labels =
      b.addBatch("labels", {options.batch}, b.getBuilder().getI64Type());
  BlockStyle style;
  style.epsilon = 1e-6;
  style.dropout = options.dropout;
  style.attentionDropout = options.attentionDropout;

  Value x;
  {
    Scope scope(b, "embed");
    Value patches;
    {
      Scope inner(b, "patch");
      patches = b.conv(images, options.width, options.patch, options.patch, 0,
                       /*bias=*/true);
    }
    train::TrainBuilder t = b.at();
    patches = t.reshape(patches, {options.batch, side * side, options.width});
    Value token = b.addParameter("class_token", {1, options.width},
                                 b.getInit(InitKind::Zeros), false);
    Value places = b.addParameter("positions", {side * side + 1, options.width},
                                  b.getInit(InitKind::Normal, 0.02), false);
    // One class token per image.
    Value like = b.slice(patches, 1, 0, 1);
    x = b.concat({t.broadcast(token, like, {0}), patches}, 1);
    x = b.dropout(t.add(x, places), options.dropout);
  }
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    Scope scope(b, "blocks");
    Scope inner(b, Twine(layer));
    x = preNormBlock(b, x, options.heads, style);
  }
  x = layerNorm(b, x, "norm", style.epsilon);
  Value first =
      b.at().reshape(b.slice(x, 1, 0, 1), {options.batch, options.width});
  Value logits = normal(b, first, "head", options.classes, 0.02);
  return finishClassifier(b, logits, labels, options.labelSmoothing, training);
}

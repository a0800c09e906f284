//===- DecoderModel.cpp - A decoder with rotary positions -----------------===//
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

/// Added to the mean square in every norm.
static constexpr double kEpsilon = 1e-6;
/// The standard deviation of initial weights.
static constexpr double kDeviation = 0.02;

static LogicalResult checkDecoder(ModelChecks &checks,
                                  const DecoderOptions &options,
                                  const TrainingOptions &training) {
  if (failed(checks.batch(options.batch)) ||
      failed(checks.size("sequence", options.sequence)) ||
      failed(checks.size("layers", options.layers)) ||
      // The width of the product for queries, keys and values.
      failed(checks.size("width", options.width, /*least=*/1, /*factor=*/3)) ||
      failed(checks.size("heads", options.heads)) ||
      failed(checks.size("key-heads", options.keyHeads)) ||
      failed(checks.size("feed-forward", options.feedForward)) ||
      failed(checks.size("vocabulary", options.vocabulary, /*least=*/2)) ||
      failed(checks.size("documents", options.documents, /*least=*/0)) ||
      failed(checkTraining(checks, training)))
    return failure();
  if (options.width % (2 * options.heads) != 0)
    return checks.fail() << "'width' must be an even multiple of 'heads', got "
                         << options.heads << " heads for a width of "
                         << options.width;
  if (options.heads % options.keyHeads != 0)
    return checks.fail() << "'key-heads' must divide 'heads', got "
                         << options.keyHeads << " of " << options.heads;
  return success();
}

static Value project(ModelBuilder &b, Value x, StringRef name, int64_t features,
                     double deviation = kDeviation) {
  Scope scope(b, name);
  return b.linear(x, features, /*bias=*/false,
                  b.getInit(InitKind::Normal, deviation));
}

static Value normalize(ModelBuilder &b, Value x, StringRef name) {
  Scope scope(b, name);
  return b.rmsNorm(x, kEpsilon);
}

/// Causal attention with norms and rotations of queries and keys.
static Value attend(ModelBuilder &b, Value x, const DecoderOptions &options,
                    std::pair<Value, Value> tables, Value mask,
                    double deviation) {
  Scope scope(b, "attn");
  const int64_t size = options.width / options.heads,
                keyWidth = options.keyHeads * size;
  Value qkv = project(b, x, "qkv", options.width + 2 * keyWidth);
  auto heads = [&](int64_t offset, int64_t count) {
    return b.splitHeads(b.slice(qkv, 2, offset, count * size), count);
  };
  Value q = heads(0, options.heads), k = heads(options.width, options.keyHeads),
        v = heads(options.width + keyWidth, options.keyHeads);
  q = b.rotate(normalize(b, q, "q_norm"), tables);
  k = b.rotate(normalize(b, k, "k_norm"), tables);
  Value y = b.headAttention(q, k, v, /*causal=*/true, mask);
  return project(b, y, "proj", options.width, deviation);
}

static Value feedForward(ModelBuilder &b, Value x,
                         const DecoderOptions &options, double deviation) {
  Scope scope(b, "mlp");
  Value gate = project(b, x, "gate", options.feedForward);
  Value up = project(b, x, "up", options.feedForward);
  return project(b, b.gatedSilu(gate, up), "down", options.width, deviation);
}

FailureOr<Model> mlir::amp::buildDecoder(MLIRContext *context,
                                         const DecoderOptions &options,
                                         const TrainingOptions &training) {
  ModelChecks checks(context, "decoder");
  if (failed(checkDecoder(checks, options, training)))
    return failure();
  ModelBuilder b(context);
  Type i64 = b.getBuilder().getI64Type();
  SmallVector<int64_t> shape{options.batch, options.sequence};
  Value tokens = b.addBatch("tokens", shape, i64);
  Value targets = b.addBatch("targets", shape, i64);
  Value mask;
  if (options.documents > 0)
    mask = b.documentMask(b.addBatch("documents",
                                     {options.batch, options.documents + 1},
                                     b.getBuilder().getI32Type()),
                          options.sequence);
  const double residual =
      kDeviation / std::sqrt(2.0 * static_cast<double>(options.layers));

  std::pair<Value, Value> tables;
  {
    Scope scope(b, "rotary");
    tables = b.rotaryTables(options.sequence, options.width / options.heads);
  }
  Value embedding, x;
  {
    Scope scope(b, "embed");
    embedding = b.addParameter("weight", {options.vocabulary, options.width},
                               b.getInit(InitKind::Normal, kDeviation), true);
    x = b.embedding(embedding, tokens);
  }
  for (int64_t layer = 0; layer < options.layers; ++layer) {
    Scope scope(b, "h");
    Scope inner(b, Twine(layer));
    Value y =
        attend(b, normalize(b, x, "norm_1"), options, tables, mask, residual);
    x = b.at().add(x, y);
    y = feedForward(b, normalize(b, x, "norm_2"), options, residual);
    x = b.at().add(x, y);
  }
  x = normalize(b, x, "norm");
  Value logits;
  {
    Scope scope(b, "lm_head");
    logits = b.tiedLinear(x, embedding);
  }
  return finishClassifier(b, logits, targets, 0.0, training);
}

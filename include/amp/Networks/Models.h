//===- Models.h - Training steps of known networks --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Complete training steps of well-known networks. Each function checks its
// options and emits an error at an unknown location if they are invalid. An
// error that only the operations can detect, such as an extent that is too
// large for a tensor, is at the location of a layer.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_NETWORKS_MODELS_H
#define AMP_NETWORKS_MODELS_H

#include "amp/Networks/ModelBuilder.h"

namespace mlir::amp {

/// A perceptron with relu between the layers.
struct MLPOptions {
  int64_t batch = ModelBuilder::kBatch;
  int64_t features = 784;
  int64_t classes = 10;
  SmallVector<int64_t> hidden{128, 64};
};

/// LeNet-5 on grey images, with relu and max pooling. The padding of the first
/// convolution allows any size that is a multiple of 4 and at least 16.
struct LeNetOptions {
  int64_t batch = ModelBuilder::kBatch;
  int64_t imageSize = 28;
  int64_t classes = 10;
};

/// Residual networks (He et al. 2015) as in torchvision: basic blocks for
/// depth 18, bottlenecks for depth 50.
struct ResNetOptions {
  int64_t batch = ModelBuilder::kBatch;
  int64_t depth = 50;
  int64_t imageSize = 224;
  int64_t classes = 1000;
  /// Channels of the first stage.
  int64_t width = 64;
  double labelSmoothing = 0.0;
};

/// Sizes that all transformers have.
struct TransformerOptions {
  int64_t batch = ModelBuilder::kBatch;
  int64_t sequence = 0;
  int64_t layers = 12;
  int64_t width = 768;
  int64_t heads = 12;
  double dropout = 0.0;
  /// Dropout of the weights of attentions.
  double attentionDropout = 0.0;
};

/// GPT-2 (Radford et al. 2019): pre-norm blocks, learned positions, and an
/// embedding that is tied to the output.
struct GPT2Options : TransformerOptions {
  int64_t vocabulary = 50257;
  int64_t positions = 1024;
};

/// A decoder as in recent language models: rotary positions, root mean square
/// norms, also of queries and keys, fewer heads of keys and values than of
/// queries, gated silu, no bias, and an embedding that is tied to the output.
/// The defaults have 304 million parameters.
struct DecoderOptions : TransformerOptions {
  DecoderOptions() {
    sequence = 2048;
    layers = 24;
    width = 1024;
    heads = 16;
  }
  /// Heads of keys and values. Divides `heads`.
  int64_t keyHeads = 4;
  /// Features of the hidden layer of a block.
  int64_t feedForward = 2816;
  int64_t vocabulary = 32768;
  /// Documents of a sequence, whose cumulative lengths are part of the batch.
  /// With 0, a sequence is one document.
  int64_t documents = 0;
};

/// BERT (Devlin et al. 2018) with a classifier on the pooled first token.
struct BertOptions : TransformerOptions {
  int64_t vocabulary = 30522;
  int64_t positions = 512;
  int64_t types = 2;
  int64_t classes = 2;
};

/// A vision transformer (Dosovitskiy et al. 2020) with a class token.
struct ViTOptions : TransformerOptions {
  int64_t imageSize = 224;
  int64_t patch = 16;
  int64_t classes = 1000;
  double labelSmoothing = 0.0;
};

/// The result of the functions below: a module, or failure after a diagnostic.
struct Model {
  OwningOpRef<ModuleOp> module;
  int64_t numParameters = 0;
};

FailureOr<Model> buildMLP(MLIRContext *context, const MLPOptions &options,
                          const TrainingOptions &training);
FailureOr<Model> buildLeNet(MLIRContext *context, const LeNetOptions &options,
                            const TrainingOptions &training);
FailureOr<Model> buildResNet(MLIRContext *context, const ResNetOptions &options,
                             const TrainingOptions &training);
FailureOr<Model> buildGPT2(MLIRContext *context, const GPT2Options &options,
                           const TrainingOptions &training);
FailureOr<Model> buildDecoder(MLIRContext *context,
                              const DecoderOptions &options,
                              const TrainingOptions &training);
FailureOr<Model> buildBert(MLIRContext *context, const BertOptions &options,
                           const TrainingOptions &training);
FailureOr<Model> buildViT(MLIRContext *context, const ViTOptions &options,
                          const TrainingOptions &training);

} // namespace mlir::amp

#endif // AMP_NETWORKS_MODELS_H

//===- ImageModels.cpp - Perceptrons and convolutional networks -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FinishClassifier.h"
#include "ModelChecks.h"

#include "amp/Networks/Models.h"

#include "amp/Interfaces/FloatRange.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>

using namespace mlir;
using namespace mlir::amp;

using Scope = ModelBuilder::Scope;

LogicalResult mlir::amp::checkTraining(ModelChecks &checks,
                                       const TrainingOptions &options) {
  // Steps compute in f32 for any type of an option.
  FloatType f32 = Float32Type::get(checks.getContext());
  for (auto [name, value] :
       {std::pair<StringRef, double>("lr", options.learningRate),
        {"weight-decay", options.weightDecay},
        {"clip", options.maxNorm},
        {"epsilon", options.epsilon}}) {
    if (!(value >= 0) || std::isinf(value))
      return checks.fail() << "'" << name
                           << "' must be finite and not negative, got "
                           << value;
    double rounded = roundTo(value, f32);
    if (std::isinf(rounded) || (rounded == 0 && value > 0))
      return checks.fail() << "'" << name
                           << "' must be 0 or in the range of f32, got "
                           << value;
  }
  // A rate that is 1 in f32 would divide by 1 - 1.
  if (failed(checks.share("momentum", options.momentum)) ||
      failed(checks.share("beta1", roundTo(options.beta1, f32))) ||
      failed(checks.share("beta2", roundTo(options.beta2, f32))))
    return failure();
  if (!(options.finalFraction >= 0 && options.finalFraction <= 1))
    return checks.fail() << "'final-fraction' must be in [0, 1], got "
                         << options.finalFraction;
  if (options.warmupSteps < 0)
    return checks.fail() << "'warmup-steps' must not be negative, got "
                         << options.warmupSteps;
  if (options.decaySteps != 0 && options.decaySteps <= options.warmupSteps)
    return checks.fail() << "'decay-steps' must be more than 'warmup-steps', "
                         << options.warmupSteps << ", or 0, got "
                         << options.decaySteps;
  return success();
}

//===----------------------------------------------------------------------===//
// MLP and LeNet
//===----------------------------------------------------------------------===//

FailureOr<Model> mlir::amp::buildMLP(MLIRContext *context,
                                     const MLPOptions &options,
                                     const TrainingOptions &training) {
  ModelChecks checks(context, "mlp");
  if (failed(checks.batch(options.batch)) ||
      failed(checks.size("features", options.features)) ||
      failed(checks.size("classes", options.classes, 2)) ||
      failed(checkTraining(checks, training)))
    return failure();
  for (int64_t width : options.hidden)
    if (failed(checks.size("hidden", width)))
      return failure();

  ModelBuilder b(context);
  Value x = b.addBatch("x", {options.batch, options.features}, b.getF32Type());
  Value labels =
      b.addBatch("labels", {options.batch}, b.getBuilder().getI64Type());
  SmallVector<int64_t> widths(options.hidden);
  widths.push_back(options.classes);
  for (auto [index, width] : llvm::enumerate(widths)) {
    Scope scope(b, "fc" + Twine(index + 1));
    x = b.linear(x, width);
    if (index + 1 != widths.size())
      x = b.relu(x);
  }
  return finishClassifier(b, x, labels, 0.0, training);
}

FailureOr<Model> mlir::amp::buildLeNet(MLIRContext *context,
                                       const LeNetOptions &options,
                                       const TrainingOptions &training) {
  ModelChecks checks(context, "lenet");
  if (failed(checks.batch(options.batch)) ||
      failed(checks.size("image-size", options.imageSize, 16)) ||
      failed(checks.size("classes", options.classes, 2)) ||
      failed(checkTraining(checks, training)))
    return failure();
  if (options.imageSize % 4 != 0)
    return checks.fail() << "'image-size' must be a multiple of 4, got "
                         << options.imageSize;

  ModelBuilder b(context);
  Value x = b.addBatch("images",
                       {options.batch, options.imageSize, options.imageSize, 1},
                       b.getF32Type());
  Value labels =
      b.addBatch("labels", {options.batch}, b.getBuilder().getI64Type());
  for (auto [index, filters, padding] :
       {std::tuple<int, int64_t, int64_t>(1, 6, 2), {2, 16, 0}}) {
    Scope scope(b, "conv" + Twine(index));
    x = b.maxPool(b.relu(b.conv(x, filters, 5, 1, padding, /*bias=*/true)), 2,
                  2);
  }
  auto type = cast<RankedTensorType>(x.getType());
  x = b.at().reshape(x,
                     {options.batch, type.getDimSize(1) * type.getDimSize(2) *
                                         type.getDimSize(3)});
  for (auto [index, width] :
       llvm::enumerate(SmallVector<int64_t>{120, 84, options.classes})) {
    Scope scope(b, "fc" + Twine(index + 1));
    x = b.linear(x, width);
    if (index != 2)
      x = b.relu(x);
  }
  return finishClassifier(b, x, labels, 0.0, training);
}

//===----------------------------------------------------------------------===//
// Residual networks
//===----------------------------------------------------------------------===//

/// A convolution without bias, named "conv<index>", and its norm.
static Value convNorm(ModelBuilder &b, Value x, int index, int64_t filters,
                      int64_t size, int64_t stride) {
  {
    Scope scope(b, "conv" + Twine(index));
    x = b.conv(x, filters, size, stride, size / 2);
  }
  Scope scope(b, "bn" + Twine(index));
  return b.batchNorm(x);
}

static Value residualBlock(ModelBuilder &b, Value x, int64_t width,
                           int64_t stride, bool bottleneck) {
  int64_t channels = bottleneck ? 4 * width : width;
  Value y;
  if (bottleneck) {
    y = b.relu(convNorm(b, x, 1, width, 1, 1));
    y = b.relu(convNorm(b, y, 2, width, 3, stride));
    y = convNorm(b, y, 3, channels, 1, 1);
  } else {
    y = b.relu(convNorm(b, x, 1, width, 3, stride));
    y = convNorm(b, y, 2, channels, 3, 1);
  }
  if (stride != 1 ||
      cast<RankedTensorType>(x.getType()).getDimSize(3) != channels) {
    Scope scope(b, "downsample");
    {
      Scope inner(b, "0");
      x = b.conv(x, channels, 1, stride, 0);
    }
    Scope inner(b, "1");
    x = b.batchNorm(x);
  }
  return b.relu(b.at().add(y, x));
}

FailureOr<Model> mlir::amp::buildResNet(MLIRContext *context,
                                        const ResNetOptions &options,
                                        const TrainingOptions &training) {
  ModelChecks checks(context, "resnet");
  if (failed(checks.batch(options.batch)) ||
      failed(checks.size("image-size", options.imageSize, 32)) ||
      failed(checks.size("classes", options.classes, 2)) ||
      failed(checks.share("label-smoothing", options.labelSmoothing)) ||
      failed(checkTraining(checks, training)))
    return failure();
  if (options.depth != 18 && options.depth != 50)
    return checks.fail() << "'depth' must be 18 or 50, got " << options.depth;
  bool bottleneck = options.depth == 50;
  // The last of four stages is the widest.
  if (failed(checks.size("width", options.width, /*least=*/1,
                         /*factor=*/bottleneck ? 32 : 8)))
    return failure();
  SmallVector<int64_t> blocks{2, 2, 2, 2};
  if (bottleneck)
    blocks = {3, 4, 6, 3};

  ModelBuilder b(context);
  Value x = b.addBatch("images",
                       {options.batch, options.imageSize, options.imageSize, 3},
                       b.getF32Type());
  Value labels =
      b.addBatch("labels", {options.batch}, b.getBuilder().getI64Type());
  x = b.relu(convNorm(b, x, 1, options.width, 7, 2));
  {
    Scope scope(b, "maxpool");
    x = b.maxPool(x, 3, 2, 1);
  }
  for (auto [stage, count] : llvm::enumerate(blocks)) {
    Scope scope(b, "layer" + Twine(stage + 1));
    for (int64_t block = 0; block < count; ++block) {
      Scope inner(b, Twine(block));
      x = residualBlock(b, x, options.width << stage,
                        stage > 0 && block == 0 ? 2 : 1, bottleneck);
    }
  }
  {
    Scope scope(b, "avgpool");
    x = b.globalAveragePool(x);
  }
  {
    Scope scope(b, "fc");
    x = b.linear(x, options.classes);
  }
  return finishClassifier(b, x, labels, options.labelSmoothing, training);
}

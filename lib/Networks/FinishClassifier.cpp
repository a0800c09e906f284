//===- FinishClassifier.cpp - Loss and update of a model ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FinishClassifier.h"

using namespace mlir;
using namespace mlir::amp;
using Scope = ModelBuilder::Scope;

FailureOr<Model> mlir::amp::finishClassifier(ModelBuilder &b, Value logits,
                                             Value labels,
                                             double labelSmoothing,
                                             const TrainingOptions &training) {
  Value loss;
  {
    Scope scope(b, "loss");
    loss = b.crossEntropy(logits, labels, labelSmoothing);
  }
  b.addAccuracy(logits, labels);
  b.addPrediction("logits", logits);
  Model model;
  model.numParameters = b.getNumParameters();
  model.module = b.finish(loss, training);
  if (!model.module)
    return failure();
  return model;
}

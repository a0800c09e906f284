//===- FinishClassifier.h - The end of a model ------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_MODELS_FINISHCLASSIFIER_H
#define AMP_LIB_MODELS_FINISHCLASSIFIER_H

#include "amp/Models/Models.h"

namespace mlir::amp {

/// Ends a model that tells classes or tokens apart: the cross-entropy of
/// `logits` and `labels`, the metrics, the prediction and the update. Fails,
/// after an error, where the builder's `finish` returns null.
FailureOr<Model> finishClassifier(ModelBuilder &b, Value logits, Value labels,
                                  double labelSmoothing,
                                  const TrainingOptions &training);

} // namespace mlir::amp

#endif // AMP_LIB_MODELS_FINISHCLASSIFIER_H

//===- FinishClassifier.h - Loss and update of a model ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_NETWORKS_FINISHCLASSIFIER_H
#define AMP_LIB_NETWORKS_FINISHCLASSIFIER_H

#include "amp/Networks/Models.h"

namespace mlir::amp {

/// Ends a model that classifies inputs or predicts tokens: the cross-entropy of
/// `logits` and `labels`, the metrics, the prediction and the update. Fails
/// after an error if the builder's `finish` returns null.
FailureOr<Model> finishClassifier(ModelBuilder &b, Value logits, Value labels,
                                  double labelSmoothing,
                                  const TrainingOptions &training);

} // namespace mlir::amp

#endif // AMP_LIB_NETWORKS_FINISHCLASSIFIER_H

//===- Evaluation.h - How predictions are judged ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_DIALECT_TRAIN_IR_EVALUATION_H
#define AMP_DIALECT_TRAIN_IR_EVALUATION_H

#include "amp/Dialect/AMP/IR/StepSignature.h"

#include <string>

namespace mlir::amp {

/// How a prediction is evaluated: by the loss of the graph, and by the accuracy
/// if the prediction has classes.
struct EvaluationRule {
  enum class Kind { CrossEntropy, MSE, L1 };
  Kind kind;
  /// The names of the prediction and of the batch argument with the truth.
  std::string prediction, target;
};

/// Returns a rule for each loss operation in the body of `step` that compares a
/// prediction with a batch argument. Looks through casts.
SmallVector<EvaluationRule> findEvaluationRules(FunctionOpInterface step,
                                                const StepSignature &signature);

} // namespace mlir::amp

#endif // AMP_DIALECT_TRAIN_IR_EVALUATION_H

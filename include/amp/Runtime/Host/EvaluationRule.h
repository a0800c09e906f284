//===- EvaluationRule.h - How to judge a prediction -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_EVALUATIONRULE_H
#define AMP_RUNTIME_HOST_EVALUATIONRULE_H

#include <cstdint>
#include <string>

namespace amphost {

/// How to judge a prediction: by the loss of the graph, and for classes by the
/// accuracy.
struct EvaluationRule {
  enum class Kind : uint8_t { CrossEntropy, MSE, L1 };
  Kind kind = Kind::CrossEntropy;
  /// A prediction of the forward function and a batch of the step.
  std::string prediction, target;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_EVALUATIONRULE_H

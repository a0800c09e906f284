//===- Evaluation.cpp - How predictions are judged ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/Train/IR/Evaluation.h"

#include "amp/Dialect/Train/IR/Train.h"

using namespace mlir;
using namespace mlir::amp;

/// Looks through casts, which change only the element type of a value.
static Value skipCasts(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>())
    value = cast.getInput();
  return value;
}

SmallVector<EvaluationRule>
mlir::amp::findEvaluationRules(FunctionOpInterface step,
                               const StepSignature &signature) {
  SmallVector<EvaluationRule> rules;
  Block &body = step.getFunctionBody().front();
  Operation *terminator = body.getTerminator();
  auto addRule = [&](EvaluationRule::Kind kind, Value input, Value target) {
    auto argument = dyn_cast<BlockArgument>(skipCasts(target));
    if (!argument || argument.getOwner() != &body)
      return;
    for (const StepResult &result : signature.results)
      if (result.kind == ResultKind::Prediction &&
          skipCasts(terminator->getOperand(result.index)) == skipCasts(input))
        rules.push_back(
            {kind, result.name.str(),
             signature.arguments[argument.getArgNumber()].name.str()});
  };
  for (Operation &op : body) {
    if (auto loss = dyn_cast<train::CrossEntropyOp>(op))
      addRule(EvaluationRule::Kind::CrossEntropy, loss.getLogits(),
              loss.getLabels());
    else if (auto loss = dyn_cast<train::MSEOp>(op))
      addRule(EvaluationRule::Kind::MSE, loss.getInput(), loss.getTarget());
    else if (auto loss = dyn_cast<train::L1Op>(op))
      addRule(EvaluationRule::Kind::L1, loss.getInput(), loss.getTarget());
  }
  return rules;
}

//===- ReductionPatterns.cpp - Ways to make a graph smaller ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reducer of MLIR tries each pattern on ranges of operations and keeps what
// still fails. It brings no pattern of its own, and without one it can only
// drop whole operations that nothing uses.
//
//===----------------------------------------------------------------------===//

#include "ReductionPatterns.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Reducer/ReductionPatternInterface.h"

using namespace mlir;

namespace {

/// Replaces the results of a pure operation by operands, or else by arguments
/// of its block, of the same types.
struct BypassOperation : RewritePattern {
  explicit BypassOperation(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 || !op->getBlock() ||
        (op->getName().isRegistered() && !isMemoryEffectFree(op)))
      return failure();
    SmallVector<Value> replacements;
    for (Value result : op->getResults()) {
      auto replaces = [&](Value value) {
        return value.getType() == result.getType();
      };
      auto operand = llvm::find_if(op->getOperands(), replaces);
      if (operand != op->operand_end()) {
        replacements.push_back(*operand);
        continue;
      }
      auto arguments = op->getBlock()->getArguments();
      auto argument = llvm::find_if(arguments, replaces);
      if (argument == arguments.end())
        return failure();
      replacements.push_back(*argument);
    }
    rewriter.replaceOp(op, replacements);
    return success();
  }
};

/// Erases an operation that nothing uses, so that it does not have to be tried
/// on its own.
struct EraseUnused : RewritePattern {
  explicit EraseUnused(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0 || !op->use_empty() ||
        (op->getName().isRegistered() && !isMemoryEffectFree(op)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReductionPatterns : DialectReductionPatternInterface {
  explicit ReductionPatterns(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &patterns) const override {
    patterns.add<BypassOperation, EraseUnused>(patterns.getContext());
  }
};

} // namespace

void mlir::amp::registerReductionPatterns(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, AMPDialect *dialect) {
    dialect->addInterfaces<ReductionPatterns>();
  });
}

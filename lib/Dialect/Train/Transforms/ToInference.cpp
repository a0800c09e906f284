//===- ToInference.cpp - Derive the forward function of a step ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/AttributeNames.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/IR/Backpropagation.h"
#include "amp/Dialect/Train/IR/TrainBuilder.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::train {
#define GEN_PASS_DEF_TRAINTOINFERENCE
#include "amp/Dialect/Train/Transforms/Passes.h.inc"
} // namespace mlir::train

using namespace mlir;
using namespace mlir::train;
using amp::AMPDialect;
using amp::kInferenceOfAttr;

/// Returns whether `op` starts a backward pass.
static bool startsBackward(Operation *op) {
  return isa<GradientsOp, amp::GradientSeedOpInterface>(op);
}

/// Returns whether `op` behaves differently in training and in inference.
static bool isTrainingForm(Operation *op) {
  if (auto attention = dyn_cast<ScaledDotProductAttentionOp>(op))
    return bool(attention.getRng());
  return isa<DropoutOp, BatchNormTrainingOp>(op);
}

namespace {

struct ToInferencePass
    : public train::impl::TrainToInferenceBase<ToInferencePass> {
  using TrainToInferenceBase::TrainToInferenceBase;
  void runOnOperation() override;

private:
  /// The training step to derive from; null if there is nothing left to do.
  FailureOr<func::FuncOp> findStep();
  LogicalResult dropResults(func::FuncOp function,
                            const amp::StepSignature &signature);
  bool dependsOnTraining(func::FuncOp function, unsigned result);
  LogicalResult checkBody(func::FuncOp function, SymbolTable &symbols);
  LogicalResult dropArguments(func::FuncOp function);
};

} // namespace

FailureOr<func::FuncOp> ToInferencePass::findStep() {
  ModuleOp module = getOperation();
  if (!entry.empty()) {
    if (module.lookupSymbol<func::FuncOp>(entry + suffix.getValue()) &&
        !module.lookupSymbol(entry))
      return func::FuncOp();
    auto function = module.lookupSymbol<func::FuncOp>(entry);
    if (!function || function.isExternal())
      return module.emitError("the module has no function '")
             << entry.getValue() << "' with a body to derive inference from";
    if (!amp::isStepFunction(function))
      return function.emitError("not a training step: no argument has "
                                "'amp.role'");
    return function->hasAttr(kInferenceOfAttr) ? func::FuncOp() : function;
  }
  SmallVector<func::FuncOp> steps;
  bool derived = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !amp::isStepFunction(function))
      continue;
    if (function->hasAttr(kInferenceOfAttr))
      derived = true;
    else
      steps.push_back(function);
  }
  if (steps.size() == 1)
    return steps.front();
  if (steps.empty() && derived)
    return func::FuncOp();
  if (steps.empty())
    return module.emitError("the module has no training step: no function has "
                            "arguments with 'amp.role'");
  auto error = module.emitError("the module has ")
               << steps.size() << " training steps, choose one with 'entry':";
  for (func::FuncOp step : steps)
    error << " '" << step.getName() << "'";
  return error;
}

bool ToInferencePass::dependsOnTraining(func::FuncOp function,
                                        unsigned result) {
  auto isScalerState = [](Value value) {
    return amp::getRole(value) == amp::Role::ScalerState;
  };
  bool depends = false;
  function.walk([&](func::ReturnOp returnOp) {
    Value value = returnOp.getOperand(result);
    SmallVector<Operation *> producers;
    collectProducers(value, producers);
    depends |= isScalerState(value);
    for (Operation *producer : producers) {
      producer->walk([&](Operation *op) {
        depends |= startsBackward(op) ||
                   llvm::any_of(op->getOperands(), isScalerState);
      });
    }
  });
  return depends;
}

LogicalResult
ToInferencePass::dropResults(func::FuncOp function,
                             const amp::StepSignature &signature) {
  BitVector dropped(function.getNumResults());
  bool hasPrediction = false;
  for (const amp::StepResult &result : signature.results) {
    switch (result.kind) {
    case amp::ResultKind::Update:
      dropped.set(result.index);
      break;
    case amp::ResultKind::Metric:
      if (!keepMetrics) {
        dropped.set(result.index);
      } else if (dependsOnTraining(function, result.index)) {
        dropped.set(result.index);
        auto options = remark::RemarkOpts::name("MetricDropped")
                           .category("amp")
                           .function(function.getName());
        remark::missed(function.getLoc(), options)
            << remark::reason("metric '{0}' depends on gradients or on the "
                              "state of loss scaling",
                              result.name);
      }
      break;
    case amp::ResultKind::Prediction:
      hasPrediction = true;
      break;
    }
  }
  if (!hasPrediction)
    return function.emitError("the step has no result with 'amp.prediction', "
                              "so its forward function would be empty");
  function.walk(
      [&](func::ReturnOp returnOp) { returnOp->eraseOperands(dropped); });
  return function.eraseResults(dropped);
}

/// Replaces `op` by its inference form: normalization with the running
/// statistics, which do not change.
static void replaceBatchNorm(BatchNormTrainingOp op) {
  OpBuilder builder(op);
  TrainBuilder t(builder, op.getLoc());
  Value mean = op.getRunningMean(), var = op.getRunningVar();
  Value result = BatchNormInferenceOp::create(
      builder, op.getLoc(), op.getResult().getType(), op.getInput(),
      op.getGamma(), op.getBeta(), mean, var, op.getEpsilonAttr());
  op.getResult().replaceAllUsesWith(result);
  op.getMean().replaceAllUsesWith(mean);
  if (!op.getRstd().use_empty())
    op.getRstd().replaceAllUsesWith(
        t.rsqrt(t.add(var, op.getEpsilon().convertToDouble())));
  op.getNewRunningMean().replaceAllUsesWith(mean);
  op.getNewRunningVar().replaceAllUsesWith(var);
  op.erase();
}

/// Checks that the remaining function and its callees are forward functions.
LogicalResult ToInferencePass::checkBody(func::FuncOp function,
                                         SymbolTable &symbols) {
  SmallVector<Operation *> worklist{function};
  DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *scope = worklist.pop_back_val();
    if (!seen.insert(scope).second)
      continue;
    WalkResult result = scope->walk([&](Operation *op) {
      if (startsBackward(op)) {
        op->emitError("a prediction or metric of the forward function depends "
                      "on gradients");
        return WalkResult::interrupt();
      }
      if (isTrainingForm(op)) {
        op->emitError("cannot give a function that the step calls the form of "
                      "inference; inline it first");
        return WalkResult::interrupt();
      }
      if (auto call = dyn_cast<CallOpInterface>(op)) {
        auto callee =
            dyn_cast_or_null<SymbolRefAttr>(call.getCallableForCallee());
        Operation *target =
            callee ? SymbolTable::lookupNearestSymbolFrom(op, callee) : nullptr;
        if (target)
          worklist.push_back(target);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult ToInferencePass::dropArguments(func::FuncOp function) {
  BitVector dropped(function.getNumArguments());
  DenseSet<StringRef> kept;
  for (BlockArgument argument : function.getArguments()) {
    if (argument.use_empty())
      dropped.set(argument.getArgNumber());
    else if (auto name = function.getArgAttrOfType<StringAttr>(
                 argument.getArgNumber(), AMPDialect::kNameAttr))
      kept.insert(name.getValue());
  }
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i) {
    auto init =
        function.getArgAttrOfType<amp::InitAttr>(i, AMPDialect::kInitAttr);
    if (init && init.getSource() && !kept.contains(init.getSource().getValue()))
      function.removeArgAttr(i, AMPDialect::kInitAttr);
  }
  numDropped += dropped.count();
  return function.eraseArguments(dropped);
}

void ToInferencePass::runOnOperation() {
  FailureOr<func::FuncOp> found = findStep();
  if (failed(found))
    return signalPassFailure();
  func::FuncOp step = *found;
  if (!step)
    return;
  std::string name = (step.getName() + suffix.getValue()).str();
  SymbolTable symbols(getOperation());
  if (Operation *taken = symbols.lookup(name)) {
    if (taken->hasAttr(kInferenceOfAttr))
      return;
    taken->emitError("the forward function of '")
        << step.getName() << "' would have this name; choose another 'suffix'";
    return signalPassFailure();
  }
  if (!keepStep && !SymbolTable::symbolKnownUseEmpty(step, getOperation())) {
    step.emitError("cannot replace the step, which is used elsewhere; set "
                   "'keep-step' to keep it");
    return signalPassFailure();
  }
  FailureOr<amp::StepSignature> signature = amp::StepSignature::get(step);
  if (failed(signature))
    return signalPassFailure();

  func::FuncOp function = step.clone();
  function.setName(name);
  function->setAttr(kInferenceOfAttr, step.getSymNameAttr());
  symbols.insert(function, std::next(Block::iterator(step)));
  if (failed(dropResults(function, *signature)))
    return signalPassFailure();

  // First remove the operations that only training needs. They may have any
  // form.
  IRRewriter rewriter(&getContext());
  (void)runRegionDCE(rewriter, function->getRegions());
  function.walk([](Operation *op) {
    op->removeAttr(AMPDialect::kIdAttr);
    if (auto dropout = dyn_cast<DropoutOp>(op)) {
      dropout.getResult().replaceAllUsesWith(dropout.getInput());
      dropout.erase();
    } else if (auto attention = dyn_cast<ScaledDotProductAttentionOp>(op)) {
      Value mask = attention.getMask();
      attention.getExtrasMutable().assign(mask ? ValueRange(mask)
                                               : ValueRange());
      attention.removeDropoutRateAttr();
    } else if (auto batchNorm = dyn_cast<BatchNormTrainingOp>(op)) {
      replaceBatchNorm(batchNorm);
    }
  });
  (void)runRegionDCE(rewriter, function->getRegions());

  if (failed(checkBody(function, symbols)) || failed(dropArguments(function)))
    return signalPassFailure();
  if (!keepStep)
    symbols.erase(step);
}

//===- StepStatistics.cpp - What a training step costs --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/StepStatistics.h"

#include "amp/Analysis/TensorLiveness.h"
#include "amp/Dialect/AMP/IR/ParameterGradients.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::amp;

/// Returns whether `type` is a tensor of floats of at most 16 bits.
static bool isLow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 16;
}

/// Returns the results of the block's operations that depend on `sources`.
static llvm::DenseSet<Value> getDependentValues(Block &block,
                                                ArrayRef<Value> sources) {
  llvm::DenseSet<Value> dependent(sources.begin(), sources.end());
  for (Operation &op : block) {
    bool depends = false;
    op.walk([&](Operation *nested) {
      depends |= llvm::any_of(nested->getOperands(), [&](Value operand) {
        return dependent.contains(operand);
      });
    });
    if (depends)
      dependent.insert(op.result_begin(), op.result_end());
  }
  return dependent;
}

/// Returns the bytes of the tensors that `op` reads and writes.
static int64_t getMovedBytes(Operation *op) {
  if (op->getNumRegions() != 0 || op->hasTrait<OpTrait::IsTerminator>() ||
      op->hasTrait<OpTrait::ConstantLike>())
    return 0;
  llvm::SmallSetVector<Value, 4> values(op->operand_begin(), op->operand_end());
  values.insert(op->result_begin(), op->result_end());
  int64_t bytes = 0;
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      if (FailureOr<int64_t> size = getTensorBytes(type); succeeded(size))
        bytes += *size;
  return bytes;
}

FailureOr<StepStatistics>
mlir::amp::computeStepStatistics(FunctionOpInterface function) {
  FailureOr<StepSignature> signature = StepSignature::get(function);
  if (failed(signature))
    return failure();
  FailureOr<TensorLiveness> liveness = TensorLiveness::compute(function);
  if (failed(liveness))
    return failure();

  StepStatistics statistics;
  SmallVector<Value> batch;
  for (const StepArgument &argument : signature->arguments) {
    FailureOr<int64_t> bytes = getTensorBytes(argument.type);
    if (failed(bytes))
      return function->emitError("argument '")
             << argument.name << "' has type " << argument.type
             << ", but its size must be known; run train-set-batch first";
    switch (argument.role) {
    case Role::Parameter:
      statistics.parameterBytes += *bytes;
      break;
    case Role::OptimizerState:
      statistics.optimizerStateBytes += *bytes;
      break;
    case Role::ModelState:
    case Role::ScalerState:
    case Role::QuantizerState:
      statistics.otherStateBytes += *bytes;
      break;
    case Role::Batch:
      statistics.batchBytes += *bytes;
      batch.push_back(function.getArgument(argument.index));
      break;
    case Role::Hyperparameter:
      break;
    }
  }

  // Activations depend on the batch and precede the gradients of parameters.
  Block &block = function.getFunctionBody().front();
  SmallVector<Value> gradients = getParameterGradients(block);
  llvm::DenseSet<Value> fromBatch = getDependentValues(block, batch);
  llvm::DenseSet<Value> fromGradients = getDependentValues(block, gradients);
  auto isActivation = [&](const TensorRange &range) {
    return fromBatch.contains(range.value) &&
           !fromGradients.contains(range.value);
  };
  for (const TensorRange &range : liveness->getRanges()) {
    if (!isActivation(range))
      continue;
    statistics.activationBytes += range.bytes;
    if (isLow(range.value.getType()))
      statistics.lowActivationBytes += range.bytes;
  }
  statistics.peakActivationBytes = liveness->getPeakBytes(isActivation);

  function.getFunctionBody().walk(
      [&](Operation *op) { statistics.movedBytes += getMovedBytes(op); });
  function.getFunctionBody().walk([&](PrecisionOpInterface op) {
    int64_t flops = op.getProductFlops();
    if (flops == 0)
      return;
    statistics.productFlops += flops;
    if (isLow(op->getOperand(0).getType()))
      statistics.lowProductFlops += flops;
  });
  return statistics;
}

//===- StepInputs.cpp - Inputs and outputs of a step ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the states, the batch inputs and the evaluation rules of a step from
// its signature and its body.
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/IndexBound.h"
#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "amp/Dialect/AMP/IR/InitialValue.h"
#include "amp/Dialect/Train/IR/Evaluation.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Execution/Errors.h"
#include "amp/Execution/StepProgram.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "amp/Runtime/Host/Npz.h"
#include "amp/Runtime/Host/RunRecord.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

llvm::Expected<BufferType> mlir::amp::getBufferType(RankedTensorType type,
                                                    llvm::StringRef what) {
  std::optional<host::ElementType> element =
      getElementType(type.getElementType());
  std::string text;
  llvm::raw_string_ostream(text) << type;
  if (!element)
    return makeError("{0} is {1}, whose element type cannot be run", what,
                     text);
  if (!type.hasStaticShape())
    return makeError("{0} is {1}, expected a static shape", what, text);
  BufferType buffer;
  buffer.type = *element;
  buffer.shape.assign(type.getShape().begin(), type.getShape().end());
  return buffer;
}

host::Role mlir::amp::getHostRole(const StepArgument &argument) {
  switch (argument.role) {
  case Role::Parameter:
    return host::Role::Parameter;
  case Role::OptimizerState:
    return host::Role::OptimizerState;
  case Role::ModelState:
    return host::Role::ModelState;
  case Role::ScalerState:
  case Role::QuantizerState:
    // The host keeps both kinds of state of scales in the same way.
    return host::Role::ScalerState;
  case Role::Hyperparameter:
    return host::Role::Hyperparameter;
  case Role::Batch:
    return host::Role::Batch;
  }
  llvm_unreachable("unknown role");
}

host::Role mlir::amp::getHostRole(const StepResult &result) {
  return result.kind == ResultKind::Metric ? host::Role::Metric
                                           : host::Role::Prediction;
}

host::TensorInfo mlir::amp::describeTensor(host::Role role,
                                           llvm::StringRef name,
                                           RankedTensorType type) {
  host::TensorInfo info;
  info.name = name.str();
  info.role = role;
  // A type that cannot run is an error when the step is compiled.
  info.type =
      getElementType(type.getElementType()).value_or(host::ElementType::F32);
  for (int64_t extent : type.getShape())
    info.shape.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  return info;
}

llvm::Error StepProgram::collectStates() {
  llvm::DenseSet<Value> scales;
  getFunction()->walk([&](LossScaleOpInterface op) {
    if (int operand = op.getLossScaleOperand(); operand >= 0)
      scales.insert(op->getOperand(operand));
  });
  llvm::StringSaver names(allocator);
  for (const StepArgument &argument : signature.arguments) {
    if (argument.role == Role::Batch)
      continue;
    if (argument.name.starts_with(host::kReservedPrefix))
      return makeError("argument '{0}' has a reserved name: those that begin "
                       "with '{1}' belong to files of states",
                       argument.name, host::kReservedPrefix);
    auto whole =
        cast<RankedTensorType>(getWholeType(getFunction(), argument.index));
    if (whole != argument.type)
      partSizes[argument.name] = argument.type.getNumElements();
    llvm::Expected<BufferType> buffer =
        getBufferType(whole, ("argument '" + argument.name + "'").str());
    if (!buffer)
      return buffer.takeError();
    host::TensorInfo &info = tensors.emplace_back();
    info.name = argument.name.str();
    info.role = getHostRole(argument);
    info.type = buffer->type;
    info.shape = buffer->shape;
    info.isLossScale =
        argument.role == Role::ScalerState && isFloat(info.type) &&
        scales.contains(getFunction().getArgument(argument.index));
    if (!argument.init)
      continue;
    info.init = getInitialValue(argument.init, argument.name);
    if (StringAttr source = argument.init.getSource())
      info.init.source = names.save(source.getValue()).data();
  }
  return llvm::Error::success();
}

llvm::Error StepProgram::collectResults() {
  for (const StepResult &result : signature.results) {
    llvm::StringRef name = result.name;
    if (result.kind == ResultKind::Update)
      continue;
    if (result.kind == ResultKind::Metric &&
        llvm::is_contained(host::kMetricColumns, name))
      return makeError("metric '{0}' has a reserved name: it is a column of "
                       "the metrics already",
                       name);
    if (result.kind == ResultKind::Prediction &&
        name.starts_with(host::kReservedPrefix))
      return makeError("prediction '{0}' has a reserved name: those that begin "
                       "with '{1}' belong to the format of the file",
                       name, host::kReservedPrefix);
    if (result.kind == ResultKind::Metric && result.type.getRank() != 0)
      return makeError("metric '{0}' has rank {1}, expected a scalar",
                       result.name, result.type.getRank());
    tensors.push_back(describeTensor(getHostRole(result), name, result.type));
  }
  return llvm::Error::success();
}

llvm::Error StepProgram::collectBatches() {
  FunctionOpInterface function = getFunction();
  llvm::StringRef fixedBy;
  bool hasBatch = false;
  for (const StepArgument &argument : signature.arguments) {
    if (argument.role != Role::Batch)
      continue;
    hasBatch = true;
    llvm::ArrayRef<int64_t> shape = argument.type.getShape();
    if (shape.empty())
      return makeError("batch argument '{0}' is a scalar, expected dimension 0 "
                       "to count samples",
                       argument.name);
    if (!ShapedType::isDynamic(shape.front())) {
      if (staticBatch && *staticBatch != shape.front())
        return makeError("batch arguments '{0}' and '{1}' disagree: {2} and "
                         "{3} samples",
                         fixedBy, argument.name, *staticBatch, shape.front());
      staticBatch = shape.front();
      fixedBy = argument.name;
    }
    RankedTensorType sample = RankedTensorType::get(
        shape.drop_front(), argument.type.getElementType());
    llvm::Expected<BufferType> buffer = getBufferType(
        sample, ("a sample of batch argument '" + argument.name + "'").str());
    if (!buffer)
      return buffer.takeError();
    host::TensorInfo info =
        describeTensor(host::Role::Batch, argument.name, argument.type);
    if (!isFloat(info.type)) {
      Value value = function.getArgument(argument.index);
      info.classes = getIndexBound(value).value_or(0);
      info.isCumulative = isCumulative(value);
    }
    tensors.push_back(std::move(info));
  }
  // A step without data counts as one sample.
  if (!hasBatch)
    staticBatch = 1;
  return llvm::Error::success();
}

void StepProgram::collectRules() {
  rules = findEvaluationRules(getFunction(), signature);
}

//===- StepInputs.cpp - What a training step takes and gives --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the states, the batch inputs and the evaluation rules of a step off its
// signature and its body.
//
//===----------------------------------------------------------------------===//

#include "amp/Analysis/IndexBound.h"
#include "amp/Dialect/Train/IR/Evaluation.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Execution/Files.h"
#include "amp/Execution/Report.h"
#include "amp/Execution/StepProgram.h"
#include "amp/Interfaces/LossScaleOpInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::amp;

llvm::Expected<BufferType> mlir::amp::getBufferType(RankedTensorType type,
                                                    llvm::StringRef what) {
  std::optional<ElementType> element = getElementType(type.getElementType());
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

static InitSpec convertInit(InitAttr attr) {
  using Kind = InitSpec::Kind;
  InitSpec spec;
  double value = attr.getValue() ? attr.getValue().getValueAsDouble() : 0.0;
  auto gain = [&](double otherwise) {
    spec.gain = attr.getValue() ? value : otherwise;
  };
  switch (attr.getKind()) {
  case InitKind::Zeros:
    spec.kind = Kind::Zeros;
    break;
  case InitKind::Ones:
    spec.kind = Kind::Ones;
    break;
  case InitKind::Constant:
    spec.kind = Kind::Constant;
    spec.first = value;
    break;
  case InitKind::Normal:
    spec.kind = Kind::Normal;
    spec.second = value;
    break;
  case InitKind::Uniform:
    spec.kind = Kind::Uniform;
    spec.first = -value;
    spec.second = value;
    break;
  case InitKind::KaimingUniform:
    spec.kind = Kind::KaimingUniform;
    gain(std::sqrt(2.0));
    break;
  case InitKind::KaimingNormal:
    spec.kind = Kind::KaimingNormal;
    gain(std::sqrt(2.0));
    break;
  case InitKind::XavierUniform:
    spec.kind = Kind::XavierUniform;
    gain(1.0);
    break;
  case InitKind::XavierNormal:
    spec.kind = Kind::XavierNormal;
    gain(1.0);
    break;
  case InitKind::CopyOf:
    spec.kind = Kind::CopyOf;
    spec.source = attr.getSource().getValue().str();
    break;
  case InitKind::RngState:
    spec.kind = Kind::RngState;
    break;
  }
  if (attr.getSeed())
    spec.seed = attr.getSeed().getValue().getZExtValue();
  return spec;
}

llvm::Error StepProgram::collectStates() {
  llvm::DenseSet<Value> scales;
  getFunction()->walk([&](LossScaleOpInterface op) {
    if (int operand = op.getLossScaleOperand(); operand >= 0)
      scales.insert(op->getOperand(operand));
  });
  for (const StepArgument &argument : signature.arguments) {
    if (!argument.isState() && argument.role != Role::Hyperparameter)
      continue;
    if (argument.name.starts_with(kReservedPrefix))
      return makeError("argument '{0}' has a reserved name: those that begin "
                       "with '{1}' belong to files of states",
                       argument.name, kReservedPrefix);
    llvm::Expected<BufferType> buffer = getBufferType(
        argument.type, ("argument '" + argument.name + "'").str());
    if (!buffer)
      return buffer.takeError();
    if (!argument.isState())
      continue;
    StateSpec spec;
    spec.name = argument.name.str();
    spec.isWeight =
        argument.role == Role::Parameter || argument.role == Role::ModelState;
    spec.type = buffer->type;
    spec.shape = buffer->shape;
    spec.isLossScale =
        argument.role == Role::ScalerState && isFloat(spec.type) &&
        scales.contains(getFunction().getArgument(argument.index));
    if (argument.init)
      spec.init = convertInit(argument.init);
    else if (argument.role == Role::OptimizerState)
      spec.init.emplace(); // Moments start at zero unless the graph says more.
    states.push_back(std::move(spec));
  }
  return llvm::Error::success();
}

llvm::Error StepProgram::checkResults() const {
  for (const StepResult &result : signature.results) {
    llvm::StringRef name = result.name;
    if (result.kind == ResultKind::Metric &&
        llvm::is_contained(kMetricColumns, name))
      return makeError("metric '{0}' has a reserved name: it is a column of "
                       "the metrics already",
                       name);
    if (result.kind == ResultKind::Prediction &&
        name.starts_with(kReservedPrefix))
      return makeError("prediction '{0}' has a reserved name: those that begin "
                       "with '{1}' belong to the format of the file",
                       name, kReservedPrefix);
    if (result.kind == ResultKind::Metric && result.type.getRank() != 0)
      return makeError("metric '{0}' has rank {1}, expected a scalar",
                       result.name, result.type.getRank());
  }
  return llvm::Error::success();
}

llvm::Error StepProgram::collectBatchInputs() {
  FunctionOpInterface function = getFunction();
  llvm::StringRef fixedBy;
  for (const StepArgument &argument : signature.arguments) {
    if (argument.role != Role::Batch)
      continue;
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
    BatchInput input;
    input.name = argument.name.str();
    input.type = buffer->type;
    input.sampleShape = buffer->shape;
    if (!isFloat(buffer->type))
      input.numClasses = getIndexBound(function.getArgument(argument.index));
    batchInputs.push_back(std::move(input));
  }
  if (batchInputs.empty())
    return makeError("function '{0}' has no batch argument: no argument has "
                     "'amp.role' \"batch\"",
                     entry);
  return llvm::Error::success();
}

void StepProgram::collectRules() {
  rules = findEvaluationRules(getFunction(), signature);
}

//===- StepSignature.cpp - What a training step takes and gives -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/AMP/IR/StepSignature.h"

#include "amp/Dialect/AMP/IR/ParameterGradients.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::amp;

StringRef mlir::amp::stringifyRole(Role role) {
  switch (role) {
  case Role::Parameter:
    return "parameter";
  case Role::OptimizerState:
    return "optimizer_state";
  case Role::ModelState:
    return "model_state";
  case Role::Batch:
    return "batch";
  case Role::Hyperparameter:
    return "hyperparameter";
  case Role::ScalerState:
    return "scaler_state";
  case Role::QuantizerState:
    return "quantizer_state";
  }
  llvm_unreachable("every role has a name");
}

std::optional<Role> mlir::amp::symbolizeRole(StringRef name) {
  return llvm::StringSwitch<std::optional<Role>>(name)
      .Case("parameter", Role::Parameter)
      .Case("optimizer_state", Role::OptimizerState)
      .Case("model_state", Role::ModelState)
      .Case("batch", Role::Batch)
      .Case("hyperparameter", Role::Hyperparameter)
      .Case("scaler_state", Role::ScalerState)
      .Case("quantizer_state", Role::QuantizerState)
      .Default(std::nullopt);
}

std::optional<Role> mlir::amp::getRole(FunctionOpInterface function,
                                       unsigned index) {
  auto role =
      function.getArgAttrOfType<StringAttr>(index, AMPDialect::kRoleAttr);
  return role ? symbolizeRole(role.getValue()) : std::nullopt;
}

std::optional<Role> mlir::amp::getRole(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return std::nullopt;
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function ? getRole(function, argument.getArgNumber()) : std::nullopt;
}

SmallVector<Value> mlir::amp::getParameterGradients(Block &block) {
  SmallVector<Value> gradients;
  for (Operation &op : block) {
    auto names = op.getAttrOfType<ArrayAttr>(AMPDialect::kGradientOfAttr);
    if (!names)
      continue;
    for (auto [result, name] : llvm::zip(op.getResults(), names))
      if (!cast<StringAttr>(name).empty())
        gradients.push_back(result);
  }
  return gradients;
}

bool mlir::amp::isStepFunction(FunctionOpInterface function) {
  for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
    if (function.getArgAttr(i, AMPDialect::kRoleAttr))
      return true;
  return false;
}

LogicalResult mlir::amp::verifyStepBody(FunctionOpInterface step) {
  Region &body = step.getFunctionBody();
  if (!body.hasOneBlock())
    return step->emitError(
        "expected a step with a single block; control flow must be structured "
        "(scf)");
  Operation *last = body.front().empty() ? nullptr : &body.front().back();
  if (last && last->hasTrait<OpTrait::ReturnLike>() &&
      TypeRange(last->getOperandTypes()) == TypeRange(step.getResultTypes()))
    return success();
  InFlightDiagnostic error = step->emitError("expected a step that ends with a "
                                             "return of its results");
  if (last)
    error << ", got '" << last->getName() << "'";
  return error;
}

const StepArgument *StepSignature::findArgument(StringRef name) const {
  const auto *it = llvm::find_if(
      arguments, [&](const StepArgument &arg) { return arg.name == name; });
  return it == arguments.end() ? nullptr : it;
}

FailureOr<StepSignature> StepSignature::get(FunctionOpInterface function) {
  StepSignature signature;
  auto error = [&] { return function->emitError("not a training step: "); };

  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return error() << "argument " << index << " must be a ranked tensor, got "
                     << type;
    std::optional<Role> role = getRole(function, index);
    auto name =
        function.getArgAttrOfType<StringAttr>(index, AMPDialect::kNameAttr);
    if (!role)
      return error() << "argument " << index << " has no 'amp.role' (add "
                     << "amp.role = \"parameter\", \"optimizer_state\", "
                     << "\"model_state\", \"batch\" or \"hyperparameter\")";
    if (!name)
      return error() << "argument " << index
                     << " has no 'amp.name' (add amp.name = \"...\")";
    auto init =
        function.getArgAttrOfType<InitAttr>(index, AMPDialect::kInitAttr);
    signature.arguments.push_back({static_cast<unsigned>(index), *role,
                                   name.getValue(), init, tensor,
                                   std::nullopt});
  }

  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return error() << "result " << index << " must be a ranked tensor, got "
                     << type;
    auto get = [&, index = index](StringRef attribute) {
      return function.getResultAttrOfType<StringAttr>(index, attribute);
    };
    auto updates = get(AMPDialect::kUpdatesAttr);
    auto metric = get(AMPDialect::kMetricAttr);
    auto prediction = get(AMPDialect::kPredictionAttr);
    if (!!updates + !!metric + !!prediction != 1)
      return error() << "result " << index
                     << " must have exactly one of 'amp.updates', "
                        "'amp.metric' and 'amp.prediction'";
    StepResult result{static_cast<unsigned>(index), ResultKind::Metric,
                      metric ? metric.getValue() : StringRef(), 0, tensor};
    if (prediction) {
      result.kind = ResultKind::Prediction;
      result.name = prediction.getValue();
    }
    if (updates) {
      result.kind = ResultKind::Update;
      result.name = updates.getValue();
      for (StepArgument &argument : signature.arguments) {
        if (argument.name != result.name)
          continue;
        argument.updatedBy = result.index;
        result.argument = argument.index;
      }
    }
    signature.results.push_back(result);
  }
  return signature;
}

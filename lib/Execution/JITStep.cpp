//===- JITStep.cpp - A step that runs on the CPU --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/JITStep.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::amp;

host::CheckpointIdentity JITStep::getIdentity() const {
  host::CheckpointIdentity identity;
  identity.precision = program.getPrecision().data();
  identity.fingerprint = program.getFingerprint();
  identity.scaler = program.getScalerRules().data();
  return identity;
}

host::Status JITStep::prepare(int64_t samples) {
  if (isForward)
    return host::Status();
  if (samples)
    if (llvm::Error error = program.checkMemory(samples))
      return toStatus(std::move(error));
  return toStatus(program.checkMemory(std::nullopt));
}

host::Status JITStep::choose(int64_t samples) {
  if (current && currentSamples == samples)
    return host::Status();
  llvm::Expected<BoundStep *> step =
      isForward ? program.getForward(samples) : program.getTraining(samples);
  if (!step)
    return toStatus(step.takeError());
  current = *step;
  currentSamples = samples;
  auto [it, added] = buffers.try_emplace(current);
  if (added)
    for (const Binding &binding : current->bindings)
      it->second.push_back(
          binding.role <= host::Role::Hyperparameter
              ? host::Array()
              : host::Array(binding.type.type, binding.type.shape));
  return host::Status();
}

const host::Array *JITStep::getPrediction(llvm::StringRef name) const {
  auto it = buffers.find(current);
  if (it == buffers.end())
    return nullptr;
  for (auto [binding, buffer] : llvm::zip_equal(current->bindings, it->second))
    if (binding.role == host::Role::Prediction && binding.name == name)
      return &buffer;
  return nullptr;
}

host::Status JITStep::read(size_t tensor, host::Array *value) {
  const host::TensorInfo &info = tensors[tensor];
  const host::Array *array = info.role == host::Role::Prediction
                                 ? getPrediction(info.name)
                                 : values->lookup(info.name);
  if (!array)
    return host::makeError(host::kInvalidArgument, "'%s' has no value",
                           info.name.c_str());
  *value = array->clone();
  return host::Status();
}

host::Status JITStep::write(size_t tensor, host::Array value) {
  values->set(tensors[tensor].name, std::move(value));
  return host::Status();
}

host::Status JITStep::fill(size_t tensor, int64_t samples, size_t,
                           const std::function<void(void *)> &fill) {
  host::Status status = choose(samples);
  if (!status.isOk())
    return status;
  for (auto [binding, buffer] :
       llvm::zip_equal(current->bindings, buffers[current]))
    if (binding.role == host::Role::Batch &&
        binding.name == tensors[tensor].name)
      fill(buffer.data());
  return status;
}

host::Status JITStep::run(int steps) {
  assert(current && "no batch has been filled");
  llvm::SmallVector<host::Array *> arrays;
  for (auto [binding, buffer] :
       llvm::zip_equal(current->bindings, buffers[current])) {
    bool isValue = binding.role <= host::Role::Hyperparameter;
    arrays.push_back(isValue ? values->lookup(binding.name) : &buffer);
    if (!arrays.back())
      return host::makeError(host::kInvalidArgument, "'%s' has no value",
                             binding.name.c_str());
  }
  for (int i = 0; i < steps; ++i) {
    if (llvm::Error error = current->code->run(arrays))
      return toStatus(std::move(error));
    ++progress.step;
    isPlanned &= current->plannedBytes.has_value();
    plannedBytes = std::max(plannedBytes, current->plannedBytes.value_or(0));
    allocatedBytes = std::max(allocatedBytes, current->code->getPeakBytes());
  }
  return host::Status();
}

host::Status JITStep::readMetrics(std::vector<double> *metrics) {
  metrics->clear();
  for (auto [binding, buffer] :
       llvm::zip_equal(current->bindings, buffers[current]))
    if (binding.role == host::Role::Metric)
      metrics->push_back(buffer.getDouble(0));
  return host::Status();
}

void JITStep::addMemory(host::Results *results) {
  if (isPlanned)
    results->emplace_back(kPlannedBytes.str(), double(plannedBytes));
  results->emplace_back(kAllocatedBytes.str(), double(allocatedBytes));
}

host::Status JITStep::createForward(std::unique_ptr<host::Step> *forward) {
  llvm::Expected<std::vector<host::TensorInfo>> own =
      program.getForwardTensors();
  if (!own)
    return toStatus(own.takeError());
  forward->reset(
      new JITStep(program, std::move(*own), values, /*isForward=*/true));
  return host::Status();
}

std::vector<host::EvaluationRule> JITStep::getEvaluationRules() const {
  using From = amp::EvaluationRule::Kind;
  using To = host::EvaluationRule::Kind;
  std::vector<host::EvaluationRule> rules;
  for (const amp::EvaluationRule &rule : program.getEvaluationRules()) {
    To kind = rule.kind == From::CrossEntropy ? To::CrossEntropy
              : rule.kind == From::MSE        ? To::MSE
                                              : To::L1;
    rules.push_back({kind, rule.prediction, rule.target});
  }
  return rules;
}

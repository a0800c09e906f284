//===- JITStep.cpp - A step that runs on the CPU --------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/JITStep.h"

#include "amp/Execution/Ranks.h"
#include "amp/Runtime/Host/RankPart.h"
#include "amp/Runtime/Step/EqualRanks.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <mutex>

using namespace mlir;
using namespace mlir::amp;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

StepValues::~StepValues() {
  for (auto [data, bytes] : blocks)
    allocator.deallocate(allocator.context, data, bytes, /*device=*/0,
                         /*stream=*/nullptr);
}

host::Status StepValues::allocate(const host::TensorInfo &tensor,
                                  host::ArrayMap &to) {
  if (!allocator.allocate) {
    to.set(tensor.name, host::Array(tensor.type, tensor.shape));
    return host::Status();
  }
  uint64_t bytes = host::byteWidth(tensor.type);
  for (int64_t extent : tensor.shape)
    bytes *= uint64_t(extent);
  void *data = allocator.allocate(allocator.context, bytes, /*device=*/0,
                                  /*stream=*/nullptr);
  if (!data)
    return host::makeError(host::kOutOfMemory,
                           "the allocator has no %llu bytes for '%s'",
                           (unsigned long long)bytes, tensor.name.c_str());
  blocks.emplace_back(data, bytes);
  if (reinterpret_cast<uintptr_t>(data) % 64 != 0)
    return host::makeError(host::kInvalidArgument,
                           "the allocator returned an address that is not a "
                           "multiple of 64");
  std::memset(data, 0, bytes);
  to.set(tensor.name, host::Array::makeView(tensor.type, tensor.shape, data));
  return host::Status();
}

host::Status JITStep::checkCaller() const {
  if (caller.call || program->getCallee().empty())
    return host::Status();
  return host::makeError(
      host::kInvalidArgument,
      "the step calls the operation '%s' of the program that runs it, but "
      "there is no caller: pass one in amp_step_options, or run the step by "
      "amp_torch.compile",
      program->getCallee().str().c_str());
}

/// Returns the numbers of a program that must be equal on all ranks.
static std::vector<host::EqualNumber>
listNumbersOf(const StepProgram &program,
              llvm::ArrayRef<host::TensorInfo> tensors) {
  std::string text = std::to_string(program.getFingerprint()) + "\n" +
                     program.getPrecision().str() + "\n" +
                     program.getScalerRules().str();
  int64_t samples = 0;
  for (const host::TensorInfo &tensor : tensors) {
    text += "\n" + tensor.name + " " + tensor.describe();
    if (tensor.role == host::Role::Batch && !tensor.shape.empty())
      samples = std::max(samples, tensor.shape[0]);
  }
  host::zip::Checksum sum;
  sum.update(text.data(), text.size());
  return {{"batch size of a rank", samples},
          {"AMP_STEP_SHARD_OPTIMIZER", program.hasParts(), /*isFlag=*/true},
          {"checksum of the program", sum.get()}};
}

host::Status JITStep::configure(const host::StepSettings &settings) {
  if (settings.device != 0)
    return host::makeError(host::ErrorCode(AMP_STEP_NO_DEVICE),
                           "there is no device %d, but 1 in all",
                           settings.device);
  if (settings.stream && *settings.stream)
    return setStream(*settings.stream);
  caller = settings.caller;
  AMP_RETURN_IF_ERROR(checkCaller());
  if (program->getNumRanks() > 1) {
    if (settings.communicator)
      return host::makeError(host::kInvalidArgument,
                             "a step of the CPU takes no communicator, "
                             "expected an exchange");
    if (!settings.exchange)
      return host::makeError(host::kInvalidArgument,
                             "a step of the CPU on several ranks needs an "
                             "exchange");
    if (settings.rank != program->getRank())
      return host::makeError(host::kInvalidArgument,
                             "rank %d, but the step is compiled for rank %lld",
                             settings.rank, (long long)program->getRank());
    AMP_RETURN_IF_ERROR(
        host::compareRanks(settings, listNumbersOf(*program, tensors)));
    group =
        RankGroup::create(*settings.exchange, settings.rank, settings.numRanks);
  }
  if (llvm::Error error = program->checkMemory(std::nullopt))
    return explained(std::move(error));
  values->allocator = settings.allocator;
  for (const host::TensorInfo &tensor : tensors) {
    if (tensor.role <= host::Role::Hyperparameter) {
      AMP_RETURN_IF_ERROR(values->allocate(tensor, values->arrays));
      values->unset.insert(tensor.name);
    } else if (tensor.role == host::Role::Metric &&
               llvm::all_of(tensor.shape, [](int64_t n) { return n >= 0; })) {
      AMP_RETURN_IF_ERROR(values->allocate(tensor, metrics));
    }
  }
  return host::Status();
}

host::CheckpointIdentity JITStep::getIdentity() const {
  host::CheckpointIdentity identity;
  identity.precision = program->getPrecision().data();
  identity.fingerprint = program->getFingerprint();
  identity.scaler = program->getScalerRules().data();
  return identity;
}

host::Status JITStep::prepare(int64_t samples) {
  AMP_RETURN_IF_ERROR(checkCaller());
  if (isForward)
    return host::Status();
  if (samples)
    if (llvm::Error error = program->checkMemory(samples))
      return explained(std::move(error));
  return explained(program->checkMemory(std::nullopt));
}

host::Status JITStep::choose(int64_t samples) {
  if (current && currentSamples == samples)
    return host::Status();
  llvm::Expected<BoundStep *> step =
      isForward ? program->getForward(samples) : program->getTraining(samples);
  if (!step)
    return explained(step.takeError());
  current = *step;
  currentSamples = samples;
  Predictions &predictions = buffers[current];
  bool isNew = predictions.arrays.empty();
  for (const Binding &binding : current->bindings) {
    bool isPrediction = binding.role == host::Role::Prediction;
    if (isNew && isPrediction)
      predictions.positions[binding.name] = predictions.arrays.size();
    if (isNew)
      predictions.arrays.push_back(
          isPrediction ? host::Array(binding.type.type, binding.type.shape)
                       : host::Array());
    if (binding.role != host::Role::Metric)
      continue;
    const host::Array *metric = metrics.lookup(binding.name);
    if (!metric || metric->getShape() != binding.type.shape)
      metrics.set(binding.name,
                  host::Array(binding.type.type, binding.type.shape));
  }
  return host::Status();
}

const host::Array *JITStep::getPrediction(llvm::StringRef name) const {
  auto it = buffers.find(current);
  if (it == buffers.end())
    return nullptr;
  const Predictions &predictions = it->second;
  auto position = predictions.positions.find(name);
  return position == predictions.positions.end()
             ? nullptr
             : &predictions.arrays[position->second];
}

host::Status JITStep::gatherStates() {
  RankGroup *ranks = group ? group.get() : RankGroup::getCurrent();
  if (!ranks || !program->hasParts())
    return host::Status();
  for (const host::TensorInfo &info : tensors) {
    const host::Array *part = values->arrays.lookup(info.name);
    if (!host::isState(info.role) || !program->getPartSize(info.name) || !part)
      continue;
    const size_t bytes = part->getNumBytes();
    ranks->begin("an all-gather of the state '" + info.name + "', " +
                 std::to_string(part->getNumElements()) + " elements each");
    std::vector<char> parts(
        ranks->getRank() == 0 ? bytes * size_t(ranks->getNumRanks()) : 0);
    ranks->gather(part->data(), parts.empty() ? nullptr : parts.data(), bytes);
    if (parts.empty())
      continue;
    host::Array whole(info.type, info.shape);
    std::memcpy(whole.data(), parts.data(), whole.getNumBytes());
    gathered.set(info.name, std::move(whole));
  }
  return ranks->getError();
}

host::Status JITStep::read(size_t tensor, host::Array *value) {
  const host::TensorInfo &info = tensors[tensor];
  const bool isPart =
      host::isState(info.role) && program->getPartSize(info.name) != 0;
  const host::Array *array =
      isPart                                ? gathered.lookup(info.name)
      : info.role == host::Role::Prediction ? getPrediction(info.name)
      : info.role == host::Role::Metric     ? metrics.lookup(info.name)
                                            : values->arrays.lookup(info.name);
  if (!array)
    return host::makeError(host::kInvalidArgument, "'%s' has no value",
                           info.name.c_str());
  *value = array->clone();
  return host::Status();
}

host::Status JITStep::write(size_t tensor, host::Array value) {
  const std::string &name = tensors[tensor].name;
  values->unset.erase(name);
  if (int64_t size = program->getPartSize(name))
    value = host::takeRankPart(value, size, program->getRank());
  // Keep the address.
  host::Array *array = values->arrays.lookup(name);
  if (array && array->getType() == value.getType() &&
      array->getShape() == value.getShape())
    std::memcpy(array->data(), value.data(), value.getNumBytes());
  else
    values->arrays.set(name, std::move(value));
  return host::Status();
}

host::Status JITStep::fill(size_t tensor, int64_t samples, size_t,
                           const std::function<void(void *)> &fill) {
  AMP_RETURN_IF_ERROR(choose(samples));
  const std::string &name = tensors[tensor].name;
  for (const Binding &binding : current->bindings) {
    if (binding.role != host::Role::Batch || binding.name != name)
      continue;
    host::Array *array = slots[0].lookup(name);
    if (!array || array->getShape() != binding.type.shape)
      slots[0].set(name, host::Array(binding.type.type, binding.type.shape));
    fill(slots[0].lookup(name)->data());
  }
  return host::Status();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

host::Status JITStep::countSamples(int slot, int64_t *samples) const {
  *samples = program->getStaticBatch().value_or(1);
  const std::string *first = nullptr;
  for (const host::TensorInfo &tensor : tensors) {
    if (tensor.role != host::Role::Batch)
      continue;
    const host::Array *batch = slots[slot].lookup(tensor.name);
    if (!batch)
      return host::makeError(host::kInvalidArgument,
                             "'%s' has no value: set a batch first",
                             tensor.name.c_str());
    if (tensor.shape.empty() || tensor.shape[0] >= 0)
      continue;
    const int64_t count = batch->getShape()[0];
    if (first && count != *samples)
      return host::makeError(
          host::kInvalidArgument,
          "batch '%s' has %lld samples, but batch '%s' has %lld",
          tensor.name.c_str(), (long long)count, first->c_str(),
          (long long)*samples);
    first = &tensor.name;
    *samples = count;
  }
  return host::Status();
}

host::Status JITStep::bind(int slot,
                           llvm::SmallVectorImpl<host::Array *> &arrays) {
  for (auto [binding, prediction] :
       llvm::zip_equal(current->bindings, buffers[current].arrays)) {
    host::Array *array = binding.role == host::Role::Prediction ? &prediction
                         : binding.role == host::Role::Metric
                             ? metrics.lookup(binding.name)
                         : binding.role == host::Role::Batch
                             ? slots[slot].lookup(binding.name)
                             : values->arrays.lookup(binding.name);
    if (!array || (binding.role <= host::Role::Hyperparameter &&
                   values->unset.count(binding.name)))
      return host::makeError(host::kInvalidArgument,
                             "'%s' has no value: load it from a file, or set "
                             "it",
                             binding.name.c_str());
    arrays.push_back(array);
  }
  return host::Status();
}

host::Status JITStep::runSlot(int slot, int steps) {
  // Steps of one program share its code and its module.
  StepProgram &shared = plain ? *plain : *program;
  std::lock_guard<std::mutex> lock(shared.getMutex());
  if (group)
    AMP_RETURN_IF_ERROR(group->getError());
  gathered = host::ArrayMap();
  int64_t samples = 0;
  AMP_RETURN_IF_ERROR(countSamples(slot, &samples));
  AMP_RETURN_IF_ERROR(choose(samples));
  llvm::SmallVector<host::Array *> arrays;
  AMP_RETURN_IF_ERROR(bind(slot, arrays));
  RankGroup::Scope scope(group.get());
  for (int i = 0; i < steps; ++i) {
    if (llvm::Error error = current->code->run(arrays, caller))
      return explained(std::move(error));
    if (group)
      AMP_RETURN_IF_ERROR(group->getError());
    ++progress.step;
    if (progress.batchSize == 0)
      progress.batchSize = samples * getNumRanks();
    isPlanned &= current->plannedBytes.has_value();
    plannedBytes = std::max(plannedBytes, current->plannedBytes.value_or(0));
    allocatedBytes = std::max(allocatedBytes, current->code->getPeakBytes());
  }
  return host::Status();
}

host::Status JITStep::readCounts(const host::WatchedRecord &record,
                                 int64_t *fields) {
  const host::Array *counts = getPrediction(record.prediction);
  if (!counts || counts->getNumElements() != host::kNumStatistics)
    return host::makeError(host::kInvalidArgument,
                           "the step returned no statistics of '%s'",
                           record.name.c_str());
  host::ValueStatistics::copyFields(
      static_cast<const int64_t *>(counts->data()), fields);
  return host::Status();
}

host::Status JITStep::readMetrics(std::vector<double> *numbers) {
  numbers->clear();
  for (size_t i : find(host::Role::Metric)) {
    const host::Array *array = metrics.lookup(tensors[i].name);
    numbers->push_back(array ? array->getDouble(0) : 0.0);
  }
  return host::Status();
}

//===----------------------------------------------------------------------===//
// The C interface
//===----------------------------------------------------------------------===//

void *JITStep::getData(size_t tensor) {
  const host::TensorInfo &info = tensors[tensor];
  // A caller knows the shape of the whole state.
  if (host::isState(info.role) && program->getPartSize(info.name))
    return nullptr;
  if (info.role == host::Role::Prediction) {
    const host::Array *prediction = getPrediction(info.name);
    return prediction ? const_cast<void *>(prediction->data()) : nullptr;
  }
  host::Array *array = info.role == host::Role::Metric
                           ? metrics.lookup(info.name)
                           : values->arrays.lookup(info.name);
  return array ? array->data() : nullptr;
}

int64_t JITStep::getMemoryBytes() const {
  size_t bytes = 0;
  for (const auto &entry : values->arrays)
    bytes += entry.second.getNumBytes();
  for (const auto &entry : metrics)
    bytes += entry.second.getNumBytes();
  return int64_t(bytes);
}

host::Status JITStep::zeroStates() {
  for (const host::TensorInfo &tensor : tensors) {
    if (!host::isState(tensor.role))
      continue;
    host::Array *array = values->arrays.lookup(tensor.name);
    std::memset(array->data(), 0, array->getNumBytes());
    values->unset.erase(tensor.name);
  }
  return host::Status();
}

host::Status JITStep::setStream(void *stream) {
  if (!stream)
    return host::Status();
  return host::makeError(host::ErrorCode(AMP_STEP_UNSUPPORTED),
                         "a step of the CPU has no streams, expected null");
}

host::Status JITStep::setBatch(const host::BatchData &batch) {
  if (batch.stream)
    AMP_RETURN_IF_ERROR(setStream(*batch.stream));
  const host::TensorInfo &tensor = tensors[batch.tensor];
  AMP_RETURN_IF_ERROR(host::checkLabels(
      tensor, batch.data, int64_t(batch.bytes) / host::byteWidth(tensor.type)));
  host::ArrayMap &slot = slots[batch.slot];
  const host::Array *array = slot.lookup(tensor.name);
  if (!array || array->getShape() != batch.shape)
    slot.set(tensor.name, host::Array(tensor.type, batch.shape));
  if (batch.bytes)
    std::memcpy(slot.lookup(tensor.name)->data(), batch.data, batch.bytes);
  return host::Status();
}

host::Status JITStep::enqueueHyperparameter(size_t tensor, double value) {
  const host::TensorInfo &info = tensors[tensor];
  host::Array array(info.type, info.shape);
  array.fill(value);
  return write(tensor, std::move(array));
}

void JITStep::addMemory(host::Results *results) {
  if (isPlanned)
    results->emplace_back(kPlannedBytes.str(), double(plannedBytes));
  results->emplace_back(kAllocatedBytes.str(), double(allocatedBytes));
  if (!program->hasParts())
    return;
  auto getOwnBytes = [&](size_t i) {
    const host::Array *array = values->arrays.lookup(tensors[i].name);
    return array ? int64_t(array->getNumBytes()) : 0;
  };
  host::addStateBytes(tensors, getOwnBytes, results);
}

host::Status
JITStep::createForwardStep(std::unique_ptr<host::InterfaceStep> *forward) {
  StepProgram &base = plain ? *plain : *program;
  std::lock_guard<std::mutex> lock(base.getMutex());
  llvm::Expected<std::vector<host::TensorInfo>> own = base.getForwardTensors();
  if (!own)
    return explained(own.takeError());
  std::unique_ptr<JITStep> made(
      new JITStep(base, std::move(*own), values, /*isForward=*/true));
  made->setExplainer(explain);
  made->caller = caller;
  *forward = std::move(made);
  return host::Status();
}

std::vector<host::EvaluationRule> JITStep::getEvaluationRules() const {
  using From = amp::EvaluationRule::Kind;
  using To = host::EvaluationRule::Kind;
  std::vector<host::EvaluationRule> rules;
  for (const amp::EvaluationRule &rule : program->getEvaluationRules()) {
    To kind = rule.kind == From::CrossEntropy ? To::CrossEntropy
              : rule.kind == From::MSE        ? To::MSE
                                              : To::L1;
    rules.push_back({kind, rule.prediction, rule.target});
  }
  return rules;
}

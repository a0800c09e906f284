//===- StepVariants.cpp - One step in several precisions ------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/StepVariants.h"

#include "amp/Execution/PolicyFile.h"
#include "amp/Execution/QuietWarnings.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Precision/Policy/Policy.h"
#include "amp/Runtime/Host/Trainer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::amp;

/// Whether `name` is the state of a loss scale, also of one loss or layer.
static bool isScale(llvm::StringRef name) {
  return name.consume_front(host::kLossScaleState) &&
         (name.empty() || name.front() == '.');
}

void StepVariants::setStep(host::ArrayMap values,
                           const host::ArrayMap &inputs) {
  before = std::move(values);
  batches = &inputs;
}

host::Status StepVariants::getProgram(const std::string &key,
                                      ProgramOptions changed,
                                      StepProgram **program) {
  std::unique_ptr<StepProgram> &slot = programs[key];
  if (!slot) {
    if (!changed.watch)
      changed.watch = WatchOptions();
    changed.exposeGradients = false;
    QuietWarnings quiet(module.getContext());
    llvm::Expected<std::unique_ptr<StepProgram>> made =
        StepProgram::create(module, changed);
    if (!made)
      return toStatus(made.takeError());
    slot = std::move(*made);
  }
  *program = slot.get();
  return host::Status();
}

host::ArrayMap StepVariants::cloneValues() const {
  host::ArrayMap values;
  for (const auto &[name, array] : before)
    values.set(name, array.clone());
  return values;
}

host::Status StepVariants::replayWith(StepProgram &program,
                                      const host::ArrayMap &values,
                                      ReplayedStep *result) {
  return replay(program, values, *batches, result);
}

host::Status StepVariants::replayRun(ReplayedStep *result, bool inside) {
  ProgramOptions changed = options;
  changed.watch = WatchOptions();
  changed.watch->inside = inside;
  StepProgram *program = nullptr;
  AMP_RETURN_IF_ERROR(
      getProgram(inside ? "run, inside" : "run", changed, &program));
  return replayWith(*program, before, result);
}

host::Status StepVariants::replayIn(llvm::StringRef precision,
                                    ReplayedStep *result, bool inside) {
  ProgramOptions changed = options;
  changed.precision = precision.str();
  changed.lossScaling = "none";
  changed.masterWeights.clear();
  changed.watch = WatchOptions();
  changed.watch->inside = inside;
  StepProgram *program = nullptr;
  AMP_RETURN_IF_ERROR(getProgram((precision + (inside ? ", inside" : "")).str(),
                                 changed, &program));
  return replayWith(*program, before, result);
}

host::Status StepVariants::replayWithScale(double scale, ReplayedStep *result) {
  ProgramOptions changed = options;
  if (!isDynamic())
    changed.lossScaling = "dynamic";
  StepProgram *program = nullptr;
  AMP_RETURN_IF_ERROR(
      getProgram(isDynamic() ? "run" : "dynamic", changed, &program));
  host::ArrayMap values = cloneValues();
  for (const host::TensorInfo &tensor : program->getTensors()) {
    if (tensor.role != host::Role::ScalerState)
      continue;
    if (!values.lookup(tensor.name))
      values.set(tensor.name, host::Array(tensor.type, tensor.shape));
    if (isScale(tensor.name))
      values.lookup(tensor.name)->fill(scale);
  }
  return replayWith(*program, values, result);
}

host::Status StepVariants::replayWithHyperparameters(double factor,
                                                     ReplayedStep *result) {
  StepProgram *program = nullptr;
  AMP_RETURN_IF_ERROR(getProgram("run", options, &program));
  host::ArrayMap values = cloneValues();
  for (const auto &[name, value] : getHyperparameters())
    values.lookup(name)->fill(value * factor);
  return replayWith(*program, values, result);
}

/// Whether no operation of `program` gives an f16 or bf16 value.
static bool isWideProgram(StepProgram &program) {
  return !program.getFunction()
              ->walk([](Operation *op) {
                auto isLow = [](Type type) {
                  Type element = getElementTypeOrSelf(type);
                  return element.isF16() || element.isBF16();
                };
                return llvm::any_of(op->getResultTypes(), isLow)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

host::Status StepVariants::replayWithPolicy(const std::string &text,
                                            ReplayedStep *result,
                                            bool *isWide) {
  auto file = PolicyFile::create(text);
  if (!file)
    return toStatus(file.takeError());
  // The new policy extends the one of the run.
  ProgramOptions changed = options;
  changed.pipeline = removePipelineOptions(options.pipeline, {"policy"}) +
                     " policy=" + file->getPath();
  StepProgram *program = nullptr;
  AMP_RETURN_IF_ERROR(getProgram("policy: " + text, changed, &program));
  *isWide = isWideProgram(*program);
  return replayWith(*program, before, result);
}

std::string StepVariants::getPolicy() const {
  AMPPipelineOptions pipeline;
  // The program of the run has checked the options.
  (void)pipeline.parseFromString(options.pipeline, llvm::nulls());
  std::string policy = pipeline.policy;
  if (policy.empty())
    return "default";
  if (Policy::getPresetText(policy) || Policy::isInPlace(policy))
    return policy;
  llvm::SmallString<128> path(policy);
  llvm::sys::fs::make_absolute(path);
  return path.str().str();
}

bool StepVariants::isDynamic() const {
  return llvm::any_of(before,
                      [](const auto &entry) { return isScale(entry.first); });
}

std::optional<double> StepVariants::getScale() const {
  std::optional<double> least;
  for (const auto &[name, array] : before)
    if (isScale(name))
      least = least ? std::min(*least, array.getDouble(0)) : array.getDouble(0);
  double constant;
  if (!least && !llvm::StringRef(options.lossScaling).getAsDouble(constant))
    return constant;
  return least;
}

std::vector<std::pair<std::string, double>>
StepVariants::getHyperparameters() const {
  std::vector<std::pair<std::string, double>> values;
  auto it = programs.find("run");
  if (it == programs.end())
    return values;
  for (const host::TensorInfo &tensor : it->second->getTensors())
    if (tensor.role == host::Role::Hyperparameter)
      if (const host::Array *array = before.lookup(tensor.name);
          array && host::isFloat(array->getType()))
        values.emplace_back(tensor.name, array->getDouble(0));
  return values;
}

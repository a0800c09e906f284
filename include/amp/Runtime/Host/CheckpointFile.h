//===- CheckpointFile.h - Saving and resuming -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_CHECKPOINTFILE_H
#define AMP_RUNTIME_HOST_CHECKPOINTFILE_H

#include "amp/Runtime/Host/Step.h"

namespace amphost {

/// Writes all states by name and the progress. A step that knows its identity
/// writes the record of this version. A step that was written by hand writes
/// the first six fields, as version 1.
inline Status saveCheckpoint(Step &step, const std::string &path) {
  ArrayMap file;
  for (size_t i = 0; i < step.getTensors().size(); ++i) {
    const TensorInfo &tensor = step.getTensors()[i];
    if (!isState(tensor.role))
      continue;
    Array value;
    AMP_RETURN_IF_ERROR(step.read(i, &value));
    file.set(tensor.name, std::move(value));
  }
  const CheckpointIdentity identity = step.getIdentity();
  const bool isKnown = identity.precision != nullptr;
  const Progress &progress = step.progress;
  const int64_t fields[ProgressField::NumFields] = {
      isKnown ? kProgressVersion : 1,
      progress.step,
      int64_t(progress.position.seed),
      progress.position.epoch,
      progress.position.offset,
      progress.samples,
      progress.batchSize,
      isKnown ? findPrecision(identity.precision) : 0,
      int64_t(identity.fingerprint)};
  Array record(ElementType::I64, {isKnown ? int64_t(ProgressField::NumFields)
                                          : int64_t(ProgressField::BatchSize)});
  std::memcpy(record.data(), fields, record.getNumBytes());
  file.set(kProgressMember, std::move(record));
  if (isKnown)
    file.set(kScalerMember, Array::makeText(identity.scaler));
  return writeArrays(path, file);
}

/// The differences that are allowed between a checkpoint and the step that
/// resumes it.
struct CheckpointTolerance {
  bool otherScaler = false, otherBatchSize = false;
};

namespace checkpoint {

inline bool isScalerRecord(const Array &array) {
  return array.getType() == ElementType::U8 && array.getRank() == 1 &&
         array.getShape().front() <= kMaxScalerBytes;
}

/// Adds the low copies of parameters that a file from a run without copies
/// lacks.
inline void addCopies(const Step &step, ArrayMap *file) {
  for (const TensorInfo &tensor : step.getTensors()) {
    if (!isState(tensor.role) || tensor.init.kind != InitInfo::Kind::CopyOf ||
        file->contains(tensor.name))
      continue;
    const Array *source = file->lookup(tensor.init.source);
    if (source && source->isValid() && source->getShape() == tensor.shape &&
        source->castsTo(tensor.type))
      file->set(tensor.name, source->castFloat(tensor.type));
  }
}

/// Whether the member `name` of a file is the low copy of a parameter. A step
/// without copies ignores it.
inline bool isSpareCopy(const Step &step, const std::string &name,
                        const Array &header) {
  static constexpr char kSuffix[] = ".low";
  const size_t length = sizeof(kSuffix) - 1;
  if (name.size() <= length ||
      name.compare(name.size() - length, length, kSuffix) != 0)
    return false;
  const TensorInfo *master =
      step.findValue(name.substr(0, name.size() - length));
  return master && master->role == Role::Parameter &&
         master->type == ElementType::F32 &&
         master->shape == header.getShape() &&
         (header.getType() == ElementType::F16 ||
          header.getType() == ElementType::BF16);
}

/// Fails unless the file has exactly the states of this step, apart from low
/// copies of parameters.
inline Status checkStates(const Step &step, const std::string &path,
                          const ArrayMap &file) {
  const std::string another = "'" + path + "' was saved from another graph: ";
  for (const TensorInfo &tensor : step.getTensors()) {
    if (!isState(tensor.role))
      continue;
    const Array *array = file.lookup(tensor.name);
    if (!array)
      return Status(kFile, another + "it has no state '" + tensor.name + "'");
    if (!tensor.fits(*array))
      return Status(kFile, another + "state '" + tensor.name + "' is " +
                               array->describe() + ", expected " +
                               tensor.describe());
    AMP_RETURN_IF_ERROR(checkLossScale(tensor, *array, path));
  }
  for (const auto &[name, array] : file) {
    const TensorInfo *tensor = step.findValue(name);
    if (name != kProgressMember && name != kScalerMember &&
        !(tensor && isState(tensor->role)) && !isSpareCopy(step, name, array))
      return Status(kFile, another + "this step has no state '" + name + "'");
  }
  return Status();
}

/// Reads the record of the progress. `fields` has room for all fields.
inline bool readProgress(const Step &step, const ArrayMap &file,
                         int64_t *fields) {
  const Array *record = file.lookup(kProgressMember);
  if (!record || record->getType() != ElementType::I64 ||
      record->getRank() != 1 || !record->isValid())
    return false;
  const int64_t count = record->getShape().front();
  const bool isFirst = !step.getIdentity().precision &&
                       count == ProgressField::BatchSize &&
                       record->getInt(ProgressField::Version) == 1;
  if (!isFirst && !(count == ProgressField::NumFields &&
                    record->getInt(ProgressField::Version) == kProgressVersion))
    return false;
  std::memcpy(fields, record->data(), record->getNumBytes());
  if (isFirst &&
      (fields[ProgressField::Step] != 0 || fields[ProgressField::Samples] != 0))
    fields[ProgressField::BatchSize] =
        step.getFixedBatch() * step.getNumRanks();
  return true;
}

} // namespace checkpoint

/// Loads a file that `saveCheckpoint` wrote. The graph, the precision, the
/// states and their types must be the same, apart from low copies of
/// parameters. A run with copies resumes a run without them, and vice versa.
/// The loss-scaling rules and the batch size must also be the same, unless
/// `tolerance` allows a difference. An error leaves the step unchanged.
inline Status loadCheckpoint(Step &step, const std::string &path,
                             const CheckpointTolerance &tolerance) {
  // A state that does not fit is an error. Its header suffices to report it.
  auto wants = [&](const std::string &name, const Array &header) {
    if (name == kProgressMember)
      return header.getRank() == 1 &&
             header.getShape().front() <= ProgressField::NumFields;
    if (name == kScalerMember)
      return checkpoint::isScalerRecord(header);
    const TensorInfo *tensor = step.findValue(name);
    return tensor && tensor->fits(header);
  };
  ArrayMap file;
  AMP_RETURN_IF_ERROR(readArrays(path, &file, wants));
  const CheckpointCheck check(path, step.getIdentity());
  auto fail = [](const std::string &message) {
    return message.empty() ? Status() : Status(kFile, message);
  };
  int64_t fields[ProgressField::NumFields] = {};
  if (!checkpoint::readProgress(step, file, fields))
    return fail(check.getNoState());
  const Array *scaler = file.lookup(kScalerMember);
  const bool isReadable = scaler && checkpoint::isScalerRecord(*scaler);
  std::string rules;
  if (isReadable)
    rules = scaler->getText();
  // Report a difference of the run first.
  AMP_RETURN_IF_ERROR(fail(check.checkRun(fields, isReadable ? &rules : nullptr,
                                          tolerance.otherScaler)));
  if (scaler && !isReadable)
    return fail(check.getDamaged(kScalerMember));
  checkpoint::addCopies(step, &file);
  AMP_RETURN_IF_ERROR(checkpoint::checkStates(step, path, file));
  AMP_RETURN_IF_ERROR(fail(check.checkGraph(fields)));
  if (step.getFixedBatch() && !tolerance.otherBatchSize)
    AMP_RETURN_IF_ERROR(fail(check.checkBatchSize(
        fields, step.getFixedBatch() * step.getNumRanks())));

  Progress &progress = step.progress;
  progress.step = fields[ProgressField::Step];
  progress.position.seed = uint64_t(fields[ProgressField::Seed]);
  progress.position.epoch = fields[ProgressField::Epoch];
  progress.position.offset = fields[ProgressField::Offset];
  progress.samples = fields[ProgressField::Samples];
  progress.batchSize = fields[ProgressField::BatchSize];
  return writeValues(step, file);
}

} // namespace amphost

#endif // AMP_RUNTIME_HOST_CHECKPOINTFILE_H

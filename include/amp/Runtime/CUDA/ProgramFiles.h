//===- ProgramFiles.h - States of a program in files ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Program.h. A program that knows what its states are of writes the
// files of amp-run. One that does not, since it was written by hand, writes the
// first six fields of the progress, as version 1, and reads either.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_PROGRAMFILES_H
#define AMP_RUNTIME_CUDA_PROGRAMFILES_H

#include "amp/Runtime/CUDA/Program.h"

namespace amp::cuda {

inline Status Program::save(const std::string &path) {
  std::vector<HostArray> arrays;
  for (int i : states()) {
    arrays.emplace_back();
    AMP_RETURN_IF_ERROR(readBuffer(i, &arrays.back()));
  }
  const StateIdentity &identity = info.identity;
  const bool known = identity.precision != nullptr;
  const bool trained = progress.step != 0 || progress.samples != 0;
  const int64_t fields[ProgressField::NumFields] = {
      known ? kProgressVersion : 1,
      progress.step,
      int64_t(progress.seed),
      progress.epoch,
      progress.offset,
      progress.samples,
      trained ? batchSize() : 0,
      known ? findPrecision(identity.precision) : 0,
      int64_t(identity.fingerprint)};
  HostArray record;
  record.name = kProgressMember;
  record.type = Type::I64;
  record.shape = {known ? int64_t(ProgressField::NumFields)
                        : int64_t(ProgressField::BatchSize)};
  record.bytes.resize(size_t(record.shape[0]) * 8);
  std::memcpy(record.bytes.data(), fields, record.bytes.size());
  arrays.push_back(std::move(record));
  if (known) {
    const std::string rules = identity.scaler;
    HostArray text;
    text.name = kScalerMember;
    text.type = Type::U8;
    text.shape = {int64_t(rules.size())};
    text.bytes.assign(rules.begin(), rules.end());
    arrays.push_back(std::move(text));
  }
  return writeArrays(path, arrays);
}

/// Fails unless the file has exactly the states of this program.
inline Status Program::checkStates(const std::string &path,
                                   const std::vector<HostArray> &arrays) const {
  const std::string another = "'" + path + "' was saved from another graph: ";
  for (int i : states()) {
    const BufferInfo &buffer = info.buffers[i];
    const HostArray *array = findArray(arrays, buffer.name);
    if (!array)
      return Status(kFile, another + "it has no state '" + buffer.name + "'");
    if (array->describe() != makeArray(buffer).describe())
      return Status(kFile, another + "state '" + buffer.name + "' is " +
                               array->describe() + ", expected " +
                               makeArray(buffer).describe());
    for (int64_t j = 0; buffer.isLossScale && j < array->count(); ++j)
      if (double scale = array->get(j); !(scale > 0) || std::isinf(scale))
        return makeError(kFile,
                         "'%s' has the loss scale '%s' = %g, expected a "
                         "positive finite number",
                         path.c_str(), buffer.name, scale);
  }
  for (const HostArray &array : arrays) {
    bool known = array.name == kProgressMember || array.name == kScalerMember;
    for (int i : states())
      known |= array.name == info.buffers[i].name;
    if (!known)
      return Status(kFile,
                    another + "this step has no state '" + array.name + "'");
  }
  return Status();
}

inline Status Program::load(const std::string &path) {
  std::vector<HostArray> arrays;
  AMP_RETURN_IF_ERROR(readArrays(path, &arrays));
  const StateCheck check(path, info.identity);
  auto fail = [](const std::string &message) {
    return message.empty() ? Status() : Status(kFile, message);
  };
  const HostArray *record = findArray(arrays, kProgressMember);
  const bool first = !info.identity.precision && record &&
                     record->describe() == "6xi64" && record->getInt(0) == 1;
  if (!first && !(record && record->describe() == "9xi64" &&
                  record->getInt(ProgressField::Version) == kProgressVersion))
    return fail(check.getNoState());
  int64_t fields[ProgressField::NumFields] = {};
  std::memcpy(fields, record->bytes.data(), record->bytes.size());
  if (first &&
      (fields[ProgressField::Step] != 0 || fields[ProgressField::Samples] != 0))
    fields[ProgressField::BatchSize] = batchSize();

  const HostArray *scaler = findArray(arrays, kScalerMember);
  const bool readable = scaler && scaler->type == Type::U8 &&
                        scaler->shape.size() == 1 &&
                        scaler->shape[0] <= kMostScalerBytes;
  std::string rules;
  if (readable)
    rules.assign(scaler->bytes.begin(), scaler->bytes.end());
  AMP_RETURN_IF_ERROR(fail(check.checkRun(fields, readable ? &rules : nullptr,
                                          options.otherScaler)));
  if (scaler && !readable)
    return fail(check.getDamaged(kScalerMember));
  AMP_RETURN_IF_ERROR(checkStates(path, arrays));
  AMP_RETURN_IF_ERROR(fail(check.checkGraph(fields)));
  if (!options.otherBatchSize)
    AMP_RETURN_IF_ERROR(fail(check.checkBatchSize(fields, batchSize())));

  progress.step = fields[ProgressField::Step];
  progress.seed = uint64_t(fields[ProgressField::Seed]);
  progress.epoch = fields[ProgressField::Epoch];
  progress.offset = fields[ProgressField::Offset];
  progress.samples = fields[ProgressField::Samples];
  return writeStates(arrays);
}

inline Status Program::loadWeights(const std::string &path,
                                   std::vector<std::string> *missing) {
  std::vector<HostArray> file, weights;
  AMP_RETURN_IF_ERROR(readArrays(path, &file));
  for (int i : states()) {
    const BufferInfo &buffer = info.buffers[i];
    if (buffer.role != Role::Parameter && buffer.role != Role::ModelState)
      continue;
    const HostArray *array = findArray(file, buffer.name);
    if (!array) {
      if (missing && buffer.init.kind != InitInfo::Kind::CopyOf)
        missing->push_back(buffer.name);
      continue;
    }
    HostArray wanted = makeArray(buffer);
    if (array->shape != wanted.shape ||
        (array->type != wanted.type &&
         !(isFloat(array->type) && isFloat(wanted.type))))
      return makeError(kFile, "array '%s' in '%s' is %s, expected %s",
                       buffer.name, path.c_str(), array->describe().c_str(),
                       wanted.describe().c_str());
    weights.push_back(roundArray(*array, buffer));
  }
  if (weights.empty())
    return makeError(kFile, "'%s' has no array for any parameter of the step",
                     path.c_str());
  // All other states start anew, copies from what was loaded.
  AMP_RETURN_IF_ERROR(
      initializeArrays(info.buffers, info.numBuffers, options.seed, &weights));
  progress = Progress();
  progress.seed = options.seed;
  return writeStates(weights);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_PROGRAMFILES_H

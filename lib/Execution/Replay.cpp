//===- Replay.cpp - Steps that run again ----------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Execution/Replay.h"

#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::amp;

host::Status mlir::amp::copyValues(JITStep &step, host::ArrayMap *values) {
  for (auto [index, tensor] : llvm::enumerate(step.getTensors())) {
    if (tensor.role > host::Role::Hyperparameter)
      continue;
    host::Array value;
    AMP_RETURN_IF_ERROR(step.read(index, &value));
    values->set(tensor.name, std::move(value));
  }
  return host::Status();
}

host::Status mlir::amp::copyBatches(const JITStep &step,
                                    host::ArrayMap *batches) {
  for (const host::TensorInfo &tensor : step.getBatches()) {
    const host::Array *batch = step.getBatch(tensor.name);
    if (!batch)
      return host::makeError(host::kInvalidArgument, "'%s' has no value",
                             tensor.name.c_str());
    batches->set(tensor.name, batch->clone());
  }
  return host::Status();
}

host::Status mlir::amp::runOn(JITStep &step, const host::ArrayMap &batches) {
  for (size_t index : step.find(host::Role::Batch)) {
    const host::TensorInfo &tensor = step.getTensors()[index];
    const host::Array *batch = batches.lookup(tensor.name);
    if (!batch)
      return host::makeError(host::kInvalidArgument, "'%s' has no value",
                             tensor.name.c_str());
    int64_t samples = batch->getShape().empty() ? 1 : batch->getShape()[0];
    AMP_RETURN_IF_ERROR(
        step.fill(index, samples, batch->getNumBytes(), [&](void *to) {
          std::memcpy(to, batch->data(), batch->getNumBytes());
        }));
  }
  return step.run(1);
}

host::Status mlir::amp::readLoss(JITStep &step, double *loss) {
  std::vector<double> metrics;
  AMP_RETURN_IF_ERROR(step.readMetrics(&metrics));
  std::vector<std::string> names = step.getMetricNames();
  auto it = llvm::find(names, "loss");
  if (it == names.end())
    return host::makeError(host::kInvalidArgument,
                           "the step has no metric 'loss'");
  *loss = metrics[size_t(it - names.begin())];
  return host::Status();
}

bool mlir::amp::haveSameBits(const host::ArrayMap &left,
                             const host::ArrayMap &right) {
  for (const auto &[name, array] : left) {
    const host::Array *other = right.lookup(name);
    if (!other || other->getNumBytes() != array.getNumBytes() ||
        std::memcmp(other->data(), array.data(), array.getNumBytes()) != 0)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// StepHistory
//===----------------------------------------------------------------------===//

host::Status StepHistory::begin(JITStep &step) {
  batches.clear();
  next.emplace();
  return copyValues(step, &*next);
}

host::Status StepHistory::add(JITStep &step) {
  if (next) {
    snapshot = std::move(*next);
    next.reset();
    batches.clear();
  }
  batches.emplace_back();
  return copyBatches(step, &batches.back());
}

host::Status StepHistory::advance(JITStep &step) {
  if (int64_t(batches.size()) < interval)
    return host::Status();
  next.emplace();
  return copyValues(step, &*next);
}

host::Status StepHistory::restore(StepProgram &plain,
                                  host::ArrayMap *values) const {
  JITStep step(plain);
  host::ArrayMap copies;
  for (const auto &[name, array] : snapshot)
    copies.set(name, array.clone());
  AMP_RETURN_IF_ERROR(host::writeValues(step, copies));
  for (const host::ArrayMap &batch : llvm::ArrayRef(batches).drop_back())
    AMP_RETURN_IF_ERROR(runOn(step, batch));
  return copyValues(step, values);
}

host::Status mlir::amp::replay(StepProgram &program,
                               const host::ArrayMap &values,
                               const host::ArrayMap &batches,
                               ReplayedStep *result) {
  JITStep step(program);
  for (auto [index, tensor] : llvm::enumerate(step.getTensors())) {
    if (tensor.role > host::Role::Hyperparameter)
      continue;
    const host::Array *value = values.lookup(tensor.name);
    if (!value || value->getShape() != tensor.shape ||
        !value->castsTo(tensor.type))
      return host::makeError(host::kInvalidArgument,
                             "the run has no value for '%s'",
                             tensor.name.c_str());
    AMP_RETURN_IF_ERROR(step.write(index, value->castFloat(tensor.type)));
  }
  AMP_RETURN_IF_ERROR(runOn(step, batches));
  result->records = describeWatchedValues(program.getFunction());
  AMP_RETURN_IF_ERROR(readWatched(step, result->records));
  return copyValues(step, &result->after);
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

namespace {
/// The values of a step that are not finite. Operands have smaller numbers than
/// the values computed from them.
class BadValues {
public:
  explicit BadValues(llvm::ArrayRef<WatchedRecord> records)
      : records(records), isHarmful(records.size()),
        isIntended(records.size()) {
    for (size_t i = records.size(); i-- > 0;)
      markHarmful(i);
    for (size_t i = 0; i < records.size(); ++i)
      isIntended[i] = findIntent(i);
  }

  /// The first value from which a chain of values that are not finite leads to
  /// a state, a metric or a gradient; else the first one that is not intended.
  BadValue findFirst() const {
    BadValue first = findFirst([&](size_t i) { return isHarmful[i]; });
    return first.record ? first
                        : findFirst([&](size_t i) { return !isIntended[i]; });
  }

  /// The first value of those from which `record` is computed, and of `record`,
  /// that is not finite and not intended.
  BadValue findSource(const WatchedRecord &record) const {
    std::vector<bool> isSource = findSources(record);
    return findFirst([&](size_t i) { return isSource[i] && !isIntended[i]; });
  }

private:
  static bool isBad(const WatchedRecord &record) {
    return record.total.getNonFinite() || record.total.fields[host::kOverflows];
  }

  BadValue findFirst(llvm::function_ref<bool(size_t)> accept) const {
    BadValue first;
    for (auto [number, record] : llvm::enumerate(records)) {
      if (!isBad(record) || !accept(number))
        continue;
      BadValue bad{&record, /*inCast=*/record.total.getNonFinite() == 0};
      if (!first.record || bad.getPosition() < first.getPosition())
        first = bad;
    }
    return first;
  }

  /// Marks the values from which `record` is computed, and `record`.
  std::vector<bool> findSources(const WatchedRecord &record) const {
    std::vector<bool> isSource(records.size());
    isSource[&record - records.data()] = true;
    for (size_t i = records.size(); i-- > 0;)
      if (isSource[i])
        for (unsigned operand : records[i].operands)
          isSource[operand] = true;
    return isSource;
  }

  /// Marks value `i` if it is an outcome, and the operands of a harmful value.
  void markHarmful(size_t i) {
    const WatchedRecord &record = records[i];
    if (!isBad(record))
      return;
    isHarmful[i] = isHarmful[i] || record.isOutcome;
    if (isHarmful[i] && record.total.getNonFinite())
      for (unsigned operand : record.operands)
        isHarmful[operand] = true;
  }

  /// Whether the infinities of value `i` come from the data or from a constant
  /// alone, as in the mask of an attention.
  bool findIntent(size_t i) const {
    const WatchedRecord &record = records[i];
    if (!record.total.getNonFinite() || record.total.fields[host::kNaNs])
      return false;
    bool isFromOperand = false;
    for (unsigned operand : record.operands)
      if (isBad(records[operand])) {
        if (operand >= i || !isIntended[operand])
          return false;
        isFromOperand = true;
      }
    return isFromOperand || record.op == "argument" ||
           !record.badConstant.empty();
  }

  llvm::ArrayRef<WatchedRecord> records;
  std::vector<bool> isHarmful, isIntended;
};
} // namespace

BadValue mlir::amp::findFirstBad(llvm::ArrayRef<WatchedRecord> records) {
  return BadValues(records).findFirst();
}

BadValue mlir::amp::findBadSource(llvm::ArrayRef<WatchedRecord> records) {
  BadValues values(records);
  BadValue first = values.findFirst();
  if (!first.record)
    return first;
  BadValue source = values.findSource(*first.record);
  return source.record ? source : first;
}

std::vector<std::string>
RecordMatcher::getKeys(llvm::ArrayRef<WatchedRecord> records) {
  std::map<std::string, unsigned> counts;
  std::vector<std::string> keys;
  for (const WatchedRecord &record : records)
    keys.push_back(record.name + "@" + record.part + "@" +
                   std::to_string(counts[record.name + record.part]++));
  return keys;
}

RecordMatcher::RecordMatcher(llvm::ArrayRef<WatchedRecord> records) {
  for (auto [key, record] : llvm::zip_equal(getKeys(records), records))
    byKey[key] = &record;
}

const WatchedRecord *RecordMatcher::find(llvm::ArrayRef<WatchedRecord> other,
                                         size_t number) const {
  auto it = byKey.find(getKeys(other)[number]);
  return it == byKey.end() ? nullptr : it->second;
}

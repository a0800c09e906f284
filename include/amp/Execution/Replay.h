//===- Replay.h - Steps that run again --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_REPLAY_H
#define AMP_EXECUTION_REPLAY_H

#include "amp/Execution/Watcher.h"

namespace mlir::amp {

/// Copies of the states and hyperparameters of `step`.
host::Status copyValues(JITStep &step, host::ArrayMap *values);
/// Copies of the batches of the last step.
host::Status copyBatches(const JITStep &step, host::ArrayMap *batches);
/// Runs one step of `step` on `batches`, from its own values.
host::Status runOn(JITStep &step, const host::ArrayMap &batches);
/// Reads the metric 'loss' of the last step. Fails if the step has none.
host::Status readLoss(JITStep &step, double *loss);

/// Whether each array of `left` is in `right` with the same bits.
bool haveSameBits(const host::ArrayMap &left, const host::ArrayMap &right);

/// The last steps of a run: the values at a snapshot and the batches since.
class StepHistory {
public:
  /// Takes a snapshot after every `interval` steps.
  explicit StepHistory(int64_t interval) : interval(interval) {}

  host::Status begin(JITStep &step);
  /// Adds the step that has just run.
  host::Status add(JITStep &step);
  /// Takes a snapshot if one is due. The last step can still be replayed.
  host::Status advance(JITStep &step);

  /// Computes the values before the last step, with `plain`.
  host::Status restore(StepProgram &plain, host::ArrayMap *values) const;
  /// The batches of the last step.
  const host::ArrayMap &getBatches() const { return batches.back(); }
  bool isEmpty() const { return batches.empty(); }

private:
  int64_t interval;
  host::ArrayMap snapshot;
  /// The snapshot from which the next step starts a new history.
  std::optional<host::ArrayMap> next;
  std::vector<host::ArrayMap> batches;
};

/// The results of a replayed step.
struct ReplayedStep {
  std::vector<WatchedRecord> records;
  host::ArrayMap after;
};

/// Runs one step of `program`, which is watched, from `values` on `batches`.
/// Values of another precision are rounded or widened. Fails if the program has
/// a state that `values` lack.
host::Status replay(StepProgram &program, const host::ArrayMap &values,
                    const host::ArrayMap &batches, ReplayedStep *result);

/// A value that is not finite, in program order.
struct BadValue {
  const WatchedRecord *record = nullptr;
  /// Whether the narrowing cast of the value makes it infinite.
  bool inCast = false;

  int64_t getPosition() const {
    return inCast ? record->castPosition : record->position;
  }
};

/// The first operation whose result is not finite and makes a state, a metric
/// or a gradient not finite. Without one, the first whose result is not finite,
/// unless it is infinite by intent: because of a constant or of the data. Null
/// if absent.
BadValue findFirstBad(llvm::ArrayRef<WatchedRecord> records);

/// The first value that is not finite by accident and from which the value of
/// `findFirstBad` is computed, also through finite values: the exponential maps
/// -inf to 0, from which a later operation may compute 0 / 0. Such an infinity
/// is not always the cause, so use it only if the step is right without it.
BadValue findBadSource(llvm::ArrayRef<WatchedRecord> records);

/// Finds the records of the same operations in two programs of one step, which
/// differ in their casts.
class RecordMatcher {
public:
  explicit RecordMatcher(llvm::ArrayRef<WatchedRecord> records);
  /// The record that corresponds to `records[number]` of `other`, or null.
  const WatchedRecord *find(llvm::ArrayRef<WatchedRecord> other,
                            size_t number) const;

private:
  static std::vector<std::string>
  getKeys(llvm::ArrayRef<WatchedRecord> records);

  std::map<std::string, const WatchedRecord *> byKey;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_REPLAY_H

//===- Watcher.h - Statistics of the values of a run ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_WATCHER_H
#define AMP_EXECUTION_WATCHER_H

#include "amp/Execution/JITStep.h"
#include "amp/Runtime/Host/Statistics.h"

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace mlir::amp {

/// A watched value of a step, and its statistics over the sampled steps.
struct WatchedRecord {
  /// As `nameWatchedValue`.
  std::string name;
  /// The name of the prediction of the step.
  std::string prediction;
  /// The operation without location, or `argument`.
  std::string op;
  /// The place and the name of the location. Either may be empty. The name of
  /// an argument is its `amp.name`.
  std::string place, scope;
  /// The positions in the step of the operation and of the narrowing cast of
  /// its result. That of an argument is 0.
  int64_t position = 0, castPosition = 0;
  /// `forward`, `backward` or `update`.
  std::string part;
  /// The parameter whose gradient the value is, or empty.
  std::string gradientOf;
  /// The element type, and the type of a narrowing cast of the value or empty.
  std::string type, to;
  /// The extents, -1 for a dynamic one.
  std::vector<int64_t> shape;
  /// The numbers of the watched operands of the operation.
  llvm::SmallVector<unsigned> operands;
  /// A constant operand that is not finite, or empty. Constants are not
  /// watched.
  std::string badConstant;
  /// The sum over the sampled steps.
  host::ValueStatistics total;
  /// The fields before the histogram, of each sampled step.
  std::vector<std::array<int64_t, host::kFirstBin>> series;
};

/// The element type whose range matters for `record`: that of its cast or its
/// own if low, else `low` (`f16`, `bf16` or empty).
llvm::StringRef getJudgedType(const WatchedRecord &record, llvm::StringRef low);

/// The exponents of the least normal and the least subnormal magnitude of
/// `f16`, `bf16` or `f32`.
struct LowExponents {
  int normal, subnormal;
};
LowExponents getLowExponents(llvm::StringRef type);

/// Describes the watched values of a step, by number.
std::vector<WatchedRecord> describeWatchedValues(FunctionOpInterface step);

/// Writes the attribute `key` into an object unless `value` is empty.
void writeNonEmpty(llvm::json::OStream &json, llvm::StringRef key,
                   llvm::StringRef value);

/// Writes where `record` is computed into an object: its name, operation,
/// location, scope and part.
void writeWatchedPlace(llvm::json::OStream &json, const WatchedRecord &record);

/// Writes the fields of `record` into an object. `low` is the low type of the
/// run or empty. With `hasSeries` the fields of each step follow.
void writeWatchedRecord(llvm::json::OStream &json, const WatchedRecord &record,
                        llvm::StringRef low, bool hasSeries);

/// Samples the steps of a training run. A sampled step runs the watched
/// program, all others run the plain one. Both compute the same bits.
class Watcher {
public:
  /// `watched` is `plain` with `ProgramOptions::watch`. One step of `every` is
  /// sampled.
  Watcher(StepProgram &plain, StepProgram &watched, int64_t every)
      : Watcher(plain, watched, every,
                describeWatchedValues(watched.getFunction())) {}
  /// As above, with the description of the values by the caller, who watched
  /// the step before the passes of its program.
  Watcher(StepProgram &plain, StepProgram &watched, int64_t every,
          std::vector<WatchedRecord> described);

  /// Chooses the program of the first step. Forgets an earlier run.
  void beforeTraining(JITStep &step);
  /// Reads the statistics of a sampled step and chooses the next program.
  host::Status afterStep(JITStep &step);
  /// Returns to the plain program.
  void afterTraining(JITStep &step) { step.setProgram(plain); }

  llvm::ArrayRef<WatchedRecord> getRecords() const { return records; }
  /// The numbers of the sampled steps, from 1.
  llvm::ArrayRef<int64_t> getSteps() const { return steps; }
  int64_t getEvery() const { return every; }
  /// `f16` or `bf16` for a run in that precision, else empty.
  llvm::StringRef getLowType() const { return low; }

  /// The records in the order in which they matter: non-finite values in
  /// program order, then by the share of overflow, then of underflow.
  llvm::SmallVector<const WatchedRecord *> rank() const;

  /// Prints the records that matter most.
  void printTable(llvm::StringRef run, llvm::raw_ostream &os) const;
  void writeJSON(llvm::StringRef title, llvm::raw_ostream &os) const;
  /// Writes a page that needs no other file.
  void writePage(llvm::StringRef title, llvm::raw_ostream &os) const;

private:
  bool isSampled(int64_t done) const { return done % every == 0; }
  void choose(JITStep &step);

  StepProgram &plain, &watched;
  int64_t every;
  std::string low;
  /// The records before the run, and those of the run.
  std::vector<WatchedRecord> described, records;
  std::vector<int64_t> steps;
};

/// Adds the statistics of the last step, which ran with a watched program.
host::Status readWatched(const JITStep &step,
                         std::vector<WatchedRecord> &records);

} // namespace mlir::amp

#endif // AMP_EXECUTION_WATCHER_H

//===- Checkpoint.h - Records of a checkpoint -------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A checkpoint holds each state by name, the progress of the run and its
// loss-scaling rules. amp-run and generated programs share this header, so they
// read and write the same files and report the same errors. It needs neither
// CUDA nor LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_CHECKPOINT_H
#define AMP_RUNTIME_HOST_CHECKPOINT_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace amphost {

/// The member with the progress: an i64 for each field.
inline constexpr const char *kProgressMember = "__amp_progress__";
inline constexpr int64_t kProgressVersion = 2;
struct ProgressField {
  enum : int {
    Version,
    Step,
    Seed,
    Epoch,
    Offset, ///< samples of this epoch already used
    Samples,
    BatchSize,
    Precision,
    Fingerprint,
    NumFields
  };
};

/// The member with the loss-scaling rules, as text with a line `name = value`
/// for each rule.
inline constexpr const char *kScalerMember = "__amp_scaler__";
inline constexpr int64_t kMaxScalerBytes = 1 << 16;

/// This exceeds any run and cannot overflow.
inline constexpr int64_t kMaxSteps = int64_t(1) << 48;

/// The precisions by their number in files. A number never changes. The first
/// means a step that runs as written. amp-run has no TF32. `fp8` is the
/// recipe `current`.
inline constexpr const char *kPrecisions[] = {
    "",    "f32",         "fp16",        "bf16",          "tf32",
    "fp8", "fp8-delayed", "fp8-rowwise", "fp8-block-128", "fp8-mxfp8"};
inline constexpr int64_t kNumPrecisions =
    sizeof(kPrecisions) / sizeof(*kPrecisions);

/// The number of a precision, or -1.
inline int64_t findPrecision(const std::string &precision) {
  const std::string name = precision == "fp8-current" ? "fp8" : precision;
  for (int64_t i = 0; i < kNumPrecisions; ++i)
    if (name == kPrecisions[i])
      return i;
  return -1;
}

/// The identity of a step. A checkpoint must have the same one to be resumed.
struct CheckpointIdentity {
  const char *precision = nullptr; ///< null: the identity is unknown
  uint64_t fingerprint = 0;        ///< hash of the graph
  const char *scaler = "";         ///< the rules of loss scaling
};

inline std::string describePrecision(int64_t number) {
  if (number == 0)
    return "as written, without --precision";
  return std::string("with --precision ") + kPrecisions[number];
}

/// Whether the fields can belong to a run. A run of a program that receives its
/// batches has no data set and no samples.
inline bool isSound(const int64_t *fields) {
  const bool trained =
      fields[ProgressField::Step] != 0 || fields[ProgressField::Samples] != 0;
  return fields[ProgressField::Step] >= 0 &&
         fields[ProgressField::Step] <= kMaxSteps &&
         fields[ProgressField::Epoch] >= 0 &&
         fields[ProgressField::Epoch] <= fields[ProgressField::Step] &&
         fields[ProgressField::Samples] >= 0 &&
         fields[ProgressField::Offset] >= 0 &&
         fields[ProgressField::Offset] <= fields[ProgressField::Samples] &&
         (trained ? fields[ProgressField::BatchSize] > 0
                  : fields[ProgressField::BatchSize] == 0) &&
         fields[ProgressField::Precision] >= 0 &&
         fields[ProgressField::Precision] < kNumPrecisions;
}

/// Returns the difference of two sets of rules in words: the rules of the one
/// and of the other.
inline std::pair<std::string, std::string>
compareScalerRules(const std::string &saved, const std::string &current) {
  struct Rule {
    std::string name, values[2];
  };
  std::vector<Rule> rules;
  auto read = [&](const std::string &text, int side) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      if (line.empty())
        continue;
      const size_t equals = line.find(" = ");
      const std::string name = line.substr(0, equals);
      Rule *rule = nullptr;
      for (Rule &known : rules)
        if (known.name == name)
          rule = &known;
      if (!rule) {
        rules.push_back({name, {}});
        rule = &rules.back();
      }
      if (equals != std::string::npos)
        rule->values[side] = line.substr(equals + 3);
    }
  };
  read(saved, 0);
  read(current, 1);
  // Another loss scaler has entirely different rules.
  bool isOther = false;
  for (const Rule &rule : rules)
    isOther |= rule.name == "scaler" && rule.values[0] != rule.values[1];
  std::string texts[2];
  for (const Rule &rule : rules) {
    if (rule.values[0] == rule.values[1] || (isOther && rule.name != "scaler"))
      continue;
    for (int side = 0; side < 2; ++side) {
      const std::string &value = rule.values[side];
      texts[side] += texts[side].empty() ? "" : ", ";
      texts[side] +=
          value.empty() ? "no " + rule.name : rule.name + " = " + value;
    }
  }
  return {texts[0], texts[1]};
}

/// Checks the file `path`. A message is empty if nothing is wrong.
class CheckpointCheck {
public:
  CheckpointCheck(std::string path, const CheckpointIdentity &identity)
      : path(std::move(path)), identity(identity) {}

  /// The message for a file without the member of this version.
  std::string getNoState() const {
    return quoted() + " is not a saved training state: it has no member '" +
           kProgressMember + "' of version " +
           std::to_string(kProgressVersion) + "; use --init for weights alone";
  }

  std::string getDamaged(const char *member) const {
    return quoted() + " has a damaged member '" + member + "'";
  }

  /// `scaler` is the text of the member with the rules. It is null for states
  /// that were saved before files had it.
  std::string checkRun(const int64_t *fields, const std::string *scaler,
                       bool otherScaler) const {
    if (!isSound(fields))
      return getDamaged(kProgressMember);
    if (!identity.precision)
      return "";
    const int64_t current = findPrecision(identity.precision);
    if (fields[ProgressField::Precision] != current)
      return quoted() + " was saved by a run " +
             describePrecision(fields[ProgressField::Precision]) +
             ", but this one is " + describePrecision(current) +
             "; use --init for weights alone";
    if (!scaler || otherScaler)
      return "";
    const auto [saved, own] = compareScalerRules(*scaler, identity.scaler);
    if (saved.empty())
      return "";
    return quoted() + " was saved by a run whose loss scaling has " + saved +
           ", but that of this one has " + own +
           "; expected the same, or --other-scaler to go on with these rules";
  }

  /// Call this last: the other differences explain more.
  std::string checkGraph(const int64_t *fields) const {
    if (!identity.precision ||
        uint64_t(fields[ProgressField::Fingerprint]) == identity.fingerprint)
      return "";
    return quoted() +
           " was saved from another graph: it has the state of this step, but "
           "other operations; use --init for weights alone";
  }

  /// Checks the batch size of a program that fixes it.
  std::string checkBatchSize(const int64_t *fields, int64_t batchSize) const {
    const int64_t saved = fields[ProgressField::BatchSize];
    if (saved == 0 || saved == batchSize)
      return "";
    const std::string own = std::to_string(batchSize);
    return quoted() + " was saved by a run with a batch size of " +
           std::to_string(saved) + ", but that of this one is " + own +
           "; expected the same, or --batch-size=" + own + " to go on with it";
  }

private:
  std::string quoted() const { return "'" + path + "'"; }

  std::string path;
  const CheckpointIdentity identity;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_CHECKPOINT_H

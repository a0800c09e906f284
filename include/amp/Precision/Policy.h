//===- Policy.h - Which operations run in low precision ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The policy is data: four lists of operation names, read from YAML. Presets
// are the same YAML, compiled in.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_POLICY_H
#define AMP_PRECISION_POLICY_H

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/SMLoc.h"
#include <deque>
#include <string>
#include <vector>

namespace mlir::amp {

/// What the policy says of an operation.
enum class OpClass : uint8_t {
  /// Low precision: the operation is fast there (products).
  Allow,
  /// f32: low precision would lose range or accuracy.
  Deny,
  /// Low if its neighbours are; poisoned by a denied producer.
  Infer,
  /// Moves or selects values without arithmetic that rounds: follows either
  /// side.
  Clear,
  /// Not in any list: keeps its types and is reported.
  Unlisted,
};

/// Returns the name of `opClass` as it stands in policy files and reports.
StringRef stringifyOpClass(OpClass opClass);

/// The result type of products that compute gradients of parameters.
enum class GradientType {
  /// f32, the accumulator that hardware gives for free.
  F32,
  /// As any other product.
  Low,
};

/// One entry of a list: a glob over operation names, and where it stands.
struct PolicyEntry {
  std::string glob;
  llvm::SMRange range;
};

/// Which operations run in low precision.
///
/// YAML form, every key but `version` optional:
///
/// ```yaml
/// version: 1
/// gradient-type: f32            # or low
/// allow: [train.matmul, "train.conv2d*"]
/// deny:  [train.exp]
/// infer: [train.add]
/// clear: [train.reshape]
/// ```
///
/// Entries are globs over operation names. A name that stands in full wins over
/// a glob, and a longer glob over a shorter one; two globs of equal length that
/// match one operation in two lists are an error where they are used. So is an
/// entry that matches no operation of a dialect that is loaded; one of another
/// dialect may stand for operations that are not registered.
class Policy {
public:
  Policy(Policy &&) = default;
  Policy &operator=(Policy &&) = default;
  Policy(const Policy &) = delete;
  Policy &operator=(const Policy &) = delete;

  /// Reads the preset or the file named `presetOrFile`. On failure prints one
  /// diagnostic with file, line and column, or one at `loc` if there is no such
  /// file.
  static FailureOr<Policy> load(StringRef presetOrFile, Location loc);

  /// Reads a policy from `text`; `name` stands for the file in diagnostics.
  static FailureOr<Policy> parse(StringRef text, StringRef name, Location loc);

  /// The names of the presets.
  static ArrayRef<StringRef> getPresetNames();
  /// The YAML text of the preset `name`, or none.
  static std::optional<StringRef> getPresetText(StringRef name);

  /// Returns the class of operations named `name`. If two entries contradict
  /// each other, prints an error, once, and `isContradictory` holds from then
  /// on.
  OpClass classify(OperationName name) const;
  bool isContradictory() const { return contradictory; }

  /// Puts operations named `name` into `opClass`, whatever the lists say.
  /// Returns the class that they were in.
  OpClass reclassify(OperationName name, OpClass opClass) {
    OpClass old = classify(name);
    cache[name] = opClass;
    return old;
  }

  GradientType gradientType = GradientType::F32;

private:
  Policy() = default;

  struct Rule {
    llvm::GlobPattern pattern;
    size_t length;
    bool exact;
    OpClass opClass;
    /// The text of the entry, and where it stands.
    StringRef glob;
    Location loc;
  };
  /// Returns whether the rule can match an operation that `context` knows of.
  static bool canMatch(const Rule &rule, MLIRContext *context);

  /// The text of the globs: patterns refer to it.
  std::deque<std::string> globs;
  std::vector<Rule> rules;
  mutable llvm::DenseMap<OperationName, OpClass> cache;
  mutable bool contradictory = false;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_POLICY_H

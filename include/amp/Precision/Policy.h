//===- Policy.h - Which operations run in low precision ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The policy is data, read from YAML: lists of operation names, and the
// settings of the passes. Presets are the same YAML, compiled in.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_POLICY_H
#define AMP_PRECISION_POLICY_H

#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/Precision/Adapter.h"
#include "amp/Precision/PolicySettings.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/GlobPattern.h"
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mlir::amp {

namespace detail {
struct PolicyDocument;
struct PolicyScalar;
} // namespace detail

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
  /// Keeps its types; neither poisons nor passes on what its neighbours are.
  Keep,
  /// Not in any list: keeps its types and is reported.
  Unlisted,
};

/// Returns the name of `opClass` as it stands in policy files and reports.
StringRef stringifyOpClass(OpClass opClass);

/// What `amp.precision` or a policy's `pins` ask for: on an operation for
/// itself, on a region operation or a function for everything within that asks
/// for nothing else.
enum class Pin : uint8_t { None, F32, Low, Keep };

/// Returns the name of `pin` as it stands in attributes and policy files, and
/// the pin of a name.
StringRef stringifyPin(Pin pin);
std::optional<Pin> symbolizePin(StringRef name);

/// What a host compiler says of an operation itself; nothing leaves it to the
/// lists.
using OperationClassifier = std::function<std::optional<OpClass>(Operation *)>;

/// Which operations run in low precision.
///
/// YAML form, every key but `version` optional:
///
/// ```yaml
/// version: 1
/// extends: default                  # a preset, a file, or a policy in place
/// allow: [train.matmul, "train.conv2d*"]
/// deny:  [train.exp]
/// infer: [train.add]
/// clear: [train.reshape]
/// keep:  [train.sin]
/// slots:                            # what a slot of an operation counts as
///   - {op: train.softmax, slot: 0, kind: range}
/// pins:                             # by names of locations
///   "encoder/layer3/*": f32         # or low, keep
/// adapters:                         # dialects that implement no interface
///   - dialect: other
///     cast: {op: other.convert}
/// ```
///
/// and the keys of `PolicySettings`.
///
/// Entries are globs over operation names. A name that stands in full wins over
/// a glob, and a longer glob over a shorter one; two globs of equal length that
/// match one operation in two lists are an error where they are used. So is an
/// entry that matches no operation of a dialect that is loaded; one of another
/// dialect may stand for operations that are not registered. Any entry of a
/// file wins over all entries of the policy that it extends.
class Policy {
public:
  Policy(Policy &&) = default;
  Policy &operator=(Policy &&) = default;
  Policy(const Policy &) = delete;
  Policy &operator=(const Policy &) = delete;

  /// Reads the preset or the file named `presetOrFile`, or YAML that stands
  /// there itself, in braces or on more than one line. On failure prints one
  /// diagnostic with file, line and column, or one at `loc` if there is no such
  /// file.
  static FailureOr<Policy> load(StringRef presetOrFile, Location loc);

  /// Whether `presetOrFile` is YAML that stands there itself.
  static bool isInPlace(StringRef presetOrFile) {
    return presetOrFile.starts_with("{") || presetOrFile.contains('\n');
  }

  /// Reads a policy from `text`; `name` stands for the file in diagnostics.
  static FailureOr<Policy> parse(StringRef text, StringRef name, Location loc);

  /// Reads the settings of the preset or file alone. A policy that is wrong
  /// gives the default settings: `load` says what is wrong with it.
  static PolicySettings readSettings(StringRef presetOrFile);

  /// The names of the presets.
  static ArrayRef<StringRef> getPresetNames();
  /// The YAML text of the preset `name`, or none.
  static std::optional<StringRef> getPresetText(StringRef name);

  /// Prints the policy as YAML: what it extends is resolved, and reading it
  /// again gives the same policy.
  void print(raw_ostream &os) const;

  /// Returns `text` as a YAML scalar, in quotes if it needs them.
  static std::string quote(StringRef text);

  /// Returns the class of operations named `name`. If two entries contradict
  /// each other, prints an error, once, and `isContradictory` holds from then
  /// on.
  OpClass classify(OperationName name) const;
  /// The same for what `PrecisionSlots::variant` says of an operation: an entry
  /// for `<name>.<variant>` wins over one for `<name>` in the same file.
  OpClass classify(OperationName name, StringRef variant) const;
  bool isContradictory() const { return contradictory; }

  /// The number of entries that match `name` in the file that decides.
  unsigned countEntries(OperationName name) const;

  /// Changes the kinds of those slots of an operation named `name` that the
  /// policy has its own opinion of. A fixed slot stays fixed.
  void overrideSlots(OperationName name,
                     MutableArrayRef<SlotKind> kinds) const {
    if (!slotRules.empty())
      applySlotRules(name, kinds);
  }

  /// Whether `getPin` can return anything but `None`.
  bool hasPins() const { return !pinRules.empty(); }

  /// Returns what the policy asks of an operation at `loc`, by the names that
  /// occur in it: those of named, fused and call-site locations, however
  /// nested.
  Pin getPin(Location loc) const;

  /// Returns the adapter of the dialect named `dialect`, or null. That of a
  /// file wins, as a whole, over that of a policy that it extends.
  const Adapter *findAdapter(StringRef dialect) const;
  /// All adapters, each of another dialect.
  ArrayRef<Adapter> getAdapters() const { return adapters; }
  /// Returns what an adapter says of operations named `name`, or null.
  const AdapterOperation *findAdapted(OperationName name) const;
  /// Returns whether some adapter describes units.
  bool hasUnits() const;

  /// Returns failure, after an error, if `root` is or holds an operation that
  /// an adapter rejects.
  LogicalResult checkRejected(Operation *root) const;

  /// To be called when all operations of `root` have been seen. Reports slots
  /// that were never found, which is an error, and with a warning what the file
  /// itself says of nothing: pins that matched no location, and, of a whole
  /// module, entries of dialects that are neither loaded nor in it and globs
  /// over dialects that match no operation.
  LogicalResult checkUse(Operation *root) const;

  /// What the passes do unless their options say otherwise.
  PolicySettings settings;

  /// Where the low types of `settings.target` stand, if a file lists them.
  std::optional<Location> lowTypesLoc;

  /// Puts operations named `name`, whatever their variant, into `opClass`,
  /// whatever the lists say, until `dropAssumption`.
  void assume(OperationName name, OpClass opClass) {
    assumption.emplace(name, opClass);
  }
  void dropAssumption() { assumption.reset(); }

  GradientType gradientType = GradientType::F32;
  /// Asked before the lists, if it is there.
  OperationClassifier classifier;

private:
  Policy() = default;

  /// A glob of some entry, and how specific it is.
  struct Glob {
    /// Without contents where `exact`.
    llvm::GlobPattern pattern;
    StringRef text;
    bool exact;
    /// 0 for the file itself, 1 for what it extends, and so on.
    unsigned layer;
    Location loc;

    bool matches(StringRef name) const {
      return exact ? text == name : pattern.match(name);
    }
    /// Globs of less rank come first. Equal ranks must not contradict.
    std::tuple<unsigned, bool, size_t> getRank() const {
      return {layer, !exact, exact ? 0 : ~text.size()};
    }
  };
  struct ListRule : Glob {
    OpClass opClass;
  };
  struct SlotRule : Glob {
    int8_t slot;
    SlotKind kind;
    /// Whether there was an operation, and whether it had such a slot.
    mutable bool seen = false, applied = false;
  };
  struct PinRule : Glob {
    Pin pin;
    mutable bool seen = false;
  };
  class Builder;

  /// Returns whether `glob` can match an operation that `context` knows of.
  static bool canMatch(const Glob &glob, MLIRContext *context);
  /// Returns the first rule that `matches`, or null. Reports one of the same
  /// rank that contradicts it, about the operations `name`.
  const ListRule *
  findRule(StringRef name,
           llvm::function_ref<bool(const ListRule &)> matches) const;
  static FailureOr<Policy> build(const detail::PolicyDocument &document,
                                 Location loc);
  void checkDialects(Operation *root) const;
  void applySlotRules(OperationName name,
                      MutableArrayRef<SlotKind> kinds) const;
  void printLayer(raw_ostream &os, unsigned layer, StringRef indent) const;

  /// The text of the globs: patterns refer to it.
  std::deque<std::string> globs;
  /// By rank.
  std::vector<ListRule> rules;
  std::vector<SlotRule> slotRules;
  std::vector<PinRule> pinRules;
  /// What stands under `linear`; `settings` has the rest of each entry.
  std::vector<Glob> linearRules;
  /// One for each dialect.
  std::vector<Adapter> adapters;
  unsigned numLayers = 1;
  /// Whether the outermost layer is a file of the user, not a preset.
  bool isOwn = false;
  std::optional<std::pair<OperationName, OpClass>> assumption;
  mutable llvm::DenseMap<std::pair<OperationName, StringRef>, OpClass>
      variantCache;
  mutable llvm::DenseMap<OperationName, OpClass> cache;
  mutable llvm::DenseMap<OperationName, SmallVector<const SlotRule *, 2>>
      slotCache;
  mutable llvm::DenseMap<Location, Pin> pinCache;
  mutable bool contradictory = false;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_POLICY_H

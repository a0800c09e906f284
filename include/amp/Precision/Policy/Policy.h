//===- Policy.h - Which operations run in low precision ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A policy has lists of operation names and the settings of the passes. It is
// read from YAML. Presets are policies that are compiled in.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_POLICY_POLICY_H
#define AMP_PRECISION_POLICY_POLICY_H

#include "amp/Interfaces/PrecisionOpInterface.h"
#include "amp/LossScaling/FloatRangeRule.h"
#include "amp/LossScaling/LinearRule.h"
#include "amp/Precision/Policy/Adapter.h"
#include "amp/Precision/Policy/PolicySettings.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
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

/// The class of an operation in a policy.
enum class OpClass : uint8_t {
  /// Becomes low, because the operation is faster in the low type (products).
  Allow,
  /// Stays f32, because the low type would lose range or accuracy.
  Deny,
  /// Becomes low if its neighbours are. Stays f32 after a denied producer.
  Infer,
  /// Moves or selects values without arithmetic that rounds. Follows either
  /// side.
  Clear,
  /// Keeps its types and does not affect its neighbours.
  Keep,
  /// Is in no list, keeps its types and is reported.
  Unlisted,
};

/// Returns the name of `opClass` in policy files and reports.
StringRef stringifyOpClass(OpClass opClass);

/// The type that `amp.precision` or a policy's `pins` ask for. On a region
/// operation or a function it applies to all operations within that have no
/// pin.
enum class Pin : uint8_t { None, F32, Low, Keep };

/// Returns the name of `pin` in attributes and policy files, and the pin of a
/// name.
StringRef stringifyPin(Pin pin);
std::optional<Pin> symbolizePin(StringRef name);

/// A host compiler's classification of operations. std::nullopt leaves the
/// operation to the lists.
using OperationClassifier = std::function<std::optional<OpClass>(Operation *)>;

/// Decides which operations run in the low type.
///
/// The YAML form follows. Every key except `version` is optional:
///
/// ```yaml
/// version: 1
/// extends: default                  # a preset, a file, or a policy in place
/// allow: [train.matmul, "train.conv2d*"]
/// deny:  [train.exp]
/// infer: [train.add]
/// clear: [train.reshape]
/// keep:  [train.sin]
/// same-as:                          # operations that mean the same
///   train.exp: [math.exp, other.exponential]
/// slots:                            # the kind of a slot of an operation
///   - {op: train.softmax, slot: 0, kind: range}
/// slot-types:                       # the types of the slots of one operation
///   "train.matmul net.mlir:3:8": [low, f32]  # or any
/// pins:                             # by names of locations
///   "encoder/layer3/*": f32         # or low, keep
/// adapters:                         # dialects that implement no interface
///   - dialect: other
///     cast: {op: other.convert}
/// ```
///
/// and the keys of `PolicySettings`.
///
/// Entries are globs over operation names. A full name wins over a glob, and a
/// longer glob wins over a shorter one. Two globs of equal length that match
/// one operation in two lists are an error where they are used. An entry that
/// matches no operation of a loaded dialect is an error too. An entry of
/// another dialect may name operations that are not registered. Any entry of a
/// file wins over all entries of the policy that it extends.
///
/// `same-as` gives operations the class of an operation with the same meaning
/// in another dialect. An entry of that operation wins over their own if it is
/// in a file nearer to the outermost one. If a `slots` entry makes a slot of
/// that operation storage, range slots of theirs are storage as well.
class Policy {
public:
  Policy(Policy &&) = default;
  Policy &operator=(Policy &&) = default;
  Policy(const Policy &) = delete;
  Policy &operator=(const Policy &) = delete;

  /// Reads the preset or the file named `presetOrFile`. `presetOrFile` may also
  /// be the YAML text itself, in braces or with several lines. On failure
  /// prints one diagnostic with file, line and column, or one at `loc` if the
  /// file does not exist.
  static FailureOr<Policy> load(StringRef presetOrFile, Location loc);

  /// Whether `presetOrFile` is YAML text and not a name.
  static bool isInPlace(StringRef presetOrFile) {
    return presetOrFile.starts_with("{") || presetOrFile.contains('\n');
  }

  /// Reads a policy from `text`. Diagnostics use `name` as the name of the
  /// file.
  static FailureOr<Policy> parse(StringRef text, StringRef name, Location loc);

  /// Reads only the settings of the preset or file. Returns the default
  /// settings for an invalid policy, whose errors `load` reports.
  static PolicySettings readSettings(StringRef presetOrFile);

  /// The names of the presets.
  static ArrayRef<StringRef> getPresetNames();
  /// The YAML text of the preset `name`, or none.
  static std::optional<StringRef> getPresetText(StringRef name);

  /// Prints the policy as YAML, with every policy that it extends merged into
  /// it. Reading the output gives the same policy.
  void print(raw_ostream &os) const;

  /// Returns `text` as a YAML scalar, in quotes if it needs them.
  static std::string quote(StringRef text);

  /// Returns the class of operations named `name`. If two entries contradict
  /// each other, prints an error once, and `isContradictory` returns true
  /// afterwards.
  OpClass classify(OperationName name) const;
  /// Returns the class of operations with a `PrecisionSlots::variant`. An entry
  /// for `<name>.<variant>` wins over one for `<name>` in the same file. The
  /// variant of an elementwise operation whose region applies one operation is
  /// the name of that operation, such as `math.exp`. It has the class of this
  /// operation if the class is from a nearer file of the policy.
  OpClass classify(OperationName name, StringRef variant) const;
  bool isContradictory() const { return contradictory; }

  /// The number of entries that match `name` in the file that decides.
  unsigned countEntries(OperationName name) const;

  /// Applies the slot kinds of the policy to operations named `name`. A fixed
  /// slot stays fixed. Returns whether the policy decides some kind.
  bool overrideSlots(OperationName name,
                     MutableArrayRef<SlotKind> kinds) const {
    return !slotRules.empty() && applySlotRules(name, kinds);
  }

  /// Whether the policy gives types to slots of single operations. Only the
  /// strategy `optimal` reads them.
  bool hasSlotTypes() const { return !slotTypes.empty(); }
  /// Returns the types of the slots of the operation `name` (`nameOperations`),
  /// by slot. Slots that are missing or `None` have no type.
  ArrayRef<Pin> getSlotTypes(StringRef name) const;

  /// Whether `getPin` can return anything but `None`.
  bool hasPins() const { return !pinRules.empty(); }

  /// Returns the pin of an operation at `loc`. It depends on the names in
  /// `loc`: those of named, fused and call-site locations at any depth. A
  /// location without a name has its place, `file:line:column`, as a name.
  Pin getPin(Location loc) const;

  /// Returns the adapter of the dialect named `dialect`, or null. The adapter
  /// of a file replaces that of the policy that it extends.
  const Adapter *findAdapter(StringRef dialect) const;
  /// All adapters, each of another dialect.
  ArrayRef<Adapter> getAdapters() const { return adapters; }
  /// Returns the entry of an adapter for operations named `name`, or null.
  const AdapterOperation *findAdapted(OperationName name) const;
  /// Returns whether some adapter describes composite patterns.
  bool hasCompositePatterns() const;

  /// Returns whether the policy says that `op` is a loop, in the sense of
  /// `LinearRule::Kind::Loop`.
  bool isLoop(Operation *op) const {
    return findLinearKind(op) == LinearRule::Kind::Loop;
  }
  /// Returns the kind of the first entry of `linear` that matches `op`, or
  /// none.
  std::optional<LinearRule::Kind> findLinearKind(Operation *op) const;

  /// Returns the first entry of `intervals` that matches `op`, or null.
  const FloatRangeRule *findIntervalRule(Operation *op) const;
  /// Returns the name of this rule, such as `log` or `subtract`, or nothing.
  StringRef findFunction(Operation *op) const;

  /// Returns whether gradients of parameters that operations named `name` give
  /// stay f32.
  bool keepsGradients(OperationName name) const;

  /// Returns failure, after an error, if `root` is or holds an operation that
  /// an adapter rejects.
  LogicalResult checkRejected(Operation *root) const;

  /// Call this after all operations of `root` have been queried. Reports an
  /// error for slots that no operation has. Warns about entries of the file
  /// itself without effect: pins that matched no location and, for a whole
  /// module, entries of dialects that are neither loaded nor in the module and
  /// globs over dialects that match no operation.
  LogicalResult checkUse(Operation *root) const;

  /// The defaults of the options of the passes.
  PolicySettings settings;

  /// The location of the low types of `settings.target`, if a file lists them.
  std::optional<Location> lowTypesLoc;

  /// Puts operations named `name`, of any variant, into `opClass` until
  /// `dropAssumption`. The lists do not matter.
  void assume(OperationName name, OpClass opClass) {
    assumption.emplace(name, opClass);
  }
  void dropAssumption() { assumption.reset(); }

  GradientType gradientType = GradientType::F32;
  /// Takes precedence over the lists, if it is set.
  OperationClassifier classifier;

private:
  Policy() = default;

  /// The glob of an entry, and its rank.
  struct Glob {
    /// Unused if `exact` is set.
    llvm::GlobPattern pattern;
    StringRef text;
    bool exact;
    /// 0 for the file itself, 1 for the policy that it extends, and so on.
    unsigned layer;
    Location loc;

    bool matches(StringRef name) const {
      return exact ? text == name : pattern.match(name);
    }
    /// Globs of lower rank come first. Equal ranks must not contradict.
    std::tuple<unsigned, bool, size_t> getRank() const {
      return {layer, !exact, exact ? 0 : ~text.size()};
    }
  };
  struct ListRule : Glob {
    OpClass opClass;
  };
  struct SameRule : Glob {
    /// The name of the operation that means the same.
    StringRef representative;
  };
  struct SlotRule : Glob {
    int8_t slot;
    SlotKind kind;
    /// Whether an operation matched, and whether it had such a slot.
    mutable bool seen = false, applied = false;
  };
  struct PinRule : Glob {
    Pin pin;
    mutable bool seen = false;
  };
  struct SlotTypes {
    std::string name;
    SmallVector<Pin, 2> pins;
    Location loc;
    unsigned layer;
    mutable bool seen = false;
  };
  class Builder;

  /// Returns whether `glob` can match an operation registered in `context`.
  static bool canMatch(const Glob &glob, MLIRContext *context);
  /// Returns the rule that decides the class of operations named `name`, or
  /// null. `full` is the name with the variant, or empty.
  const ListRule *findEntry(StringRef name, StringRef full) const;
  /// As findEntry, without `same-as`.
  const ListRule *findListed(StringRef name, StringRef full) const;
  /// Returns `same`, the entry of an operation that means the same, if it is in
  /// a file nearer to the outermost one than `listed`. Both may be null.
  static const ListRule *getNearer(const ListRule *same,
                                   const ListRule *listed);
  /// Returns the operation that means the same as those named `name`, or an
  /// empty name.
  StringRef findRepresentative(StringRef name) const;
  /// Returns the first rule that `matches` accepts, or null. Reports a rule of
  /// the same rank that contradicts it for operations named `name`.
  const ListRule *
  findRule(StringRef name,
           llvm::function_ref<bool(const ListRule &)> matches) const;
  static FailureOr<Policy> build(const detail::PolicyDocument &document,
                                 Location loc);
  void checkDialects(Operation *root) const;
  /// Returns whether operations named `name` are the same as one whose range
  /// the policy does not check.
  bool isRelaxed(StringRef name) const;
  bool applySlotRules(OperationName name,
                      MutableArrayRef<SlotKind> kinds) const;
  void printLayer(raw_ostream &os, unsigned layer, StringRef indent) const;
  void printSameAs(raw_ostream &os, unsigned layer, StringRef indent) const;

  /// The text of the globs, to which patterns refer.
  std::deque<std::string> globs;
  /// By rank.
  std::vector<ListRule> rules;
  std::vector<SameRule> sameRules;
  std::vector<SlotRule> slotRules;
  std::vector<PinRule> pinRules;
  /// One for each name, and their positions.
  std::vector<SlotTypes> slotTypes;
  llvm::StringMap<size_t> slotTypeNumbers;
  /// The globs of the entries of `linear`. `settings` has the complete entries.
  std::vector<Glob> linearRules;
  /// The globs of the entries of `intervals`.
  std::vector<Glob> intervalRules;
  /// The globs of `low-gradients`.
  std::vector<Glob> lowGradientRules;
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
  mutable llvm::DenseMap<OperationName, bool> relaxedCache;
  mutable llvm::DenseMap<OperationName, SmallVector<LinearRule, 1>> linearCache;
  mutable llvm::DenseMap<OperationName, SmallVector<FloatRangeRule, 1>>
      intervalCache;
  mutable llvm::DenseMap<Location, Pin> pinCache;
  mutable bool contradictory = false;
};

} // namespace mlir::amp

#endif // AMP_PRECISION_POLICY_POLICY_H

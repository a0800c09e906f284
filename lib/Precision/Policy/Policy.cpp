//===- Policy.cpp - Which operations run in low precision -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/Policy.h"

#include "AdapterFile.h"
#include "PolicyDocument.h"
#include "amp/LossScaling/LinearRule.h"
#include "amp/Support/LocationText.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::detail;

namespace {

/// The presets, generated from lib/Precision/Policy/presets.
struct Preset {
  StringRef name;
  StringRef text;
};
constexpr Preset presets[] = {
#include "amp/Precision/Presets.inc"
};

} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

StringRef mlir::amp::stringifyOpClass(OpClass opClass) {
  return opClass == OpClass::Unlisted
             ? StringRef("unlisted")
             : StringRef(listKeys[static_cast<size_t>(opClass)]);
}

StringRef mlir::amp::stringifyPin(Pin pin) {
  switch (pin) {
  case Pin::None:
    return "none";
  case Pin::F32:
    return "f32";
  case Pin::Low:
    return "low";
  case Pin::Keep:
    return "keep";
  }
  llvm_unreachable("every pin has a name");
}

std::optional<Pin> mlir::amp::symbolizePin(StringRef name) {
  for (Pin pin : {Pin::F32, Pin::Low, Pin::Keep})
    if (name == stringifyPin(pin))
      return pin;
  return std::nullopt;
}

ArrayRef<StringRef> Policy::getPresetNames() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> names;
    for (const Preset &preset : presets)
      names.push_back(preset.name);
    llvm::sort(names);
    return names;
  }();
  return names;
}

std::optional<StringRef> Policy::getPresetText(StringRef name) {
  for (const Preset &preset : presets)
    if (preset.name == name)
      return preset.text;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// Turns documents into rules and reports all their errors.
class Policy::Builder {
public:
  Builder(Policy &policy, MLIRContext *context)
      : policy(policy), context(context) {}

  /// Adds the rules of a document, the `layer`-th in the chain.
  void add(const PolicyDocument &document, unsigned layer);

  bool hasFailed() const { return failed; }

private:
  /// Adds the rule that `add` builds from a glob to `rules`.
  template <typename RuleT, typename... ArgsT>
  void addRule(std::vector<RuleT> &rules, StringRef text, Location loc,
               unsigned layer, bool isOp, ArgsT... args);

  void addLists(const PolicyDocument &document, unsigned layer);
  void addSameAs(const PolicyDocument &document, unsigned layer);
  void addSlots(const PolicyDocument &document, unsigned layer);
  void addSlotTypes(const PolicyDocument &document, unsigned layer);
  void addPins(const PolicyDocument &document, unsigned layer);
  void addLinear(const PolicyDocument &document, unsigned layer);
  void addLowGradients(const PolicyDocument &document, unsigned layer);
  void addAdapters(const PolicyDocument &document, unsigned layer);

  Location getLoc(const PolicyDocument &document, const PolicyScalar &scalar) {
    return FileLineColLoc::get(context, document.file, scalar.line,
                               scalar.column);
  }
  /// An error, or nothing.
  struct Report {
    std::optional<InFlightDiagnostic> error;

    template <typename ArgT>
    Report &operator<<(ArgT &&argument) {
      if (error)
        *error << std::forward<ArgT>(argument);
      return *this;
    }
  };
  /// Reports an error, unless its line has many: each shows the line, and a
  /// file may be one long line.
  Report error(Location loc, const Twine &text) {
    failed = true;
    constexpr unsigned shown = 8;
    auto place = dyn_cast<FileLineColLoc>(loc);
    if (place && ++errorsOf[{place.getFilename(), place.getLine()}] > shown)
      return {};
    Report report{emitError(loc)};
    report << "policy: '" << text << "' ";
    return report;
  }

  /// Adds the names of the adapters of a document and its bases to `dialects`.
  void addDialects(const PolicyDocument &document);
  /// Whether `name` is a dialect that the context or an adapter knows.
  bool isDialect(StringRef name) const { return dialects.contains(name); }

  Policy &policy;
  MLIRContext *context;
  llvm::StringSet<> dialects;
  bool failed = false;
  /// The number of errors in a line of a file.
  llvm::DenseMap<std::pair<Attribute, unsigned>, unsigned> errorsOf;
  /// The layer of the adapter of each dialect.
  llvm::StringMap<unsigned> adapterLayers;
};

template <typename RuleT, typename... ArgsT>
void Policy::Builder::addRule(std::vector<RuleT> &rules, StringRef text,
                              Location loc, unsigned layer, bool isOp,
                              ArgsT... args) {
  if (text.empty()) {
    error(loc, text) << "stands where the name of "
                     << (isOp ? "an operation" : "a location")
                     << " or a glob is expected";
    return;
  }
  const std::string &owned = policy.globs.emplace_back(text);
  bool exact = text.find_first_of("*?[{\\") == StringRef::npos;
  Glob glob{{}, owned, exact, layer, loc};
  if (!exact) {
    auto pattern = llvm::GlobPattern::create(owned);
    if (!pattern) {
      error(loc, text) << "is not a glob: "
                       << llvm::toString(pattern.takeError());
      return;
    }
    glob.pattern = std::move(*pattern);
  }
  if (isOp && !canMatch(glob, context))
    error(loc, text) << "matches no operation of the dialect '"
                     << text.split('.').first << "'";
  rules.push_back(RuleT{std::move(glob), args...});
}

void Policy::Builder::addLinear(const PolicyDocument &document,
                                unsigned layer) {
  for (const PolicyScalar &entry : document.linear)
    addRule(policy.linearRules, StringRef(entry.text).split('=').first,
            getLoc(document, entry), layer, /*isOp=*/true);
}

void Policy::Builder::addLowGradients(const PolicyDocument &document,
                                      unsigned layer) {
  for (const PolicyScalar &entry : document.lowGradients)
    addRule(policy.lowGradientRules, entry.text, getLoc(document, entry), layer,
            /*isOp=*/true);
}

void Policy::Builder::addLists(const PolicyDocument &document, unsigned layer) {
  llvm::StringMap<OpClass> seen;
  auto add = [&](const PolicyLists &lists, StringRef dialect) {
    for (size_t index = 0; index != lists.size(); ++index) {
      auto opClass = static_cast<OpClass>(index);
      for (const PolicyScalar &entry : lists[index]) {
        Location loc = getLoc(document, entry);
        // In an adapter, names of operations may omit the dialect.
        std::string text = entry.text;
        if (!dialect.empty() && !text.empty())
          text = qualifyOperation(
              text, dialect, [&](StringRef name) { return isDialect(name); });
        auto [it, isNew] = seen.try_emplace(text, opClass);
        if (!isNew)
          error(loc, text) << "is in the list '" << stringifyOpClass(opClass)
                           << "', but already in '"
                           << stringifyOpClass(it->second) << "'";
        else
          addRule(policy.rules, text, loc, layer, /*isOp=*/true, opClass);
      }
    }
  };
  add(document.lists, /*dialect=*/{});
  for (const AdapterDocument &adapter : document.adapters)
    add(adapter.lists, adapter.dialect.text);
}

void Policy::Builder::addSameAs(const PolicyDocument &document,
                                unsigned layer) {
  llvm::StringMap<StringRef> seen;
  for (const NamedList &entry : document.sameAs.entries) {
    const std::string &representative = policy.globs.emplace_back(entry.name);
    Location start = getLoc(document, entry.items.front());
    if (StringRef(representative).find_first_of("*?[{\\") != StringRef::npos)
      error(start, representative)
          << "is a glob, but the key of 'same-as' is expected to name one "
             "operation";
    else if (!canMatch({{}, representative, true, layer, start}, context))
      error(start, representative)
          << "names no operation of the dialect '"
          << StringRef(representative).split('.').first << "'";
    for (const PolicyScalar &operation : entry.items) {
      auto [it, isNew] = seen.try_emplace(operation.text, representative);
      if (isNew)
        addRule(policy.sameRules, operation.text, getLoc(document, operation),
                layer, /*isOp=*/true, StringRef(representative));
      else
        error(getLoc(document, operation), operation.text)
            << "is the same as '" << it->second << "' already";
    }
  }
}

static std::optional<SlotKind> symbolizeSlotKind(StringRef name) {
  for (SlotKind kind :
       {SlotKind::Compute, SlotKind::Storage, SlotKind::Range, SlotKind::Fixed})
    if (name == stringifySlotKind(kind))
      return kind;
  return std::nullopt;
}

void Policy::Builder::addSlots(const PolicyDocument &document, unsigned layer) {
  llvm::StringMap<llvm::SmallDenseSet<int>> seen;
  for (const SlotEntry &entry : document.slots) {
    int slot;
    std::optional<SlotKind> kind = symbolizeSlotKind(entry.kind.text);
    if (StringRef(entry.slot.text).getAsInteger(10, slot) || slot < 0 ||
        slot > INT8_MAX)
      error(getLoc(document, entry.slot), entry.slot.text)
          << "stands where the number of a slot is expected";
    else if (!kind)
      error(getLoc(document, entry.kind), entry.kind.text)
          << "is no kind of slot, expected compute, storage, range or fixed";
    else if (!seen[entry.op.text].insert(slot).second)
      error(getLoc(document, entry.op), entry.op.text)
          << "has an entry for slot " << slot << " already";
    else
      addRule(policy.slotRules, entry.op.text, getLoc(document, entry.op),
              layer, /*isOp=*/true, static_cast<int8_t>(slot), *kind);
  }
}

void Policy::Builder::addSlotTypes(const PolicyDocument &document,
                                   unsigned layer) {
  for (const NamedList &entry : document.slotTypes.entries) {
    SlotTypes types{
        entry.name, {}, getLoc(document, entry.items.front()), layer};
    for (const PolicyScalar &item : entry.items) {
      std::optional<Pin> pin = symbolizePin(item.text);
      if (item.text == "any")
        pin = Pin::None;
      if (!pin || *pin == Pin::Keep)
        error(getLoc(document, item), item.text)
            << "is no type of a slot, expected f32, low or any";
      else
        types.pins.push_back(*pin);
    }
    if (types.pins.size() > INT8_MAX)
      error(types.loc, entry.name) << "has more types than slots";
    // The nearest file comes first.
    if (policy.slotTypeNumbers.try_emplace(entry.name, policy.slotTypes.size())
            .second)
      policy.slotTypes.push_back(std::move(types));
  }
}

void Policy::Builder::addPins(const PolicyDocument &document, unsigned layer) {
  for (const PinEntry &entry : document.pins.entries) {
    Location loc = getLoc(document, entry.pin);
    if (std::optional<Pin> pin = symbolizePin(entry.pin.text))
      addRule(policy.pinRules, entry.pattern, loc, layer, /*isOp=*/false, *pin);
    else
      error(loc, entry.pin.text) << "is no pin, expected f32, low or keep";
  }
}

void Policy::Builder::addAdapters(const PolicyDocument &document,
                                  unsigned layer) {
  for (const AdapterDocument &entry : document.adapters) {
    FailureOr<Adapter> adapter = readAdapter(
        entry, context,
        [&](const PolicyScalar &scalar) { return getLoc(document, scalar); },
        [&](StringRef name) { return isDialect(name); });
    if (mlir::failed(adapter)) {
      failed = true;
      continue;
    }
    // Outer files come first.
    auto [it, isNew] = adapterLayers.try_emplace(adapter->dialect, layer);
    if (isNew)
      policy.adapters.push_back(std::move(*adapter));
    else if (it->second == layer)
      error(getLoc(document, entry.dialect), entry.dialect.text)
          << "has an adapter already";
  }
}

void Policy::Builder::addDialects(const PolicyDocument &document) {
  for (const AdapterDocument &adapter : document.adapters)
    dialects.insert(adapter.dialect.text);
  if (document.base)
    addDialects(*document.base);
}

void Policy::Builder::add(const PolicyDocument &document, unsigned layer) {
  if (layer == 0) {
    for (StringRef name : context->getAvailableDialects())
      dialects.insert(name);
    for (Dialect *dialect : context->getLoadedDialects())
      dialects.insert(dialect->getNamespace());
    addDialects(document);
  }
  addLists(document, layer);
  addSameAs(document, layer);
  addSlots(document, layer);
  addSlotTypes(document, layer);
  addPins(document, layer);
  addLinear(document, layer);
  addLowGradients(document, layer);
  addAdapters(document, layer);
  const auto &target = document.target.options;
  if (target && !target->lowTypes.empty() && !policy.lowTypesLoc)
    policy.lowTypesLoc = getLoc(document, target->lowTypes.front());
  policy.numLayers = std::max(policy.numLayers, layer + 1);
  if (document.base)
    add(*document.base, layer + 1);
}

FailureOr<Policy> Policy::build(const PolicyDocument &document, Location loc) {
  Policy policy;
  Builder builder(policy, loc.getContext());
  builder.add(document, /*layer=*/0);
  if (builder.hasFailed())
    return failure();
  auto byRank = [](const Glob &a, const Glob &b) {
    return a.getRank() < b.getRank();
  };
  llvm::stable_sort(policy.rules, byRank);
  llvm::stable_sort(policy.sameRules, byRank);
  llvm::stable_sort(policy.slotRules, byRank);
  llvm::stable_sort(policy.pinRules, byRank);
  policy.isOwn = !document.isPreset;
  policy.settings = document.settings;
  policy.gradientType =
      document.settings.gradientType.value_or(GradientType::F32);
  return policy;
}

/// Prints an error of a document at its place, or at `loc` if it has none.
static auto printAt(Location loc) {
  return [loc](StringRef file, unsigned line, unsigned column,
               const Twine &message) {
    if (line == 0)
      emitError(loc) << message;
    else
      emitError(FileLineColLoc::get(loc.getContext(), file, line, column))
          << "policy: " << message;
  };
}

FailureOr<Policy> Policy::load(StringRef presetOrFile, Location loc) {
  // A policy that cannot be read is not an error of the module. Handlers of
  // diagnostics open the file of a location to show the line, which must not
  // be a device or a pipe.
  const bool isFile = !llvm::sys::fs::exists(presetOrFile) ||
                      llvm::sys::fs::is_regular_file(presetOrFile);
  Location place = UnknownLoc::get(loc.getContext());
  if (isFile)
    place = FileLineColLoc::get(loc.getContext(), presetOrFile, 1, 1);
  auto error = printAt(place);
  auto document = loadPolicyDocument(presetOrFile, error);
  if (!document)
    return failure();
  return build(*document, loc);
}

FailureOr<Policy> Policy::parse(StringRef text, StringRef name, Location loc) {
  auto error = printAt(loc);
  auto document = parsePolicyDocument(text, name, error);
  if (!document)
    return failure();
  return build(*document, loc);
}

PolicySettings Policy::readSettings(StringRef presetOrFile) {
  auto document = loadPolicyDocument(
      presetOrFile, [](StringRef, unsigned, unsigned, const Twine &) {});
  return document ? document->settings : PolicySettings();
}

bool Policy::canMatch(const Glob &glob, MLIRContext *context) {
  auto [name, rest] = glob.text.split('.');
  Dialect *dialect = context->getLoadedDialect(name);
  if (!dialect || dialect->allowsUnknownOperations())
    return true;
  if (glob.exact) {
    if (RegisteredOperationName::lookup(glob.text, context))
      return true;
    auto [op, variant] = glob.text.rsplit('.');
    return llvm::is_contained(PrecisionSlots::variants, variant) &&
           RegisteredOperationName::lookup(op, context);
  }
  // getRegisteredOperationsByDialect finds no operations for some dialects.
  return llvm::any_of(
      context->getRegisteredOperations(), [&](RegisteredOperationName op) {
        return &op.getDialect() == dialect && glob.matches(op.getStringRef());
      });
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

/// Calls `contradicts` with the matching rules that have the rank of `*rule`.
template <typename RuleT, typename MatchT, typename FunctionT>
static void forEachEqual(ArrayRef<RuleT> rules, const RuleT *rule,
                         MatchT matches, FunctionT function) {
  for (const RuleT *other = rule + 1; other != rules.end(); ++other) {
    if (other->getRank() != rule->getRank())
      return;
    if (matches(*other))
      function(*other);
  }
}

const Adapter *Policy::findAdapter(StringRef dialect) const {
  for (const Adapter &adapter : adapters)
    if (adapter.dialect == dialect)
      return &adapter;
  return nullptr;
}

bool Policy::hasCompositePatterns() const {
  return llvm::any_of(adapters, [](const Adapter &adapter) {
    return !adapter.compositePatterns.empty();
  });
}

std::optional<LinearRule::Kind>
Policy::findLinearKind(OperationName name) const {
  auto [it, isNew] = linearCache.try_emplace(name, std::nullopt);
  if (!isNew)
    return it->second;
  for (StringRef text : settings.linear) {
    std::string expected;
    FailureOr<LinearRule> rule = LinearRule::parse(text, expected);
    if (succeeded(rule) && rule->pattern.match(name.getStringRef()))
      return it->second = rule->kind;
  }
  return std::nullopt;
}

bool Policy::keepsGradients(OperationName name) const {
  return gradientType == GradientType::F32 ||
         (gradientType == GradientType::Listed &&
          llvm::none_of(lowGradientRules, [&](const Glob &glob) {
            return glob.matches(name.getStringRef());
          }));
}

const AdapterOperation *Policy::findAdapted(OperationName name) const {
  if (adapters.empty())
    return nullptr;
  const Adapter *adapter = findAdapter(name.getDialectNamespace());
  if (!adapter)
    return nullptr;
  auto it = adapter->operations.find(name.getStringRef());
  return it == adapter->operations.end() ? nullptr : &it->second;
}

const Policy::ListRule *
Policy::findRule(StringRef name,
                 llvm::function_ref<bool(const ListRule &)> matches) const {
  ArrayRef<ListRule> all(rules);
  const ListRule *rule = llvm::find_if(all, matches);
  if (rule == all.end())
    return nullptr;
  forEachEqual(all, rule, matches, [&](const ListRule &other) {
    if (other.opClass == rule->opClass || contradictory)
      return;
    contradictory = true;
    auto diag = emitError(other.loc)
                << "policy: '" << other.text << "' puts '" << name
                << "' in the list '" << stringifyOpClass(other.opClass)
                << "', but '" << rule->text << "', which is as long, in '"
                << stringifyOpClass(rule->opClass) << "'";
    diag.attachNote(rule->loc) << "the other entry";
  });
  return rule;
}

bool Policy::isRelaxed(StringRef name) const {
  StringRef representative = findRepresentative(name);
  return !representative.empty() &&
         llvm::any_of(slotRules, [&](const SlotRule &rule) {
           return rule.kind == SlotKind::Storage &&
                  rule.matches(representative);
         });
}

bool Policy::applySlotRules(OperationName name,
                            MutableArrayRef<SlotKind> kinds) const {
  auto [it, isNew] = slotCache.try_emplace(name);
  if (isNew) {
    StringRef text = name.getStringRef();
    for (const SlotRule &rule : slotRules) {
      if (!rule.matches(text))
        continue;
      auto isSame = [&](const SlotRule *other) {
        return other->slot == rule.slot;
      };
      auto *first = llvm::find_if(it->second, isSame);
      if (first == it->second.end()) {
        it->second.push_back(&rule);
        rule.seen = true;
      } else if (!contradictory && (*first)->kind != rule.kind &&
                 (*first)->getRank() == rule.getRank()) {
        contradictory = true;
        auto diag = emitError(rule.loc)
                    << "policy: '" << rule.text << "' makes slot "
                    << static_cast<int>(rule.slot) << " of '" << text << "' "
                    << stringifySlotKind(rule.kind) << ", but '"
                    << (*first)->text << "', which is as long, "
                    << stringifySlotKind((*first)->kind);
        diag.attachNote((*first)->loc) << "the other entry";
      }
    }
  }
  if (isNew && it->second.empty())
    relaxedCache[name] = isRelaxed(name.getStringRef());
  if (it->second.empty() && relaxedCache.lookup(name))
    llvm::replace(kinds, SlotKind::Range, SlotKind::Storage);
  bool applied = false;
  for (const SlotRule *rule : it->second) {
    if (static_cast<size_t>(rule->slot) >= kinds.size() ||
        (kinds[rule->slot] == SlotKind::Fixed && rule->kind != SlotKind::Fixed))
      continue;
    applied = rule->applied = true;
    kinds[rule->slot] = rule->kind;
  }
  return applied;
}

Pin Policy::getPin(Location loc) const {
  auto [it, isNew] = pinCache.try_emplace(loc, Pin::None);
  if (!isNew)
    return it->second;
  SmallVector<std::string> names;
  loc->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part))
      names.push_back(named.getName().str());
    return WalkResult::advance();
  });
  if (names.empty() && names.emplace_back(LocationText(loc).place).empty())
    return Pin::None;
  auto matches = [&](const PinRule &rule) {
    return llvm::any_of(names,
                        [&](StringRef name) { return rule.matches(name); });
  };
  ArrayRef<PinRule> all(pinRules);
  const auto *rule = llvm::find_if(all, matches);
  // Shadowed rules have matched as well.
  for (const PinRule &other : llvm::make_filter_range(all, matches))
    other.seen = true;
  if (rule == all.end())
    return Pin::None;
  it->second = rule->pin;
  forEachEqual(all, rule, matches, [&](const PinRule &other) {
    if (other.pin == rule->pin || contradictory)
      return;
    contradictory = true;
    auto diag =
        emitError(other.loc)
        << "policy: '" << other.text << "' pins '"
        << *llvm::find_if(names,
                          [&](StringRef name) { return other.matches(name); })
        << "' to " << stringifyPin(other.pin) << ", but '" << rule->text
        << "', which is as long, to " << stringifyPin(rule->pin);
    diag.attachNote(rule->loc) << "the other entry";
    diag.attachNote(loc) << "an operation that both match";
  });
  return it->second;
}

namespace {
/// An entry without a match, and the kind of thing that it should match.
struct UnmatchedEntry {
  Location loc;
  StringRef text;
  std::string what;
};
} // namespace

/// Warns of `entries`. Many of one line of a file share a warning, which shows
/// the line once: a file may be one long line.
static void warnOfUnmatched(ArrayRef<UnmatchedEntry> entries) {
  constexpr size_t shown = 8;
  llvm::MapVector<std::pair<Attribute, unsigned>,
                  SmallVector<const UnmatchedEntry *>>
      lines;
  for (const UnmatchedEntry &entry : entries) {
    auto place = dyn_cast<FileLineColLoc>(entry.loc);
    Attribute file = place ? Attribute(place.getFilename()) : Attribute();
    lines[{file, place ? place.getLine() : 0}].push_back(&entry);
  }
  for (auto &[line, inLine] : lines) {
    if (inLine.size() <= shown) {
      for (const UnmatchedEntry *entry : inLine)
        emitWarning(entry->loc)
            << "policy: '" << entry->text << "' matches no " << entry->what;
      continue;
    }
    InFlightDiagnostic warning = emitWarning(inLine.front()->loc)
                                 << "policy: " << inLine.size()
                                 << " entries of this line match nothing: ";
    auto names = ArrayRef(inLine).take_front(shown);
    llvm::interleaveComma(names, warning, [&](const UnmatchedEntry *entry) {
      warning << "'" << entry->text << "'";
    });
    warning << " and " << inLine.size() - shown << " more";
  }
}

/// Warns of entries that match no operation which is loaded or in the module:
/// most likely the name is wrong.
void Policy::checkDialects(Operation *root) const {
  MLIRContext *context = root->getContext();
  auto dialectOf = [](const Glob &glob) {
    return glob.text.take_until([](char c) { return c == '.'; });
  };
  auto isGlob = [](StringRef text) {
    return text.find_first_of("*?[{\\") != StringRef::npos;
  };
  SmallVector<const Glob *> doubtful;
  auto examine = [&](const Glob &glob) {
    StringRef dialect = dialectOf(glob);
    // An entry for an operation of train also decides the operations with the
    // same meaning.
    bool decidesOthers = llvm::any_of(sameRules, [&](const SameRule &rule) {
      return glob.matches(rule.representative);
    });
    if (glob.layer != 0 || decidesOthers)
      return;
    bool isKnown =
        isGlob(dialect)
            ? llvm::any_of(context->getRegisteredOperations(),
                           [&](RegisteredOperationName op) {
                             return glob.matches(op.getStringRef());
                           })
            : context->getLoadedDialect(dialect) || findAdapter(dialect);
    if (!isKnown)
      doubtful.push_back(&glob);
  };
  for (const ListRule &rule : rules)
    examine(rule);
  for (const SameRule &rule : sameRules)
    examine(rule);
  for (const SlotRule &rule : slotRules)
    examine(rule);
  for (const Glob &glob : linearRules)
    examine(glob);
  for (const Glob &glob : lowGradientRules)
    examine(glob);
  if (doubtful.empty())
    return;
  llvm::DenseSet<StringRef> dialects, names;
  root->walk([&](Operation *op) {
    dialects.insert(op->getName().getDialectNamespace());
    names.insert(op->getName().getStringRef());
  });
  std::vector<UnmatchedEntry> unmatched;
  for (const Glob *glob : doubtful) {
    StringRef dialect = dialectOf(*glob);
    if (!isGlob(dialect)) {
      if (!dialects.contains(dialect))
        unmatched.push_back({glob->loc, glob->text,
                             ("operation: the dialect '" + dialect +
                              "' is neither loaded nor in the module")
                                 .str()});
    } else if (llvm::none_of(names, [&](StringRef name) {
                 return glob->matches(name);
               })) {
      unmatched.push_back({glob->loc, glob->text,
                           "operation that is registered or in the module"});
    }
  }
  warnOfUnmatched(unmatched);
}

LogicalResult Policy::checkRejected(Operation *root) const {
  llvm::DenseSet<OperationName> seen;
  auto visit = [&](Operation *op) -> WalkResult {
    OperationName name = op->getName();
    const Adapter *adapter = findAdapter(name.getDialectNamespace());
    if (!adapter || !seen.insert(name).second)
      return WalkResult::advance();
    if (!adapter->rejection.empty())
      return op->emitOpError("the policy rejects the dialect '")
             << adapter->dialect << "': " << adapter->rejection;
    for (StringRef text : adapter->rejectedOperations) {
      auto pattern = llvm::GlobPattern::create(text);
      assert(pattern && "checked when the policy was read");
      if (pattern->match(name.getStringRef()) &&
          classify(name) == OpClass::Unlisted)
        return op->emitOpError("the policy rejects '")
               << text << "', expected an operation that it knows";
    }
    return WalkResult::advance();
  };
  return failure(!adapters.empty() &&
                 root->walk<WalkOrder::PreOrder>(visit).wasInterrupted());
}

LogicalResult Policy::checkUse(Operation *root) const {
  if (isOwn && !root->getParentOp())
    checkDialects(root);
  bool failed = false;
  for (const SlotRule &rule : slotRules) {
    // A glob matches operations of several kinds, also those on integers.
    if (!rule.seen || rule.applied || !rule.exact)
      continue;
    failed = true;
    emitError(rule.loc) << "policy: no '" << rule.text << "' has a slot "
                        << static_cast<int>(rule.slot)
                        << " that may change type";
  }
  std::vector<UnmatchedEntry> unmatched;
  for (const PinRule &rule : pinRules)
    if (!rule.seen && rule.layer == 0)
      unmatched.push_back({rule.loc, rule.text, "location of an operation"});
  for (const SlotTypes &types : slotTypes)
    if (!types.seen && types.layer == 0)
      unmatched.push_back({types.loc, types.name, "operation with slots"});
  warnOfUnmatched(unmatched);
  return failure(failed);
}

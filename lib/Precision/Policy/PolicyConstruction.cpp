//===- PolicyConstruction.cpp - Rules from documents ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/Policy.h"

#include "AdapterFile.h"
#include "PolicyDocument.h"
#include "amp/LossScaling/LinearRule.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::detail;

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
  void addIntervals(const PolicyDocument &document, unsigned layer);
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
    error(loc, text) << "is not the name of "
                     << (isOp ? "an operation" : "a location") << " or a glob";
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
    addRule(policy.linearRules, LinearRule::getNameGlob(entry.text),
            getLoc(document, entry), layer, /*isOp=*/true);
}

void Policy::Builder::addIntervals(const PolicyDocument &document,
                                   unsigned layer) {
  for (const PolicyScalar &entry : document.intervals)
    addRule(policy.intervalRules, OperationPattern::getNameGlob(entry.text),
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
          << "is not the number of a slot";
    else if (!kind)
      error(getLoc(document, entry.kind), entry.kind.text)
          << "is not a slot kind, expected compute, storage, range or fixed";
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
            << "is not a slot type, expected f32, low or any";
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
      error(loc, entry.pin.text) << "is not a pin, expected f32, low or keep";
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
  addIntervals(document, layer);
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

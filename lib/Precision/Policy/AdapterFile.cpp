//===- AdapterFile.cpp - Adapters as a policy file has them ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdapterFile.h"

#include "amp/Precision/Policy/Policy.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::detail;

namespace {

/// Reads one adapter and records whether it has errors.
class AdapterReader {
public:
  AdapterReader(MLIRContext *context,
                llvm::function_ref<Location(const PolicyScalar &)> getLoc,
                llvm::function_ref<bool(StringRef)> isDialect)
      : context(context), getLoc(getLoc), isDialect(isDialect) {}

  FailureOr<Adapter> read(const AdapterDocument &document);

private:
  InFlightDiagnostic error(const PolicyScalar &entry) {
    hasFailed = true;
    return emitError(getLoc(entry)) << "policy: ";
  }
  SlotKind readKind(const PolicyScalar &entry);
  bool readBool(const PolicyScalar &entry, StringRef key);
  std::optional<unsigned> readIndex(const PolicyScalar &entry, StringRef what);
  std::string qualify(const PolicyScalar &entry, StringRef dialect);
  AdapterCast readCast(const CastDocument &document, StringRef dialect);
  void readSlot(const AdapterOperationDocument &document,
                const AdapterSlotDocument &slotDocument, AdapterOperation &op);
  AdapterOperation readOperation(const AdapterOperationDocument &document,
                                 StringRef dialect, StringRef operandNames);

  MLIRContext *context;
  llvm::function_ref<Location(const PolicyScalar &)> getLoc;
  llvm::function_ref<bool(StringRef)> isDialect;
  bool hasFailed = false;
};

} // namespace

SlotKind AdapterReader::readKind(const PolicyScalar &entry) {
  auto kind = llvm::StringSwitch<std::optional<SlotKind>>(entry.text)
                  .Case("compute", SlotKind::Compute)
                  .Case("storage", SlotKind::Storage)
                  .Case("range", SlotKind::Range)
                  .Case("fixed", SlotKind::Fixed)
                  .Default(std::nullopt);
  if (!kind)
    error(entry) << "expected 'kind' to be compute, storage, range or fixed, "
                    "got '"
                 << entry.text << "'";
  return kind.value_or(SlotKind::Fixed);
}

bool AdapterReader::readBool(const PolicyScalar &entry, StringRef key) {
  if (entry.isGiven() && entry.text != "true" && entry.text != "false")
    error(entry) << "expected '" << key << "' to be true or false, got '"
                 << entry.text << "'";
  return entry.text == "true";
}

std::optional<unsigned> AdapterReader::readIndex(const PolicyScalar &entry,
                                                 StringRef what) {
  unsigned index;
  if (!StringRef(entry.text).getAsInteger(10, index))
    return index;
  error(entry) << "expected the number of " << what << ", got '" << entry.text
               << "'";
  return std::nullopt;
}

std::string
amp::detail::qualifyOperation(StringRef name, StringRef dialect,
                              llvm::function_ref<bool(StringRef)> isDialect) {
  auto [first, rest] = name.split('.');
  return !rest.empty() && (first == dialect || isDialect(first))
             ? name.str()
             : (dialect + "." + name).str();
}

/// Completes the name of an operation, which may omit the dialect.
std::string AdapterReader::qualify(const PolicyScalar &entry,
                                   StringRef dialect) {
  StringRef name = entry.text;
  if (name.empty())
    error(entry) << "expected the name of an operation";
  return qualifyOperation(name, dialect, isDialect);
}

AdapterCast AdapterReader::readCast(const CastDocument &document,
                                    StringRef dialect) {
  // The cast often belongs to a dialect that nothing else here names, so a dot
  // always ends the name of a dialect.
  StringRef op = document.op.text;
  AdapterCast cast{op.contains('.') ? op.str() : qualify(document.op, dialect),
                   getLoc(document.op),
                   {}};
  for (const CastAttributeDocument &attribute : document.attributes) {
    StringRef name = attribute.name.text;
    if (name.empty())
      error(attribute.name)
          << "expected the name of an attribute of '" << cast.op << "'";
    if (name.starts_with("amp."))
      error(attribute.name) << "the attribute '" << name << "' of '" << cast.op
                            << "' is this project's own";
    if (llvm::any_of(cast.attributes,
                     [&](const auto &other) { return other.name == name; }))
      error(attribute.name) << "the attribute '" << name << "' of '" << cast.op
                            << "' is given twice";
    if (attribute.value.text == "$type") {
      cast.attributes.push_back({attribute.name.text, Attribute()});
      continue;
    }
    std::string reason;
    Attribute value;
    {
      ScopedDiagnosticHandler handler(context, [&](Diagnostic &diag) {
        if (reason.empty())
          reason = diag.str();
        return success();
      });
      value = parseAttribute(attribute.value.text, context);
    }
    if (!value) {
      error(attribute.value)
          << "'" << attribute.value.text << "' is not an attribute: " << reason;
      continue;
    }
    cast.attributes.push_back({attribute.name.text, value});
  }
  return cast;
}

/// Returns whether two entries match the same operands or results.
static bool isSameIndex(const AdapterIndex &a, const AdapterIndex &b) {
  return a.index == b.index && a.name == b.name;
}

/// Reads one slot of `op`.
void AdapterReader::readSlot(const AdapterOperationDocument &document,
                             const AdapterSlotDocument &slotDocument,
                             AdapterOperation &op) {
  AdapterSlot &slot = op.slots.emplace_back();
  slot.kind = readKind(slotDocument.kind);
  slot.isOptional = readBool(slotDocument.optional, "optional");
  slot.isRounded = readBool(slotDocument.rounded, "rounded");
  if (slot.isRounded && !slotDocument.operands.empty())
    error(slotDocument.rounded) << "expected 'rounded' on a slot of results";
  if (slot.isRounded && llvm::any_of(op.slots, [&](const AdapterSlot &other) {
        return &other != &slot && other.isRounded;
      }))
    error(slotDocument.rounded)
        << "'" << op.name << "' has a rounded slot already";
  auto add = [&](AdapterIndex entry, const PolicyScalar &scalar, StringRef what,
                 auto member) {
    for (const AdapterSlot &other : op.slots)
      for (const AdapterIndex &taken : other.*member)
        if (isSameIndex(taken, entry))
          error(scalar) << what << " " << scalar.text << " of '" << op.name
                        << "' is in two slots";
    (slot.*member).push_back(std::move(entry));
  };
  for (const PolicyScalar &entry : slotDocument.operands) {
    // Where operands have names, an entry that is not a number is a name.
    bool isName = !op.operandNames.empty() && !entry.text.empty() &&
                  !llvm::isDigit(entry.text.front());
    if (isName)
      add({0, getLoc(entry), entry.text}, entry, "operand",
          &AdapterSlot::operands);
    else if (std::optional<unsigned> index = readIndex(entry, "an operand"))
      add({*index, getLoc(entry)}, entry, "operand", &AdapterSlot::operands);
  }
  for (const PolicyScalar &entry : slotDocument.results)
    if (std::optional<unsigned> index = readIndex(entry, "a result"))
      add({*index, getLoc(entry)}, entry, "result", &AdapterSlot::results);
  if (!slotDocument.implies.isGiven())
    return;
  if (auto index = readIndex(slotDocument.implies, "a slot")) {
    if (*index >= document.slots.size())
      error(slotDocument.implies)
          << "'" << op.name << "' has no slot " << *index << " to imply";
    else
      slot.implies = *index;
  }
}

AdapterOperation
AdapterReader::readOperation(const AdapterOperationDocument &document,
                             StringRef dialect, StringRef operandNames) {
  AdapterOperation op{qualify(document.name, dialect),
                      getLoc(document.name),
                      {},
                      SlotKind::Storage,
                      {},
                      RegionRule::None,
                      {}};
  op.operandNames = operandNames.str();
  if (document.kind.isGiven()) {
    op.kind = readKind(document.kind);
    op.hasKind = true;
    if (!document.slots.empty())
      error(document.kind) << "expected either 'kind' or 'slots'";
  }
  // The number of a slot is a signed byte.
  constexpr unsigned kMaxSlots = 128;
  if (document.slots.size() > kMaxSlots)
    error(document.name) << "expected at most " << kMaxSlots << " slots of '"
                         << op.name << "', got " << document.slots.size();
  for (const AdapterSlotDocument &slotDocument : document.slots)
    readSlot(document, slotDocument, op);
  for (const PolicyScalar &attribute : document.attributes)
    op.typeAttributes.push_back(attribute.text);
  op.isBounded = readBool(document.bounded, "bounded");
  op.isBits = readBool(document.bits, "bits");
  op.givesIndices = readBool(document.indices, "indices");
  op.isPeriodic = readBool(document.periodic, "periodic");
  for (const BodyDocument &body : document.bodies) {
    SlotKind kind = readKind(body.kind);
    for (const PolicyScalar &nested : body.operations)
      op.bodies.push_back({qualify(nested, dialect), kind});
  }
  if (!op.bodies.empty() && (document.kind.isGiven() || !op.slots.empty()))
    error(document.name) << "expected either 'bodies' or 'kind' and 'slots'";
  if (document.regions.text == "keep")
    op.regions = RegionRule::Keep;
  else if (document.regions.text == "follow")
    op.regions = RegionRule::Follow;
  else if (document.regions.isGiven())
    error(document.regions) << "expected 'regions' to be keep or follow, got '"
                            << document.regions.text << "'";
  return op;
}

FailureOr<Adapter> AdapterReader::read(const AdapterDocument &document) {
  StringRef dialect = document.dialect.text;
  if (dialect.empty() || dialect.contains('.'))
    error(document.dialect)
        << "expected the name of a dialect, got '" << dialect << "'";
  Adapter adapter{dialect.str(),
                  getLoc(document.dialect),
                  std::nullopt,
                  {},
                  {},
                  {},
                  {},
                  {},
                  {},
                  {},
                  {}};
  adapter.operandNames = document.operandNames.text;
  if (document.cast)
    adapter.cast = readCast(*document.cast, dialect);
  adapter.rejection = document.reject.text;
  for (const PolicyScalar &entry : document.rejectOperations) {
    adapter.rejectedOperations.push_back(qualify(entry, dialect));
    auto pattern = llvm::GlobPattern::create(adapter.rejectedOperations.back());
    if (!pattern)
      error(entry) << "'" << entry.text << "' is not a glob: "
                   << llvm::toString(pattern.takeError());
  }
  auto readNames = [&](ArrayRef<PolicyScalar> entries, llvm::StringSet<> &set) {
    for (const PolicyScalar &entry : entries)
      set.insert(qualify(entry, dialect));
  };
  readNames(document.moves, adapter.moves);
  readNames(document.readsPart, adapter.readsPart);
  readNames(document.views, adapter.views);
  readNames(document.compositePatterns.reduce,
            adapter.compositePatterns.reduce);
  readNames(document.compositePatterns.repeat,
            adapter.compositePatterns.repeat);
  readNames(document.compositePatterns.move, adapter.compositePatterns.move);
  readNames(document.compositePatterns.elementwise,
            adapter.compositePatterns.elementwise);
  for (const AdapterOperationDocument &operation : document.operations) {
    AdapterOperation op =
        readOperation(operation, dialect, adapter.operandNames);
    for (const AdapterSlot &slot : op.slots)
      if (slot.isRounded && !adapter.cast)
        error(operation.name) << "'" << op.name << "' has a rounded slot, but "
                              << "the adapter has no 'cast'";
    std::string name = op.name;
    if (!adapter.operations.try_emplace(name, std::move(op)).second)
      error(operation.name) << "'" << name << "' is described twice";
  }
  if (hasFailed)
    return failure();
  return adapter;
}

FailureOr<Adapter> amp::detail::readAdapter(
    const AdapterDocument &document, MLIRContext *context,
    llvm::function_ref<Location(const PolicyScalar &)> getLoc,
    llvm::function_ref<bool(StringRef)> isDialect) {
  return AdapterReader(context, getLoc, isDialect).read(document);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Prints `key: [items]` if there are items.
template <typename RangeT, typename PrintT>
static void printFlow(raw_ostream &os, StringRef key, const RangeT &items,
                      PrintT print) {
  if (items.empty())
    return;
  os << key << ": [";
  llvm::interleaveComma(items, os, print);
  os << "]\n";
}

static void printOperation(raw_ostream &os, const AdapterOperation &op) {
  StringRef indent = "        ";
  os << "      - op: " << Policy::quote(op.name) << "\n";
  if (op.hasKind)
    os << indent << "kind: " << stringifySlotKind(op.kind) << "\n";
  if (!op.slots.empty())
    os << indent << "slots:\n";
  if (!op.bodies.empty())
    os << indent << "bodies:\n";
  for (const auto &[name, kind] : op.bodies)
    os << indent << "  - {kind: " << stringifySlotKind(kind) << ", of: ["
       << Policy::quote(name) << "]}\n";
  auto printIndex = [&](const AdapterIndex &entry) {
    if (entry.name.empty())
      os << entry.index;
    else
      os << Policy::quote(entry.name);
  };
  for (const AdapterSlot &slot : op.slots) {
    os << indent << "  - kind: " << stringifySlotKind(slot.kind) << "\n";
    std::string inner = (indent + "    ").str();
    printFlow(os, inner + "operands", slot.operands, printIndex);
    printFlow(os, inner + "results", slot.results, printIndex);
    if (slot.implies)
      os << inner << "implies: " << *slot.implies << "\n";
    if (slot.isRounded)
      os << inner << "rounded: true\n";
    if (slot.isOptional)
      os << inner << "optional: true\n";
  }
  // Print one entry per line: quotes depend on the brackets around an entry.
  if (!op.typeAttributes.empty())
    os << indent << "attributes:\n";
  for (const std::string &attribute : op.typeAttributes)
    os << indent << "  - " << Policy::quote(attribute) << "\n";
  if (op.isBounded)
    os << indent << "bounded: true\n";
  if (op.isBits)
    os << indent << "bits: true\n";
  if (op.givesIndices)
    os << indent << "indices: true\n";
  if (op.isPeriodic)
    os << indent << "periodic: true\n";
  if (op.regions != RegionRule::None)
    os << indent
       << "regions: " << (op.regions == RegionRule::Keep ? "keep" : "follow")
       << "\n";
}

void amp::detail::printAdapter(raw_ostream &os, const Adapter &adapter) {
  os << "  - dialect: " << Policy::quote(adapter.dialect) << "\n";
  if (adapter.cast) {
    os << "    cast:\n      op: " << Policy::quote(adapter.cast->op) << "\n";
    if (!adapter.cast->attributes.empty())
      os << "      attributes:\n";
    for (const AdapterCast::CastAttribute &attribute :
         adapter.cast->attributes) {
      std::string value = "$type";
      if (attribute.value) {
        value.clear();
        llvm::raw_string_ostream text(value);
        attribute.value.print(text);
      }
      os << "        - name: " << Policy::quote(attribute.name)
         << "\n          value: " << Policy::quote(value) << "\n";
    }
  }
  if (!adapter.operandNames.empty())
    os << "    operand-names: " << Policy::quote(adapter.operandNames) << "\n";
  // In the order of their names.
  SmallVector<const AdapterOperation *> operations;
  for (const auto &entry : adapter.operations)
    operations.push_back(&entry.second);
  llvm::sort(operations,
             [](const AdapterOperation *a, const AdapterOperation *b) {
               return a->name < b->name;
             });
  if (!operations.empty())
    os << "    operations:\n";
  for (const AdapterOperation *op : operations)
    printOperation(os, *op);
  if (!adapter.rejection.empty())
    os << "    reject: " << Policy::quote(adapter.rejection) << "\n";
  if (!adapter.rejectedOperations.empty())
    os << "    reject-operations:\n";
  for (const std::string &glob : adapter.rejectedOperations)
    os << "      - " << Policy::quote(glob) << "\n";
  auto printNames = [&](StringRef key, const llvm::StringSet<> &names) {
    SmallVector<StringRef> sorted;
    for (const auto &name : names)
      sorted.push_back(name.getKey());
    llvm::sort(sorted);
    printFlow(os, key, sorted,
              [&](StringRef name) { os << Policy::quote(name); });
  };
  printNames("    moves", adapter.moves);
  printNames("    reads-part", adapter.readsPart);
  printNames("    views", adapter.views);
  if (adapter.compositePatterns.empty())
    return;
  os << "    composite-patterns:\n";
  printNames("      reduce", adapter.compositePatterns.reduce);
  printNames("      repeat", adapter.compositePatterns.repeat);
  printNames("      move", adapter.compositePatterns.move);
  printNames("      elementwise", adapter.compositePatterns.elementwise);
}

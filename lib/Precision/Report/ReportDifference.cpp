//===- ReportDifference.cpp - Two reports compared ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Report/ReportDifference.h"

#include "ReportFunction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace mlir;
using namespace mlir::amp;
using llvm::json::Path;

/// The numbers of a strategy that are compared.
static constexpr StringLiteral kTotals[] = {
    "lowSlots", "lowValues", "lowValueBytes", "lowFlops",
    "casts",    "castBytes", "bytes",         "cost"};

namespace {

/// A slot of a report. `low` is empty if the slot has no choice.
struct ReadSlot {
  std::string slot, kind, rule;
  std::optional<int64_t> id, cause;
  std::optional<bool> low;
  int64_t bytesAfter = 0;
};

struct ReadOp {
  std::string name, part;
  std::optional<std::string> location, scope;
  std::vector<ReadSlot> slots;
};

struct ReadStrategy {
  bool chosen = false;
  std::vector<int64_t> totals;
};

struct ReadFunction {
  std::string name;
  std::optional<std::string> untouched;
  std::vector<ReadStrategy> strategies;
  std::vector<ReadOp> ops;
  /// The operations of slots by number.
  std::map<int64_t, std::string> slotOps;

  const ReadStrategy *getChosen() const {
    auto it = llvm::find_if(strategies, [](const ReadStrategy &strategy) {
      return strategy.chosen;
    });
    return it == strategies.end() ? nullptr : &*it;
  }
};

struct ReadReport {
  int64_t schemaVersion = 0;
  std::string pass, strategy, policy, lowType;
  std::vector<ReadFunction> functions;
};

// JSON mappers find these functions by the namespace of their arguments.

bool fromJSON(const llvm::json::Value &value, ReadSlot &slot, Path path) {
  llvm::json::ObjectMapper map(value, path);
  if (!map)
    return false;
  const llvm::json::Value *number = value.getAsObject()->get("slot");
  if (number && number->getAsInteger())
    slot.slot = std::to_string(*number->getAsInteger());
  else if (!map.map("slot", slot.slot))
    return false;
  return map.map("kind", slot.kind) && map.map("rule", slot.rule) &&
         map.map("id", slot.id) && map.map("cause", slot.cause) &&
         map.map("low", slot.low) && map.map("bytesAfter", slot.bytesAfter);
}

bool fromJSON(const llvm::json::Value &value, ReadOp &op, Path path) {
  llvm::json::ObjectMapper map(value, path);
  return map && map.map("name", op.name) && map.map("part", op.part) &&
         map.map("location", op.location) && map.map("scope", op.scope) &&
         map.map("slots", op.slots);
}

bool fromJSON(const llvm::json::Value &value, ReadStrategy &strategy,
              Path path) {
  llvm::json::ObjectMapper map(value, path);
  if (!map || !map.map("chosen", strategy.chosen))
    return false;
  for (StringLiteral key : kTotals)
    if (!map.map(key, strategy.totals.emplace_back()))
      return false;
  return true;
}

bool fromJSON(const llvm::json::Value &value, ReadFunction &function,
              Path path) {
  llvm::json::ObjectMapper map(value, path);
  if (!map || !map.map("name", function.name) ||
      !map.map("untouched", function.untouched))
    return false;
  if (function.untouched)
    return true;
  if (!map.map("strategies", function.strategies) ||
      !map.map("ops", function.ops))
    return false;
  if (!function.getChosen()) {
    path.field("strategies").report("expected a chosen strategy");
    return false;
  }
  for (const ReadOp &op : function.ops)
    for (const ReadSlot &slot : op.slots)
      if (slot.id)
        function.slotOps[*slot.id] = op.name;
  return true;
}

bool fromJSON(const llvm::json::Value &value, ReadReport &report, Path path) {
  llvm::json::ObjectMapper map(value, path);
  if (!map || !map.map("schemaVersion", report.schemaVersion) ||
      !map.map("pass", report.pass) || !map.map("strategy", report.strategy) ||
      !map.map("policy", report.policy) || !map.map("lowType", report.lowType))
    return false;
  if (report.schemaVersion != kReportSchemaVersion) {
    path.field("schemaVersion").report("expected the version of this tool");
    return false;
  }
  return map.map("functions", report.functions);
}

} // namespace

static llvm::Expected<ReadReport> read(const llvm::json::Value &value,
                                       StringRef which) {
  ReadReport report;
  Path::Root root(which);
  if (!fromJSON(value, report, root))
    return root.getError();
  return report;
}

/// Returns a key for each operation that is unique within the function: the
/// name, the place, and the position among operations that agree in both.
static std::vector<std::string> getKeys(const ReadFunction &function) {
  llvm::StringMap<unsigned> counts;
  std::vector<std::string> keys;
  for (const ReadOp &op : function.ops) {
    std::string key = op.name + '\n' + op.location.value_or("") + '\n' +
                      op.scope.value_or("");
    key += '\n' + std::to_string(counts[key]++);
    keys.push_back(std::move(key));
  }
  return keys;
}

/// Pairs operations: by position if both reports have the same names in order,
/// else by key. Returns the position in `before` for each operation of `after`.
static std::vector<std::optional<size_t>> pairOps(const ReadFunction &before,
                                                  const ReadFunction &after) {
  std::vector<std::optional<size_t>> partner(after.ops.size());
  auto haveSameName = [](const ReadOp &a, const ReadOp &b) {
    return a.name == b.name;
  };
  if (llvm::equal(before.ops, after.ops, haveSameName)) {
    for (size_t i = 0; i < partner.size(); ++i)
      partner[i] = i;
    return partner;
  }
  llvm::StringMap<size_t> positions;
  for (auto [index, key] : llvm::enumerate(getKeys(before)))
    positions[key] = index;
  for (auto [index, key] : llvm::enumerate(getKeys(after)))
    if (auto it = positions.find(key); it != positions.end())
      partner[index] = it->second;
  return partner;
}

static ReportedDecision getDecision(const ReadReport &report,
                                    const ReadFunction &function,
                                    const ReadSlot &slot) {
  ReportedDecision decision;
  if (slot.low)
    decision.type = *slot.low ? report.lowType : "f32";
  decision.rule = slot.rule;
  decision.bytes = slot.bytesAfter;
  if (slot.cause)
    if (auto it = function.slotOps.find(*slot.cause);
        it != function.slotOps.end())
      decision.cause = it->second;
  return decision;
}

static void compareFunctions(const ReadReport &beforeReport,
                             const ReadFunction &before,
                             const ReadReport &afterReport,
                             const ReadFunction &after,
                             FunctionDifference &difference) {
  for (auto [index, key] : llvm::enumerate(kTotals))
    difference.totals.push_back({key.str(), before.getChosen()->totals[index],
                                 after.getChosen()->totals[index]});
  std::vector<std::optional<size_t>> partner = pairOps(before, after);
  for (auto [index, op] : llvm::enumerate(after.ops)) {
    if (!partner[index]) {
      ++difference.onlyAfter;
      continue;
    }
    for (const ReadSlot &slot : op.slots) {
      ArrayRef<ReadSlot> slots(before.ops[*partner[index]].slots);
      const ReadSlot *other = llvm::find_if(slots, [&](const ReadSlot &other) {
        return other.slot == slot.slot;
      });
      if (other == slots.end())
        continue;
      SlotDifference change;
      change.op = index;
      change.name = op.name;
      change.place = op.scope.value_or(op.location.value_or(""));
      change.part = op.part;
      change.slot = slot.slot;
      change.kind = slot.kind;
      change.before = getDecision(beforeReport, before, *other);
      change.after = getDecision(afterReport, after, slot);
      if (change.changesType())
        difference.slots.push_back(std::move(change));
      else if (change.before.rule != change.after.rule)
        ++difference.otherRules;
    }
  }
  difference.onlyBefore = int64_t(before.ops.size()) -
                          llvm::count_if(partner, [](const auto &position) {
                            return position.has_value();
                          });
}

llvm::Expected<ReportDifference>
ReportDifference::compare(llvm::json::Value before, llvm::json::Value after) {
  ReportDifference difference(std::move(before), std::move(after));
  llvm::Expected<ReadReport> old = read(difference.before, "first report");
  if (!old)
    return old.takeError();
  llvm::Expected<ReadReport> current = read(difference.after, "second report");
  if (!current)
    return current.takeError();
  llvm::StringMap<const ReadFunction *> functions;
  for (const ReadFunction &function : old->functions)
    functions[function.name] = &function;
  for (auto [index, function] : llvm::enumerate(current->functions)) {
    auto it = functions.find(function.name);
    if (it == functions.end()) {
      difference.onlyAfter.push_back(function.name);
      continue;
    }
    const ReadFunction &partner = *it->second;
    functions.erase(it);
    FunctionDifference &entry = difference.functions.emplace_back();
    entry.name = function.name;
    entry.index = index;
    if (!partner.untouched && !function.untouched)
      compareFunctions(*old, partner, *current, function, entry);
  }
  for (const ReadFunction &function : old->functions)
    if (functions.contains(function.name))
      difference.onlyBefore.push_back(function.name);
  return difference;
}

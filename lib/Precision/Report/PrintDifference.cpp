//===- PrintDifference.cpp - Two compared reports as files ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Report/ReportDifference.h"

#include "amp/Precision/Report/ReportErrors.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <tuple>

using namespace mlir;
using namespace mlir::amp;
using llvm::json::Array;
using llvm::json::Object;

/// The places of a group of slots that the text names.
static constexpr size_t kMaxPlaces = 3;

/// Describes the settings of a report in a phrase.
static std::string describe(const llvm::json::Value &report) {
  const Object &object = *report.getAsObject();
  std::string text =
      ("policy " + *object.getString("policy") + ", strategy " +
       *object.getString("strategy") + ", " + *object.getString("lowType"))
          .str();
  const Object *target = object.getObject("target");
  if (std::optional<StringRef> name =
          target ? target->getString("name") : std::nullopt;
      name && !name->empty())
    text += (", target " + *name).str();
  return text;
}

static StringRef getTitle(StringRef total) {
  return llvm::StringSwitch<StringRef>(total)
      .Case("lowSlots", "low slots")
      .Case("lowValues", "low values")
      .Case("lowValueBytes", "bytes of low values, in f32")
      .Case("lowFlops", "FLOPs of low products")
      .Case("castBytes", "bytes of casts")
      .Case("bytes", "bytes moved")
      .Default(total);
}

/// Describes a type and the rule that decided it.
static std::string describe(const ReportedDecision &decision) {
  std::string text = decision.type.empty() ? "unchanged" : decision.type;
  text += " (" + decision.rule;
  if (!decision.cause.empty())
    text += " from " + decision.cause;
  return text + ")";
}

static void printSlots(ArrayRef<SlotDifference> slots, raw_ostream &os) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  llvm::MapVector<Key, SmallVector<const SlotDifference *>,
                  std::map<Key, unsigned>>
      groups;
  for (const SlotDifference &slot : slots)
    groups[{slot.name, slot.kind, describe(slot.before), describe(slot.after)}]
        .push_back(&slot);
  for (auto &[key, members] : groups) {
    auto &[name, kind, before, after] = key;
    int64_t bytes = 0;
    for (const SlotDifference *slot : members)
      bytes += slot->after.bytes - slot->before.bytes;
    os << llvm::formatv("  {0,4}  {1}, {2} slot: {3} -> {4}, {5}{6} bytes\n",
                        members.size(), name, kind, before, after,
                        bytes > 0 ? "+" : "", bytes);
    SmallVector<StringRef> places;
    for (const SlotDifference *slot : members)
      if (!slot->place.empty() && !llvm::is_contained(places, slot->place))
        places.push_back(slot->place);
    if (places.empty())
      continue;
    os << "        at "
       << llvm::join(ArrayRef(places).take_front(kMaxPlaces), ", ");
    if (places.size() > kMaxPlaces)
      os << " and " << places.size() - kMaxPlaces << " more";
    os << '\n';
  }
}

void ReportDifference::printText(raw_ostream &os) const {
  os << "before: " << describe(before) << "\nafter:  " << describe(after)
     << '\n';
  for (const FunctionDifference &function : functions) {
    os << "\nfunction " << function.name << ": " << function.slots.size()
       << " slots change their type, " << function.otherRules
       << " keep it by another rule\n";
    if (function.onlyBefore || function.onlyAfter)
      os << function.onlyBefore << " operations are only in the first report, "
         << function.onlyAfter << " only in the second\n";
    if (!function.totals.empty())
      os << llvm::formatv("  {0,-28}{1,16}{2,16}{3,16}\n", "", "before",
                          "after", "difference");
    for (const TotalDifference &total : function.totals)
      os << llvm::formatv("  {0,-28}{1,16}{2,16}{3,16}\n", getTitle(total.key),
                          total.before, total.after,
                          total.after - total.before);
    printSlots(function.slots, os);
  }
  for (const std::string &name : onlyBefore)
    os << "function " << name << " is only in the first report\n";
  for (const std::string &name : onlyAfter)
    os << "function " << name << " is only in the second report\n";
}

static Object toJSON(const ReportedDecision &decision) {
  Object object{{"rule", decision.rule}, {"bytes", decision.bytes}};
  if (!decision.type.empty())
    object["type"] = decision.type;
  if (!decision.cause.empty())
    object["cause"] = decision.cause;
  return object;
}

static Object getSettings(const llvm::json::Value &report) {
  Object settings;
  for (StringRef key : {"strategy", "policy", "lowType", "target"})
    if (const llvm::json::Value *value = report.getAsObject()->get(key))
      settings[key] = *value;
  return settings;
}

llvm::json::Value ReportDifference::toJSON() const {
  Array list;
  for (const FunctionDifference &function : functions) {
    Object totals;
    for (const TotalDifference &total : function.totals)
      totals[total.key] = Array{total.before, total.after};
    Array slots;
    for (const SlotDifference &slot : function.slots)
      slots.push_back(Object{{"op", slot.op},
                             {"name", slot.name},
                             {"place", slot.place},
                             {"part", slot.part},
                             {"slot", slot.slot},
                             {"kind", slot.kind},
                             {"before", ::toJSON(slot.before)},
                             {"after", ::toJSON(slot.after)}});
    list.push_back(Object{{"name", function.name},
                          {"index", function.index},
                          {"totals", std::move(totals)},
                          {"slots", std::move(slots)},
                          {"otherRules", function.otherRules},
                          {"onlyBefore", function.onlyBefore},
                          {"onlyAfter", function.onlyAfter}});
  }
  return Object{{"before", getSettings(before)},
                {"after", getSettings(after)},
                {"functions", std::move(list)},
                {"onlyBefore", Array(onlyBefore)},
                {"onlyAfter", Array(onlyAfter)}};
}

void ReportDifference::writeHTML(raw_ostream &os) const {
  llvm::json::Value report = after;
  Object &object = *report.getAsObject();
  object["differences"] = toJSON();
  // A rule of the first report may be missing in the second, if another version
  // of the tool wrote it.
  Object *rules = object.getObject("rules");
  const Object *others = before.getAsObject()->getObject("rules");
  if (rules && others)
    for (const auto &[key, text] : *others)
      rules->try_emplace(key, text);
  writeReportHTML(report, os);
}

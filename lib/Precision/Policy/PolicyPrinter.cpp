//===- PolicyPrinter.cpp - Policies as YAML -------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdapterFile.h"
#include "PolicyScalar.h"
#include "amp/LossScaling/LossScaler.h"
#include "amp/Precision/Policy/Policy.h"
#include "amp/Precision/Policy/ScalingRecipe.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/YAMLTraits.h"
#include <cstdio>

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::amp::detail;

std::string Policy::quote(StringRef text) {
  switch (llvm::yaml::needsQuotes(text)) {
  case llvm::yaml::QuotingType::None:
    return text.str();
  case llvm::yaml::QuotingType::Single: {
    std::string quoted = "'";
    for (char c : text)
      quoted += c == '\'' ? std::string("''") : std::string(1, c);
    return quoted + "'";
  }
  case llvm::yaml::QuotingType::Double:
    return "\"" + llvm::yaml::escape(text) + "\"";
  }
  llvm_unreachable("every kind of quotes is covered");
}

static void printNumber(raw_ostream &os, StringRef key,
                        std::optional<double> value) {
  // Print the fewest digits that read as the same number.
  if (!value)
    return;
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof(text), "%.*g", digits, *value);
    double again;
    if (!StringRef(text).getAsDouble(again) && again == *value)
      break;
  }
  os << "  " << key << ": " << text << "\n";
}

static void printLossScaling(raw_ostream &os,
                             const LossScalingSettings &settings) {
  std::string text;
  llvm::raw_string_ostream body(text);
  if (!settings.mode.empty())
    body << "  mode: " << settings.mode << "\n";
  if (!settings.scaler.empty())
    body << "  scaler: " << settings.scaler << "\n";
  for (const std::string &key : LossScaler::getKeys())
    if (auto value = settings.values.find(key); value != settings.values.end())
      body << "  " << key << ": " << value->second << "\n";
  if (!text.empty())
    os << "loss-scaling:\n" << text;
}

static void printFloat8(raw_ostream &os, const Float8Settings &settings) {
  std::string text;
  llvm::raw_string_ostream body(text);
  if (!settings.recipe.empty())
    body << "  recipe: " << settings.recipe << "\n";
  for (StringRef key : getFloat8Keys())
    if (auto value = settings.values.find(key.str());
        value != settings.values.end())
      body << "  " << key << ": " << value->second << "\n";
  if (!settings.keep.empty())
    body << "  keep:\n";
  for (StringRef glob : settings.keep)
    body << "    - " << Policy::quote(glob) << "\n";
  if (!text.empty())
    os << "fp8:\n" << text;
}

static void printTarget(raw_ostream &os, const Target &target) {
  if (!target.name.empty()) {
    os << "target: " << target.name << "\n";
    return;
  }
  os << "target:\n  low-types: [" << llvm::join(target.lowTypes, ", ") << "]\n";
  printNumber(os, "low-flop-per-byte", target.lowFlopPerByte);
  printNumber(os, "f32-flop-per-byte", target.f32FlopPerByte);
  os << "  alignment: " << target.alignment << "\n";
  printNumber(os, "cast-read-share", target.castReadShare);
  printNumber(os, "cast-write-share", target.castWriteShare);
}

static void printSettings(raw_ostream &os, const PolicySettings &settings) {
  if (!settings.precision.empty())
    os << "precision: " << settings.precision << "\n";
  if (settings.strategy)
    os << "strategy: " << stringifyStrategy(*settings.strategy) << "\n";
  if (settings.gradientType)
    os << "gradient-type: " << stringifyGradientType(*settings.gradientType)
       << "\n";
  auto printGlobs = [&](StringRef key, ArrayRef<std::string> globs) {
    if (!globs.empty())
      os << key << ":\n";
    for (StringRef glob : globs)
      os << "  - " << Policy::quote(glob) << "\n";
  };
  printGlobs("low-gradients", settings.lowGradients);
  if (settings.roundings)
    os << "roundings: "
       << (*settings.roundings == Roundings::Keep ? "keep" : "fold") << "\n";
  if (settings.promotions)
    os << "promotions: "
       << (*settings.promotions == Promotions::Keep ? "keep" : "cost") << "\n";
  printLossScaling(os, settings.lossScaling);
  printFloat8(os, settings.float8);
  printGlobs("linear", settings.linear);
  printGlobs("intervals", settings.intervals);
  if (!settings.masterWeights.empty())
    os << "master-weights: " << settings.masterWeights << "\n";
  if (settings.target)
    printTarget(os, *settings.target);
}

/// Whether one list can hold the entries of all files. It cannot if a glob wins
/// over a longer one of the base. The base is then printed separately.
template <typename RuleT>
static bool isFlat(ArrayRef<RuleT> rules) {
  // Rules come by layer.
  const RuleT *glob =
      llvm::find_if(rules, [](const RuleT &rule) { return !rule.exact; });
  return llvm::none_of(llvm::make_range(glob, rules.end()),
                       [&](const RuleT &rule) {
                         return !rule.exact && rule.layer != glob->layer;
                       });
}

/// Returns the members of `rules` to print for `layer`. `isSame` returns
/// whether two rules decide the same thing. Unless `mayMerge` is set, the
/// layers stay apart.
template <typename RuleT, typename IsSameT>
static SmallVector<const RuleT *> getPrinted(ArrayRef<RuleT> rules,
                                             unsigned layer, bool mayMerge,
                                             IsSameT isSame) {
  SmallVector<const RuleT *> printed;
  bool flat = mayMerge && isFlat(rules);
  for (const RuleT &rule : rules) {
    // A rule of an outer layer hides this one.
    auto hides = [&](const RuleT &other) {
      return other.layer < rule.layer && isSame(rule, other) &&
             (other.text == rule.text ||
              (rule.exact && other.matches(rule.text)));
    };
    if (flat ? layer == 0 && llvm::none_of(rules, hides) : rule.layer == layer)
      printed.push_back(&rule);
  }
  return printed;
}

void Policy::print(raw_ostream &os) const {
  os << "version: 1\n";
  printSettings(os, settings);
  printLayer(os, /*layer=*/0, /*indent=*/"");
  // Only adapters in force are left. Their lists are printed above.
  if (!adapters.empty())
    os << "adapters:\n";
  for (const Adapter &adapter : adapters)
    printAdapter(os, adapter);
}

void Policy::printSameAs(raw_ostream &os, unsigned layer,
                         StringRef indent) const {
  llvm::MapVector<StringRef, SmallVector<StringRef>> entries;
  for (const SameRule &rule : sameRules)
    if (rule.layer == layer)
      entries[rule.representative].push_back(rule.text);
  if (!entries.empty())
    os << indent << "same-as:\n";
  for (auto &[representative, names] : entries) {
    os << indent << "  " << quote(representative) << ": [";
    llvm::interleaveComma(names, os,
                          [&](StringRef name) { os << quote(name); });
    os << "]\n";
  }
}

void Policy::printLayer(raw_ostream &os, unsigned layer,
                        StringRef indent) const {
  auto always = [](const auto &, const auto &) { return true; };
  // The layer of an entry decides whether those of `same-as` follow it.
  bool mayMerge = sameRules.empty();
  auto list = getPrinted(ArrayRef<ListRule>(rules), layer, mayMerge, always);
  for (auto [index, key] : llvm::enumerate(listKeys)) {
    bool first = true;
    for (const ListRule *rule : list) {
      if (rule->opClass != static_cast<OpClass>(index))
        continue;
      if (std::exchange(first, false))
        os << indent << key << ":\n";
      os << indent << "  - " << quote(rule->text) << "\n";
    }
  }

  printSameAs(os, layer, indent);
  auto slots = getPrinted(ArrayRef<SlotRule>(slotRules), layer, mayMerge,
                          [](const SlotRule &rule, const SlotRule &other) {
                            return rule.slot == other.slot;
                          });
  if (!slots.empty())
    os << indent << "slots:\n";
  for (const SlotRule *rule : slots)
    os << indent << "  - op: " << quote(rule->text) << "\n"
       << indent << "    slot: " << static_cast<int>(rule->slot) << "\n"
       << indent << "    kind: " << stringifySlotKind(rule->kind) << "\n";

  auto isHere = [&](const SlotTypes &types) { return types.layer == layer; };
  if (llvm::any_of(slotTypes, isHere))
    os << indent << "slot-types:\n";
  for (const SlotTypes &types : llvm::make_filter_range(slotTypes, isHere)) {
    os << indent << "  " << quote(types.name) << ": [";
    llvm::interleaveComma(types.pins, os, [&](Pin pin) {
      os << (pin == Pin::None ? "any" : stringifyPin(pin));
    });
    os << "]\n";
  }

  auto pins = getPrinted(ArrayRef<PinRule>(pinRules), layer,
                         /*mayMerge=*/true, always);
  if (!pins.empty())
    os << indent << "pins:\n";
  for (const PinRule *rule : pins)
    os << indent << "  " << quote(rule->text) << ": " << stringifyPin(rule->pin)
       << "\n";

  if (layer + 1 == numLayers)
    return;
  std::string text;
  llvm::raw_string_ostream body(text);
  printLayer(body, layer + 1, (indent + "  ").str());
  if (!text.empty())
    os << indent << "extends:\n" << text;
}

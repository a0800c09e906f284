//===- Policy.cpp - Which operations run in low precision -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/Policy.h"

#include "PolicyDocument.h"
#include "amp/Support/LocationText.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

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

/// Returns the first of `entries` that matches `op`, or null. `cache` holds the
/// entries that match the name of an operation.
template <typename Rule>
static const Rule *
findMatching(Operation *op, ArrayRef<std::string> entries,
             llvm::DenseMap<OperationName, SmallVector<Rule, 1>> &cache) {
  auto [it, isNew] = cache.try_emplace(op->getName());
  if (isNew)
    for (StringRef text : entries) {
      std::string expected;
      FailureOr<Rule> rule = Rule::parse(text, expected);
      if (succeeded(rule) && rule->pattern.match(op->getName().getStringRef()))
        it->second.push_back(std::move(*rule));
    }
  for (const Rule &rule : it->second)
    if (rule.isSatisfiedBy(op))
      return &rule;
  return nullptr;
}

std::optional<LinearRule::Kind> Policy::findLinearKind(Operation *op) const {
  const LinearRule *rule = findMatching(op, settings.linear, linearCache);
  return rule ? std::optional(rule->kind) : std::nullopt;
}

const FloatRangeRule *Policy::findIntervalRule(Operation *op) const {
  return findMatching(op, settings.intervals, intervalCache);
}

StringRef Policy::findFunction(Operation *op) const {
  const FloatRangeRule *rule = findIntervalRule(op);
  return rule ? rule->name : StringRef();
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

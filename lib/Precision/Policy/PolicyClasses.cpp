//===- PolicyClasses.cpp - The class of an operation ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the entry of the lists that decides the class of an operation: its own,
// or that of an operation that means the same.
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/Policy.h"

#include "amp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::amp;

StringRef Policy::findRepresentative(StringRef name) const {
  auto rule = llvm::find_if(
      sameRules, [&](const SameRule &rule) { return rule.matches(name); });
  return rule == sameRules.end() ? StringRef() : rule->representative;
}

const Policy::ListRule *Policy::findListed(StringRef name,
                                           StringRef full) const {
  const ListRule *general =
      findRule(name, [&](const ListRule &rule) { return rule.matches(name); });
  if (full.empty())
    return general;
  // An entry for the variant precedes an entry for the name in the same file.
  const ListRule *special = findRule(full, [&](const ListRule &rule) {
    return rule.matches(full) && !rule.matches(name);
  });
  bool isSpecial = special && (!general || special->layer <= general->layer);
  return isSpecial ? special : general;
}

const Policy::ListRule *Policy::findEntry(StringRef name,
                                          StringRef full) const {
  const ListRule *listed = findListed(name, full);
  StringRef representative =
      full.empty() ? StringRef() : findRepresentative(full);
  if (representative.empty())
    representative = findRepresentative(name);
  if (representative.empty())
    return listed;
  return getNearer(findListed(representative, {}), listed);
}

const Policy::ListRule *Policy::getNearer(const ListRule *same,
                                          const ListRule *listed) {
  return same && (!listed || same->layer < listed->layer) ? same : listed;
}

OpClass Policy::classify(OperationName name) const {
  if (assumption && assumption->first == name)
    return assumption->second;
  auto [it, isNew] = cache.try_emplace(name, OpClass::Unlisted);
  if (!isNew)
    return it->second;
  if (const ListRule *rule = findEntry(name.getStringRef(), {}))
    it->second = rule->opClass;
  return it->second;
}

OpClass Policy::classify(OperationName name, StringRef variant) const {
  if (variant.empty() || (assumption && assumption->first == name))
    return classify(name);
  auto [it, isNew] =
      variantCache.try_emplace({name, variant}, OpClass::Unlisted);
  if (!isNew)
    return it->second;
  StringRef element = variant.contains('.') ? variant : StringRef();
  if (!element.empty())
    variant = PrecisionSlots::elementwise;
  std::string full = (name.getStringRef() + "." + variant).str();
  const ListRule *rule = findEntry(name.getStringRef(), full);
  // In one file, the entry for the operation of the body has priority.
  if (!element.empty())
    if (const ListRule *special = findEntry(element, {});
        special && (!rule || special->layer <= rule->layer))
      rule = special;
  if (rule)
    it->second = rule->opClass;
  return it->second;
}

ArrayRef<Pin> Policy::getSlotTypes(StringRef name) const {
  auto it = slotTypeNumbers.find(name);
  if (it == slotTypeNumbers.end())
    return {};
  const SlotTypes &types = slotTypes[it->second];
  types.seen = true;
  return types.pins;
}

unsigned Policy::countEntries(OperationName name) const {
  const ListRule *first = nullptr;
  unsigned count = 0;
  for (const ListRule &rule : rules) {
    if (!rule.matches(name.getStringRef()))
      continue;
    if (!first)
      first = &rule;
    count += rule.layer == first->layer;
  }
  return count;
}

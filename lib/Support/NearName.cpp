//===- NearName.cpp - Misspelled names ------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Support/NearName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using llvm::ArrayRef;
using llvm::StringRef;

/// Returns `name` in lower case without underscores and hyphens.
static std::string normalize(StringRef name) {
  std::string text = name.lower();
  llvm::erase_if(text, [](char c) { return c == '_' || c == '-'; });
  return text;
}

StringRef mlir::amp::findNearName(StringRef name, ArrayRef<StringRef> known) {
  if (llvm::is_contained(known, name))
    return "";
  constexpr size_t kShortest = 3;
  std::string given = normalize(name);
  StringRef nearest;
  unsigned best = unsigned(std::max<size_t>(given.size() / 3, 1)) + 1;
  for (StringRef candidate : known) {
    std::string other = normalize(candidate);
    bool isShort = std::min(given.size(), other.size()) < kShortest;
    unsigned distance = StringRef(given).edit_distance(other);
    if (!isShort && (StringRef(other).starts_with(given) ||
                     StringRef(given).starts_with(other)))
      distance = std::min(distance, 1u);
    if (isShort && distance != 0)
      continue;
    // Of two that are as near, neither is meant more.
    if (distance == best)
      nearest = "";
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string mlir::amp::suggestName(StringRef name, ArrayRef<StringRef> known) {
  StringRef near = findNearName(name, known);
  return near.empty() ? "" : (", did you mean '" + near + "'").str();
}

//===- ScalingRecipe.cpp - How values get scales of eight bits ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Precision/Policy/ScalingRecipe.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <limits>

using namespace mlir;
using namespace mlir::amp;

/// docs/sources.md says where they come from.
static constexpr int kAnyLater = std::numeric_limits<int>::max();
static constexpr ScalingRecipe kRecipes[] = {
    {"current", -1, false, true, false, false, 89, kAnyLater},
    {"delayed", -1, false, true, false, true, 89, kAnyLater},
    {"rowwise", 0, false, false, true, false, 90, 90},
    {"block-128", 128, true, false, true, false, 90, 90},
    {"mxfp8", 32, false, false, true, false, 100, kAnyLater},
};

const ScalingRecipe *mlir::amp::findScalingRecipe(StringRef name) {
  const auto *it = llvm::find_if(kRecipes, [&](const ScalingRecipe &recipe) {
    return recipe.name == name;
  });
  return it == std::end(kRecipes) ? nullptr : it;
}

std::string mlir::amp::listScalingRecipes(int capability) {
  SmallVector<StringRef> names;
  for (const ScalingRecipe &recipe : kRecipes)
    if (capability == 0 || recipe.runsOn(capability))
      names.push_back(recipe.name);
  return llvm::join(names, ", ");
}

ArrayRef<StringRef> mlir::amp::getFloat8Keys() {
  static constexpr StringRef keys[] = {"recipe",
                                       "formats",
                                       "history-length",
                                       "algorithm",
                                       "margin",
                                       "accumulator-bits",
                                       "promotion",
                                       "keep-first",
                                       "keep-last",
                                       "backward",
                                       "high-weight-gradients"};
  return keys;
}

std::string mlir::amp::findFloat8Fault(StringRef key, StringRef text) {
  auto isOneOf = [&](ArrayRef<StringRef> names) -> std::string {
    if (llvm::is_contained(names, text))
      return "";
    return llvm::join(names.drop_back(), ", ") + " or " + names.back().str();
  };
  auto isBetween = [&](int64_t least, int64_t most) -> std::string {
    int64_t value;
    if (!text.getAsInteger(10, value) && least <= value && value <= most)
      return "";
    if (most == std::numeric_limits<int32_t>::max())
      return "at least " + std::to_string(least);
    return "from " + std::to_string(least) + " to " + std::to_string(most);
  };
  if (key == "recipe")
    return text == "none" || findScalingRecipe(text)
               ? ""
               : "none, " + listScalingRecipes();
  if (key == "formats")
    return isOneOf({"e4m3", "hybrid"});
  if (key == "algorithm")
    return isOneOf({"max", "most_recent"});
  if (key == "backward")
    return isOneOf({"quantized", "high", "dequantized"});
  if (key == "high-weight-gradients")
    return isOneOf({"true", "false"});
  if (key == "history-length")
    return isBetween(1, kLongestHistory);
  if (key == "margin")
    return isBetween(0, kLargestMargin);
  if (key == "accumulator-bits")
    return isBetween(kNarrowestAccumulator, 32);
  return isBetween(0, std::numeric_limits<int32_t>::max());
}

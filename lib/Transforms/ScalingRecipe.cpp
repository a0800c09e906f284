//===- ScalingRecipe.cpp - How values get scales of eight bits ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalingRecipe.h"

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

//===- ScalingRecipe.cpp - How values get scales of eight bits ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalingRecipe.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::amp;

/// docs/sources.md says where they come from.
static constexpr ScalingRecipe kRecipes[] = {
    {"current", -1, false, true, false},
    {"rowwise", 0, false, false, true},
    {"block-128", 128, true, false, true},
    {"mxfp8", 32, false, false, true},
};

const ScalingRecipe *mlir::amp::findScalingRecipe(StringRef name) {
  const auto *it = llvm::find_if(kRecipes, [&](const ScalingRecipe &recipe) {
    return recipe.name == name;
  });
  return it == std::end(kRecipes) ? nullptr : it;
}

std::string mlir::amp::listScalingRecipes() {
  return llvm::join(
      llvm::map_range(kRecipes,
                      [](const ScalingRecipe &recipe) { return recipe.name; }),
      ", ");
}

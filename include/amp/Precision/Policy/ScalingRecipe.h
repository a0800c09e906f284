//===- ScalingRecipe.h - How values get scales of eight bits ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_PRECISION_POLICY_SCALINGRECIPE_H
#define AMP_PRECISION_POLICY_SCALINGRECIPE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::amp {

/// The formats and scales of the operands of products.
struct ScalingRecipe {
  StringRef name;
  /// Elements along the contracted dimension that share a scale; 0 for all
  /// elements of a row, -1 for a scale of the whole tensor.
  int64_t block;
  /// Whether a block of a weight is square. A copy then serves products of the
  /// weight and of its transpose.
  bool squareWeights;
  /// Whether gradients are f8E5M2 rather than f8E4M3FN.
  bool wideGradients;
  /// Whether scales are rounded down to powers of two.
  bool powersOfTwo;
  /// Whether scales follow the magnitudes of earlier steps, which are state of
  /// the step.
  bool isDelayed;
  /// The least and the largest compute capability of CUDA, ten times the major
  /// and the minor number, whose products take such scales.
  int leastCapability, largestCapability;

  /// Whether a GPU of `capability` multiplies operands with such scales.
  bool runsOn(int capability) const {
    return leastCapability <= capability && capability <= largestCapability;
  }

  /// Returns the sizes of blocks, as `amp.amax` takes them, of an operand whose
  /// columns or rows a product contracts. Returns std::nullopt for a scale of
  /// the whole tensor.
  std::optional<SmallVector<int64_t>> getBlocks(bool contractsColumns,
                                                bool isWeight) const {
    if (block < 0)
      return std::nullopt;
    if (isWeight && squareWeights)
      return SmallVector<int64_t>{block, block};
    return contractsColumns ? SmallVector<int64_t>{1, block}
                            : SmallVector<int64_t>{block, 1};
  }
};

/// Returns the recipe called `name`, or null.
const ScalingRecipe *findScalingRecipe(StringRef name);

/// Returns the names of all recipes, with commas between them. With
/// `capability`, of those that run on it.
std::string listScalingRecipes(int capability = 0);

/// Returns the settings of `amp-quantize-products` that have one value each.
/// Options of the pass, options of the pipeline after `fp8-`, and keys of
/// policies have these names.
ArrayRef<StringRef> getFloat8Keys();

/// Returns what a value of the setting `key` must be if `text` is not one, and
/// an empty string otherwise.
std::string findFloat8Fault(StringRef key, StringRef text);

} // namespace mlir::amp

#endif // AMP_PRECISION_POLICY_SCALINGRECIPE_H

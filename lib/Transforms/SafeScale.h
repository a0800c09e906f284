//===- SafeScale.h - The largest loss scale that is safe --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_SAFESCALE_H
#define AMP_LIB_TRANSFORMS_SAFESCALE_H

#include "ForeignRules.h"

#include "amp/LossScaling/ScaleExponentAnalysis.h"
#include <optional>

namespace mlir::amp {

/// The largest loss scale with which all scaled f16 values of a step that have
/// a bound are finite for any data.
struct SafeScale {
  /// The scale is 2^`exponent`.
  int exponent;
  /// The value that allows no larger scale, and its largest magnitude for the
  /// scale 1.
  OpResult limiting;
  double magnitude;
  /// Whether data may reach this magnitude. The bound of a sum assumes that all
  /// terms are the largest, so values of data may stay far below it.
  bool isTight;
};

/// Finds the largest safe scale of `function`. None if no scaled f16 value has
/// a bound. A value has one if intervals prove it from the operations, for all
/// data: the gradient of a softmax times a seed does, and a product with a
/// weight does not. `rules` give the intervals of foreign operations.
std::optional<SafeScale> findSafeScale(FunctionOpInterface function,
                                       const ScaleExponentAnalysis &exponents,
                                       const ForeignRules &rules);

/// Emits a remark with the largest safe scale of `function`. If data may reach
/// the bound and the initial scale is larger, the remark names the option that
/// sets a smaller one. A larger constant scale causes a warning.
void reportSafeScale(FunctionOpInterface function,
                     const ScaleExponentAnalysis &exponents,
                     const ForeignRules &rules);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_SAFESCALE_H

//===- Normalization.h - Normalisations in primitives -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_NORMALIZATION_H
#define AMP_LIB_PRECISION_ASSIGNMENT_NORMALIZATION_H

#include "amp/Interfaces/PrecisionOpInterface.h"

namespace mlir::amp {

/// Returns whether two values are equal: they are the same value, or the same
/// operations compute them, to a limited depth, from the same values.
bool areEqual(Value a, Value b, unsigned depth = 6);

/// Returns whether each of two values is the negative of the other: they are
/// differences of the same values in opposite order.
bool areOpposite(Value a, Value b);

/// Returns whether `factor`, an operand of a product, is `rsqrt(m + e)`, where
/// m is the mean of squares of the other operand over groups of its elements, e
/// is any value, and each element is multiplied by the root of its own group.
/// The n elements of a group are then at most the root of n, provided that e is
/// not negative. With a negative e the root could be NaN.
///
/// If the other operand is `x - mean(x)`, this is layer or batch normalisation.
/// If it is x, this is root-mean-square normalisation.
bool isNormalization(OpOperand &factor);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_NORMALIZATION_H

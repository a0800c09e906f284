//===- Normalization.h - Normalisations written out -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_NORMALIZATION_H
#define AMP_LIB_PRECISION_NORMALIZATION_H

#include "amp/Interfaces/PrecisionOpInterface.h"

namespace mlir::amp {

/// Returns whether `factor`, an operand of a product, is `rsqrt(m + e)`, where
/// m is the mean of squares of the other operand over groups of its elements,
/// e anything, and each element meets the root of its own group. The n elements
/// of a group are then at most the root of n, provided that e is not negative:
/// the root would be NaN for a smaller group otherwise.
///
/// With `x - mean(x)` for the other operand that is layer or batch
/// normalisation, with x itself it is that by the root mean square.
bool isNormalization(OpOperand &factor);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_NORMALIZATION_H

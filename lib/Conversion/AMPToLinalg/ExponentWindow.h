//===- ExponentWindow.h - Counts of exponents by vectors --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_AMPTOLINALG_EXPONENTWINDOW_H
#define AMP_LIB_CONVERSION_AMPTOLINALG_EXPONENTWINDOW_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::amp {

/// The number of elements whose exponents are counted at once. They fill a
/// vector register of 64 bytes.
inline constexpr int64_t kExponentVector = 64;

/// Counts the f32 exponents of the first `size` elements of the tensor
/// `elements`, which has one dimension and elements of f16, bf16 or f32. `size`
/// is a multiple of `kExponentVector`. Adds the counts to `histogram`, in which
/// the bin of exponent 0 is element `firstBin`, and returns it. `largest` has
/// the bits of the largest finite magnitude as an f32. Elements whose exponents
/// are far from it take longer.
Value countExponentsByVectors(ImplicitLocOpBuilder &b, Value elements,
                              Value size, Value largest, Value histogram,
                              int64_t firstBin);

} // namespace mlir::amp

#endif // AMP_LIB_CONVERSION_AMPTOLINALG_EXPONENTWINDOW_H

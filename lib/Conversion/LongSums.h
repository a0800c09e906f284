//===- LongSums.h - Sums of many values -------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_LONGSUMS_H
#define AMP_LIB_CONVERSION_LONGSUMS_H

#include <cstdint>

namespace mlir::amp {

/// Sums of more than this many values accumulate in f64: the error of adding in
/// order grows with their number.
inline constexpr int64_t kLongSum = 8192;

} // namespace mlir::amp

#endif // AMP_LIB_CONVERSION_LONGSUMS_H

//===- LongSums.h - Sums of many values -------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_CONVERSION_LINALGCOMMON_LONGSUMS_H
#define AMP_CONVERSION_LINALGCOMMON_LONGSUMS_H

#include <cstdint>

namespace mlir::amp {

/// Sums of more values than this accumulate in f64. The error of a sum in order
/// grows with the number of values.
inline constexpr int64_t kLongSum = 8192;

} // namespace mlir::amp

#endif // AMP_CONVERSION_LINALGCOMMON_LONGSUMS_H

//===- FloatBits.h - Exact f16 and bf16 conversions -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions between f32 and the two 16-bit formats by bit arithmetic. They
// round to nearest even, keep subnormals, infinities and the sign of zero, and
// do not depend on the host's instructions (some hosts flush bf16 subnormals).
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_FLOATBITS_H
#define AMP_EXECUTION_FLOATBITS_H

#include <cstdint>

namespace mlir::amp {

/// Rounds `value` to IEEE binary16. Magnitudes from 65520 up become infinity.
uint16_t floatToHalfBits(float value);

/// Widens an IEEE binary16 bit pattern; exact.
float halfBitsToFloat(uint16_t bits);

/// Rounds `value` to bfloat16, subnormals included.
uint16_t floatToBFloatBits(float value);

/// Widens a bfloat16 bit pattern; exact.
float bfloatBitsToFloat(uint16_t bits);

} // namespace mlir::amp

#endif // AMP_EXECUTION_FLOATBITS_H

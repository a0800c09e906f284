//===- ScaleModes.cpp - Scales of 8-bit operands ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScaleModes.h"

#include "amp/CudaHost/Host.h"
#include "cublasLt.h"

#include <cmath>

using namespace amp::cuda::host;

int64_t amp::cuda::host::scaleVector(int32_t mode) {
  switch (mode) {
  case CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0:
    return 32;
  case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
  case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F:
    return 128;
  }
  return 0;
}

/// Checks which scale modes a GPU supports and which can be combined. All
/// matrices are stored along the contracted dimension. Where NVIDIA does not
/// document the extents, the rules are strict: whole vectors, and results with
/// whole groups of 16 rows.
const char *amp::cuda::host::findScaleFault(const ScaledOperand &a,
                                            const ScaledOperand &b,
                                            bool isFast) {
  constexpr int32_t kTensor = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F,
                    kSquare = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F,
                    kVector = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
  const int capability = options().capability;
  for (int32_t mode : {a.mode, b.mode}) {
    if (mode < kTensor || mode > kSquare || mode == 1)
      return "a scale mode that 8-bit operands do not support";
    if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 && capability < 100)
      return "scales of 32 elements need compute capability 10.0";
    if (mode > CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 && capability != 90)
      return "scales of rows or of 128 elements need compute capability 9.0";
  }
  const bool are128 = (a.mode == kVector || a.mode == kSquare) &&
                      (b.mode == kVector || b.mode == kSquare);
  if (a.mode == kSquare && b.mode == kSquare)
    return "both operands have scales of squares";
  if (a.mode != b.mode && !are128)
    return "the scale modes of A and B cannot be combined";
  const int64_t vector = scaleVector(a.mode);
  if (vector == 0)
    return nullptr;
  if (isFast)
    return "fast accumulation with scales of blocks";
  if (a.inner % vector != 0 || a.outer % 16 != 0 || b.outer % 16 != 0)
    return "extents that are not whole vectors of scales or groups of 16";
  if (a.ld != a.inner || b.ld != b.inner)
    return "operands with scales of blocks that are not packed";
  return nullptr;
}

static int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

int64_t amp::cuda::host::scaleBytes(int32_t mode, int64_t outer,
                                    int64_t inner) {
  switch (mode) {
  case CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F:
    return 4 * outer;
  case CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0:
    return roundUp(outer, 128) * roundUp(inner, 128) / 32;
  case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
    return 4 * outer * (roundUp(inner, 128) / 128);
  case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F:
    return 4 * (roundUp(outer, 128) / 128) * roundUp(inner, 512) / 128;
  }
  return 4;
}

/// The library stores the factors of vectors of 128 elements column by column.
/// It stores the factors of squares row by row, padded to groups of four.
/// Exponents have tiles of 128 rows and four vectors, in which rows 32 apart
/// are adjacent.
double amp::cuda::host::readScale(const void *scales, int32_t mode,
                                  int64_t outer, int64_t inner, int64_t o,
                                  int64_t i) {
  const auto *values = static_cast<const float *>(scales);
  switch (mode) {
  case CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F:
    return values[o];
  case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
    return values[i / 128 * outer + o];
  case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F:
    return values[o / 128 * (roundUp(inner, 512) / 128) + i / 128];
  case CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0: {
    const int64_t groups = roundUp(inner, 128) / 128, vector = i / 32;
    const uint8_t exponent = static_cast<const uint8_t *>(
        scales)[512 * (o / 128 * groups + vector / 4) + 16 * (o % 32) +
                4 * (o / 32 % 4) + vector % 4];
    return exponent == 255 ? std::nan("") : std::ldexp(1.0, exponent - 127);
  }
  }
  return values[0];
}

void amp::cuda::host::multiplyByScales(std::vector<double> &rows,
                                       const void *scales, int32_t mode,
                                       int64_t inner) {
  const int64_t outer = int64_t(rows.size()) / inner;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      rows[o * inner + i] *= readScale(scales, mode, outer, inner, o, i);
}

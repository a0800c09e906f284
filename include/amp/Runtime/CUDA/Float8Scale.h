//===- Float8Scale.h - Scales of 8-bit operands -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defines the layouts in which cuBLASLt reads the factors of an operand. This
// header does not need CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_FLOAT8SCALE_H
#define AMP_RUNTIME_CUDA_FLOAT8SCALE_H

#include "amp/Runtime/CUDA/Sizes.h"

namespace amp::cuda {

/// The layouts of the factors of an operand of 8-bit floats, one for each scale
/// mode of cuBLASLt. An operand has `outer` rows of `inner` elements. Products
/// contract the rows. The factors are the inverses of the scales.
enum class Float8Scale : uint8_t {
  Tensor,    ///< f32, one factor
  Outer,     ///< f32 [outer], a factor for each row
  Vector32,  ///< the exponents of powers of two, for 32 elements of a row
  Vector128, ///< f32 [inner / 128, outer], for 128 elements of a row
  Block128,  ///< f32 [outer / 128, align(inner / 128, 4)], for 128 x 128
};

/// Whether GPUs of `capability` support products with such factors.
/// `capability` is ten times the major version plus the minor version.
AMP_PORTABLE bool hasFloat8Scale(int capability, Float8Scale scale) {
  return scale == Float8Scale::Tensor     ? capability >= 89
         : scale == Float8Scale::Vector32 ? capability >= 100
                                          : capability == 90;
}

/// Whether products multiply parts of a sum by different factors.
AMP_PORTABLE bool hasBlocks(Float8Scale scale) {
  return scale != Float8Scale::Tensor && scale != Float8Scale::Outer;
}
/// Elements along the contracted dimension that share a factor, or 0 for all of
/// them.
AMP_PORTABLE int64_t float8ScaleInner(Float8Scale scale) {
  return !hasBlocks(scale) ? 0 : scale == Float8Scale::Vector32 ? 32 : 128;
}
/// Returns the padded inner extent of an operand.
AMP_PORTABLE int64_t padFloat8Inner(int64_t extent, Float8Scale scale) {
  return alignTo(extent,
                 hasBlocks(scale) ? float8ScaleInner(scale) : kFloat8Extent);
}
/// The numbers of rows and columns of factors in a buffer, for an operand with
/// padded extents. `Vector32` has tiles of 128 rows and four columns.
AMP_PORTABLE int64_t float8ScaleRows(Float8Scale scale, int64_t outer) {
  return scale == Float8Scale::Tensor     ? 1
         : scale == Float8Scale::Block128 ? ceilDiv(outer, 128)
         : scale == Float8Scale::Vector32 ? alignTo(outer, 128)
                                          : outer;
}
AMP_PORTABLE int64_t float8ScaleColumns(Float8Scale scale, int64_t inner) {
  return !hasBlocks(scale) ? 1
         : scale == Float8Scale::Vector128
             ? ceilDiv(inner, 128)
             : alignTo(ceilDiv(inner, float8ScaleInner(scale)), 4);
}
/// Returns the index of a factor in a buffer of `rows` x `columns` factors.
AMP_PORTABLE int64_t float8ScaleIndex(Float8Scale scale, int64_t rows,
                                      int64_t columns, int64_t row,
                                      int64_t column) {
  switch (scale) {
  case Float8Scale::Vector32:
    return (row / 128 * (columns / 4) + column / 4) * 512 + row % 32 * 16 +
           row % 128 / 32 * 4 + column % 4;
  case Float8Scale::Block128:
    return row * columns + column;
  default:
    return column * rows + row;
  }
}
/// Returns the bytes of all factors of an operand with padded extents.
AMP_PORTABLE int64_t float8ScaleBytes(Float8Scale scale, int64_t outer,
                                      int64_t inner) {
  return float8ScaleRows(scale, outer) * float8ScaleColumns(scale, inner) *
         (scale == Float8Scale::Vector32 ? 1 : 4);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_FLOAT8SCALE_H

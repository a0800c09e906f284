//===- ScaleModes.h - Scales of 8-bit operands -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements the scale modes of cublasLtMatmul for the operands A and B. This
// code does not include the layouts of the headers that it tests.
//
//===----------------------------------------------------------------------===//
#ifndef AMP_TEST_CUDAHOST_LIB_SCALEMODES_H
#define AMP_TEST_CUDAHOST_LIB_SCALEMODES_H

#include <cstdint>
#include <vector>

namespace amp::cuda::host {

/// An operand of `outer` rows of `inner` elements, `ld` apart, which are stored
/// along the contracted dimension. `mode` is a cublasLtMatmulMatrixScale_t.
struct ScaledOperand {
  int32_t mode;
  int64_t outer, inner, ld;
};

/// Returns why the library rejects the scale modes of a product, or null.
const char *findScaleFault(const ScaledOperand &a, const ScaledOperand &b,
                           bool isFast);

/// Elements of a row that share a factor, or 0 for a whole row or operand.
int64_t scaleVector(int32_t mode);

/// The bytes of the factors of an operand.
int64_t scaleBytes(int32_t mode, int64_t outer, int64_t inner);

/// The factor of element `i` of row `o`, in the order of the library.
double readScale(const void *scales, int32_t mode, int64_t outer, int64_t inner,
                 int64_t o, int64_t i);

/// Multiplies rows of `inner` elements by their factors.
void multiplyByScales(std::vector<double> &rows, const void *scales,
                      int32_t mode, int64_t inner);

} // namespace amp::cuda::host

#endif // AMP_TEST_CUDAHOST_LIB_SCALEMODES_H

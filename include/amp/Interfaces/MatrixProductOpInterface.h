//===- MatrixProductOpInterface.h - Products of matrices --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INTERFACES_MATRIXPRODUCTOPINTERFACE_H
#define AMP_INTERFACES_MATRIXPRODUCTOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace mlir::amp {

/// The product of two matrices and the sum with a vector of columns. The result
/// has the leading dimensions of `lhs`, or one if `lhs` is transposed.
struct MatrixProduct {
  Value lhs, rhs;
  bool transposeLhs, transposeRhs;
  /// Null without a sum.
  Value bias;
};

} // namespace mlir::amp

#include "amp/Interfaces/MatrixProductOpInterface.h.inc"

#endif // AMP_INTERFACES_MATRIXPRODUCTOPINTERFACE_H

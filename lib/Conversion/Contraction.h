//===- Contraction.h - Sums of products over buffers ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix products, convolutions and both of their gradients, as one form of
// linalg.generic.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_CONTRACTION_H
#define AMP_LIB_CONVERSION_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace mlir::amp {

/// result[...] += scalars[...] · vectors[...], where only `vectors` and the
/// result depend on the loop `lane`, in their last dimension.
struct Contraction {
  Value scalars, vectors, result;
  AffineMap scalarMap, vectorMap, resultMap;
  SmallVector<int64_t> extents;
  SmallVector<utils::IteratorType> iterators;
  unsigned lane;

  bool isReduction(unsigned dim) const {
    return iterators[dim] == utils::IteratorType::reduction;
  }
};

/// What `op` computes, if it is such a sum over buffers of static shapes with
/// an accumulator in f32 or f64.
std::optional<Contraction> matchContraction(linalg::GenericOp op);

/// Gives both operands the element type of the result, and `vectors` a
/// contiguous lane dimension, by copies before the insertion point. Returns the
/// buffers that were made, which the caller frees.
SmallVector<Value> packOperands(ImplicitLocOpBuilder &b, Contraction &c);

} // namespace mlir::amp

#endif // AMP_LIB_CONVERSION_CONTRACTION_H

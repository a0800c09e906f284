//===- Contraction.h - Contractions over buffers ----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix products, convolutions and their gradients in one form of
// linalg.generic.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CODEGEN_CPU_CONTRACTION_H
#define AMP_LIB_CODEGEN_CPU_CONTRACTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace mlir::amp {

/// result[...] += scalars[...] · vectors[...]. Only `vectors` and the result
/// depend on the loop `lane`, in their last dimension.
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

/// Matches `op` as a contraction over buffers of static shapes with an f32 or
/// f64 accumulator.
std::optional<Contraction> matchContraction(linalg::GenericOp op);

/// Copies operands before the insertion point so that both have the element
/// type of the result and the last dimension of `vectors` is the contiguous
/// lane dimension. Returns the new buffers, which the caller frees.
SmallVector<Value> packOperands(ImplicitLocOpBuilder &b, Contraction &c);

} // namespace mlir::amp

#endif // AMP_LIB_CODEGEN_CPU_CONTRACTION_H

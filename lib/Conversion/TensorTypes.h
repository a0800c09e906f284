//===- TensorTypes.h - Types of values that are tensors ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_TENSORTYPES_H
#define AMP_LIB_CONVERSION_TENSORTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::cuda {

/// The type of `value`, which is a tensor of known rank.
inline RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

} // namespace mlir::cuda

#endif // AMP_LIB_CONVERSION_TENSORTYPES_H

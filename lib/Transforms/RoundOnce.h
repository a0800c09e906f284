//===- RoundOnce.h - One rounding for each source operation -----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch's kernels compute in f32 and round their result. A framework
// operation may be several operations here, and may have a number of the source
// as an operand, which no kernel rounds.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TRANSFORMS_ROUNDONCE_H
#define AMP_LIB_TRANSFORMS_ROUNDONCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Lets the operations of `function` with one number of `amp.composite` compute
/// in f32 and round to `low` the values that others read. The same holds for an
/// operation with a number as an operand that a cast to `low` would round.
/// `function` is the result of the strategy `autocast`. Returns how many casts
/// there are more.
int64_t roundOnce(FunctionOpInterface function, FloatType low);

} // namespace mlir::amp

#endif // AMP_LIB_TRANSFORMS_ROUNDONCE_H

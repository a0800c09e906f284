//===- ReduceOperations.h - Reduction of graphs -----------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMP_REDUCE_REDUCEOPERATIONS_H
#define AMP_TOOLS_AMP_REDUCE_REDUCEOPERATIONS_H

namespace mlir::amp {

/// Registers `reduce-operations`.
void registerReduceOperationsPass();

} // namespace mlir::amp

#endif // AMP_TOOLS_AMP_REDUCE_REDUCEOPERATIONS_H

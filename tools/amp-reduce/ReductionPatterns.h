//===- ReductionPatterns.h - Ways to make a graph smaller -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TOOLS_AMP_REDUCE_REDUCTIONPATTERNS_H
#define AMP_TOOLS_AMP_REDUCE_REDUCTIONPATTERNS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::amp {

/// Lets `reduction-tree` cut pure operations of any dialect out of a graph:
/// their results become an operand, or another earlier value, of equal type.
void registerReductionPatterns(DialectRegistry &registry);

} // namespace mlir::amp

#endif // AMP_TOOLS_AMP_REDUCE_REDUCTIONPATTERNS_H

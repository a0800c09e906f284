//===- UnrollLoops.h - Loops as a list of operations ------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_UNROLLLOOPS_H
#define AMP_EXECUTION_UNROLLLOOPS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::amp {

/// Replaces loops of `function` with a constant number of iterations by these
/// iterations, so that their values can be watched. Leaves a loop that would
/// become too many operations.
void unrollLoops(FunctionOpInterface function);

} // namespace mlir::amp

#endif // AMP_EXECUTION_UNROLLLOOPS_H

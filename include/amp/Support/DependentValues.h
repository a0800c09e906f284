//===- DependentValues.h - Values that depend on others ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows values forward through operations, regions and calls.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_SUPPORT_DEPENDENTVALUES_H
#define AMP_SUPPORT_DEPENDENTVALUES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::amp {

/// Returns `values` and all values that depend on them, also in regions and
/// called functions. For an operation with regions, these are the results to
/// which a dependent value is forwarded, or all results if a dependent value
/// decides which region runs. The search stops at uses for which `follows` is
/// false.
llvm::DenseSet<Value>
findDependentValues(ArrayRef<Value> values,
                    llvm::function_ref<bool(OpOperand &)> follows = nullptr);

} // namespace mlir::amp

#endif // AMP_SUPPORT_DEPENDENTVALUES_H

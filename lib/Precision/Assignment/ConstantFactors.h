//===- ConstantFactors.h - Constant factors of values -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_CONSTANTFACTORS_H
#define AMP_LIB_PRECISION_ASSIGNMENT_CONSTANTFACTORS_H

#include "amp/Precision/Assignment/Ranges.h"
#include "amp/Precision/Policy/Policy.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::amp {

/// Returns the ranges of the elements of the constant `op`, including the range
/// of elements that `low` cannot represent, or nullopt if the elements cannot
/// be read. `low` may be null. `adapted` describes `op` in the policy, and may
/// be null.
std::optional<ConstantElements>
readConstant(Operation *op, const AdapterOperation *adapted, FloatType low);

/// Maps results of constants to the range of their finite elements.
using ConstantTable = llvm::MapVector<Value, FloatRange>;

/// Returns the values in `root` whose constant factor is beyond the range of
/// f16, such as `x * 6e16`, or so small that a loss scale cannot move it into
/// this range. Constants are not part of the result.
///
/// Data has the factor 1. Factors multiply in products, divide in quotients,
/// and do not change when a value is moved. A sum is large (small) only if all
/// its terms are large (small). The sum `x + mask * -1e9` is not large. It is a
/// masked x, and its readers tolerate an infinity.
llvm::DenseSet<Value> findConstantFactors(Operation *root, const Policy &policy,
                                          const ConstantTable &constants);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_CONSTANTFACTORS_H

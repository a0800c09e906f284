//===- CompositePatterns.h - Norms and others written out -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect without operations for softmax, log-softmax, log-sum-exp, variance
// and normalisations writes them out, forward and backward, in one form.
// Reductions compute statistics of rows. Operations transform the statistics,
// repeat them along the rows and combine them with the elements. A framework
// that has such operations computes in f32 within them and stores their results
// low. A composite pattern corresponds to one of these operations and is found
// by its form.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_COMPOSITEPATTERNS_H
#define AMP_LIB_PRECISION_ASSIGNMENT_COMPOSITEPATTERNS_H

#include "amp/Precision/Assignment/CallGroups.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::amp {

class Policy;

/// Returns the operations that are part of a composite pattern, if an adapter
/// of `policy` has `composite-patterns`. They compute in f32. Readers of the
/// result of a composite pattern may be low. The last operations of a composite
/// pattern compute the elements of a row from its statistics, and no operation
/// of the pattern reads them.
llvm::DenseSet<Operation *> findCompositePatterns(const CallGroup &group,
                                                  const Policy &policy);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_COMPOSITEPATTERNS_H

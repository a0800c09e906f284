//===- Units.h - Softmax, norms and the like, written out -------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect without operations for softmax, log-softmax, log-sum-exp, variance
// and normalisations writes them out, forwards and backwards, in one form: rows
// are reduced to statistics, which are computed with, repeated along the rows
// and combined with their elements. A framework that has such operations
// computes in f32 within them and stores their results low. A unit is what
// corresponds to one of them; it is found by that form.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_UNITS_H
#define AMP_LIB_PRECISION_UNITS_H

#include "amp/Precision/CallGroups.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::amp {

class Policy;

/// Returns the operations that are part of a unit, as far as an adapter of
/// `policy` has `units`. They compute in f32; what reads the result of a unit
/// may be low, whatever is within. Operations that compute the elements of a
/// row from its statistics and that nothing of the unit reads are its last.
llvm::DenseSet<Operation *> findUnits(const CallGroup &group,
                                      const Policy &policy);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_UNITS_H

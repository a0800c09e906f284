//===- TripCount.h - How often loops run ------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The number of iterations of loops whose bounds are constants.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_PRECISION_ASSIGNMENT_TRIPCOUNT_H
#define AMP_LIB_PRECISION_ASSIGNMENT_TRIPCOUNT_H

#include "amp/Precision/Policy/Policy.h"
#include <optional>

namespace mlir::amp {

/// Returns how often the body of `loop`, of a condition and a body, runs: a
/// loop of the interface `RegionBranchOpInterface` such as scf.while, or one
/// that only `policy` declares. The condition must compare a carried number
/// that a constant step changes with a constant bound. A bound that the
/// condition includes is not counted. Returns none if the number is unknown.
std::optional<int64_t> findTripCount(Operation *loop, const Policy &policy);

} // namespace mlir::amp

#endif // AMP_LIB_PRECISION_ASSIGNMENT_TRIPCOUNT_H

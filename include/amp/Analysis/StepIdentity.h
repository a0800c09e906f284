//===- StepIdentity.h - What makes a step that step -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A saved state carries what it was saved by, since the same state means
// something else to another graph, in another precision and to other rules of
// loss scaling.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_ANALYSIS_STEPIDENTITY_H
#define AMP_ANALYSIS_STEPIDENTITY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <cstdint>
#include <string>

namespace mlir::amp {

/// Returns a hash of what the step `entry` of `module` computes, to be taken
/// before any pass: of everything but names of values, locations, initial
/// values and steps that it does not call.
uint64_t computeFingerprint(ModuleOp module, llvm::StringRef entry);

/// Erases the steps of `module` that are not `entry` and that nothing uses.
void eraseOtherSteps(ModuleOp module, llvm::StringRef entry);

/// The name under which files know a precision.
llvm::StringRef canonicalizePrecision(llvm::StringRef precision);

/// Returns the rules of `step`, a line each: `name = value`. Empty for a step
/// that does not scale its loss.
std::string describeScalerRules(FunctionOpInterface step);

} // namespace mlir::amp

#endif // AMP_ANALYSIS_STEPIDENTITY_H

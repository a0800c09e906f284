//===- StepIdentity.h - What makes a step that step -------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The identity of a step. A checkpoint records the step that saved it, because
// the meaning of a state depends on the graph, the precision and the rules of
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

/// Returns a hash of the step `entry` of `module`. It covers everything except
/// names of values, locations, initial values and steps that `entry` does not
/// call. Call this before any pass runs.
uint64_t computeFingerprint(ModuleOp module, llvm::StringRef entry);

/// Erases the steps of `module` that are not `entry` and that nothing uses.
void eraseOtherSteps(ModuleOp module, llvm::StringRef entry);

/// Returns the rules of loss scaling of `step`, one `name = value` per line.
/// Empty for a step that does not scale its loss.
std::string describeScalerRules(FunctionOpInterface step);

} // namespace mlir::amp

#endif // AMP_ANALYSIS_STEPIDENTITY_H

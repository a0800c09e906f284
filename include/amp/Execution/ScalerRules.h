//===- ScalerRules.h - How a step scales its loss ---------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules by which a step scales its loss and updates the scale, as text that
// a saved state carries: the same state means something else to other rules.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_SCALERRULES_H
#define AMP_EXECUTION_SCALERRULES_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include <string>

namespace mlir::amp {

/// Returns the rules of `step`, a line each: `name = value`. Empty for a step
/// that does not scale its loss.
std::string describeScalerRules(FunctionOpInterface step);

/// Returns where `saved` and `current` differ, in words: the rules of the one
/// and of the other.
std::pair<std::string, std::string> compareScalerRules(llvm::StringRef saved,
                                                       llvm::StringRef current);

} // namespace mlir::amp

#endif // AMP_EXECUTION_SCALERRULES_H

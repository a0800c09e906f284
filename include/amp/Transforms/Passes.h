//===- Passes.h - The precision passes --------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TRANSFORMS_PASSES_H
#define AMP_TRANSFORMS_PASSES_H

#include "amp/Precision/Policy/Policy.h"
#include "amp/Support/CheckedPass.h"
#include "mlir/IR/BuiltinTypes.h"
#include <functional>
#include <limits>
#include <optional>

namespace mlir::amp {

class PrecisionReport;

/// Receives the report of a run of `auto-mixed-precision`.
using ReportHandler = std::function<void(const PrecisionReport &)>;

#define GEN_PASS_DECL
#include "amp/Transforms/Passes.h.inc"

/// Creates `auto-mixed-precision` with a host compiler's own classification of
/// operations, which takes precedence over the lists of the policy. `onReport`,
/// if set, receives the report before anything changes.
std::unique_ptr<Pass>
createAutoMixedPrecisionPass(const AutoMixedPrecisionPassOptions &options,
                             OperationClassifier classifier,
                             ReportHandler onReport = {});

#define GEN_PASS_REGISTRATION
#include "amp/Transforms/Passes.h.inc"

} // namespace mlir::amp

#endif // AMP_TRANSFORMS_PASSES_H

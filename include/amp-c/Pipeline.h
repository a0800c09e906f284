//===- Pipeline.h - Mixed precision in one call, for C ------------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_C_PIPELINE_H
#define AMP_C_PIPELINE_H

#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Rewrites the training steps of `module` with `amp-training-pipeline`.
///
/// `policy` is the name of a preset, a file, or the text of a policy: YAML in
/// braces or on more than one line. `options` are options of the pipeline in
/// command-line syntax, such as `precision=fp16 target=h100`, or empty. They do
/// not include `policy`.
///
/// `diagnostics`, if not null, receives every diagnostic with
/// `diagnosticsData`. Its result states whether the diagnostic is handled.
/// `report`, if not null, receives the report as JSON (docs/reports.md) in
/// pieces with `reportData`. It receives nothing if the run fails.
///
/// After a failure `module` has not changed. The context needs the dialects
/// that `ampRegisterAllDialects` registers.
MLIR_CAPI_EXPORTED MlirLogicalResult ampRunTrainingPipeline(
    MlirModule module, MlirStringRef policy, MlirStringRef options,
    MlirDiagnosticHandler diagnostics, void *diagnosticsData,
    MlirStringCallback report, void *reportData);

#ifdef __cplusplus
}
#endif

#endif // AMP_C_PIPELINE_H

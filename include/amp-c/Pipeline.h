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

/// Rewrites the training steps of `module` by `amp-training-pipeline`.
///
/// `policy` is the name of a preset, a file, or a policy itself: YAML in
/// braces, or on more than one line. `options` are those of the pipeline as
/// they stand on the command line, such as `precision=fp16 target=h100`, or
/// empty; `policy` is not among them.
///
/// `diagnostics`, if not null, gets every diagnostic with `diagnosticsData`,
/// and what it returns says whether that is all to be done with it. `report`,
/// if not null, gets the report as JSON (docs/reports.md), piece by piece, with
/// `reportData`; if the run fails, it gets nothing.
///
/// On failure `module` is as it was. The context needs what
/// `ampRegisterAllDialects` registers.
MLIR_CAPI_EXPORTED MlirLogicalResult ampRunTrainingPipeline(
    MlirModule module, MlirStringRef policy, MlirStringRef options,
    MlirDiagnosticHandler diagnostics, void *diagnosticsData,
    MlirStringCallback report, void *reportData);

#ifdef __cplusplus
}
#endif

#endif // AMP_C_PIPELINE_H

//===- Passes.h - The passes, for C -------------------------------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each pass has a function that creates it with default options and one that
// registers it. `mlirOpPassManagerAddPipeline` adds a pass with options by
// name, from text.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_C_PASSES_H
#define AMP_C_PASSES_H

// IWYU pragma: begin_exports
#include "amp/CodeGen/Passes.capi.h.inc"
#include "amp/Conversion/Passes.capi.h.inc"
#include "amp/Dialect/CUDA/Transforms/Passes.capi.h.inc"
#include "amp/Dialect/Train/Transforms/Passes.capi.h.inc"
#include "amp/Transforms/Passes.capi.h.inc"
// IWYU pragma: end_exports

#ifdef __cplusplus
extern "C" {
#endif

/// Registers the passes and the pipelines of the project.
MLIR_CAPI_EXPORTED void ampRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif // AMP_C_PASSES_H

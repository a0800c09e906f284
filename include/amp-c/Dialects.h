//===- Dialects.h - The dialects, for C ---------------------------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_C_DIALECTS_H
#define AMP_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(AMP, amp);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(AMPTrain, train);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(AMPCUDA, cuda);

/// Adds the dialects of the project and `func`, whose functions contain steps,
/// to `registry`. Also adds the project's interfaces for operations of linalg,
/// tosa, arith, math, tensor and scf. The registry must be appended to a
/// context (`mlirContextAppendDialectRegistry`) before passes run.
MLIR_CAPI_EXPORTED void ampRegisterAllDialects(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif // AMP_C_DIALECTS_H

//===- Dialects.cpp - The dialects, for C ---------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp-c/Dialects.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/InitAll.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(AMP, amp, mlir::amp::AMPDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(AMPTrain, train,
                                      mlir::train::TrainDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(AMPCUDA, cuda, mlir::cuda::CUDADialect)

void ampRegisterAllDialects(MlirDialectRegistry registry) {
  mlir::DialectRegistry &target = *unwrap(registry);
  // The dialects of steps and of what the pipelines make of them.
  target.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                mlir::linalg::LinalgDialect, mlir::scf::SCFDialect,
                mlir::tensor::TensorDialect>();
  mlir::amp::registerAllDialects(target);
  mlir::amp::registerAllExtensions(target);
}

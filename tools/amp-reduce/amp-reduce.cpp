//===- amp-reduce.cpp - Reduction of failing modules ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReduceOperations.h"
#include "amp/RegisterAll/Tools.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::amp::registerToolDialects(registry);
  mlir::amp::registerToolPasses();
  mlir::amp::registerReduceOperationsPass();

  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}

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
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include <cstdlib>

/// Reports an error of the reducer that LLVM ends the process for, such as a
/// test that is not a program.
static void reportFatalError(void *, const char *reason, bool) {
  llvm::errs() << "amp-reduce: error: " << reason << '\n';
  llvm::errs().flush();
  llvm::sys::RunInterruptHandlers();
  std::_Exit(1);
}

int main(int argc, char **argv) {
  llvm::install_fatal_error_handler(reportFatalError);
  llvm::cl::SetVersionPrinter(mlir::amp::printToolVersion);
  mlir::DialectRegistry registry;
  mlir::amp::registerToolDialects(registry);
  mlir::amp::registerToolPasses();
  mlir::amp::registerReduceOperationsPass();

  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}

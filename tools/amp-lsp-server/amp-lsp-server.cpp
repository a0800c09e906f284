//===- amp-lsp-server.cpp - Language server for editors -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportDiagnostics.h"
#include "amp/RegisterAll/Tools.h"

#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::amp::registerToolDialects(registry);
  return mlir::amp::runWithReports(registry, [&] {
    return int(mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)));
  });
}

//===- Tools.cpp - What every tool registers ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/RegisterAll/Tools.h"

#include "amp/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

void mlir::amp::registerToolDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  amp::registerAllDialects(registry);
  amp::registerAllExtensions(registry);
}

void mlir::amp::printToolVersion(llvm::raw_ostream &os) {
  os << "AMP " AMP_PROJECT_VERSION ", with MLIR " LLVM_VERSION_STRING "\n";
}

void mlir::amp::registerToolPasses() {
  mlir::registerAllPasses();
  amp::registerAllPasses();
}

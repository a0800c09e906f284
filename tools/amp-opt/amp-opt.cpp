//===- amp-opt.cpp - Run passes over modules ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/InitAll.h"

#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Precision/Policy/Policy.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

/// Prints the policy `presetOrFile`. Returns the exit code.
static int printPolicy(mlir::DialectRegistry &registry,
                       llvm::StringRef presetOrFile) {
  mlir::MLIRContext context(registry);
  context.loadDialect<mlir::amp::AMPDialect, mlir::train::TrainDialect>();
  auto policy =
      mlir::amp::Policy::load(presetOrFile, mlir::UnknownLoc::get(&context));
  if (failed(policy))
    return 1;
  policy->print(llvm::outs());
  return 0;
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::amp::registerAllDialects(registry);
  mlir::amp::registerAllExtensions(registry);
  mlir::amp::registerAllPasses();
  // The pass of this name needs an input and takes `policy=...`.
  if (argc == 2) {
    llvm::StringRef policy(argv[1]);
    policy.consume_front("-");
    if (policy.consume_front("-amp-print-policy=") &&
        !policy.starts_with("policy="))
      return printPolicy(registry, policy);
  }
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "AMP: automatic mixed precision for training graphs\n",
      registry));
}

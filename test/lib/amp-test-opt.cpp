//===- amp-test-opt.cpp - amp-opt with passes for tests -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/ExternalModels/ExternalModels.h"
#include "amp/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

namespace mlir::amp::test {
void registerBufferLivenessTest();
void registerErrorBoundTest();
void registerModelBuilderTest();
void registerOptimalCutTest();
void registerPrecisionTests();
void registerPropertyTests();
void registerRandomGraphTests();
void registerRangesTests();
void registerSlotsDialect(DialectRegistry &registry);
} // namespace mlir::amp::test

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::amp::test::registerRandomGraphDialects(registry);
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::tosa::TosaDialect>();
  mlir::amp::test::registerSlotsDialect(registry);
  mlir::amp::registerPrecisionExternalModels(registry);
  mlir::amp::registerScaleExponentExternalModels(registry);
  mlir::amp::registerAMPPasses();
  mlir::amp::test::registerBufferLivenessTest();
  mlir::amp::test::registerErrorBoundTest();
  mlir::amp::test::registerModelBuilderTest();
  mlir::amp::test::registerOptimalCutTest();
  mlir::amp::test::registerPrecisionTests();
  mlir::amp::test::registerPropertyTests();
  mlir::amp::test::registerRandomGraphTests();
  mlir::amp::test::registerRangesTests();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "AMP: passes that only tests need\n", registry));
}

//===- toy-opt.cpp - The toy compiler with AMP in it ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"
#include "amp/InitAll.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Precision/Policy/PolicyBuilder.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

/// What only this compiler knows: its transpositions are free.
static std::optional<amp::OpClass> classify(Operation *op) {
  if (isa<toy::TransposeOp>(op))
    return amp::OpClass::Clear;
  return std::nullopt;
}

/// This compiler's pipeline for a training step: a pipeline of AMP with some of
/// its options set, as a part of a longer one.
static void buildToyPipeline(OpPassManager &pm) {
  amp::AMPPipelineOptions options;
  options.precision = "fp16";
  options.masterWeights = "copy";
  options.policy = amp::PolicyBuilder()
                       .allow({"toy.matmul"})
                       .deny({"toy.loss"})
                       .infer({"toy.loss_grad"})
                       .clear({"toy.relu*"})
                       .str();
  amp::buildAMPTrainingPipeline(pm, options, classify);
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerAllPasses();
  registry.insert<toy::ToyDialect>();
  amp::registerAllDialects(registry);
  amp::registerAllExtensions(registry);
  amp::registerAllPasses();
  PassPipelineRegistration<>("toy-pipeline", "Train in fp16", buildToyPipeline);
  return asMainReturnCode(
      MlirOptMain(argc, argv, "The toy compiler\n", registry));
}

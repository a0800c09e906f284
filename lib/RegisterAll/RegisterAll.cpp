//===- RegisterAll.cpp - Everything that the project registers ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/InitAll.h"

#include "amp/CodeGen/Passes.h"
#include "amp/CodeGen/ProcessFunctions.h"
#include "amp/Conversion/Passes.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Dialect/CUDA/Transforms/Passes.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/ExternalModels/ExternalModels.h"
#include "amp/ExternalModels/ReplicationModels.h"
#include "amp/Pipelines/CPUPipeline.h"
#include "amp/Pipelines/CUDAPipeline.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Replication/Passes.h"
#include "amp/Support/RenamedName.h"
#include "amp/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void amp::registerAllDialects(DialectRegistry &registry) {
  registry.insert<AMPDialect, cuda::CUDADialect, train::TrainDialect>();
}

void amp::registerAllExtensions(DialectRegistry &registry) {
  registerCallBufferization(registry);
  registerCollectiveBufferization(registry);
  registerPrecisionExternalModels(registry);
  registerReplicationExternalModels(registry);
  registerScaleExponentExternalModels(registry);
}

void amp::registerAllPasses() {
  registerAMPPasses();
  registerAMPConversionPasses();
  registerAMPCodeGenPasses();
  registerCPUPipeline();
  registerAMPCUDAPasses();
  registerAMPReplicationPasses();
  registerCUDAPipeline();
  registerPipelines();
  registerRenamedPasses();
  train::registerTrainPasses();
}

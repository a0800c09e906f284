//===- InitAll.h - Everything that the project registers --------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tools. A compiler that embeds a part of the project should register just
// that part.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_INITALL_H
#define AMP_INITALL_H

#include "amp/Conversion/Passes.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/ExternalModels/ExternalModels.h"
#include "amp/Pipelines/CUDAPipeline.h"
#include "amp/Pipelines/Pipelines.h"
#include "amp/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::amp {

/// Adds the dialects of the project to `registry`.
inline void registerAllDialects(DialectRegistry &registry) {
  registry.insert<amp::AMPDialect, cuda::CUDADialect, train::TrainDialect>();
}

/// Attaches the interfaces of the project to operations of other dialects.
inline void registerAllExtensions(DialectRegistry &registry) {
  registerPrecisionExternalModels(registry);
  registerScaleDegreeExternalModels(registry);
}

/// Registers the passes of the project.
inline void registerAllPasses() {
  registerAMPPasses();
  registerConversionPasses();
  registerCUDAPipeline();
  registerPipelines();
  train::registerTrainPasses();
}

} // namespace mlir::amp

#endif // AMP_INITALL_H

//===- CUDACallOps.cpp - Operations of the caller -------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Dialect/AMP/IR/AMPCallOps.h"

using namespace mlir;
using namespace mlir::cuda;

LogicalResult CallOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (getCallee().empty())
    return emitOpError("expected the name of an operation");
  if (getPredicate())
    return emitOpError("has a predicate, but the host, which performs the "
                       "call, does not know its value");
  SmallVector<ShapedType> inputs, targets;
  for (unsigned i = 0; i < getInputs().size(); ++i)
    inputs.push_back(launch.getInputType(i));
  for (unsigned i = 0; i < launch.getNumTargets(); ++i)
    targets.push_back(launch.getTargetType(i));
  if (failed(mlir::amp::verifyDerivative(*this, inputs, targets, getSeeds(),
                                         getWrt())))
    return failure();
  return verifyLaunch(launch);
}

int64_t CallOp::getFlops() { return 0; }

bool CallOp::isBackward() { return getSeeds().has_value(); }

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDACallOps.cpp.inc"

void CUDADialect::registerCallOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDACallOps.cpp.inc"
      >();
}

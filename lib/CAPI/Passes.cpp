//===- Passes.cpp - The passes, for C -------------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp-c/Passes.h"

#include "amp/CodeGen/Passes.h"
#include "amp/Conversion/Passes.h"
#include "amp/Dialect/CUDA/Transforms/Passes.h"
#include "amp/Dialect/Train/Transforms/Passes.h"
#include "amp/InitAll.h"
#include "amp/Transforms/Passes.h"
#include "mlir/CAPI/Pass.h"

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

#include "amp/CodeGen/Passes.capi.cpp.inc"
#include "amp/Conversion/Passes.capi.cpp.inc"
#include "amp/Dialect/CUDA/Transforms/Passes.capi.cpp.inc"
#include "amp/Dialect/Train/Transforms/Passes.capi.cpp.inc"
#include "amp/Transforms/Passes.capi.cpp.inc"

void ampRegisterAllPasses() { registerAllPasses(); }

//===- GradientInterfaces.cpp - Where gradients start and end ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/GradientInterfaces.h"

using namespace mlir;

#include "amp/Interfaces/GradientInterfaces.cpp.inc"

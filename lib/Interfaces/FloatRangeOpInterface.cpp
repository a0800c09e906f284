//===- FloatRangeOpInterface.cpp - Value ranges of operations -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/FloatRangeOpInterface.h"

using namespace mlir;

#include "amp/Interfaces/FloatRangeOpInterface.cpp.inc"

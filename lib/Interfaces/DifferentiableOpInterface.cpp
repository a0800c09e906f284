//===- DifferentiableOpInterface.cpp - Reverse-mode rules ===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/DifferentiableOpInterface.h"

using namespace mlir;

#include "amp/Interfaces/DifferentiableOpInterface.cpp.inc"

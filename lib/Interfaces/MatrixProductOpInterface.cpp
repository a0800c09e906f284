//===- MatrixProductOpInterface.cpp - Products of matrices ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/MatrixProductOpInterface.h"

#include "amp/Interfaces/MatrixProductOpInterface.cpp.inc"
